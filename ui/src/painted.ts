/** When a question can be read, where its buttons are, and what of it is in view: told to the app, whose clock goes by that. */

import { tick } from "svelte";

import { Looking, type InView } from "./inview";
import { watchPlace } from "./place";

interface Watched {
    painted(): Promise<void>;
    moved(): Promise<void>;
    inView(seen: InView): Promise<void>;
}

/**
 * It can be read from the second frame with all of it in the page; from then on a button that moves is told, and what comes
 * into view or goes out of it. The returned function ends it.
 */
export function watchPainted(answers: HTMLElement, watched: Watched, measure: () => InView): () => void {
    let over: (() => void) | undefined;
    let frame = 0;
    let ended = false;
    void tick().then(() => {
        if (ended) {
            return;
        }
        frame = requestAnimationFrame(() => {
            frame = requestAnimationFrame(() => {
                void watched.painted();
                const place = watchPlace(answers, () => void watched.moved());
                const looking = new Looking(measure, (seen) => void watched.inView(seen));
                over = () => {
                    place();
                    looking.end();
                };
            });
        });
    });
    return () => {
        ended = true;
        cancelAnimationFrame(frame);
        over?.();
    };
}
