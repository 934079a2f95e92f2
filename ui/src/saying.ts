/** What a question says above its answers. */

import type { Armed } from "./armed.svelte";
import { text } from "./text";

/** A sentence, how it is meant, and what to do about it. */
export interface Saying {
    readonly words: string;
    /** An answer came too early, or something is wrong. */
    readonly kind?: "wait" | "bad";
    readonly link?: { readonly words: string; go(): void };
}

/** What is said of an answer that came too early. */
export const EARLY: readonly Saying[] = [text.question.early, text.question.covered].map((words) => ({ words, kind: "wait" }));

/** Why the last answer was not taken. What is out of view goes before a yes that came too early, and after a no. */
export function refusal({ refused }: Pick<Armed<never>, "refused">, isOutOfView: boolean): Saying | undefined {
    return refused && !(refused.until === "allow" && isOutOfView) ? { words: refused.sentence, kind: refused.until ? "wait" : "bad" } : undefined;
}
