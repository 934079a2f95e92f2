/** How calls end, by code: in words, with a tone and a shape, since not everybody tells colours apart. */

import type { CallHead, Ending } from "./shapes";
import type { Finished } from "./state.svelte";
import { text } from "./text";

export type Tone = "good" | "bad" | "warn" | "quiet" | "busy";
export type Shape = "dot" | "ring" | "square" | "diamond" | "bar" | "triangle";

export interface Outcome {
    /** A stable name, to filter by. */
    readonly code: string;
    readonly name: string;
    /** What it means for the application. */
    readonly means: string;
    readonly tone: Tone;
    readonly shape: Shape;
}

const LOOKS: Record<string, [Tone, Shape]> = {
    answered: ["good", "dot"],
    failed: ["bad", "diamond"],
    unknown_tool: ["bad", "diamond"],
    declined: ["quiet", "bar"],
    blocked: ["quiet", "bar"],
    paused: ["quiet", "bar"],
    cancelled: ["quiet", "ring"],
    offline: ["warn", "square"],
    unanswered: ["warn", "square"],
    unattended: ["warn", "square"],
    changed: ["warn", "square"],
    busy: ["warn", "square"],
    disconnected: ["bad", "triangle"],
    timeout: ["bad", "triangle"],
    unresponsive: ["bad", "triangle"],
    waiting: ["warn", "ring"],
    running: ["busy", "ring"],
};

export function outcomeOf(ending: Ending): Outcome {
    return looked(typeof ending === "object" ? ending.code : ending);
}

function looked(code: string): Outcome {
    const [tone, shape] = LOOKS[code] ?? ["warn", "square"];
    const words = text.outcomes[code as keyof typeof text.outcomes];
    return { code, name: words?.[0] ?? code, means: words?.[1] ?? "", tone, shape };
}

/** A call of the list: under way or finished. */
export interface Line {
    readonly key: string;
    readonly call: CallHead;
    readonly outcome: Outcome;
    /** While it is under way. */
    readonly live: boolean;
    readonly finished: Finished | undefined;
}

/** The calls under way and the finished ones, the newest first. */
export function linesOf(live: readonly CallHead[], finished: readonly Finished[], run: number): Line[] {
    const over = finished.map((one) => ({
        key: `${one.run}/${one.call.number}`,
        call: one.call,
        outcome: outcomeOf(one.outcome),
        live: false,
        finished: one,
    }));
    // That a call ended may be told before the view without it.
    const ended = new Set(over.map(({ key }) => key));
    const under = live.toReversed().map((call) => ({
        key: `${run}/${call.number}`,
        call,
        outcome: looked(call.sent === null ? "waiting" : "running"),
        live: true,
        finished: undefined,
    }));
    return [...under.filter(({ key }) => !ended.has(key)), ...over];
}

export interface Filter {
    readonly words: string;
    readonly application: string;
    readonly outcome: string;
}

export function filtered(lines: readonly Line[], { words, application, outcome }: Filter): Line[] {
    const wanted = words.trim().toLowerCase();
    return lines.filter(({ call, outcome: own }) => {
        const texts = [call.application, call.tool, call.agent ?? text.agents.unlabelled, `${call.number}`];
        return (
            (application === "" || call.application === application) &&
            (outcome === "" || own.code === outcome) &&
            (wanted === "" || texts.some((one) => one.toLowerCase().includes(wanted)))
        );
    });
}
