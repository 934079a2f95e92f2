import { expect, test } from "vitest";

import type { Tool } from "../src/index.js";
import { accept, named, newest, online, pass, REGISTERED, settle, start } from "./support.js";

function answering(answer: string): Tool {
    return { ...named("a"), handler: () => answer };
}

// holds: js-register-coalesced
test("one register is in flight, and of several the newest is sent", async () => {
    const { application } = await start({ tools: [named("a")] });
    newest().open();
    expect(newest().registered()).toEqual(["a"]);
    for (const name of ["b", "c", "d"]) {
        application.setTools([named(name)]);
    }
    expect(newest().take()).toEqual([]);
    newest().hear(REGISTERED);
    expect(newest().registered()).toEqual(["d"]);
    newest().hear(REGISTERED);
    await application.accepted();
    expect(newest().take()).toEqual([]);
});

// holds: js-register-coalesced
test("a change and its undoing, while one is in flight, send nothing more", async () => {
    const { application } = await start({ tools: [named("a")] });
    newest().open();
    newest().registered();
    application.setTools([named("b")]);
    application.setTools([named("a")]);
    newest().hear(REGISTERED);
    await application.accepted();
    expect(newest().take()).toEqual([]);
});

// holds: js-register-coalesced
test("before there is a connection, only the newest declaration is ever sent", async () => {
    const { application } = await start({ tools: [named("a")] });
    application.setTools([named("b")]);
    application.setInstructions("x");
    const register = newest().open().messages();
    expect(register).toMatchObject([{ tools: [{ name: "b" }], instructions: "x" }]);
});

// holds: js-register-equal
test("a register on every render with equal tools sends nothing, and the newest handlers answer", async () => {
    const { application, socket } = await online({ tools: [answering("0")] });
    for (let render = 1; render <= 50; render += 1) {
        application.setTools([answering(`${render}`)]);
    }
    await application.accepted();
    expect(socket.take()).toEqual([]);
    socket.call("1", "a");
    await settle();
    expect(socket.messages()).toMatchObject([{ id: "1", result: { content: [{ text: "50" }] } }]);
});

// holds: js-register-equal
test("equal tools while a register is in flight take its place", async () => {
    const { application } = await start({ tools: [answering("old")] });
    newest().open();
    newest().registered();
    application.setTools([answering("new")]);
    newest().hear(REGISTERED);
    newest().call("1", "a");
    await settle();
    expect(newest().messages()).toMatchObject([{ result: { content: [{ text: "new" }] } }]);
});

// holds: js-register-coalesced
test("calls are for the tools that the bridge has accepted", async () => {
    const { application, socket } = await online({ tools: [named("old")] });
    const outcomes = async (): Promise<boolean[]> => {
        socket.take();
        socket.call("1", "old");
        socket.call("2", "new");
        await settle();
        const messages = socket.messages().sort((one, other) => one.id - other.id);
        return messages.map((message) => message.result.isError !== true);
    };
    application.setTools([named("new")]);
    expect(await outcomes()).toEqual([true, false]);
    socket.hear(REGISTERED);
    expect(await outcomes()).toEqual([false, true]);
});

// holds: js-definitions
test("a definition is sent with all its members, in its order, and without its handler", async () => {
    const { handler } = named("a");
    const definition = {
        name: "add",
        title: "Add",
        description: "Adds",
        inputSchema: { type: "object", properties: { a: { type: "number" } } },
        outputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
        icons: [{ src: "data:," }],
        _meta: { "io.github.clientmcp/risk": "low" },
        later: 1,
    } as const;
    await start({ tools: [{ ...definition, handler }] });
    newest().open();
    const [register] = newest().messages();
    expect(register.tools).toEqual([definition]);
    expect(register).not.toHaveProperty("instructions");
});

// holds: js-definitions
test("a tool without a handler is a mistake at once, and changes nothing", async () => {
    const { application, socket } = await online({ tools: [named("a")] });
    const broken = { name: "b", description: "B" } as unknown as Tool;
    expect(() => application.setTools([broken])).toThrow("the tool b has no handler");
    await socket.end();
    await pass(1);
    newest().open();
    expect(newest().registered()).toEqual(["a"]);
});

// holds: js-registers
test("after a reconnect the newest declaration is sent again, equal or not", async () => {
    const { application, socket } = await online({ tools: [named("a")] });
    await socket.end();
    application.setTools([named("b")]);
    await pass(1);
    newest().open();
    expect(newest().registered()).toEqual(["b"]);
    newest().hear(REGISTERED);
    await newest().end();
    await pass(1);
    await accept();
    await application.accepted();
});
