/** One question at the local door on its way to an answer. */

import { Armed, type Report } from "./armed.svelte";
import { askOf } from "./ask";
import type { AboutDoorQuestion, Answer, DoorQuestionView } from "./desktop";

export class AtDoor extends Armed<DoorQuestionView> {
    constructor(readonly tell: (about: AboutDoorQuestion) => Promise<Answer>) {
        super();
    }

    /** The one that this small window shows. */
    static here(): AtDoor {
        return new AtDoor((about) => askOf(about.about === "decide" ? { about: "decide_door", verdict: about.verdict } : about));
    }

    decide(verdict: "allow" | "deny"): Promise<void> {
        return this.answer(() => this.tell({ about: "decide", verdict }));
    }

    protected override report(about: Report): Promise<Answer> {
        return this.tell({ about });
    }

    protected override viewIn(answer: Answer): DoorQuestionView | undefined {
        return typeof answer === "object" && "door_question" in answer ? answer.door_question : undefined;
    }
}
