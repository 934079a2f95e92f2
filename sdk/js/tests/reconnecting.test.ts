import { expect, test, vi } from "vitest";

import { Backoff, next } from "../src/reconnect.js";
import { accept, FakeSocket, named, newest, online, pass, settle, start, TOKEN } from "./support.js";

// holds: js-backoff
test.each([1000, 1001, 1002, 1005, 1006, 1011, 1012, 3000, 4000, 4402, 4410])(
    "after %i it connects again",
    async (code) => {
        const { socket, application } = await online();
        await socket.end(code, "why");
        expect(application.state).toEqual({ status: "waiting", nextTry: new Date(Date.now() + 500) });
        await pass(0.4);
        expect(FakeSocket.all).toHaveLength(1);
        await pass(0.1);
        expect(FakeSocket.all).toHaveLength(2);
        expect(application.state.status).toBe("connecting");
    },
);

// holds: js-backoff
test("the bound doubles from half a second to thirty, and starts again after a registered", async () => {
    const backoff = new Backoff();
    const bounds = Array.from({ length: 9 }, () => backoff.next(1));
    expect(bounds).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);

    await start();
    for (const wait of [0.5, 1, 2]) {
        await newest().end();
        await pass(wait);
    }
    expect(FakeSocket.all).toHaveLength(4);
    // An open connection alone proves nothing.
    newest().open();
    await newest().end();
    await pass(4);
    expect(FakeSocket.all).toHaveLength(5);
    await accept();
    await newest().end();
    await pass(0.5);
    expect(FakeSocket.all).toHaveLength(6);
});

// holds: js-backoff
test("a wait is anything between nothing and its bound", () => {
    for (const fraction of [0, 0.25, 0.999]) {
        const backoff = new Backoff();
        expect([backoff.next(fraction), backoff.next(fraction)]).toEqual([500 * fraction, 1_000 * fraction]);
    }
});

// holds: js-protocol-error
test.each([4400, 1007])("after %i it stays away, with the bridge's reason", async (code) => {
    const { socket, application } = await online({ token: () => TOKEN });
    await socket.end(code, "tool 1: no name");
    expect(application.state).toEqual({ status: "refused", refusal: { code: "message", reason: "tool 1: no name" } });
    await pass(600);
    application.takeOver();
    application.allow();
    await pass(600);
    expect(FakeSocket.all).toHaveLength(1);
});

// holds: js-unauthorized
test("a fixed token that is refused ends it", async () => {
    const { application } = await start();
    await newest().end(4401, "not valid");
    expect(application.state).toEqual({ status: "refused", refusal: { code: "token", reason: "not valid" } });
    await pass(600);
    expect(FakeSocket.all).toHaveLength(1);
});

// holds: js-unauthorized
test("a token function is asked for a new one, once until the bridge accepts one", async () => {
    const token = vi.fn(({ refused }: { refused: boolean }) => (refused ? "new" : "old"));
    const { application } = await start({ token });
    await newest().end(4401);
    await pass(0.5);
    expect(newest().protocols).toEqual(["clientmcp.v1", "new"]);
    await accept();
    await newest().end(4401);
    await pass(0.5);
    expect(token.mock.calls.map(([request]) => request.refused)).toEqual([false, true, true]);
    await newest().end(4401, "again");
    expect(application.state).toMatchObject({ status: "refused", refusal: { code: "token", reason: "again" } });
    await pass(600);
    expect(token).toHaveBeenCalledTimes(3);
});

// holds: js-unauthorized
test("a new token that met a broken line is not taken for refused", async () => {
    const token = vi.fn(async (_: { refused: boolean }) => "t");
    await start({ token });
    await newest().end(4401);
    await pass(0.5);
    await newest().end();
    await pass(1);
    expect(token.mock.calls.map(([request]) => request.refused)).toEqual([false, true, false]);
});

// holds: js-token-function
test("a token function is asked before every connection, and again when it fails", async () => {
    const tokens = [() => "one", () => Promise.reject(new Error("no backend")), () => "three"];
    const token = vi.fn(async () => tokens.shift()?.() ?? "");
    const { application, statuses } = await start({ token });
    await newest().end();
    await pass(0.5);
    expect(application.state.status).toBe("waiting");
    await pass(1);
    expect(newest().protocols[1]).toBe("three");
    expect(FakeSocket.all).toHaveLength(2);
    expect(statuses()).toEqual(["connecting", "waiting", "connecting", "waiting", "connecting"]);
});

// holds: js-token-function
test.each([null, undefined, ""])("a token function that has none ends it: %j", async (none) => {
    const { application } = await start({ token: () => none });
    expect(application.state).toMatchObject({ status: "refused", refusal: { code: "no-token" } });
    expect(FakeSocket.all).toEqual([]);
});

// holds: js-take-over
test("a replaced application stays away until it takes over", async () => {
    const { socket, application, statuses } = await online({ tools: [named("a")] });
    application.takeOver();
    await socket.end(4409, "a newer connection");
    expect(application.state).toEqual({ status: "replaced" });
    await pass(3_600);
    expect(FakeSocket.all).toHaveLength(1);

    application.takeOver();
    const online_ = application.online();
    await settle();
    expect(FakeSocket.all).toHaveLength(2);
    await accept();
    await online_;
    expect(statuses()).toEqual(["connecting", "online", "replaced", "connecting", "online"]);
});

// holds: js-take-over
test("taking over does nothing in other states", async () => {
    const { socket, application } = await online();
    application.takeOver();
    await socket.end(4409);
    await settle();
    expect(application.state.status).toBe("replaced");
    void application.close();
    await settle();
    application.takeOver();
    await pass(60);
    expect(application.state.status).toBe("closed");
    expect(FakeSocket.all).toHaveLength(1);
});

// holds: js-backoff
test("a broken line is tried again, and a closed one is not", () => {
    expect(next({ how: "lost" }, true)).toBe("retry");
    expect(next({ how: "left" }, true)).toEqual({ status: "closed" });
});
