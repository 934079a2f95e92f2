/** A timer that notices when it comes too late: the machine slept, or the browser froze the page. */

import { TICK } from "./limits.js";

/** Rings once at a time; it looks at the clock often, so that sleep is noticed soon after it ends. */
export class Alarm {
    #timer: ReturnType<typeof setTimeout> | undefined;

    /** Rings at this time, in place of any other; `slept` says that it could not come in time. */
    set(at: number, ring: (slept: boolean) => void): void {
        this.clear();
        const now = Date.now();
        const look = Math.min(at, now + TICK);
        this.#timer = setTimeout(() => {
            const late = Date.now() - look;
            // A clock that was set back says as little about the time that has passed.
            const slept = late > TICK || late < -TICK;
            if (slept || Date.now() >= at) {
                ring(slept);
            } else {
                this.set(at, ring);
            }
        }, look - now);
    }

    /** Never mind. */
    clear(): void {
        clearTimeout(this.#timer);
    }
}
