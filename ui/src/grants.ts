/** What lets calls through or keeps them out without a question, other than rules: modes and blocked agents. */

import { endOf, type Mode, type Rule, type Snapshot, type Until } from "./shapes";
import { text } from "./text";
import { left } from "./times";

export interface Grant {
    readonly application: string;
    readonly mode: Exclude<Mode, "ask">;
    readonly until: Until;
}

/** Modes in force, those that allow first. */
export function grantsOf({ modes }: Snapshot): Grant[] {
    const order: readonly Mode[] = ["allow_all", "ask_except_read_only", "block"];
    return modes
        .filter((one): one is Grant => one.mode !== "ask")
        .toSorted((a, b) => order.indexOf(a.mode) - order.indexOf(b.mode) || (a.application < b.application ? -1 : 1));
}

/** Rules, the ones that end soonest first, then the newest. */
export function rulesOf({ rules }: Snapshot, words: string): Rule[] {
    const wanted = words.trim().toLowerCase();
    const texts = ({ application, tool, agent }: Rule): string => `${application} ${tool} ${agentOf(agent) ?? ""}`.toLowerCase();
    return rules
        .filter((rule) => texts(rule).includes(wanted))
        .toSorted((a, b) => (endOf(a.until) ?? Infinity) - (endOf(b.until) ?? Infinity) || b.made - a.made);
}

/** The label of a rule's agent; none for any agent. */
export function agentOf(agent: Rule["agent"]): string | undefined {
    return agent === "any" ? undefined : (agent.one ?? text.agents.unlabelled);
}

export function untilWords(until: Until, now: number): string {
    if (typeof until === "object") {
        return text.times.left(left(until.at, now));
    }
    return until === "quit" ? text.approvals.untilQuit : text.approvals.always;
}

