import { expect, test, vi } from "vitest";

import { type Answer, type Call, type Tool, ToolError } from "../src/index.js";
import { FakeSocket, named, online, settle } from "./support.js";

/** What the agent reads when a handler does this. */
async function read(handler: Tool["handler"]): Promise<{ result: any; errors: unknown[] }> {
    const { socket, errors } = await online({ tools: [{ ...named("a"), handler }] });
    socket.call("1", "a", { x: 1 });
    await settle();
    const [message] = socket.messages();
    expect(message.id).toBe("1");
    return { result: message.result, errors };
}

function text(text: string): object[] {
    return [{ type: "text", text }];
}

const cyclic: { self?: object } = {};
cyclic.self = cyclic;

// holds: js-answers
test.each<[Answer, object]>([
    ["hi", { content: text("hi") }],
    ["", { content: text("") }],
    [undefined, { content: [] }],
    [{ n: 1 }, { content: text('{"n":1}'), structuredContent: { n: 1 } }],
    [[1, 2], { content: text("[1,2]") }],
    [5, { content: text("5") }],
    [null, { content: text("null") }],
    [true, { content: text("true") }],
    [new Date(0), { content: text('"1970-01-01T00:00:00.000Z"') }],
    [
        { content: [], isError: true, extra: 1 },
        { content: [], isError: true, extra: 1 },
    ],
    [{ content: "no list" }, { content: text('{"content":"no list"}'), structuredContent: { content: "no list" } }],
])("what a handler returns becomes a result: %j", async (answer, expected) => {
    expect((await read(() => answer)).result).toEqual(expected);
    expect((await read(async () => answer)).result).toEqual(expected);
});

// holds: js-answers
test.each<[string, Answer]>([
    ["a cycle", cyclic],
    ["a bigint", { n: 1n }],
    ["a function", () => undefined],
])("what JSON does not have is a tool error: %s", async (_, answer) => {
    const { result, errors } = await read(() => answer);
    expect(result).toEqual({ content: text("the result cannot be written as JSON"), isError: true });
    expect(errors).toEqual([]);
});

// holds: js-answers
test("a result that the bridge would refuse is not sent", async () => {
    const { result } = await read(() => ({ content: [], _meta: null }));
    expect(result.isError).toBe(true);
});

// holds: js-handler-fails
test("an exception says nothing of itself to the agent, and goes to the developer", async () => {
    const fault = new Error("/home/me/secret.ts broke");
    for (const handler of [() => Promise.reject(fault), () => fault] as Tool["handler"][]) {
        const { result, errors } = await read(handler);
        const message = "the tool failed unexpectedly; what it had done until then is not known";
        expect(result).toEqual({ content: text(message), isError: true });
        expect(errors).toEqual([fault]);
    }
    const thrown = await read(() => {
        throw "a string";
    });
    expect(JSON.stringify(thrown.result)).not.toContain("string");
});

// holds: js-handler-fails
test("a ToolError is written for the agent", async () => {
    const refuse = new ToolError("no such note; list them first");
    for (const handler of [() => Promise.reject(refuse), () => refuse] as Tool["handler"][]) {
        const { result, errors } = await read(handler);
        expect(result).toEqual({ content: text("no such note; list them first"), isError: true });
        expect(errors).toEqual([]);
    }
});

// holds: js-handler-fails
test.each<[string, () => void]>([
    ["at once", () => { throw new Error("no report"); }],
    ["later", () => Promise.reject(new Error("no report"))],
])("the agent is answered before anybody hears of a fault, and when the report fails %s", async (_, fail) => {
    const reported = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const fault = new Error("x");
    const sent: string[][] = [];
    const onError = (): void => {
        sent.push(socket.take());
        return fail();
    };
    const { socket } = await online({ tools: [{ ...named("a"), handler: () => Promise.reject(fault) }], onError });
    socket.call("1", "a");
    await settle();
    expect(sent.flat().join()).toContain("the tool failed unexpectedly");
    expect(reported.mock.calls).toEqual([[fault], [new Error("no report")]]);
});

/** What cannot even be looked at. */
function unreadable(): [string, unknown][] {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const broken = new ToolError("x");
    const fail = (): never => {
        throw new Error("no message");
    };
    Object.defineProperty(broken, "message", { get: fail });
    const odd = new ToolError("x");
    Object.defineProperty(odd, "message", { value: { toString: fail } });
    return [["a revoked proxy", revoked.proxy], ["a message that throws", broken], ["a message of no text", odd]];
}

// holds: js-handler-fails
test.each(unreadable())("an exception that cannot be looked at is answered: %s", async (_, thrown) => {
    for (const handler of [() => Promise.reject(thrown), () => thrown as object] as Tool["handler"][]) {
        const { result, errors } = await read(handler);
        expect(result.isError).toBe(true);
        expect(result.content[0].text).toContain("the tool failed unexpectedly");
        expect(errors).toHaveLength(1);
    }
});

// holds: js-handler-fails
test("other calls go on when one fails", async () => {
    const fail = { ...named("fail"), handler: () => Promise.reject(new Error("x")) };
    const { socket } = await online({ tools: [fail, named("fine")] });
    socket.call("1", "fail");
    socket.call("2", "fine");
    await settle();
    expect(socket.messages().map(({ id, result }) => [id, result.isError === true])).toEqual([
        ["1", true],
        ["2", false],
    ]);
});

// holds: js-concurrent
test("calls run at the same time and are answered in any order", async () => {
    const answers = new Map<string, (text: string) => void>();
    const handler = ({ key }: { key: string }): Promise<string> => new Promise((done) => answers.set(key, done));
    const { socket } = await online({ tools: [{ ...named("a"), handler }] });
    socket.call("1", "a", { key: "one" });
    socket.call("2", "a", { key: "two" });
    await settle();
    answers.get("two")?.("second");
    await settle();
    expect(socket.messages().map(({ id }) => id)).toEqual(["2"]);
    answers.get("one")?.("first");
    await settle();
    expect(socket.messages().map(({ id }) => id)).toEqual(["1"]);
});

/** A tool that waits until its call is over, and then answers or fails. */
function waiting(calls: Call[]): Tool {
    const handler = (_: unknown, call: Call): Promise<string> => {
        calls.push(call);
        return new Promise((done, fail) => {
            call.signal.addEventListener("abort", () => (calls.length % 2 ? done("late") : fail(new Error("aborted"))));
        });
    };
    return { ...named("a"), handler };
}

// holds: js-cancel
test("cancel aborts the signal of that call, and nothing is answered or reported", async () => {
    const calls: Call[] = [];
    const { socket, errors } = await online({ tools: [waiting(calls)] });
    socket.call("1", "a");
    socket.call("2", "a");
    socket.hear({ type: "cancel", id: "1" });
    socket.hear({ type: "cancel", id: "unknown" });
    await settle();
    expect(calls.map(({ name, signal }) => [name, signal.aborted])).toEqual([
        ["a", true],
        ["a", false],
    ]);
    expect(socket.messages()).toEqual([]);
    expect(errors).toEqual([]);
});

// holds: js-cancel
test("the end of the connection aborts every call, and no answer goes to the next one", async () => {
    const calls: Call[] = [];
    const { socket } = await online({ tools: [waiting(calls)] });
    socket.call("1", "a");
    await socket.end();
    expect(calls[0]?.signal.aborted).toBe(true);
    await settle();
    expect(socket.messages()).toEqual([]);
});

// holds: js-cancel
test("a cancelled id may be used again", async () => {
    const { socket } = await online({ tools: [named("a")] });
    socket.call("1", "a");
    socket.hear({ type: "cancel", id: "1" });
    socket.call("1", "a");
    await settle();
    expect(socket.messages()).toHaveLength(1);
});

// holds: js-registers
test("a call of a tool that is not there is answered", async () => {
    const { socket } = await online({ tools: [named("a")] });
    socket.call("1", "toString");
    await settle();
    expect(socket.messages()).toEqual([
        { type: "result", id: "1", result: { content: text("there is no such tool"), isError: true } },
    ]);
});

// holds: js-breach
test.each<[string, unknown]>([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["no type", "{}"],
    ["a cancel without an id", { type: "cancel" }],
    ["a call without a name", { type: "call", id: "1", arguments: {} }],
    ["arguments that are a list", { type: "call", id: "9", name: "a", arguments: [] }],
    ["arguments that are null", { type: "call", id: "9", name: "a", arguments: null }],
    ["an id that is a number", { type: "call", id: 9, name: "a", arguments: {} }],
    ["a registered for nothing", { type: "registered" }],
    ["a call under an id in flight", { type: "call", id: "1", name: "a", arguments: {} }],
    ["a binary frame", new ArrayBuffer(1)],
])("what breaks the protocol ends the connection, which is made again: %s", async (_, breach) => {
    const { socket, application } = await online({ tools: [waiting([])] });
    socket.call("1", "a");
    socket.onmessage?.({
        data: typeof breach === "object" && !(breach instanceof ArrayBuffer) ? JSON.stringify(breach) : breach,
    });
    await settle();
    expect(socket.closedWith).toBe(1000);
    expect(application.state.status).toBe("waiting");
});

// holds: js-unknown-type
test.each([{ type: "news" }, { type: "news", id: 5, name: {} }, { type: "" }, { type: "pong", more: 1 }])(
    "a message of an unknown type is ignored, whatever its members: %j",
    async (message) => {
        const { socket, application } = await online({ tools: [named("a")] });
        socket.hear(message);
        await settle();
        expect(application.state.status).toBe("online");
        expect(FakeSocket.all).toHaveLength(1);
    },
);
