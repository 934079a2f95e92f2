import { expect, test, vi } from "vitest";

import { storedToken } from "../src/index.js";
import { accept, newest, online, pass, settle, start, TOKEN } from "./support.js";

/** `localStorage` of a page, with what is in it. */
function storage(stored: Record<string, string> = {}): Map<string, string> {
    const all = new Map(Object.entries(stored));
    vi.stubGlobal("localStorage", {
        getItem: (key: string) => all.get(key) ?? null,
        setItem: (key: string, value: string) => void all.set(key, value),
        removeItem: (key: string) => void all.delete(key),
    });
    return all;
}

// holds: js-stored-token
test("a person is asked for a token once, and it is kept", async () => {
    const all = storage();
    const ask = vi.fn(async () => ` ${TOKEN}\n`);
    await start({ token: storedToken({ ask }) });
    expect(newest().protocols[1]).toBe(TOKEN);
    expect([...all]).toEqual([["clientmcp.token", TOKEN]]);
    await newest().end();
    await pass(0.5);
    await start({ token: storedToken({ ask }) });
    expect(ask.mock.calls).toEqual([[{ refused: false }]]);
});

// holds: js-stored-token
test("a token that is refused is forgotten and asked for again", async () => {
    const all = storage({ mine: "old" });
    const ask = vi.fn(async () => "new");
    const { application } = await start({ token: storedToken({ ask, key: "mine" }) });
    expect(newest().protocols[1]).toBe("old");
    await newest().end(4401);
    await pass(0.5);
    await accept();
    expect(ask.mock.calls).toEqual([[{ refused: true }]]);
    expect(all.get("mine")).toBe("new");
    expect(application.state.status).toBe("online");
});

// holds: js-stored-token
test("a person who gives none ends it, and nothing is kept", async () => {
    const all = storage({ "clientmcp.token": "old" });
    const { application } = await start({ token: storedToken({ ask: () => null }) });
    await newest().end(4401);
    await pass(0.5);
    expect(application.state).toMatchObject({ status: "refused", refusal: { code: "no-token" } });
    expect(all.size).toBe(0);
});

// holds: js-stored-token
test("a page that may store nothing keeps the token while it lives", async () => {
    vi.stubGlobal("localStorage", undefined);
    const ask = vi.fn(() => TOKEN);
    await start({ token: storedToken({ ask }) });
    await newest().end();
    await pass(0.5);
    expect(newest().protocols[1]).toBe(TOKEN);
    expect(ask).toHaveBeenCalledTimes(1);
});

// holds: js-stored-token
test.each(["two words", "clientmcp.v1", "t\u00f6k"])("a text that no handshake can hold is not kept: %j", async (text) => {
    const all = storage();
    const ask = vi.fn().mockReturnValueOnce(text).mockReturnValueOnce(TOKEN);
    await start({ token: storedToken({ ask }) });
    expect(ask.mock.calls).toEqual([[{ refused: false }], [{ refused: true }]]);
    expect(newest().protocols[1]).toBe(TOKEN);
    expect([...all.values()]).toEqual([TOKEN]);
});

// holds: js-stored-token, js-token-refused
test("a person is asked again once, and then it is refused with nothing kept", async () => {
    const all = storage();
    const ask = vi.fn(() => "two words");
    const token = storedToken({ ask });
    const { application } = await start({ token });
    await pass(60);
    expect(ask).toHaveBeenCalledTimes(2);
    expect(application.state).toMatchObject({ status: "refused", refusal: { code: "token-text" } });
    expect(all.size).toBe(0);
    ask.mockReturnValue(TOKEN);
    await start({ token });
    expect(newest().protocols[1]).toBe(TOKEN);
});

// holds: js-stored-token
test("a stored text that no handshake can hold is as good as none", async () => {
    const all = storage({ "clientmcp.token": "two words" });
    const ask = vi.fn(() => TOKEN);
    await start({ token: storedToken({ ask }) });
    expect(ask.mock.calls).toEqual([[{ refused: false }]]);
    expect([...all.values()]).toEqual([TOKEN]);
});

// holds: js-stored-token
test.each([`Bearer ${TOKEN}`, ` bearer  ${TOKEN}\n`])("the word before a pasted token is left out: %j", async (text) => {
    const all = storage();
    await start({ token: storedToken({ ask: () => text }) });
    expect(newest().protocols[1]).toBe(TOKEN);
    expect([...all.values()]).toEqual([TOKEN]);
});

// holds: js-stored-token, js-token-refused
test.each([7, {}, true])("an answer that is no string is refused, and nobody is asked again: %j", async (answer) => {
    const all = storage();
    const ask = vi.fn((): any => answer);
    const { application } = await start({ token: storedToken({ ask }) });
    await pass(60);
    expect(ask).toHaveBeenCalledTimes(1);
    expect(application.state).toMatchObject({ status: "refused", refusal: { code: "token-text" } });
    expect(all.size).toBe(0);
});

// holds: js-secrets
test("no token is on the console, in a state or in an error, whatever happens", async () => {
    const written: unknown[] = [];
    for (const method of ["debug", "info", "log", "warn", "error"] as const) {
        vi.spyOn(console, method).mockImplementation((...words) => void written.push(words));
    }
    const tools = [{ name: "bad name", handler: () => Promise.reject(new Error("x")) }];
    const { application, states, socket, errors } = await online({ dev: true, tools, token: async () => TOKEN });
    socket.call("1", "bad name");
    socket.hear("no JSON");
    await pass(0.5);
    for (const code of [1006, 4401, 4401]) {
        await newest().end(code, "why");
        await pass(2);
    }
    await settle();
    const failed = await application.online().catch(String);
    expect(application.state.status).toBe("refused");
    expect(written).not.toEqual([]);
    expect(JSON.stringify([written, states, errors.map(String), failed, application])).not.toContain("secret");
});
