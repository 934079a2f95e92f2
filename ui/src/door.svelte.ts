/** One question at the local door on its way to an answer. */

import { Armed, type Report } from "./armed.svelte";
import { askOf } from "./ask";
import type { AboutDoorQuestion, AboutQuestion, Answer, DoorQuestionView } from "./desktop";
import type { InView } from "./inview";

export class AtDoor extends Armed<DoorQuestionView> {
    constructor(readonly tell: (about: AboutDoorQuestion) => Promise<Answer>) {
        super();
    }

    /** The one that this small window shows. */
    static here(): AtDoor {
        return new AtDoor((about) => askOf(ofDoor(about)));
    }

    decide(verdict: "allow" | "deny"): Promise<void> {
        return this.answer(verdict, () => this.tell({ about: "decide", verdict }));
    }

    protected override report(about: Report): Promise<Answer> {
        return this.tell({ about });
    }

    protected override reportInView({ first, all }: InView): Promise<Answer> {
        return this.tell({ about: "in_view", all: first && all });
    }

    protected override viewIn(answer: Answer): DoorQuestionView | undefined {
        return typeof answer === "object" && "door_question" in answer ? answer.door_question : undefined;
    }
}

/** What the small window of a question says of one at the local door. */
function ofDoor(about: AboutDoorQuestion): AboutQuestion {
    switch (about.about) {
        case "decide":
            return { about: "decide_door", verdict: about.verdict };
        case "in_view":
            return { about: "door_in_view", all: about.all };
        default:
            return about;
    }
}
