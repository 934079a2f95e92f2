/** Applications and their agents, as they follow from a view: connected ones first, each list in a steady order. */

import type { ApplicationHead, BlockedAgent, KnownMode, Label } from "./shapes";
import type { KnownLabel, View } from "./desktop";

export interface Holder {
    readonly label: Label | null;
    readonly lastUse: number | null;
    /** When the last of its tokens ends; none when one never does, and undefined when no token is known. */
    readonly end: number | null | undefined;
    readonly blocked: BlockedAgent | undefined;
}

export interface Application {
    readonly id: string;
    /** While it is connected. */
    readonly head: ApplicationHead | undefined;
    readonly lastSeen: number | null;
    readonly mode: KnownMode;
    readonly agents: readonly Holder[];
    readonly clients: readonly Holder[];
    readonly origins: readonly string[];
    /** How many of its questions wait. */
    readonly waiting: number;
}

export function applicationsOf({ snapshot, known, pins }: View): Application[] {
    const heads = new Map(snapshot?.applications.map((head) => [head.id, head]));
    const before = new Map(known.map((one) => [one.application, one]));
    const ids = new Set([
        ...heads.keys(),
        ...before.keys(),
        ...(snapshot?.blocked ?? []).map(({ application }) => application),
        ...(snapshot?.modes ?? []).map(({ application }) => application),
        ...pins.map(({ application }) => application),
    ]);
    const byName = (a: string, b: string): number => Number(heads.has(b)) - Number(heads.has(a)) || (a < b ? -1 : 1);
    return [...ids].sort(byName).map((id) => {
        const labels = before.get(id)?.labels ?? [];
        const mode = snapshot?.modes.find(({ application }) => application === id);
        return {
            id,
            head: heads.get(id),
            lastSeen: before.get(id)?.last_seen ?? null,
            mode: { mode: mode?.mode ?? "ask", until: mode?.until ?? "always" },
            agents: holders(labels, "agent", snapshot?.blocked.filter(({ application }) => application === id) ?? []),
            clients: holders(labels, "client", []),
            origins: pins.find(({ application }) => application === id)?.origins ?? [],
            waiting: snapshot?.questions.filter(({ application }) => application === id).length ?? 0,
        };
    });
}

function holders(labels: readonly KnownLabel[], role: KnownLabel["role"], blocked: readonly BlockedAgent[]): Holder[] {
    const known = labels.filter((one) => one.role === role).map(({ label, last_use, end }) => ({
        label,
        lastUse: last_use,
        end,
        blocked: blocked.find((one) => one.label === label),
    }));
    const others = blocked.filter(({ label }) => !known.some((one) => one.label === label));
    return [...known, ...others.map((one) => ({ label: one.label, lastUse: null, end: undefined, blocked: one }))];
}
