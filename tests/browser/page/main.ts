/** A page that does nothing by itself: the tests write its script, with these. */

import { connect, storedToken, tool, ToolError } from "clientmcp";

/** What was sent on every connection, one list each. */
const sent: string[][] = [];

/** A WebSocket that keeps what is sent. */
class Recording extends WebSocket {
    readonly #sent: string[] = [];

    constructor(url: string, protocols: string[]) {
        super(url, protocols);
        sent.push(this.#sent);
    }

    override send(text: string): void {
        this.#sent.push(text);
        super.send(text);
    }
}

Object.assign(window, { connect, storedToken, tool, ToolError, sent, Recording });
