/** An application's life: connect, serve, wait, connect again, until it ends. */

import { Alarm } from "./alarm.js";
import { Connection, type Purpose } from "./connection.js";
import { SUBPROTOCOL } from "./messages.js";
import { isAfterClick, permissionFor, withoutPermission } from "./permission.js";
import { Backoff, type Ending, next } from "./reconnect.js";
import type { SocketConstructor } from "./socket.js";
import type { Refusal, State } from "./state.js";
import { isOfferable, type TokenSource } from "./token.js";

/** Where and as whom it connects. */
export interface Address {
    readonly url: string;
    readonly token: TokenSource;
    readonly connectWhenPrompted: boolean;
    readonly WebSocket: SocketConstructor;
}

/** What a life needs to know, and where it says how things stand. */
export interface Surroundings extends Omit<Purpose, "ended"> {
    state(state: State): void;
}

/** What lasts from one connection to the next. */
export class Life {
    readonly #address: Address;
    readonly #surroundings: Surroundings;
    readonly #backoff = new Backoff();
    readonly #alarm = new Alarm();
    #connection: Connection | undefined;
    #permission: PermissionStatus | undefined;
    /** A person wants this connection: the browser may ask them for the permission, once. */
    #wanted = isAfterClick();
    /** A connection was tried, and none was accepted since. */
    #tried = false;
    /** A new token was fetched after a refusal, and the bridge has accepted none since. */
    #renewed = false;
    /** The token function has not given another token yet. */
    #tokenRefused = false;
    #takingOver = false;
    #closing = false;
    /** Ends whatever is waited for. */
    #nudge: () => void = () => undefined;

    constructor(address: Address, surroundings: Surroundings) {
        this.#address = address;
        this.#surroundings = surroundings;
    }

    /** Lives it. */
    async run(): Promise<void> {
        this.#permission = await permissionFor(this.#address.url);
        this.#permission?.addEventListener("change", () => {
            this.#connection?.hurry();
            this.#nudge();
        });
        for (;;) {
            const ended = await this.#untilEnded();
            this.#takingOver = false;
            this.#surroundings.state(ended);
            if (ended.status !== "replaced" || !(await this.#calledBack())) {
                return;
            }
            this.#accepted();
        }
    }

    /** The declaration has changed. */
    declared(): void {
        this.#connection?.register();
    }

    /** The program may have slept. */
    woke(): void {
        this.#connection?.woke();
        this.#nudge();
    }

    /** The browser may ask for the permission, once. */
    allow(): void {
        this.#wanted = true;
        this.#nudge();
    }

    /** Comes back after a replacement. */
    takeOver(): void {
        this.#takingOver = true;
        this.#nudge();
    }

    /** Ends it. */
    close(): void {
        this.#closing = true;
        this.#connection?.leave();
        this.#nudge();
    }

    /** Connects again and again, as long as that is right. */
    async #untilEnded(): Promise<State> {
        while (await this.#permitted()) {
            this.#surroundings.state({ status: "connecting" });
            const follows = next(await this.#connect(), typeof this.#address.token === "function" && !this.#renewed);
            if (typeof follows === "object") {
                return follows;
            }
            if (follows === "renew") {
                this.#renewed = this.#tokenRefused = true;
            }
            await this.#wait();
        }
        return { status: "closed" };
    }

    /** Waits until the browser lets us, or would ask a person who wants it; false when it is to end. */
    async #permitted(): Promise<boolean> {
        while (!this.#closing && !this.#mayConnect()) {
            this.#surroundings.state(withoutPermission(this.#permission!.state, this.#tried));
            await this.#pause();
        }
        return !this.#closing;
    }

    #mayConnect(): boolean {
        const state = this.#permission?.state ?? "granted";
        return state === "granted" || (state === "prompt" && (this.#wanted || this.#address.connectWhenPrompted));
    }

    /** One connection from beginning to end. */
    async #connect(): Promise<Ending> {
        let token: unknown;
        let failed = false;
        try {
            token = await this.#token();
        } catch {
            failed = true;
        }
        if (this.#closing) {
            return { how: "left" };
        }
        return failed ? { how: "lost" } : new Promise((ended) => this.#open(token ?? "", ended));
    }

    /** Its types promise a string. What JavaScript hands in is looked at. */
    #open(token: unknown, ended: (ending: Ending) => void): void {
        const refuse = (code: Refusal["code"], reason: string): void =>
            ended({ how: "refused", refusal: { code, reason } });
        if (token === "") {
            refuse("no-token", "there is no token");
            return;
        }
        if (typeof token !== "string") {
            refuse("token-text", `the token is no string but of the type ${typeof token}`);
            return;
        }
        if (!isOfferable(token)) {
            refuse("token-text", "the token begins with `clientmcp.` or holds a character that no token has");
            return;
        }
        const asks = this.#permission?.state === "prompt";
        this.#wanted = false;
        this.#tried = true;
        try {
            const socket = new this.#address.WebSocket(this.#address.url, [SUBPROTOCOL, token]);
            this.#connection = new Connection(socket, this.#purpose(ended), asks);
        } catch {
            // What was thrown is not shown: it may repeat the token.
            refuse("url", "the bridge's address is not usable here");
        }
    }

    #purpose(ended: (ending: Ending) => void): Purpose {
        const { declaration, accepted, failed } = this.#surroundings;
        return {
            declaration,
            failed,
            accepted: (revision) => {
                this.#accepted();
                accepted(revision);
            },
            ended: (ending) => {
                this.#connection = undefined;
                ended(ending);
            },
        };
    }

    /** The token to offer, or nothing; it throws when the function failed this time. */
    async #token(): Promise<unknown> {
        const { token } = this.#address;
        if (typeof token !== "function") {
            return token;
        }
        const closed = new Promise<string>((resolve) => (this.#nudge = () => this.#closing && resolve("")));
        const given = await Promise.race([token({ refused: this.#tokenRefused }), closed]);
        this.#tokenRefused = false;
        return given;
    }

    /** All is well: past failures count no more. */
    #accepted(): void {
        this.#backoff.reset();
        this.#renewed = this.#tried = false;
    }

    /** Waits for the next try. There is nothing to wait for where a person must act first. */
    async #wait(): Promise<void> {
        if (!this.#closing && this.#mayConnect()) {
            const nextTry = Date.now() + this.#backoff.next(Math.random());
            this.#surroundings.state({ status: "waiting", nextTry: new Date(nextTry) });
            await this.#pause(nextTry);
        }
    }

    /** Waits for an order after a replacement; false when it is to end. */
    async #calledBack(): Promise<boolean> {
        while (!this.#takingOver && !this.#closing) {
            await this.#pause();
        }
        if (this.#closing) {
            this.#surroundings.state({ status: "closed" });
        }
        return !this.#closing;
    }

    /** Waits for this time, or for anything that happens. */
    #pause(until?: number): Promise<void> {
        return new Promise((resolve) => {
            this.#nudge = () => {
                this.#alarm.clear();
                resolve();
            };
            if (until !== undefined) {
                this.#alarm.set(until, this.#nudge);
            }
        });
    }
}
