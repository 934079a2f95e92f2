/** One question on its way to an answer, with the texts that it shows. */

import { Armed } from "./armed.svelte";
import type { AboutQuestion, AlsoFor, Answer, QuestionView } from "./desktop";
import { AT_ONCE, Reading } from "./reading.svelte";

export class Answering extends Armed<QuestionView> {
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

    get isAllShown(): boolean {
        return this.arguments.done && this.shownArguments.length === this.arguments.text.length;
    }

    /** Whether "always" is offered: the app says so, and nothing that it counts as shown is hidden here. */
    get always(): boolean {
        return this.view?.always === "offered" && this.isAllShown;
    }

    async begin(): Promise<void> {
        await this.look();
        await this.arguments.more();
    }

    /** Takes what is told unasked. It may be about another window's question: this one is known by what was asked first. */
    hear(view: QuestionView): void {
        if (this.view) {
            this.take(view);
        }
    }

    async readAll(): Promise<void> {
        await this.arguments.all();
        this.whole = this.arguments.done;
        await this.look();
    }

    decide(verdict: "allow" | "deny", also: AlsoFor): Promise<void> {
        return this.answer(() => this.tell({ about: "decide", fingerprint: this.view!.question.fingerprint, verdict, also }));
    }

    protected override report(about: "look" | "painted" | "moved"): Promise<Answer> {
        return this.tell({ about });
    }

    protected override viewIn(answer: Answer): QuestionView | undefined {
        return typeof answer === "object" && "question" in answer ? answer.question : undefined;
    }
}
