/** The question before a note is deleted. One at a time: nobody should answer one while looking at another. */

import { byId } from "./dom.js";
import type { Note } from "./notes.js";

/** For so long after a question appears, no answer counts: the click was meant for what was there before. */
const ARMING = 500;

let turn: Promise<unknown> = Promise.resolve();

/** Asks the person; the question goes when its signal is aborted. */
export function askToDelete(note: Note, signal: AbortSignal): Promise<boolean> {
    const mine = turn.then(() => (signal.aborted ? false : show(note, signal)));
    turn = mine;
    return mine;
}

function show(note: Note, signal: AbortSignal): Promise<boolean> {
    const dialog = byId<HTMLDialogElement>("question");
    byId("question-text").textContent = note.text;
    const title = document.title;
    document.title = "Question – Notes";
    dialog.showModal();
    // Not on a button: whoever is typing would answer without having read.
    dialog.focus();
    const shown = performance.now();
    const over = new AbortController();
    return new Promise<boolean>((resolve) => {
        const answer = (yes: boolean) => () => {
            if (performance.now() - shown >= ARMING) {
                resolve(yes);
            }
        };
        const { signal: until } = over;
        byId("keep").addEventListener("click", answer(false), { signal: until });
        byId("delete").addEventListener("click", answer(true), { signal: until });
        dialog.addEventListener("cancel", (event) => event.preventDefault(), { signal: until });
        dialog.addEventListener("cancel", answer(false), { signal: until });
        // A browser may close it all the same, when Escape is pressed again. The event comes late: it may be about the
        // question before, when the dialog is open again.
        dialog.addEventListener("close", () => !dialog.open && resolve(false), { signal: until });
        signal.addEventListener("abort", () => resolve(false), { signal: until });
    }).finally(() => {
        over.abort();
        dialog.close();
        document.title = title;
    });
}
