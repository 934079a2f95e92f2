/** A bridge that a test plays by hand, and a clock that moves only when it says so. */

import { afterEach, beforeEach, vi } from "vitest";

import { type Application, connect, type ConnectOptions, type State, type Tool } from "../src/index.js";

export const PING = '{"type":"ping"}';
export const PONG = '{"type":"pong"}';
export const REGISTERED = '{"type":"registered"}';
export const TOKEN = "eyJ.secret.sig";

/** The application's end of a connection, and the bridge's hands on it. */
export class FakeSocket {
    static all: FakeSocket[] = [];

    readyState = 0;
    protocol = "";
    onopen: ((event: unknown) => void) | null = null;
    onmessage: ((event: unknown) => void) | null = null;
    onclose: ((event: unknown) => void) | null = null;
    onerror: ((event: unknown) => void) | null = null;
    /** What the application has sent and the test has not taken. */
    sent: string[] = [];
    closedWith: number | undefined;

    constructor(
        readonly url: string,
        readonly protocols: string[],
    ) {
        FakeSocket.all.push(this);
    }

    send(text: string): void {
        this.sent.push(text);
    }

    close(code?: number): void {
        this.readyState = 2;
        this.closedWith ??= code;
    }

    open(protocol = "clientmcp.v1"): this {
        this.readyState = 1;
        this.protocol = protocol;
        this.onopen?.({});
        return this;
    }

    hear(message: unknown): void {
        this.onmessage?.({ data: typeof message === "object" ? JSON.stringify(message) : message });
    }

    call(id: string, name: string, args: object = {}): void {
        this.hear({ type: "call", id, name, arguments: args });
    }

    /** The bridge closes it, or the network does. */
    async end(code = 1006, reason = ""): Promise<void> {
        this.readyState = 3;
        this.onerror?.({});
        this.onclose?.({ code, reason });
        await settle();
    }

    take(): string[] {
        return this.sent.splice(0);
    }

    /** The messages that were sent, without pings. */
    messages(): any[] {
        const texts = this.take().filter((text) => text !== PING);
        return texts.map((text) => JSON.parse(text) as unknown);
    }

    /** The names of the tools of the one `register` that was sent. */
    registered(): string[] {
        const [register, ...more] = this.messages();
        if (register?.type !== "register" || more.length > 0) {
            throw new Error(`not one register: ${JSON.stringify([register, ...more])}`);
        }
        return register.tools.map((tool: Tool) => tool.name);
    }
}

/** A tool that answers with its own name. */
export function named(name: string): Tool {
    return { name, description: "A tool", handler: () => name };
}

export interface Started {
    readonly application: Application;
    /** The states that were heard, oldest first. */
    readonly states: State[];
    readonly statuses: () => string[];
    readonly errors: unknown[];
}

/** An application that dials. */
export async function start(options: Partial<ConnectOptions> = {}): Promise<Started> {
    const states: State[] = [];
    const errors: unknown[] = [];
    const onState = (state: State): void => void states.push(state);
    const onError = (error: unknown): void => void errors.push(error);
    const own = { token: TOKEN, dev: false, WebSocket: FakeSocket, onState, onError };
    const application = connect({ ...own, ...options });
    await settle();
    return { application, states, statuses: () => states.map((state) => state.status), errors };
}

/** The newest connection. */
export function newest(): FakeSocket {
    const socket = FakeSocket.all.at(-1);
    if (!socket) {
        throw new Error("nothing was dialled");
    }
    return socket;
}

/** An application whose declaration the bridge has accepted. */
export async function online(options: Partial<ConnectOptions> = {}): Promise<Started & { socket: FakeSocket }> {
    const started = await start(options);
    return { ...started, socket: await accept() };
}

/** Opens the newest connection and accepts what is declared. */
export async function accept(): Promise<FakeSocket> {
    const socket = newest().open();
    socket.registered();
    socket.hear(REGISTERED);
    await settle();
    return socket;
}

/** Lets promises run. */
export async function settle(): Promise<void> {
    await vi.advanceTimersByTimeAsync(0);
}

/** Time passes. */
export async function pass(seconds: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(seconds * 1_000);
}

/** Time passes in which no timer runs: the machine sleeps. */
export function sleep(seconds: number): void {
    vi.setSystemTime(Date.now() + seconds * 1_000);
}

/** Whether it has settled, and how. */
export async function settled(promise: Promise<unknown>): Promise<"pending" | "resolved" | "rejected"> {
    let how: "pending" | "resolved" | "rejected" = "pending";
    promise.then(
        () => (how = "resolved"),
        () => (how = "rejected"),
    );
    await settle();
    return how;
}

beforeEach(() => {
    vi.useFakeTimers();
    // The bound itself: half a second, then one, then two.
    vi.spyOn(Math, "random").mockReturnValue(1);
    FakeSocket.all = [];
});

afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
});
