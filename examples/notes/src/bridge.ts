/** The page's end of the bridge: which token, which port, and where the connection stands. */

import { type Application, connect, type State, storedToken, type Tool } from "clientmcp";

import { forget, load, save } from "./store.js";
import { claims } from "./token.js";
import { INSTRUCTIONS } from "./tools.js";

const TOKEN = "notes.token";
const PORT = "notes.port";
const USUAL_PORT = "27182";

/** Where the connection stands: what the SDK says, or that a token is needed. */
export type Standing = State | { readonly status: "token-needed"; readonly refused: boolean };

/** One connection at a time, with the token that this browser keeps. */
export class Bridge {
    #application: Application | undefined;
    #tools: readonly Tool[] = [];
    /** Hands a token to a connection that asked for one. */
    #answer: ((token: string) => void) | undefined;

    constructor(readonly onStanding: (standing: Standing) => void) {}

    get port(): string {
        return load(PORT) ?? USUAL_PORT;
    }

    /** The client ID in the token that is kept. */
    get clientId(): string {
        return claims(load(TOKEN) ?? "")?.sub ?? "notes";
    }

    /** Connects with the token that is kept, if there is one. */
    start(): void {
        if (load(TOKEN) === undefined) {
            this.onStanding({ status: "token-needed", refused: false });
        } else {
            this.#connect();
        }
    }

    /** Connects with the token that the person pasted. */
    useToken(token: string, port: string): void {
        const samePort = port === this.port;
        save(PORT, port);
        if (this.#answer && samePort) {
            this.onStanding({ status: "connecting" });
            this.#answer(token);
            this.#answer = undefined;
        } else {
            forget(TOKEN);
            this.#connect(token);
        }
    }

    setTools(tools: readonly Tool[]): void {
        this.#tools = tools;
        this.#application?.setTools(tools);
    }

    takeOver(): void {
        this.#application?.takeOver();
    }

    allow(): void {
        this.#application?.allow();
    }

    disconnect(): void {
        void this.#application?.close();
    }

    /** Disconnects, and keeps no token. */
    forgetToken(): void {
        this.#drop();
        forget(TOKEN);
        this.start();
    }

    #connect(pasted?: string): void {
        this.#drop();
        let first = pasted;
        const ask = ({ refused }: { readonly refused: boolean }): string | Promise<string> => {
            const given = first;
            first = undefined;
            return given ?? this.#ask(refused);
        };
        const application = connect({
            url: `ws://127.0.0.1:${this.port}/connect`,
            token: storedToken({ key: TOKEN, ask }),
            tools: this.#tools,
            instructions: INSTRUCTIONS,
        });
        this.#application = application;
        application.subscribe((state) => {
            if (application === this.#application) {
                this.#report(state);
            }
        });
    }

    #ask(refused: boolean): Promise<string> {
        return new Promise((resolve) => {
            this.#answer = resolve;
            this.onStanding({ status: "token-needed", refused });
        });
    }

    #report(state: State): void {
        if (state.status === "refused" && state.refusal.code.includes("token")) {
            // The connection has ended, so the next token begins a new one.
            this.#drop();
            forget(TOKEN);
            this.onStanding({ status: "token-needed", refused: true });
        } else {
            this.onStanding(state);
        }
    }

    /** Ends the connection; what it still says is not heard. */
    #drop(): void {
        const application = this.#application;
        this.#application = this.#answer = undefined;
        void application?.close();
    }
}
