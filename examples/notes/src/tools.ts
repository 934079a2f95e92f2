/** What agents can do with the notes. Arguments are checked here: a language model wrote them. */

import { type Answer, type Tool, tool, ToolError } from "clientmcp";
import { requestConfirmation } from "clientmcp/confirm";
import { completed, rejected } from "clientmcp/outcome";

import { LONGEST, MOST, type Note, type Notes } from "./notes.js";
import { isVisible } from "./text.js";

/** The question whether a note may go: one at a time. */
export interface Question {
    readonly isOpen: () => boolean;
    readonly ask: (note: Note, signal: AbortSignal) => Promise<boolean>;
}

/** What an agent should know before it calls anything. */
export const INSTRUCTIONS =
    "These notes are on the user's screen, and the user edits them too: list them before you change one. Deleting asks the user.";

/** The tools that make sense right now: what cannot be done is not offered. */
export function offered(notes: Notes, mayChange: boolean, question: Question): Tool[] {
    const some = notes.all.length > 0;
    return [
        listNotes(notes),
        ...(some ? [readThrough(notes)] : []),
        ...(mayChange ? [addNote(notes)] : []),
        ...(mayChange && some ? [editNote(notes), deleteNote(notes, question)] : []),
    ];
}

const ID = { type: "string", description: "The note's id, as list_notes gives it" } as const;
const TEXT = { type: "string", minLength: 1, maxLength: LONGEST, description: "The note's whole text" } as const;

function listNotes(notes: Notes): Tool {
    return tool({
        name: "list_notes",
        title: "List the notes",
        description: "Gives all notes, in the order in which the user sees them: id, text, and who wrote it last.",
        annotations: { readOnlyHint: true, openWorldHint: false },
        handler: () => ({ notes: notes.all }),
    });
}

function addNote(notes: Notes): Tool {
    return tool({
        name: "add_note",
        title: "Add a note",
        description: "Adds a note at the end of the list. The user sees it at once. Gives its id.",
        inputSchema: { type: "object", properties: { text: TEXT }, required: ["text"] },
        annotations: { destructiveHint: false, openWorldHint: false },
        handler: ({ text }) => {
            if (notes.all.length >= MOST) {
                return rejected("full", `there are ${MOST} notes already: delete one first`);
            }
            return completed({ id: notes.add(checked(text), "agent").id });
        },
    });
}

function editNote(notes: Notes): Tool {
    return tool({
        name: "edit_note",
        title: "Rewrite a note",
        description: "Replaces a note's text. It does nothing while the user is writing in that note.",
        inputSchema: { type: "object", properties: { id: ID, text: TEXT }, required: ["id", "text"] },
        annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
        handler: ({ id, text }) => {
            const note = found(notes, id);
            if (notes.editing === note.id) {
                return rejected("in-use", "the user is writing in this note; try again later");
            }
            notes.edit(note.id, checked(text), "agent");
            return completed();
        },
    });
}

function deleteNote(notes: Notes, question: Question): Tool {
    return tool({
        name: "delete_note",
        title: "Delete a note",
        description: "Deletes a note, if the user says yes: the page asks them, so it may take a while. One at a time.",
        inputSchema: { type: "object", properties: { id: ID }, required: ["id"] },
        annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
        handler: async ({ id }, { signal }): Promise<Answer> => {
            const note = found(notes, id);
            // They do not queue: nobody could get out of a thousand of them.
            if (question.isOpen()) {
                return rejected("busy", "the user is being asked about another note; try again later");
            }
            const answer = await requestConfirmation({ signal, ask: (signal) => question.ask(note, signal) });
            if (!answer.confirmed) {
                return rejected(answer.code, answer.detail);
            }
            // The yes was for what the person saw.
            if (notes.find(note.id)?.text !== note.text) {
                return rejected("changed", "the note changed while the user was asked: list the notes again");
            }
            notes.delete(note.id);
            return completed();
        },
    });
}

function readThrough(notes: Notes): Tool {
    return tool({
        name: "read_through",
        title: "Read through the notes",
        description:
            "Goes through the notes one by one, slowly enough for the user to follow on the screen, and counts their words. It can be cancelled.",
        inputSchema: {
            type: "object",
            properties: {
                seconds: { type: "number", minimum: 0, maximum: 60, default: 1, description: "For each note" },
            },
        },
        annotations: { readOnlyHint: true, openWorldHint: false },
        handler: async ({ seconds = 1 }, { signal }) => {
            if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= 60)) {
                throw new ToolError("`seconds` must be a number from 0 to 60");
            }
            const words = [];
            for (const { id, text } of notes.all) {
                await point(notes, id, seconds, signal);
                words.push({ id, words: text.split(/\s+/u).filter(Boolean).length });
            }
            return { notes: words };
        },
    });
}

/** Shows the person which note is being read, for as long as it takes. Throws when nobody waits any more. */
async function point(notes: Notes, id: string, seconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    notes.reading = id;
    notes.changed();
    await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, seconds * 1_000);
        signal.addEventListener("abort", () => {
            clearTimeout(timer);
            resolve();
        });
    });
    // Another call may read another note by now.
    if (notes.reading === id) {
        notes.reading = undefined;
        notes.changed();
    }
    signal.throwIfAborted();
}

function checked(text: unknown): string {
    if (typeof text !== "string" || !text.trim() || text.length > LONGEST) {
        throw new ToolError(`\`text\` must be a string of 1 to ${LONGEST} characters`);
    }
    if (!isVisible(text)) {
        throw new ToolError("`text` must have a character that can be seen");
    }
    return text;
}

function found(notes: Notes, id: unknown): Note {
    const note = typeof id === "string" ? notes.find(id) : undefined;
    if (!note) {
        throw new ToolError("there is no note with this `id`: list the notes");
    }
    return note;
}
