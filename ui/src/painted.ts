/** When a question can be read, and where its buttons are: told to the app, whose clock goes by that. */

import { tick } from "svelte";

import { watchPlace } from "./place";

interface Watched {
    painted(): Promise<void>;
    moved(): Promise<void>;
}

/**
 * It can be read from the second frame with all of it in the page; from then on a button that moves is told. The returned
 * function ends it.
 */
export function watchPainted(answers: HTMLElement, watched: Watched): () => void {
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
                over = watchPlace(answers, () => void watched.moved());
            });
        });
    });
    return () => {
        ended = true;
        cancelAnimationFrame(frame);
        over?.();
    };
}
