/** The generated types under the names that the windows use. */

import type { Mode, Until } from "./bindings";

export type { ApplicationHead, BlockedAgent, CallHead, Ending, DoorQuestion, FinishedCall, Label, Mode, Pair, QuestionHead, Rule, Snapshot, Until } from "./bindings";

/** A mode and when it goes back to asking. */
export interface KnownMode {
    readonly mode: Mode;
    readonly until: Until;
}

/** The moment at which something ends, if it ends at one. */
export function endOf(until: Until): number | undefined {
    return typeof until === "object" ? until.at : undefined;
}
