/** What can go wrong, in words that hold no token and no argument. */

import type { State } from "./state.js";

/**
 * Why a call failed, written for the agent: it reads the message and may try again. Throw it from a handler.
 *
 * Of any other exception the agent learns only that the tool failed. Its text was written for a developer and may hold
 * paths or secrets; what an agent reads is for the application to choose.
 */
export class ToolError extends Error {
    override name = "ToolError";
}

/** The application does not come back by itself: it was replaced, refused or closed. */
export class EndedError extends Error {
    override name = "EndedError";

    /** Where the application stands. */
    readonly state: State;

    /** @internal */
    constructor(state: State) {
        const reason = state.status === "refused" ? state.refusal.reason : "";
        super(`the application is ${state.status}${reason && `: ${reason}`}`);
        this.state = state;
    }
}
