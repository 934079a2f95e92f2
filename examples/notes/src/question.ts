/** The question before a note is deleted. One at a time: nobody should answer one while looking at another. */

import { byId } from "./dom.js";
import type { Note } from "./notes.js";
import { revealed } from "./text.js";

/** For so long after a question appears, no answer counts: the click was meant for what was there before. */
const ARMING = 500;

let open = false;

/** Whether the person is being asked. */
export function isAsking(): boolean {
    return open;
}

/**
 * Asks the person; the question goes when its signal is aborted. `stop` runs when they want no more changes by agents,
 * which is a no too.
 */
export function askToDelete(note: Note, signal: AbortSignal, stop: () => void): Promise<boolean> {
    open = true;
    const dialog = byId<HTMLDialogElement>("question");
    byId("question-text").textContent = revealed(note.text);
    const title = document.title;
    document.title = "Question – Notes";
    dialog.showModal();
    // Not on a button: whoever is typing would answer without having read.
    dialog.focus();
    const shown = performance.now();
    const over = new AbortController();
    return new Promise<boolean>((resolve) => {
        const answer = (yes: boolean, also?: () => void) => () => {
            if (performance.now() - shown >= ARMING) {
                resolve(yes);
                also?.();
            }
        };
        const { signal: until } = over;
        byId("keep").addEventListener("click", answer(false), { signal: until });
        byId("delete").addEventListener("click", answer(true), { signal: until });
        byId("stop").addEventListener("click", answer(false, stop), { signal: until });
        dialog.addEventListener("cancel", (event) => event.preventDefault(), { signal: until });
        dialog.addEventListener("cancel", answer(false), { signal: until });
        // A browser may close it all the same, when Escape is pressed again. The event comes late: it may be about the
        // question before, when the dialog is open again.
        dialog.addEventListener("close", () => !dialog.open && resolve(false), { signal: until });
        signal.addEventListener("abort", () => resolve(false), { signal: until });
    }).finally(() => {
        open = false;
        over.abort();
        dialog.close();
        document.title = title;
    });
}
