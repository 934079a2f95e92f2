/** Where an application stands, as one value. */

/** Where an application stands. `status` says which it is. */
export type State =
    /** A connection is being made, or waits for the bridge to accept the declaration. */
    | { readonly status: "connecting" }
    /** The bridge accepted token and declaration: agents can call. */
    | { readonly status: "online" }
    /** There is no connection; the next try is at this time. */
    | { readonly status: "waiting"; readonly nextTry: Date }
    /** A newer connection took this client ID. Only `takeOver()` comes back from here. */
    | { readonly status: "replaced" }
    /** Refused for good. */
    | { readonly status: "refused"; readonly refusal: Refusal }
    /** Closed by the application. */
    | { readonly status: "closed" }
    /** The browser would ask the person; `allow()`, called on a click, lets it. `advice` is for people. */
    | { readonly status: "permission-needed"; readonly advice: string }
    /** The person, or a policy, forbade it. It comes back when that changes. `advice` is for people. */
    | { readonly status: "permission-denied"; readonly advice: string };

/** What was refused. */
export interface Refusal {
    /**
     * `message`: the declaration or a message is wrong (close codes 4400 and 1007), a bug to fix. `token`: the bridge
     * does not take the token (4401). `token-text`: no handshake can hold the token, or it is no string. `no-token`: the token function
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
