/** The one store of the main window. It is fed by whole views, and decides nothing: what follows from a view stands in
 * the pure functions beside it. */

import { ask, hear, refusedBy } from "./ask";
import type { Answer, Ask, FinishedCalls, Page, View } from "./desktop";
import type { FinishedCall, Snapshot } from "./bindings";
import type { Confirmation } from "./confirmations";
import { sentence } from "./text";

/** A finished call, with the run of the bridge that its number belongs to. */
export interface Finished extends FinishedCall {
    readonly run: number;
}

/** Finished calls that are kept to be looked at. */
const KEPT_CALLS = 1_000;
/** A sentence about what was done stays for so long. */
const SAID_FOR = 6_000;

export interface Said {
    readonly number: number;
    readonly sentence: string;
    readonly refused: boolean;
}

class Desktop {
    /** All there is to see; none before the app told anything. */
    view = $state.raw<View>();
    /** Finished calls, the newest first. */
    calls = $state.raw<readonly Finished[]>([]);
    /** The run of the bridge whose calls' texts can still be read. */
    run = $state(0);
    missed = $state(0);
    page = $state<Page>("applications");
    /** The application that the Applications page is about. */
    application = $state<string>();
    /** The clock, ticking once a second. */
    now = $state(Date.now());
    /** What was done or refused just now. */
    said = $state.raw<readonly Said[]>([]);
    confirming = $state.raw<Confirmation>();

    #wanted = 0;
    #sentences = 0;
    /** Counts views that were told unasked. */
    #heard = 0;

    get snapshot(): Snapshot | undefined {
        return this.view?.snapshot ?? undefined;
    }

    /** Begins to listen, and asks for what there is. The returned function ends the clock. */
    begin(): () => void {
        const clock = setInterval(() => (this.now = Date.now()), 1_000);
        void hear({ view: (view) => this.hear(view), finished: (calls) => this.takeFinished(calls) }).then(async () => {
            await this.#ask();
            this.#answered(await ask({ ask: "calls" }));
            void ask({ ask: "looking", page: this.page });
        });
        return () => clearInterval(clock);
    }

    /** Takes what is told unasked. */
    hear(view: View): void {
        this.#heard += 1;
        this.take(view);
    }

    take(view: View): void {
        this.view = view;
        this.now = Date.now();
        const [page, number] = view.wanted;
        if (number > this.#wanted) {
            this.#wanted = number;
            this.open(page);
        }
    }

    takeFinished({ run, calls, missed }: FinishedCalls): void {
        this.run = Math.max(this.run, run);
        this.missed += missed;
        const had = new Set(this.calls.filter((call) => call.run === run).map(({ call }) => call.number));
        const fresh = calls.filter(({ call }) => !had.has(call.number)).map((call) => ({ ...call, run }));
        if (fresh.length > 0) {
            this.calls = [...fresh.toReversed(), ...this.calls]
                .toSorted((a, b) => b.run - a.run || b.call.number - a.call.number)
                .slice(0, KEPT_CALLS);
        }
    }

    open(page: Page): void {
        if (this.page !== page) {
            this.page = page;
            void ask({ ask: "looking", page });
        }
    }

    /** Asks, and says what came of it where there is something to say. True when it was done. */
    async do(what: Ask): Promise<boolean> {
        const answer = await ask(what);
        this.#answered(answer);
        const refused = refusedBy(answer);
        if (refused) {
            this.say(refused.sentence, true);
        } else if (what.ask === "forget_everything") {
            [this.calls, this.missed] = [[], 0];
        } else if (typeof answer === "object" && "copied" in answer) {
            this.say(sentence(answer.copied.sentence), false);
        }
        return refused === undefined;
    }

    say(sentence: string, refused: boolean): void {
        const said = { number: (this.#sentences += 1), sentence, refused };
        this.said = [...this.said.filter((before) => before.sentence !== sentence), said].slice(-3);
        // What went wrong stays until it was read.
        if (!refused) {
            setTimeout(() => this.unsay(said.number), SAID_FOR);
        }
    }

    unsay(number: number): void {
        this.said = this.said.filter((said) => said.number !== number);
    }

    /** Forgets everything: for tests, which share the one store. */
    clear(): void {
        [this.view, this.calls, this.said] = [undefined, [], []];
        [this.page, this.application, this.confirming] = ["applications", undefined, undefined];
        [this.run, this.missed, this.#wanted] = [0, 0, 0];
    }

    /** Asks for all there is. What is told meanwhile may come on a shorter way, and is newer: no two equal ones follow
     * each other, so that an older one would stay. */
    async #ask(): Promise<void> {
        const heard = this.#heard;
        const answer = await ask({ ask: "view" });
        const refused = refusedBy(answer);
        if (refused) {
            this.say(refused.sentence, true);
        } else if (this.#heard === heard) {
            this.#answered(answer);
        }
    }

    #answered(answer: Answer): void {
        if (typeof answer === "object" && "view" in answer) {
            this.take(answer.view);
        } else if (typeof answer === "object" && "calls" in answer) {
            this.takeFinished(answer.calls);
        }
    }
}

export const desktop = new Desktop();
