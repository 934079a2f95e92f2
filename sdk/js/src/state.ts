/** Where an application stands, as one value. */

/** Where an application stands. `status` says which it is. */
export type State =
    | Connecting
    | Online
    | Waiting
    | Replaced
    | Refused
    | Closed
    | PermissionNeeded
    | PermissionDenied;

/** A connection is being made, or waits for the bridge to accept the declaration. */
export interface Connecting {
    readonly status: "connecting";
}

/** The bridge accepted token and declaration: agents can call. */
export interface Online {
    readonly status: "online";
}

/** There is no connection; the next try is at this time. */
export interface Waiting {
    readonly status: "waiting";
    readonly nextTry: Date;
}

/** A newer connection took this client ID. Only `takeOver()` comes back from here. */
export interface Replaced {
    readonly status: "replaced";
}

/** Refused for good. */
export interface Refused {
    readonly status: "refused";
    readonly refusal: Refusal;
}

/** Closed by the application. */
export interface Closed {
    readonly status: "closed";
}

/** The browser would ask the person for access to this machine. `allow()`, called on a click, lets it. */
export interface PermissionNeeded {
    readonly status: "permission-needed";
    /** What to do, for people. */
    readonly advice: string;
}

/** The person, or a policy, forbade this page the access to this machine. It comes back when that changes. */
export interface PermissionDenied {
    readonly status: "permission-denied";
    /** What to do, for people. */
    readonly advice: string;
}

/** What was refused. */
export interface Refusal {
    /**
     * `message`: the declaration or a message is wrong (close codes 4400 and 1007), a bug to fix. `token`: the bridge
     * does not take the token (4401). `token-text`: no handshake can hold the token. `no-token`: the token function
     * had none. `url`: the bridge's address is none, or the browser forbids it.
     */
    readonly code: "message" | "token" | "token-text" | "no-token" | "url";
    /** Why, in the bridge's words or ours. It is text and no HTML. */
    readonly reason: string;
}

/** True when nothing comes back from here. */
export function isFinal(state: State): boolean {
    return state.status === "refused" || state.status === "closed";
}

/** True when the application does not come back by itself. */
export function hasEnded(state: State): boolean {
    return state.status === "replaced" || isFinal(state);
}

/** True when nobody could tell the two apart. */
export function isSame(one: State, other: State): boolean {
    return JSON.stringify(one) === JSON.stringify(other);
}
