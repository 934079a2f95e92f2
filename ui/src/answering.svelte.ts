/** One question on its way to an answer, with the texts that it shows. */

import { Armed, type Report } from "./armed.svelte";
import type { AboutQuestion, AlsoFor, Answer, QuestionView } from "./desktop";
import type { InView } from "./inview";
import { AT_ONCE, Reading, utf8Bytes } from "./reading.svelte";

/** How long a page waits before it says once more that all was in view, when the app did not count it. */
const ANEW = 250;

export class Answering extends Armed<QuestionView> {
    /** The rest of the arguments is on its way. */
    reading = $state(false);
    /** The person asked for all of the arguments. */
    whole = $state(false);

    readonly arguments: Reading;
    readonly definition: Reading;

    constructor(readonly tell: (about: AboutQuestion) => Promise<Answer>) {
        super();
        this.arguments = new Reading((offset) => tell({ about: "text", part: "arguments", offset }));
        this.definition = new Reading((offset) => tell({ about: "text", part: "tool", offset }));
    }

    /** The arguments as far as they are shown. */
    get shownArguments(): string {
        return this.whole ? this.arguments.text : this.arguments.text.slice(0, AT_ONCE);
    }

    /** How many bytes that are, as the whole is counted. */
    get shownBytes(): number {
        return utf8Bytes(this.shownArguments);
    }

    get isAllShown(): boolean {
        return this.arguments.done && this.shownArguments.length === this.arguments.text.length;
    }

    /** Whether what stands longer than 15 minutes is offered: the app says so, and nothing of what it counts is hidden here. */
    get longer(): boolean {
        return this.view?.all_seen === true && this.isAllShown;
    }

    get always(): boolean {
        return this.view?.always === "offered" && this.longer;
    }

    /** The last round in which the app did not take it that all was in view. */
    #refused = -1;

    /** What was in view is to be counted anew: something lay on the window, or the question says something else. */
    anew: () => void = () => undefined;

    override take(view: QuestionView): void {
        const before = this.view;
        super.take(view);
        if (before && JSON.stringify({ ...before.question, ends: 0 }) !== JSON.stringify({ ...view.question, ends: 0 })) {
            this.anew();
        }
    }

    override async begun(answer: Answer): Promise<void> {
        await super.begun(answer);
        await this.arguments.more();
        if (this.arguments.fault !== undefined) {
            // Now it can be refused.
            await this.look();
        }
    }

    async readAll(): Promise<void> {
        this.reading = true;
        await this.arguments.all();
        this.reading = false;
        this.whole = this.arguments.done;
        await this.look();
    }

    decide(verdict: "allow" | "deny", also: AlsoFor): Promise<void> {
        return this.answer(verdict, () => this.tell({ about: "decide", fingerprint: this.view!.question.fingerprint, verdict, also }));
    }

    protected override report(about: Report): Promise<Answer> {
        return this.tell({ about });
    }

    protected override async reportInView({ first, all: counted, round }: InView): Promise<Answer> {
        // What was counted in a round that the app did not take is counted no second time.
        const all = counted && round > this.#refused;
        const answer = await this.tell({ about: "in_view", fingerprint: this.view!.question.fingerprint, first, all });
        if (all && this.viewIn(answer)?.all_seen === false) {
            this.#refused = round;
            setTimeout(() => this.anew(), ANEW);
        }
        return answer;
    }

    protected override viewIn(answer: Answer): QuestionView | undefined {
        return typeof answer === "object" && "question" in answer ? answer.question : undefined;
    }
}
