/** The app, as far as the windows see it: what they ask is kept, and answered from a fixture. */

import type { Channel } from "@tauri-apps/api/core";

import type { AboutQuestion, Answer, Ask } from "../../src/desktop";
import * as fixture from "./fixture";

type Handler = (told: { message: unknown; index: number }) => void;

/** Where a window listens: by which command, and how much it was told there. */
interface Ear {
    readonly command: string;
    readonly callback: number;
    told: number;
}

export class FakeApp {
    /** What was asked, in order, but for what every window asks at its start. */
    readonly asked: (Ask | AboutQuestion)[] = [];
    view = fixture.view;
    finished = fixture.finished(60);
    question = fixture.questionView();
    arguments = fixture.ARGUMENTS;
    /** When somebody at the local door can be let in. */
    doorArmedIn: number | null = 0;
    /** And refused. */
    doorDenyIn: number | null = 0;
    /** What is answered instead. */
    instead: (what: Ask | AboutQuestion) => Answer | undefined = () => undefined;

    readonly #callbacks = new Map<number, Handler>();
    readonly #ears: Ear[] = [];
    #ids = 0;

    /** Stands in for the app in this page. */
    install(page: Record<string, unknown>): void {
        page["__TAURI_INTERNALS__"] = {
            transformCallback: (callback: Handler) => {
                this.#callbacks.set((this.#ids += 1), callback);
                return this.#ids;
            },
            unregisterCallback: (id: number) => this.#callbacks.delete(id),
            invoke: (command: string, words: Record<string, unknown>) => this.#invoke(command, words),
        };
    }

    /** Tells the main window a view or finished calls, or the small window its question. */
    emit(what: "view" | "finished" | "question" | "door_question", told: unknown): void {
        const [command, message] = [what.endsWith("question") ? "hear_of" : "hear", { [what]: told }] as const;
        for (const ear of this.#ears.filter((ear) => ear.command === command)) {
            this.#callbacks.get(ear.callback)?.({ message, index: ear.told++ });
        }
    }

    async #invoke(command: string, words: Record<string, unknown>): Promise<unknown> {
        if (command === "hear" || command === "hear_of") {
            const channel = (words["tell"] as Channel<unknown>).toJSON();
            this.#ears.push({ command, callback: Number(channel.replace("__CHANNEL__:", "")), told: 0 });
            return null;
        }
        if (command === "ask" || command === "ask_of") {
            const what = (words["ask"] ?? words["about"]) as Ask | AboutQuestion;
            this.asked.push(what);
            return this.instead(what) ?? ("ask" in what ? this.#ask(what) : this.#about(what));
        }
        throw new Error(`no such command: ${command}`);
    }

    #ask(ask: Ask): Answer {
        switch (ask.ask) {
            case "view":
                return { view: this.view };
            case "calls":
                return { calls: this.finished };
            case "text":
                return this.#text(ask.text, ask.offset);
            case "question":
                return this.#about(ask.about, ask.id);
            case "door_question": {
                const question = this.view.snapshot?.door_questions.find((one) => one.id === ask.id);
                return ask.about.about === "decide" ? "done" : question ? { door_question: { question, armed_in: this.doorArmedIn, deny_in: this.doorDenyIn, others: 0, theme: "system" } } : { refused: { code: { bridge: "no_such_question" }, sentence: "It is gone." } };
            }
            case "snippets":
                return { snippets: fixture.snippets };
            case "diagnostics":
                return { diagnostics: "ClientMCP Desktop 0.1.0\nbridge 0.1.0, port 27182\nkeychain: secret service\n" };
            case "try_tool":
                return { tried: { outcome: "answered", number: 1_050 } };
            case "copy_url":
            case "copy_token":
            case "copy_snippet":
            case "copy_diagnostics":
                return { copied: { sentence: "Copied. The clipboard is cleared after 90 seconds. The token ends on 27 February 2027." } };
            default:
                return "done";
        }
    }

    #text(of: Extract<Ask, { ask: "text" }>["text"], offset: number): Answer {
        if (of.of === "application") {
            return piece(of.part === "tools" ? fixture.TOOLS : fixture.INSTRUCTIONS, offset);
        }
        return piece(of.part === "result" ? fixture.RESULT : fixture.ARGUMENTS, offset);
    }

    #about(about: AboutQuestion, id?: string): Answer {
        switch (about.about) {
            case "text":
                return about.part === "tool" ? piece(fixture.TOOL, about.offset) : piece(this.arguments, about.offset, 65_536);
            case "begin":
            case "look":
            case "in_view":
                return { question: { ...this.question, question: this.view.snapshot?.questions.find((one) => one.id === id) ?? this.question.question } };
            default:
                return "done";
        }
    }
}

/** Cut as the app and the bridge do: never within a character. */
function piece(text: string, offset: number, most = 262_144): Answer {
    const bytes = new TextEncoder().encode(text);
    let end = Math.min(offset + most, bytes.length);
    while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) {
        end -= 1;
    }
    return { text: { piece: new TextDecoder().decode(bytes.slice(offset, end)), bytes: bytes.length } };
}
