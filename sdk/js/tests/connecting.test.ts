import { expect, test, vi } from "vitest";

import { connect, EndedError, type State } from "../src/index.js";
import {
    FakeSocket,
    accept,
    named,
    newest,
    online,
    pass,
    REGISTERED,
    settle,
    settled,
    start,
    TOKEN,
} from "./support.js";

// holds: js-subprotocols
test("the handshake offers two values: the protocol and the token", async () => {
    await start();
    expect(newest().url).toBe("ws://127.0.0.1:27182/connect");
    expect(newest().protocols).toEqual(["clientmcp.v1", TOKEN]);
});

// holds: js-registers, js-states
test("it registers on every connection, and is online from the first answer on", async () => {
    const { states, application } = await start({ tools: [named("a")], instructions: "Be kind." });
    expect(application.state.status).toBe("connecting");
    newest().open();
    expect(newest().messages()).toEqual([
        {
            type: "register",
            tools: [{ inputSchema: { type: "object" }, name: "a", description: "A tool" }],
            instructions: "Be kind.",
        },
    ]);
    expect(application.state.status).toBe("connecting");
    newest().hear(REGISTERED);
    expect(application.state).toEqual({ status: "online" });
    await newest().end(1001);
    await pass(0.5);
    await accept();
    expect(states.map((state) => state.status)).toEqual(["connecting", "online", "waiting", "connecting", "online"]);
});

// holds: js-states
test("nobody hears two equal states in a row, and everybody hears the present one first", async () => {
    const { application, socket, statuses } = await online({ tools: [named("a")] });
    application.setTools([named("b")]);
    socket.hear(REGISTERED);
    expect(statuses()).toEqual(["connecting", "online"]);

    const heard: State[] = [];
    const stop = application.subscribe((state) => heard.push(state));
    expect(heard).toEqual([{ status: "online" }]);
    expect(heard[0]).toBe(application.state);
    stop();
    await socket.end(4409);
    expect(heard).toHaveLength(1);
});

// holds: js-states
test("a listener that fails harms nobody", async () => {
    const { application, socket, errors } = await online();
    const fault = new Error("no view");
    application.subscribe(() => {
        throw fault;
    });
    const heard: string[] = [];
    application.subscribe((state) => heard.push(state.status));
    await socket.end(4409);
    expect(heard).toEqual(["online", "replaced"]);
    expect(errors).toEqual([fault, fault]);
});

// holds: js-states
test("a listener that fails harms nobody, even where onError fails too", async () => {
    const reported = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const fault = new Error("no view");
    const worse = new Error("no report");
    const onError = (): void => {
        throw worse;
    };
    const { application, socket } = await online({ onError });
    application.subscribe(() => {
        throw fault;
    });
    const heard: string[] = [];
    application.subscribe((state) => heard.push(state.status));
    await socket.end(4409);
    expect(heard).toEqual(["online", "replaced"]);
    expect(reported.mock.calls).toEqual([[fault], [worse], [fault], [worse]]);
});

// holds: js-states
test("online, accepted and ended are told to those who wait", async () => {
    const { application } = await start();
    const first = application.online();
    expect(await settled(first)).toBe("pending");
    const socket = await accept();
    await first;

    application.setTools([named("b")]);
    const accepted = application.accepted();
    expect(await settled(accepted)).toBe("pending");
    socket.hear(REGISTERED);
    await accepted;

    const ended = application.ended();
    await socket.end(4400, "bad");
    expect(await ended).toEqual({ status: "refused", refusal: { code: "message", reason: "bad" } });
    await expect(application.online()).rejects.toThrow(EndedError);
    application.setTools([named("c")]);
    await expect(application.accepted()).rejects.toThrow("the application is refused: bad");
});

// holds: js-token-refused
test.each(["", "a b", "a,b", "a\r\nOrigin: x", "t\u00f6k", "clientmcp.v1", 'a"b', "a\n"])(
    "a token that no handshake can hold is refused before anything is sent: %j",
    async (token) => {
        const { application } = await start({ token });
        expect(FakeSocket.all).toEqual([]);
        expect(application.state.status).toBe("refused");
        expect(token === "" || !JSON.stringify(application.state).includes(token)).toBe(true);
    },
);

// holds: js-token-refused
test.each<[unknown, string]>([
    [7, "the token is no string but of the type number"],
    [{ token: TOKEN }, "the token is no string but of the type object"],
    [Symbol("x"), "the token is no string but of the type symbol"],
])("a token that is no string is refused by the name of its type: %o", async (token, reason) => {
    for (const source of [token, () => token, async () => token] as any[]) {
        const { application } = await start({ token: source });
        expect(application.state).toEqual({ status: "refused", refusal: { code: "token-text", reason } });
        await application.close();
    }
    expect(FakeSocket.all).toEqual([]);
});

// holds: js-token-refused
test.each([undefined, null])("no token is refused, and not tried for ever: %j", async (token) => {
    for (const source of [token, () => token] as any[]) {
        const { application } = await start({ token: source });
        expect(application.state).toMatchObject({ status: "refused", refusal: { code: "no-token" } });
    }
});

// holds: js-token-refused, js-secrets
test("an address that cannot be opened is refused, without what the browser says of it", async () => {
    class Refusing extends FakeSocket {
        constructor(url: string, protocols: string[]) {
            super(url, protocols);
            throw new SyntaxError(`no: ${protocols[1]}`);
        }
    }
    const { application } = await start({ url: "http://", WebSocket: Refusing });
    expect(application.state).toMatchObject({ status: "refused", refusal: { code: "url" } });
    expect(JSON.stringify(application.state)).not.toContain(TOKEN);
});

// holds: js-subprotocols
test("a server that selects another protocol is no bridge", async () => {
    const { application } = await start();
    newest().open("chat");
    await settle();
    expect(newest().closedWith).toBe(1000);
    expect(newest().sent).toEqual([]);
    expect(application.state.status).toBe("waiting");
});

// holds: js-handshake
test("a handshake has ten seconds", async () => {
    const { application } = await start();
    await pass(9.9);
    expect(application.state.status).toBe("connecting");
    await pass(0.2);
    expect(application.state.status).toBe("waiting");
    expect(newest().closedWith).toBe(1000);
});

// holds: js-close-graceful
test("closing ends the connection with 1000 and waits for the bridge", async () => {
    const { application, socket } = await online();
    const closed = application.close();
    expect(socket.closedWith).toBe(1000);
    expect(await settled(closed)).toBe("pending");
    await socket.end(1000);
    await closed;
    expect(application.state).toEqual({ status: "closed" });
    await pass(60);
    expect(FakeSocket.all).toHaveLength(1);
});

// holds: js-close-graceful
test("a bridge that does not answer a close is waited for two seconds", async () => {
    const { application } = await online();
    const closed = application.close();
    await pass(1.9);
    expect(application.state.status).toBe("online");
    await pass(0.2);
    await closed;
    expect(application.state.status).toBe("closed");
});

// holds: js-close-graceful
test("closing works in every state", async () => {
    const never = new Promise<string>(() => undefined);
    const asking = await start({ token: () => never });
    await asking.application.close();

    const connecting = await start();
    void connecting.application.close();
    await newest().end();
    await connecting.application.close();

    const waiting = await start();
    await newest().end();
    await waiting.application.close();

    const replaced = await online();
    await replaced.socket.end(4409);
    await replaced.application.close();

    const refused = await online();
    await refused.socket.end(4400);
    await refused.application.close();
    expect(refused.application.state.status).toBe("refused");

    for (const { application } of [asking, connecting, waiting, replaced]) {
        expect(application.state.status).toBe("closed");
    }
    const dialled = FakeSocket.all.length;
    await pass(60);
    expect(FakeSocket.all).toHaveLength(dialled);
});

// holds: js-node
test("where there is no WebSocket, one can be handed in", () => {
    vi.stubGlobal("WebSocket", undefined);
    expect(() => connect({ token: TOKEN })).toThrow("there is no WebSocket here");
    connect({ token: TOKEN, WebSocket: FakeSocket });
});
