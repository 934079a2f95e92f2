import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Call, Tool } from "../src/index.js";
import { followWebMcp, type ModelContext, type ModelContextTool } from "../src/webmcp.js";
import { online, settle } from "./support.js";

/** A page without WebMCP, as most are. */
beforeEach(() => {
    vi.stubGlobal("window", {});
    vi.stubGlobal("document", {});
});

afterEach(() => vi.unstubAllGlobals());

const search: ModelContextTool = {
    name: "search",
    title: "Search",
    description: "Searches",
    inputSchema: { type: "object", properties: { query: { type: "string" } } },
    annotations: { readOnlyHint: true },
    execute: ({ query }: { query: string }) => ({ found: query }),
};

/** The tools that were heard last, and a hand on them. */
async function follow(
    modelContext?: ModelContext,
    install = false,
): Promise<{ tools: () => Tool[]; context: ModelContext; stop: () => void }> {
    let heard: Tool[] = [];
    const webmcp = followWebMcp((tools) => (heard = tools), { install, ...(modelContext && { modelContext }) });
    await settle();
    return { tools: () => heard, context: webmcp.modelContext, stop: webmcp.stop };
}

const call: Call = { name: "x", signal: new AbortController().signal };

// holds: js-webmcp
test("tools that a page registers become tools of the application", async () => {
    const { application, socket } = await online();
    const { modelContext } = followWebMcp(application.setTools);
    await modelContext.registerTool(search);
    await settle();
    const { execute: _, ...definition } = search;
    expect(socket.messages()).toEqual([{ type: "register", tools: [definition] }]);
    socket.hear({ type: "registered" });
    socket.call("1", "search", { query: "milk" });
    await settle();
    expect(socket.messages()).toMatchObject([{ id: "1", result: { structuredContent: { found: "milk" } } }]);
});

// holds: js-webmcp
test("what fails while tools are heard is reported, and the next change is heard", async () => {
    const reported = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const fault = new TypeError("no tools");
    const onTools = vi.fn((): void => {
        throw fault;
    });
    const { modelContext } = followWebMcp(onTools);
    await settle();
    await modelContext.registerTool(search);
    await settle();
    expect(onTools).toHaveBeenCalledTimes(2);
    expect(reported.mock.calls).toEqual([[fault], [fault]]);
    modelContext.getTools = () => Promise.reject(fault);
    (modelContext as unknown as EventTarget).dispatchEvent(new Event("toolchange"));
    await settle();
    expect(reported).toHaveBeenCalledTimes(3);
});

// holds: js-webmcp
test("a tool whose registration is aborted is gone", async () => {
    const { tools, context } = await follow();
    const registration = new AbortController();
    await context.registerTool(search, { signal: registration.signal });
    await context.registerTool({ ...search, name: "other" });
    await settle();
    expect(tools().map(({ name }) => name)).toEqual(["search", "other"]);
    registration.abort();
    await settle();
    expect(tools().map(({ name }) => name)).toEqual(["other"]);
});

// holds: js-webmcp
test("what a tool returns is answered as from any handler", async () => {
    const { tools, context } = await follow();
    const answers = [
        ["done", "done"],
        ["5", "5"],
        [undefined, undefined],
        [{ a: 1 }, { a: 1 }],
        [{ content: [{ type: "text", text: "x" }] }, { content: [{ type: "text", text: "x" }] }],
    ];
    for (const [index, [answer]] of answers.entries()) {
        await context.registerTool({ name: `t${index}`, description: "d", execute: async () => answer });
    }
    await settle();
    const given = await Promise.all(tools().map((tool) => tool.handler({}, call)));
    expect(given).toEqual(answers.map(([, expected]) => expected));
});

// holds: js-webmcp
test("a cancelled call aborts the signal that the page's tool was given", async () => {
    const { tools, context } = await follow();
    let signal: AbortSignal | undefined;
    await context.registerTool({ ...search, execute: (_, options) => void (signal = options.signal) });
    await settle();
    const running = new AbortController();
    await tools()[0]?.handler({}, { name: "search", signal: running.signal });
    running.abort();
    expect(signal?.aborted).toBe(true);
});

// holds: js-webmcp
test("a context of ours refuses what a browser's refuses", async () => {
    const { context } = await follow();
    await context.registerTool(search);
    for (const bad of [
        search,
        { ...search, name: "a b" },
        { ...search, name: "" },
        { ...search, name: "b", description: "" },
    ]) {
        await expect(context.registerTool(bad)).rejects.toMatchObject({ name: "InvalidStateError" });
    }
    const aborted = { signal: AbortSignal.abort() };
    await expect(context.registerTool({ ...search, name: "c" }, aborted)).rejects.toMatchObject({ name: "AbortError" });
    await expect(context.executeTool({ name: "none", description: "" })).rejects.toMatchObject({
        name: "NotFoundError",
    });
});

/** A browser's own context, which gives tools of frames too, and in which a schema may be text. */
function native(tools: object[]): ModelContext & { executeTool: ReturnType<typeof vi.fn> } {
    const executeTool = vi.fn(async () => "ran");
    return Object.assign(new EventTarget(), {
        registerTool: vi.fn(),
        getTools: async () => tools as never,
        executeTool,
    }) as never;
}

// holds: js-webmcp-native
test.each(["document", "navigator"])("the browser's own context is read, at %s, and not changed", async (at) => {
    const context = native([{ name: "a", description: "A", inputSchema: null, annotations: null, source: window }]);
    const before = { ...context };
    vi.stubGlobal(at, { modelContext: context });
    const { tools, context: found, stop } = await follow();
    expect(found).toBe(context);
    expect(tools()).toEqual([
        { name: "a", description: "A", inputSchema: { type: "object" }, handler: expect.any(Function) },
    ]);
    expect(await tools()[0]?.handler({ x: 1 }, call)).toBe("ran");
    expect(context.executeTool.mock.calls[0]?.slice(1)).toEqual([{ x: 1 }, { signal: call.signal }]);
    stop();
    expect({ ...context }).toEqual(before);
});

// holds: js-webmcp-native
test("tools of frames are left out, and a name stands once", async () => {
    const tool = (name: string, at: object): object => ({ name, description: "d", ...at });
    const context = native([
        tool("a", { source: {} }),
        tool("a", { source: window }),
        tool("a", {}),
        tool("b", { window }),
    ]);
    const { tools } = await follow(context);
    expect(tools().map(({ name }) => name)).toEqual(["a", "b"]);
});

// holds: js-webmcp-native
test("where schemas are text, arguments are text", async () => {
    const inputSchema = '{"properties":{"q":{"type":"string"}}}';
    const context = native([
        { name: "a", description: "A", inputSchema },
        { name: "b", description: "B", inputSchema: "" },
    ]);
    const { tools } = await follow(context);
    expect(tools().map((tool) => tool.inputSchema)).toEqual([
        { type: "object", properties: { q: { type: "string" } } },
        { type: "object" },
    ]);
    await tools()[0]?.handler({ q: 1 }, call);
    expect(context.executeTool.mock.calls[0]?.[1]).toBe('{"q":1}');
});

// holds: js-webmcp-global
test("nothing global changes unless it is asked for, and stop takes it away", async () => {
    const quiet = await follow();
    expect("modelContext" in document).toBe(false);
    quiet.stop();

    const loud = await follow(undefined, true);
    expect((document as { modelContext?: unknown }).modelContext).toBe(loud.context);
    loud.stop();
    expect("modelContext" in document).toBe(false);
});

// holds: js-webmcp-global
test("a browser's own context is never replaced", async () => {
    const context = native([]);
    vi.stubGlobal("document", { modelContext: context });
    const { stop } = await follow(undefined, true);
    stop();
    expect((document as { modelContext?: unknown }).modelContext).toBe(context);
});

/** A browser's context of before: it takes tools and lists none. */
class Older {
    readonly taken: string[] = [];

    registerTool(tool: ModelContextTool): void {
        if (this.taken.includes(tool.name)) {
            throw new DOMException("twice", "InvalidStateError");
        }
        this.taken.push(tool.name);
    }

    unregisterTool(name: string): void {
        this.taken.splice(this.taken.indexOf(name), 1);
    }
}

// holds: js-webmcp-older
test("where the browser's context lists no tools, install hears what is registered there", async () => {
    const older = new Older();
    vi.stubGlobal("navigator", { modelContext: older });
    const { tools, stop } = await follow(undefined, true);
    expect("modelContext" in document).toBe(false);
    older.registerTool(search);
    older.registerTool({ ...search, name: "other" });
    expect(() => older.registerTool(search)).toThrow("twice");
    await settle();
    expect(older.taken).toEqual(["search", "other"]);
    expect(tools().map(({ name }) => name)).toEqual(["search", "other"]);
    expect(await tools()[0]?.handler({ query: "x" }, call)).toEqual({ found: "x" });
    older.unregisterTool("search");
    await settle();
    expect(tools().map(({ name }) => name)).toEqual(["other"]);

    stop();
    expect(Object.getOwnPropertyNames(older)).toEqual(["taken"]);
    older.registerTool(search);
    await settle();
    expect(tools().map(({ name }) => name)).toEqual(["other"]);
});

// holds: js-webmcp-older
test("what such a context refuses later, or ours does, harms nobody; and it is as it was after stop", async () => {
    const registerTool = vi.fn(async ({ name }: ModelContextTool) => {
        if (name === "no") {
            throw new Error("refused");
        }
    });
    const older = { registerTool };
    vi.stubGlobal("navigator", { modelContext: older });
    const { tools, stop } = await follow(undefined, true);
    await expect(older.registerTool({ ...search, name: "no" })).rejects.toThrow("refused");
    await older.registerTool({ ...search, name: "not for us" });
    await settle();
    expect(tools()).toEqual([]);
    stop();
    expect(older.registerTool).toBe(registerTool);
});

// holds: js-webmcp-older
test("without install such a context is left alone", async () => {
    const older = new Older();
    vi.stubGlobal("navigator", { modelContext: older });
    await follow();
    expect(Object.getOwnPropertyNames(older)).toEqual(["taken"]);
});

// holds: js-webmcp
test("after stop nothing more is heard", async () => {
    const { tools, context, stop } = await follow();
    await context.registerTool(search);
    stop();
    await settle();
    expect(tools()).toEqual([]);
});
