/** One question at the local door on its way to an answer. */

import { Armed, type Report } from "./armed.svelte";
import { ask } from "./ask";
import type { Answer, DoorQuestionView } from "./desktop";
import type { InView } from "./inview";

export class AtDoor extends Armed<DoorQuestionView> {
    constructor(readonly id: string) {
        super();
    }

    decide(verdict: "allow" | "deny"): Promise<void> {
        return this.answer(() => ask({ ask: "door_question", id: this.id, about: { about: "decide", verdict } }));
    }

    protected override report(about: Report): Promise<Answer> {
        return ask({ ask: "door_question", id: this.id, about: { about } });
    }

    protected override reportInView({ first, all }: InView): Promise<Answer> {
        return ask({ ask: "door_question", id: this.id, about: { about: "in_view", all: first && all } });
    }

    protected override viewIn(answer: Answer): DoorQuestionView | undefined {
        return typeof answer === "object" && "door_question" in answer ? answer.door_question : undefined;
    }
}
