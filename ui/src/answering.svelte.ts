/**
 * One question on its way to an answer. The clock that arms the buttons runs in the app: what stands here follows it, so
 * that the buttons look as they are.
 */

import { refusedBy } from "./ask";
import type { AboutQuestion, AlsoFor, Answer, QuestionView } from "./desktop";
import { AT_ONCE, Reading } from "./reading.svelte";
import { text } from "./text";

export class Answering {
    view = $state.raw<QuestionView>();
    /** Something can be allowed, as far as is known here. */
    armed = $state(false);
    /** Nothing is left to answer. */
    closed = $state(false);
    /** An answer is on its way, or was taken. */
    answered = $state(false);
    /** Why an answer was not taken. */
    refused = $state<{ sentence: string; soft: boolean }>();
    /** The person asked for all of the arguments. */
    whole = $state(false);

    readonly arguments: Reading;
    readonly definition: Reading;
    #moves = 0;
    #arming: ReturnType<typeof setTimeout> | undefined;

    constructor(readonly tell: (about: AboutQuestion) => Promise<Answer>) {
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

    take(view: QuestionView): void {
        if (this.view && this.view.question.id !== view.question.id) {
            return;
        }
        this.view = view;
        clearTimeout(this.#arming);
        this.armed = view.armed_in === 0;
        if (view.armed_in !== null && view.armed_in > 0) {
            this.#arming = setTimeout(() => (this.armed = true), view.armed_in);
        }
        if (this.armed) {
            this.refused = undefined;
        }
    }

    async look(): Promise<void> {
        this.#took(await this.tell({ about: "look" }));
    }

    /** Reports that the question can be read now. */
    painted(): Promise<void> {
        return this.#report("painted");
    }

    /** Reports that the buttons moved; what moves in every frame is one report at a time, and one more at the end. */
    async moved(): Promise<void> {
        this.armed = false;
        this.#moves += 1;
        if (this.#moves > 1) {
            return;
        }
        for (let told = 0; told < this.#moves; ) {
            told = this.#moves;
            await this.#report("moved");
        }
        this.#moves = 0;
    }

    async #report(about: "painted" | "moved"): Promise<void> {
        const answer = await this.tell({ about });
        if (!this.#took(answer)) {
            await this.look();
        }
    }

    async readAll(): Promise<void> {
        await this.arguments.all();
        this.whole = this.arguments.done;
        await this.look();
    }

    async decide(verdict: "allow" | "deny", also: AlsoFor): Promise<void> {
        if (!this.view || this.answered) {
            return;
        }
        this.answered = true;
        const answer = await this.tell({ about: "decide", fingerprint: this.view.question.fingerprint, verdict, also });
        const refused = refusedBy(answer);
        if (!refused) {
            return;
        }
        this.answered = false;
        const soft = refused.code === "early";
        await this.look();
        this.refused = { sentence: soft ? text.question.early : refused.sentence, soft };
    }

    end(): void {
        clearTimeout(this.#arming);
    }

    /** True when the answer told how the question stands. */
    #took(answer: Answer): boolean {
        if (typeof answer === "object" && "question" in answer) {
            this.take(answer.question);
            return true;
        }
        const code = refusedBy(answer)?.code;
        if (typeof code === "object" && (code.bridge === "no_such_question" || code.bridge === "not_found")) {
            this.closed = true;
            return true;
        }
        return false;
    }
}
