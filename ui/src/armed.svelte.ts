/**
 * Something on its way to a yes or a no. The clock that arms the buttons runs in the app: what stands here follows it, so
 * that the buttons look as they are.
 */

import { refusedBy } from "./ask";
import type { Answer } from "./desktop";
import type { InView } from "./inview";
import { text } from "./text";

/** What the app tells of it. */
interface Told {
    readonly question: { readonly id: string };
    /** Milliseconds until something can be allowed; none while the clock stands. */
    readonly armed_in: number | null;
    /** The same for a no. */
    readonly deny_in: number | null;
}

type Verdict = "allow" | "deny";

/** What is told of it without an answer. */
export type Report = "begin" | "look" | "painted" | "moved";

export abstract class Armed<View extends Told> {
    view = $state.raw<View>();
    /** Which answers count now, as far as is known here. */
    counts = $state<Record<Verdict, boolean>>({ allow: false, deny: false });
    /** Nothing is left to answer. */
    closed = $state(false);
    /** An answer is on its way, or was taken. */
    answered = $state(false);
    /** Why an answer was not taken. One that came too early: until such an answer counts. */
    refused = $state<{ sentence: string; until: Verdict | undefined }>();
    /** What of it is in view here, as it was measured last; a round below 0 before that. */
    seen = $state.raw<InView>({ first: false, all: false, round: -1 });

    #untold: InView | undefined;
    #telling = false;
    #moves = 0;
    #clocks: Partial<Record<Verdict, ReturnType<typeof setTimeout>>> = {};

    /** Tells the app that, and hears how the question stands. */
    protected abstract report(about: Report): Promise<Answer>;

    /** Tells the app what of it is in view, and hears how the question stands. */
    protected abstract reportInView(seen: InView): Promise<Answer>;

    protected abstract viewIn(answer: Answer): View | undefined;

    take(view: View): void {
        if (this.view && this.view.question.id !== view.question.id) {
            return;
        }
        this.view = view;
        this.#countsIn("allow", view.armed_in);
        this.#countsIn("deny", view.deny_in);
    }

    #countsIn(verdict: Verdict, left: number | null): void {
        clearTimeout(this.#clocks[verdict]);
        this.counts[verdict] = left === 0;
        if (left === 0 && this.refused?.until === verdict) {
            this.refused = undefined;
        } else if (left !== null && left > 0) {
            this.#clocks[verdict] = setTimeout(() => this.#countsIn(verdict, 0), left);
        }
    }

    /** Nothing counts until the app says so. */
    #stop(): void {
        clearTimeout(this.#clocks.allow);
        clearTimeout(this.#clocks.deny);
        this.counts = { allow: false, deny: false };
    }

    /** Once, by whoever begins to show it: the app may have armed it for a card that showed it before this one. */
    async begin(): Promise<void> {
        await this.begun(await this.report("begin"));
    }

    /** The same where somebody else asked, to see what it is. */
    async begun(answer: Answer): Promise<void> {
        this.#took(answer);
    }

    /** Takes what is told unasked. It may be about another window's question: this one is known by what was asked first. */
    hear(view: View): void {
        if (this.view) {
            this.take(view);
        }
    }

    async look(): Promise<void> {
        this.#took(await this.report("look"));
    }

    /** Looks again and again, since nothing may tell that the clock stands or goes on. The returned function ends it. */
    watch(): () => void {
        const looking = setInterval(() => !this.closed && void this.look(), 1_000);
        return () => {
            clearInterval(looking);
            this.#stop();
        };
    }

    /** Reports that the question can be read now. */
    painted(): Promise<void> {
        return this.#tell("painted");
    }

    /** Reports that the buttons moved; what moves in every frame is one report at a time, and one more at the end. */
    async moved(): Promise<void> {
        this.#stop();
        this.#moves += 1;
        if (this.#moves > 1) {
            return;
        }
        for (let told = 0; told < this.#moves; ) {
            told = this.#moves;
            await this.#tell("moved");
        }
        this.#moves = 0;
    }

    /** Reports what is in view: one report at a time, and the newest at the end. */
    async inView(seen: InView): Promise<void> {
        this.seen = seen;
        this.counts.allow &&= seen.first;
        this.#untold = seen;
        if (this.#telling) {
            return;
        }
        this.#telling = true;
        for (let next: InView | undefined = seen; next; next = this.#untold) {
            this.#untold = undefined;
            if (!this.#took(await this.reportInView(next))) {
                await this.look();
            }
        }
        this.#telling = false;
    }

    /** Hands on an answer, once, and says why it was not taken. */
    protected async answer(verdict: Verdict, ask: () => Promise<Answer>): Promise<void> {
        if (!this.view || this.answered) {
            return;
        }
        this.answered = true;
        const refused = refusedBy(await ask());
        if (!refused) {
            return;
        }
        this.answered = false;
        await this.look();
        const soft = { early: text.question.early, covered: text.question.covered }[`${refused.code}`];
        this.refused = { sentence: soft ?? refused.sentence, until: soft === undefined ? undefined : verdict };
    }

    async #tell(about: "painted" | "moved"): Promise<void> {
        if (!this.#took(await this.report(about))) {
            await this.look();
        }
    }

    /** True when the answer told how the question stands. */
    #took(answer: Answer): boolean {
        const view = this.viewIn(answer);
        if (view) {
            this.take(view);
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
