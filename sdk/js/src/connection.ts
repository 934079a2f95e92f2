/** One connection, from its handshake to its end: `register`, calls, pings. It never reconnects. */

import { Alarm } from "./alarm.js";
import { failure, run } from "./answer.js";
import type { Declaration } from "./declaration.js";
import { CLOSE, HANDSHAKE } from "./limits.js";
import { type Message, PING, SUBPROTOCOL, read, result } from "./messages.js";
import { Pings } from "./pings.js";
import type { Ending } from "./reconnect.js";
import { OPEN, type Socket } from "./socket.js";
import type { Call } from "./tool.js";

/** What a connection is for. */
export interface Purpose {
    /** The newest declaration. */
    declaration(): Declaration;
    /** The bridge accepted the declaration of this revision. */
    accepted(revision: number): void;
    /** It is over. */
    ended(ending: Ending): void;
    /** A handler failed in a way that no agent is told. */
    failed(error: unknown, call: Call): void;
}

/** One connection. */
export class Connection {
    readonly #socket: Socket;
    readonly #purpose: Purpose;
    readonly #alarm = new Alarm();
    readonly #calls = new Map<string, AbortController>();
    #pings: Pings | undefined;
    /** Sent, and not accepted yet: one at a time. */
    #inFlight: Declaration | undefined;
    /** Accepted by the bridge: calls are for its tools, since the bridge answers a `register` in order. */
    #inForce: Declaration | undefined;

    /** `asks`: the browser is about to ask a person, who takes their time. */
    constructor(socket: Socket, purpose: Purpose, asks: boolean) {
        this.#socket = socket;
        this.#purpose = purpose;
        socket.onopen = () => this.#opened();
        socket.onmessage = ({ data }: { data: unknown }) => this.#heard(data);
        socket.onclose = ({ code, reason }: { code: number; reason: string }) =>
            this.#end({ how: "closed", code, reason });
        // The end follows by itself, and says more. Without a listener some packages throw.
        socket.onerror = () => undefined;
        if (!asks) {
            this.hurry();
        }
    }

    /** Nobody is asked any more: from now on the handshake has its time. */
    hurry(): void {
        if (!this.#pings) {
            this.#alarm.set(Date.now() + HANDSHAKE, () => this.#drop());
        }
    }

    /** Sends the newest declaration, unless the bridge has it or one is still in flight. */
    register(): void {
        const newest = this.#purpose.declaration();
        const known = this.#inFlight ?? this.#inForce;
        if (!this.#pings || newest.revision === known?.revision) {
            return;
        }
        if (newest.text === known?.text) {
            this.#adopt(newest);
        } else if (!this.#inFlight) {
            this.#inFlight = newest;
            this.#send(newest.text);
        }
    }

    /** The program may have slept: asks whether the bridge is still there. */
    woke(): void {
        const pings = this.#pings;
        if (pings) {
            this.#judge(pings.woke(Date.now()));
        }
    }

    /** Ends it with 1000, and gives the bridge a moment to answer. */
    leave(): void {
        const left: Ending = { how: "left" };
        this.#forget();
        this.#socket.onclose = () => this.#end(left);
        this.#alarm.set(Date.now() + CLOSE, () => this.#end(left));
        this.#close();
    }

    #opened(): void {
        if (this.#socket.protocol !== SUBPROTOCOL) {
            this.#drop();
            return;
        }
        this.#pings = new Pings(Date.now());
        this.register();
        this.#watch();
    }

    /** The same declaration to the bridge, with the handlers of another: they may be newer closures of equal tools. */
    #adopt(newest: Declaration): void {
        if (this.#inFlight) {
            this.#inFlight = newest;
        } else {
            this.#inForce = newest;
            this.#purpose.accepted(newest.revision);
        }
    }

    #heard(data: unknown): void {
        this.#pings?.heard(Date.now());
        const message = read(data);
        if (message && this.#obey(message)) {
            this.#watch();
        } else {
            this.#drop();
        }
    }

    /** Does what a message says; false when it breaks the protocol. */
    #obey(message: Message): boolean {
        switch (message.type) {
            case "registered":
                return this.#registered();
            case "call":
                return this.#call(message.id, message.name, message.arguments);
            case "cancel":
                this.#calls.get(message.id)?.abort();
                this.#calls.delete(message.id);
                return true;
            case "pong":
            case "unknown":
                return true;
        }
    }

    #registered(): boolean {
        const accepted = this.#inFlight;
        if (!accepted) {
            return false;
        }
        this.#inFlight = undefined;
        this.#inForce = accepted;
        this.#purpose.accepted(accepted.revision);
        this.register();
        return true;
    }

    #call(id: string, name: string, args: object): boolean {
        // At once, so that the bridge can tell a frozen application from a slow tool.
        this.#ping();
        if (this.#calls.has(id)) {
            return false;
        }
        const handler = this.#inForce?.handlers.get(name);
        if (!handler) {
            this.#send(result(id, failure("there is no such tool")));
            return true;
        }
        const running = new AbortController();
        this.#calls.set(id, running);
        const call: Call = { name, signal: running.signal };
        void run(handler, args, call).then((ran) => {
            // Not when it was cancelled, or the connection has ended.
            if (this.#calls.get(id) === running) {
                this.#calls.delete(id);
                this.#send(result(id, ran.result));
                if (ran.fault) {
                    this.#purpose.failed(ran.fault.error, call);
                }
            }
        });
        return true;
    }

    #send(text: string): void {
        if (this.#socket.readyState === OPEN) {
            this.#socket.send(text);
            this.#pings?.sent(Date.now());
            this.#watch();
        }
    }

    #ping(): void {
        this.#pings?.asked(Date.now());
        this.#send(PING);
    }

    /** Looks again when the next ping or its answer is due. */
    #watch(): void {
        const pings = this.#pings;
        if (pings) {
            this.#alarm.set(pings.deadline(), (slept) => {
                this.#judge(slept ? pings.woke(Date.now()) : pings.due(Date.now()));
            });
        }
    }

    #judge(due: "nothing" | "ping" | "dead"): void {
        if (due === "dead") {
            this.#drop();
            return;
        }
        if (due === "ping") {
            this.#ping();
        }
        this.#watch();
    }

    /** Nothing more is to be had from it. */
    #drop(): void {
        this.#end({ how: "lost" });
        this.#close();
    }

    #close(): void {
        try {
            this.#socket.close(1000);
        } catch {
            // It never opened, and now it never will.
        }
    }

    #end(ending: Ending): void {
        this.#forget();
        this.#socket.onclose = null;
        this.#alarm.clear();
        this.#purpose.ended(ending);
    }

    /** Nobody waits for answers any more. */
    #forget(): void {
        this.#pings = undefined;
        this.#socket.onopen = this.#socket.onmessage = null;
        this.#calls.forEach((running) => running.abort());
        this.#calls.clear();
    }
}
