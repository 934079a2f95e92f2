/** The notes, which the person and agents change. They last in this browser, and are the same in each of its tabs. */

import { load, save } from "./store.js";

/** One note. */
export interface Note {
    readonly id: string;
    readonly text: string;
    /** Who wrote it last. */
    readonly by: Author;
}

export type Author = "you" | "agent";

/** What a note may hold, and how many there may be. */
export const LONGEST = 2_000;
export const MOST = 200;

const KEY = "notes";

/** The notes and what is going on with them. Whoever subscribed hears of each change. */
export class Notes {
    #all: readonly Note[] = stored();
    readonly #listeners: (() => void)[] = [];
    /** The note that the person is writing in. */
    editing: string | undefined;
    /** The note that an agent reads just now. */
    reading: string | undefined;

    constructor() {
        addEventListener("storage", ({ key }) => {
            if (key === KEY) {
                this.#all = stored();
                this.changed();
            }
        });
    }

    get all(): readonly Note[] {
        return this.#all;
    }

    find(id: string): Note | undefined {
        return this.#all.find((note) => note.id === id);
    }

    subscribe(listener: () => void): void {
        this.#listeners.push(listener);
    }

    add(text: string, by: Author): Note {
        const note = { id: newId(), text, by };
        this.#keep([...this.#all, note]);
        return note;
    }

    edit(id: string, text: string, by: Author): void {
        this.#keep(this.#all.map((note) => (note.id === id ? { id, text, by } : note)));
    }

    delete(id: string): void {
        this.#keep(this.#all.filter((note) => note.id !== id));
    }

    /** Puts a deleted note back where it stood. */
    restore(note: Note, at: number): void {
        this.#keep([...this.#all.slice(0, at), note, ...this.#all.slice(at)]);
    }

    /** Something is different. */
    changed(): void {
        this.#listeners.forEach((listener) => listener());
    }

    #keep(all: readonly Note[]): void {
        this.#all = all;
        save(KEY, JSON.stringify(all));
        this.changed();
    }
}

/** Short, since agents repeat it; random, since two tabs may add at a time. */
function newId(): string {
    return Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function stored(): Note[] {
    try {
        const all: unknown = JSON.parse(load(KEY) ?? "[]");
        return Array.isArray(all) ? all.filter(isNote) : [];
    } catch {
        return [];
    }
}

function isNote(value: unknown): value is Note {
    const { id, text, by } = (value ?? {}) as Partial<Record<keyof Note, unknown>>;
    return typeof id === "string" && typeof text === "string" && (by === "you" || by === "agent");
}
