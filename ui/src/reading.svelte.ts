/** A long text, read from the app piece by piece and in order. */

import { refusedBy } from "./ask";
import type { Answer } from "./desktop";

/** UTF-16 units of a text that are shown at once; the rest is shown on request. */
export const AT_ONCE = 65_536;

export class Reading {
    /** What was read so far. */
    text = $state.raw("");
    /** The whole text's bytes; 0 until something was read. */
    bytes = $state(0);
    /** All of it was read. */
    done = $state(false);
    /** Why no more can be read. */
    fault = $state<string>();
    /** Bytes that were read. */
    read = $state(0);

    #pieces: string[] = [];
    #busy: Promise<void> | undefined;

    constructor(readonly piece: (offset: number) => Promise<Answer>) {}

    /** Reads one more piece. */
    more(): Promise<void> {
        this.#busy ??= this.#more().finally(() => (this.#busy = undefined));
        return this.#busy;
    }

    /** Reads to the end. */
    async all(): Promise<this> {
        while (!this.done && this.fault === undefined) {
            await this.#more(false);
        }
        this.#join();
        return this;
    }

    async #more(join = true): Promise<void> {
        const answer = await this.piece(this.read);
        const refused = refusedBy(answer);
        if (refused || typeof answer !== "object" || !("text" in answer)) {
            this.fault = refused?.sentence ?? "";
            return;
        }
        const { piece, bytes } = answer.text;
        this.#pieces.push(piece);
        this.read += utf8Bytes(piece);
        this.bytes = bytes;
        this.done = piece === "" || this.read >= bytes;
        if (join) {
            this.#join();
        }
    }

    #join(): void {
        this.text = this.#pieces.join("");
    }
}

export function utf8Bytes(text: string): number {
    return new TextEncoder().encode(text).length;
}
