/** Whose word an agent's name is: the person's, who gave out a token under it, or that of a host that came in without one. */

import type { Via } from "./bindings";
import type { View } from "./desktop";
import type { Label, Pair } from "./shapes";

/** `both`: what holds for the name holds for who has a token with it, and for a host that came in under it. */
export type Came = "token" | "door" | "both" | "unknown";

/** Of one call: the bridge knows. An agent whose token has no label has no name, whose word it could be. */
export function cameBy(via: Via | null, agent: Label | null): Came {
    return via === "door" ? "door" : via === "token" && agent !== null ? "token" : "unknown";
}

/** Of a rule or a block, which hold for a name, however it comes. */
export function cameUnder({ snapshot, known }: View, application: string, label: Label | null): Came {
    const hasToken = known.some((one) => one.application === application && one.labels.some((held) => held.role === "agent" && held.label === label));
    const isLetIn = pairsOf(snapshot?.pairs ?? [], application).some(({ host, verdict }) => host === label && verdict === "allow");
    return label === null ? "unknown" : isLetIn ? (hasToken ? "both" : "door") : hasToken ? "token" : "unknown";
}

/** What was said of hosts at the local door, for one application: of it alone first, then of all. */
export function pairsOf(pairs: readonly Pair[], application: string): Pair[] {
    return [application, null].flatMap((whose) => pairs.filter((pair) => pair.application === whose));
}
