import { expect, test, vi } from "vitest";

import { isDevelopment } from "../src/advice.js";
import type { Tool } from "../src/index.js";
import { named, online } from "./support.js";

async function advice(tool: Tool, dev = true): Promise<string[]> {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    warn.mockClear();
    const { application } = await online({ dev, tools: [tool] });
    application.setTools([tool]);
    return warn.mock.calls.map(([text]) => text as string);
}

// holds: js-advice
test.each([
    ["a.b", "some hosts refuse names"],
    ["x".repeat(61), "some hosts refuse names"],
    ["caf\u00e9", "some hosts refuse names"],
])("advice on a name, once: %s", async (name, words) => {
    expect(await advice(named(name))).toEqual([expect.stringContaining(`"${name}": ${words}`)]);
    expect(await advice(named(name))).toEqual([]);
});

// holds: js-advice
test("advice on descriptions", async () => {
    const { handler } = named("x");
    expect(await advice({ name: "none", handler })).toEqual([expect.stringContaining("without a description")]);
    expect(await advice({ name: "long", description: "x".repeat(1_001), handler })).toEqual([
        expect.stringContaining("over 1,000 characters"),
    ]);
});

// holds: js-advice
test("none where all is well, and none in production", async () => {
    expect(await advice({ ...named("x".repeat(60)), description: "x".repeat(1_000) })).toEqual([]);
    expect(await advice(named("b.c"), false)).toEqual([]);
});

// holds: js-advice
test("development is what NODE_ENV says, and without it a page of this machine", () => {
    vi.stubEnv("NODE_ENV", "production");
    expect(isDevelopment()).toBe(false);
    vi.stubEnv("NODE_ENV", "development");
    expect(isDevelopment()).toBe(true);
    vi.unstubAllEnvs();
    vi.stubGlobal("process", undefined);
    expect(isDevelopment()).toBe(false);
    vi.stubGlobal("location", { hostname: "localhost" });
    expect(isDevelopment()).toBe(true);
    vi.stubGlobal("location", { hostname: "notes.example" });
    expect(isDevelopment()).toBe(false);
});
