/** The one way out of the windows, and what comes in. No answer ever holds a token. */

import { invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";

import {
    DOOR_QUESTION_EVENT,
    FINISHED_EVENT,
    QUESTION_EVENT,
    VIEW_EVENT,
    type AboutQuestion,
    type Answer,
    type Ask,
    type DoorQuestionView,
    type FinishedCalls,
    type QuestionView,
    type RefusedCode,
    type View,
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

/** Hears what the main window is told. */
export async function hear({ view, finished }: Heard): Promise<void> {
    await Promise.all([
        listen<View>(VIEW_EVENT, ({ payload }) => view(payload)),
        listen<FinishedCalls>(FINISHED_EVENT, ({ payload }) => finished(payload)),
    ]);
}

/** Hears what the small window of a question is told. */
export function hearQuestion(question: (question: QuestionView) => void): Promise<unknown> {
    return listen<QuestionView>(QUESTION_EVENT, ({ payload }) => question(payload));
}

/** The same for a question at the local door. */
export function hearDoorQuestion(question: (question: DoorQuestionView) => void): Promise<unknown> {
    return listen<DoorQuestionView>(DOOR_QUESTION_EVENT, ({ payload }) => question(payload));
}

/** Why nothing was done, if that is the answer. */
export function refusedBy(answer: Answer): { code: RefusedCode; sentence: string } | undefined {
    return typeof answer === "object" && "refused" in answer ? { ...answer.refused, sentence: sentence(answer.refused.sentence) } : undefined;
}
