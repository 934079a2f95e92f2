/** When to ping and when a connection counts as dead. It reads no clock: it is told the time. */

import { ANSWER, IDLE } from "./limits.js";

/** The state of one connection. */
export class Pings {
    #sent: number;
    #heard: number;
    /** When the oldest ping was sent after which nothing has arrived. */
    #asked: number | undefined;
    /** A ping was sent again, since the answer to the first may have been slept through. */
    #excused = false;

    constructor(now: number) {
        this.#sent = now;
        this.#heard = now;
    }

    /** Anything arrived. */
    heard(now: number): void {
        this.#heard = now;
        this.#asked = undefined;
        this.#excused = false;
    }

    /** A message was sent. */
    sent(now: number): void {
        this.#sent = now;
    }

    /** A ping was sent. */
    asked(now: number): void {
        this.#sent = now;
        this.#asked ??= now;
    }

    /** When to look again. */
    deadline(): number {
        return this.#asked === undefined ? Math.min(this.#sent, this.#heard) + IDLE : this.#asked + ANSWER;
    }

    /** What is due now. */
    due(now: number): "nothing" | "ping" | "dead" {
        if (now < this.deadline()) {
            return "nothing";
        }
        return this.#asked === undefined ? "ping" : "dead";
    }

    /** The program has slept, and so may the connection have: ask, and once more where the answer was slept through. */
    woke(now: number): "nothing" | "ping" | "dead" {
        if (this.#asked === undefined) {
            return "ping";
        }
        if (this.due(now) === "nothing" || this.#excused) {
            return this.due(now);
        }
        this.#excused = true;
        this.#asked = undefined;
        return "ping";
    }
}
