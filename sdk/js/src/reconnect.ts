/** When to try again, and when never: backoff and the close codes as values. Nothing here waits or connects. */

import { FIRST_WAIT, LAST_WAIT } from "./limits.js";
import type { Refusal, State } from "./state.js";

/**
 * Full jitter: each wait is anything between nothing and a bound that doubles, so that a thousand applications whose
 * bridge restarts do not come back in step.
 */
export class Backoff {
    #bound = FIRST_WAIT;

    /** The next wait; `fraction` is random, in 0..1. */
    next(fraction: number): number {
        const bound = this.#bound;
        this.#bound = Math.min(bound * 2, LAST_WAIT);
        return bound * fraction;
    }

    /** The bridge accepted us: start over. */
    reset(): void {
        this.#bound = FIRST_WAIT;
    }
}

/** How a connection ended, or why there was none. */
export type Ending =
    /** No connection, no answer, no close frame, or no sense in what came. */
    | { readonly how: "lost" }
    /** The bridge closed it. */
    | { readonly how: "closed"; readonly code: number; readonly reason: string }
    /** Nothing was sent: it could not be right. */
    | { readonly how: "refused"; readonly refusal: Refusal }
    /** The application wanted it so. */
    | { readonly how: "left" };

/**
 * What follows: a state in which it ends, or another try, or another try with a new token. `canRenew`: there is a
 * token function, and it was not asked for a new token since the bridge last accepted one.
 */
export function next(ending: Ending, canRenew: boolean): State | "retry" | "renew" {
    switch (ending.how) {
        case "lost":
            return "retry";
        case "closed":
            return afterClose(ending.code, ending.reason, canRenew);
        case "refused":
            return { status: "refused", refusal: ending.refusal };
        case "left":
            return { status: "closed" };
    }
}

function afterClose(code: number, reason: string, canRenew: boolean): State | "retry" | "renew" {
    switch (code) {
        case 4400:
        case 1007:
            return { status: "refused", refusal: { code: "message", reason } };
        case 4401:
            return canRenew ? "renew" : { status: "refused", refusal: { code: "token", reason } };
        case 4409:
            return { status: "replaced" };
        default:
            // A code without a meaning of its own says no more than a broken line does.
            return "retry";
    }
}
