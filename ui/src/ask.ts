/** The one way out of the windows, and what comes in. No answer ever holds a token. */

import { Channel, invoke } from "@tauri-apps/api/core";

import type {
    AboutQuestion,
    Answer,
    Ask,
    DoorQuestionView,
    FinishedCalls,
    QuestionView,
    RefusedCode,
    TellMain,
    TellQuestion,
    View,
} from "./desktop";
import { sentence, text } from "./text";

/** Asks the app. What goes wrong on the way is an answer too, so that no button fails in silence. */
export function ask(ask: Ask): Promise<Answer> {
    return call("ask", { ask });
}

/** Asks about the question that this small window shows. */
export function askOf(about: AboutQuestion): Promise<Answer> {
    return call("ask_of", { about });
}

async function call(command: string, words: Record<string, unknown>): Promise<Answer> {
    try {
        return await invoke<Answer>(command, words);
    } catch {
        return { refused: { code: "system", sentence: text.app.unreachable } };
    }
}

export interface Heard {
    view(view: View): void;
    finished(calls: FinishedCalls): void;
}

/** Hears what the main window is told, through a channel that is this page's own. */
export function hear({ view, finished }: Heard): Promise<unknown> {
    return listen("hear", (told: TellMain) => ("view" in told ? view(told.view) : finished(told.finished)));
}

export interface HeardOf {
    question(view: QuestionView): void;
    doorQuestion(view: DoorQuestionView): void;
}

/** Hears what the small window of this question is told. */
export function hearOf({ question, doorQuestion }: HeardOf): Promise<unknown> {
    return listen("hear_of", (told: TellQuestion) => ("question" in told ? question(told.question) : doorQuestion(told.door_question)));
}

/** A window that cannot listen still asks: what it shows is what it is answered. */
function listen<Told>(command: string, hear: (told: Told) => void): Promise<unknown> {
    return invoke(command, { tell: new Channel<Told>(hear) }).catch(() => undefined);
}

/** Why nothing was done, if that is the answer. */
export function refusedBy(answer: Answer): { code: RefusedCode; sentence: string } | undefined {
    return typeof answer === "object" && "refused" in answer ? { ...answer.refused, sentence: sentence(answer.refused.sentence) } : undefined;
}
