/** Connecting an application, and what it can see and order while it runs. */

import { isDevelopment } from "./advice.js";
import { declare, type Declaration } from "./declaration.js";
import { EndedError } from "./error.js";
import { Life } from "./life.js";
import { watchPage } from "./page.js";
import { reportUncaught } from "./report.js";
import type { SocketConstructor } from "./socket.js";
import { hasEnded, isFinal, isSame, type State } from "./state.js";
import type { TokenSource } from "./token.js";
import type { Call, Tool } from "./tool.js";

/** Where a bridge of this machine listens. */
export const DEFAULT_URL = "ws://127.0.0.1:27182/connect";

/** Who the application is, where its bridge is, and what it offers. */
export interface ConnectOptions {
    /** The client token, which names the application, or a function that has one for each connection. */
    readonly token: TokenSource;
    /** The bridge's client endpoint; {@link DEFAULT_URL} when nothing else is said. */
    readonly url?: string;
    /** The tools, in the order in which agents see them. */
    readonly tools?: readonly Tool[];
    /** What an agent should know before it calls any tool. */
    readonly instructions?: string | undefined;
    /** Hears every state, the present one first. */
    readonly onState?: (state: State) => void;
    /**
     * Hears what a handler threw that is no `ToolError`, once the agent is answered, and what a listener threw. By
     * default, and when it throws itself, that is reported as an uncaught exception is.
     */
    readonly onError?: (error: unknown, call?: Call) => void;
    /** Connects although the browser will ask for the permission: the person expects it. */
    readonly connectWhenPrompted?: boolean;
    /** Gives advice on the console about tools. By default where `NODE_ENV` is not `production`, or on localhost. */
    readonly dev?: boolean;
    /** The WebSocket to use where there is none: Node before 22. */
    readonly WebSocket?: SocketConstructor;
}

/**
 * Connects, and stays connected until the application is closed.
 *
 * It returns at once: `online()` tells when agents can call, and `state` where the application stands.
 *
 * @throws TypeError for a tool without a handler, and where there is no WebSocket.
 */
export function connect(options: ConnectOptions): Application {
    return new Application(options);
}

/** A running application. Its methods need no `this`. */
export class Application {
    readonly #life: Life;
    readonly #dev: boolean;
    readonly #onError: (error: unknown, call?: Call) => void;
    readonly #listeners = new Set<(state: State) => void>();
    /** What somebody waits for. */
    readonly #waiting = new Set<() => void>();
    readonly #unwatch: () => void;
    #tools: readonly Tool[];
    #instructions: string | undefined;
    #declaration: Declaration;
    #acceptedRevision = 0;
    #state: State = { status: "connecting" };

    /** @internal */
    constructor(options: ConnectOptions) {
        const { url = DEFAULT_URL, token, connectWhenPrompted = false, tools = [], onState } = options;
        const WebSocket = options.WebSocket ?? (globalThis.WebSocket as SocketConstructor | undefined);
        if (!WebSocket) {
            throw new TypeError("there is no WebSocket here: hand one in as `WebSocket`");
        }
        this.#dev = options.dev ?? isDevelopment();
        this.#onError = options.onError ?? reportUncaught;
        this.#tools = tools;
        this.#instructions = options.instructions;
        this.#declaration = declare(1, tools, this.#instructions, this.#dev);
        if (onState) {
            this.subscribe(onState);
        }
        this.#life = new Life({ url, token, connectWhenPrompted, WebSocket }, this.#surroundings());
        this.#unwatch = watchPage(() => this.#life.woke());
        void this.#life.run();
    }

    #surroundings(): ConstructorParameters<typeof Life>[1] {
        return {
            declaration: () => this.#declaration,
            failed: (error, call) => void this.#failed(error, call),
            accepted: (revision) => {
                this.#acceptedRevision = revision;
                this.#report({ status: "online" });
            },
            state: (state) => this.#report(state),
        };
    }

    /** Where the application stands now. The same object until it changes. */
    get state(): State {
        return this.#state;
    }

    /** Hears the present state at once and then every other, never two equal ones in a row; returns the end of it. */
    subscribe = (listener: (state: State) => void): (() => void) => {
        // Of its own, so that a function that subscribes twice hears twice.
        const heard = (state: State): void => listener(state);
        this.#listeners.add(heard);
        this.#tell(heard);
        return () => void this.#listeners.delete(heard);
    };

    /**
     * Declares other tools in place of all that were declared before.
     *
     * One `register` is in flight at a time, and of several changes meanwhile the newest alone is sent. Equal tools
     * send nothing; their newest handlers are used.
     *
     * @throws TypeError for a tool without a handler.
     */
    setTools = (tools: readonly Tool[]): void => {
        this.#declare(tools, this.#instructions);
    };

    /** Declares other instructions, or none. */
    setInstructions = (instructions?: string): void => {
        this.#declare(this.#tools, instructions);
    };

    /** Comes back after a replacement, and so replaces the other instance. In every other state it does nothing. */
    takeOver = (): void => {
        if (this.#state.status === "replaced") {
            // At once, so that `online()` called next does not see the end of before.
            this.#report({ status: "connecting" });
            this.#life.takeOver();
        }
    };

    /**
     * Lets the browser ask for the permission that `permission-needed` is about. Call it on a click, which shows the
     * person what the question is for. It holds for one try.
     */
    allow = (): void => {
        this.#life.allow();
    };

    /** Resolves when the application is online; rejects with an {@link EndedError} when it will not be. */
    online = (): Promise<void> => this.#until(() => this.#state.status === "online");

    /**
     * Resolves when the bridge has accepted what is declared now, on any connection; rejects with an
     * {@link EndedError} when it will not.
     */
    accepted = (): Promise<void> => {
        const { revision } = this.#declaration;
        return this.#until(() => this.#acceptedRevision >= revision);
    };

    /** Resolves when the application does not come back by itself: replaced, refused or closed. */
    ended = async (): Promise<State> => {
        await this.#until(() => hasEnded(this.#state));
        return this.#state;
    };

    /** Ends the connection with close code 1000; resolves at its end. The signals of running calls are aborted. */
    close = (): Promise<void> => {
        this.#life.close();
        return this.#until(() => isFinal(this.#state), isFinal);
    };

    #declare(tools: readonly Tool[], instructions: string | undefined): void {
        this.#declaration = declare(this.#declaration.revision + 1, tools, instructions, this.#dev);
        this.#tools = tools;
        this.#instructions = instructions;
        this.#life.declared();
    }

    #report(state: State): void {
        if (!isSame(state, this.#state)) {
            this.#state = state;
            if (isFinal(state)) {
                this.#unwatch();
            }
            this.#listeners.forEach((listener) => this.#tell(listener));
        }
        this.#waiting.forEach((look) => look());
    }

    #tell(listener: (state: State) => void): void {
        try {
            listener(this.#state);
        } catch (error) {
            void this.#failed(error);
        }
    }

    /** Nothing waits for who hears of a fault, and nothing breaks when that fails too, at once or later. */
    async #failed(error: unknown, call?: Call): Promise<void> {
        try {
            await this.#onError(error, call);
        } catch (worse) {
            reportUncaught(error);
            reportUncaught(worse);
        }
    }

    #until(isMet: () => boolean, isHopeless = hasEnded): Promise<void> {
        return new Promise((resolve, reject) => {
            const look = (): void => {
                if (isMet()) {
                    resolve();
                } else if (isHopeless(this.#state)) {
                    reject(new EndedError(this.#state));
                } else {
                    return;
                }
                this.#waiting.delete(look);
            };
            this.#waiting.add(look);
            look();
        });
    }
}
