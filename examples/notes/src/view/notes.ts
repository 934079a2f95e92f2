/** The notes on the page: reading, writing, deleting. */

import { button, byId, List, make } from "../dom.js";
import { LONGEST, type Note, type Notes } from "../notes.js";
import { isVisible } from "../text.js";

/** Shows the notes, and lets the person change them. */
export class NotesView {
    readonly #notes: Notes;
    readonly #list = new List<Note>(byId("note-list"), ({ id }) => id, (note, before) => this.#note(note, before));

    constructor(notes: Notes) {
        this.#notes = notes;
        const input = byId<HTMLTextAreaElement>("new-note");
        const form = byId<HTMLFormElement>("add");
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            const text = input.value.trim();
            if (isVisible(text)) {
                notes.add(text, "you");
                form.reset();
            }
            input.focus();
        });
        submitOnEnter(input, () => form.requestSubmit());
    }

    show(): void {
        const { parent } = this.#list;
        const hadFocus = parent.contains(document.activeElement);
        this.#list.set(this.#notes.all);
        // The note that had it is gone.
        if (hadFocus && !parent.contains(document.activeElement)) {
            byId("notes-heading").focus();
        }
        byId("no-notes").hidden = this.#notes.all.length > 0;
    }

    /** The note's element, the one from before where it still shows the same. */
    #note(note: Note, before: HTMLElement | undefined): HTMLElement {
        const { editing, reading } = this.#notes;
        const mode = editing === note.id ? "editing" : `${note.by} ${note.text}`;
        const element = before?.dataset["shown"] === mode ? before : this.#make(note, editing === note.id);
        element.dataset["shown"] = mode;
        element.classList.toggle("reading", reading === note.id);
        return element;
    }

    #make(note: Note, editing: boolean): HTMLElement {
        const element = make("li", `note by-${note.by}`);
        element.append(...(editing ? this.#editor(note) : this.#reader(note)));
        return element;
    }

    #reader({ id, text, by }: Note): HTMLElement[] {
        const shown = make("p", "text", text);
        shown.dir = "auto";
        const about = text.slice(0, 40);
        const foot = make(
            "div",
            "foot",
            make("span", "by", by === "you" ? "written by you" : "written by an agent"),
            button("Edit", `Edit: ${about}`, () => this.#edit(id)),
            button("Delete", `Delete: ${about}`, () => this.#delete(id)),
        );
        return [shown, foot];
    }

    #editor({ id, text }: Note): HTMLElement[] {
        const input = make("textarea");
        input.value = text;
        input.maxLength = LONGEST;
        input.rows = Math.min(8, text.split("\n").length + 1);
        input.dir = "auto";
        input.ariaLabel = "The note's text";
        const save = (): void => {
            const changed = input.value.trim();
            this.#notes.editing = undefined;
            if (isVisible(changed) && changed !== text) {
                this.#notes.edit(id, changed, "you");
            } else {
                this.#notes.changed();
            }
            this.#focus(id);
        };
        const cancel = (): void => {
            this.#notes.editing = undefined;
            this.#notes.changed();
            this.#focus(id);
        };
        submitOnEnter(input, save);
        input.addEventListener("keydown", (event) => {
            if (event.key === "Escape") {
                cancel();
            }
        });
        return [input, make("div", "foot", button("Save", "Save", save), button("Cancel", "Cancel", cancel))];
    }

    #edit(id: string): void {
        this.#notes.editing = id;
        this.#notes.changed();
        const input = this.#list.get(id)?.querySelector("textarea");
        input?.focus();
        input?.setSelectionRange(input.value.length, input.value.length);
    }

    #delete(id: string): void {
        const at = this.#notes.all.findIndex((note) => note.id === id);
        const note = this.#notes.all[at];
        if (note) {
            this.#notes.delete(id);
            this.#offerUndo(note, at);
            byId("notes-heading").focus();
        }
    }

    #offerUndo(note: Note, at: number): void {
        const place = byId("undo");
        const undo = button("Undo", "Undo: put the note back", () => {
            place.replaceChildren();
            this.#notes.restore(note, at);
            this.#focus(note.id);
        });
        place.replaceChildren("Deleted. ", undo);
    }

    #focus(id: string): void {
        this.#list.get(id)?.querySelector("button")?.focus();
    }
}

/** Enter sends, and Shift with Enter begins a new line. */
function submitOnEnter(input: HTMLTextAreaElement, submit: () => void): void {
    input.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            submit();
        }
    });
}
