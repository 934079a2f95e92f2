/** What is asked before something is done that cuts somebody off or cannot be taken back: it says what will happen. */

import type { Ask } from "./desktop";
import type { Label, Pair } from "./shapes";
import { text } from "./text";

export interface Confirmation {
    readonly title: string;
    /** The name that others chose of what it is about, on a line of its own. */
    readonly name?: string | null;
    /** What will happen, a sentence or two each. */
    readonly says: readonly string[];
    /** The button that does it. */
    readonly yes: string;
    readonly danger: boolean;
    /** Must be typed before it can be done. */
    readonly type?: string;
    readonly ask: Ask;
}

const { confirm } = text;

export function disconnect(application: string): Confirmation {
    return { ...confirm.disconnect(application), danger: false, ask: { ask: "disconnect", application } };
}

export function block(application: string): Confirmation {
    return {
        ...confirm.block(application),
        danger: true,
        ask: { ask: "set_mode", application, mode: "block", lasts: "always" },
    };
}

export function revokeAgent(application: string, label: Label | null): Confirmation {
    return {
        ...confirm.revokeAgent(application, label),
        danger: true,
        ask: { ask: "revoke", application, role: "agent", which: { label } },
    };
}

export function revokeClient(application: string, label: Label | null): Confirmation {
    return {
        ...confirm.revokeClient(application, label),
        danger: true,
        ask: { ask: "revoke", application, role: "client", which: { label } },
    };
}

export function revokeAgents(application: string): Confirmation {
    return { ...confirm.revokeAgents(application), danger: true, ask: { ask: "revoke", application, role: "agent", which: "all" } };
}

export function revokeClients(application: string): Confirmation {
    return { ...confirm.revokeClients(application), danger: true, ask: { ask: "revoke", application, role: "client", which: "all" } };
}

export function forgetPair({ host, application, verdict }: Pair): Confirmation {
    return { ...confirm.forgetPair(host, application, verdict === "allow"), danger: verdict === "allow", ask: { ask: "forget_pair", host, application } };
}

export function rotate(): Confirmation {
    return { ...confirm.rotate, danger: false, ask: { ask: "rotate" } };
}

export function dropOldSecrets(count: number): Confirmation {
    return { ...confirm.dropOld(count), danger: true, ask: { ask: "drop_old_secrets" } };
}

export function revokeAll(): Confirmation {
    return { ...confirm.revokeAll, danger: true, ask: { ask: "revoke_all" } };
}

export function forgetEverything(): Confirmation {
    return { ...confirm.forget, danger: true, ask: { ask: "forget_everything" } };
}
