/** One question on its way to an answer, with the texts that it shows. */

import { Armed, type Report } from "./armed.svelte";
import type { AboutQuestion, AlsoFor, Answer, QuestionView } from "./desktop";
import { AT_ONCE, Reading, utf8Bytes } from "./reading.svelte";

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

    /** Whether "always" is offered: the app says so, and nothing that it counts as shown is hidden here. */
    get always(): boolean {
        return this.view?.always === "offered" && this.isAllShown;
    }

    override async begun(answer: Answer): Promise<void> {
        await super.begun(answer);
        await this.arguments.more();
    }

    async readAll(): Promise<void> {
        this.reading = true;
        await this.arguments.all();
        this.reading = false;
        this.whole = this.arguments.done;
        await this.look();
    }

    decide(verdict: "allow" | "deny", also: AlsoFor): Promise<void> {
        return this.answer(() => this.tell({ about: "decide", fingerprint: this.view!.question.fingerprint, verdict, also }));
    }

    protected override report(about: Report): Promise<Answer> {
        return this.tell({ about });
    }

    protected override viewIn(answer: Answer): QuestionView | undefined {
        return typeof answer === "object" && "question" in answer ? answer.question : undefined;
    }
}
