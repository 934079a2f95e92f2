import { expect, test, vi } from "vitest";

import { Pings } from "../src/pings.js";
import { FakeSocket, named, newest, online, pass, PING, PONG, REGISTERED, settle, sleep, start } from "./support.js";

// holds: js-ping-on-call
test("a ping of the exact text goes out the moment a call arrives, before its handler runs", async () => {
    let sent: string[] = [];
    const handler = (): void => void (sent = [...newest().sent]);
    const { socket } = await online({ tools: [{ ...named("a"), handler }] });
    socket.call("1", "a");
    await settle();
    expect(sent).toEqual([PING]);
    expect(socket.take()).toEqual([PING, '{"type":"result","id":"1","result":{"content":[]}}']);
});

// holds: js-ping-idle
test("an idle connection is pinged after 25 s, and again after each answer", async () => {
    const { socket } = await online();
    await pass(24.9);
    expect(socket.take()).toEqual([]);
    await pass(0.1);
    expect(socket.take()).toEqual([PING]);
    socket.hear(PONG);
    await pass(24.9);
    expect(socket.take()).toEqual([]);
    await pass(0.1);
    expect(socket.take()).toEqual([PING]);
});

// holds: js-ping-idle
test("silence for 10 s after a ping ends the connection, which is made again", async () => {
    const { socket, application } = await online();
    await pass(34.9);
    expect(application.state.status).toBe("online");
    await pass(0.1);
    expect(application.state.status).toBe("waiting");
    expect(socket.closedWith).toBe(1000);
    await pass(0.5);
    expect(FakeSocket.all).toHaveLength(2);
});

// holds: js-ping-idle
test("anything that arrives after a ping is life", async () => {
    const { socket, application } = await online();
    await pass(34);
    socket.hear({ type: "news" });
    await pass(15);
    expect(application.state.status).toBe("online");
});

// holds: js-ping-idle
test("a bridge that accepts no declaration is dead, too", async () => {
    const { application } = await start();
    newest().open();
    await pass(35);
    expect(application.state.status).toBe("waiting");
});

// holds: js-ping-idle
test("sending alone is no life, and a second ping gives the first no more time", () => {
    const pings = new Pings(0);
    pings.sent(12_000);
    expect(pings.due(24_999)).toBe("nothing");
    expect(pings.due(25_000)).toBe("ping");
    pings.asked(25_000);
    pings.asked(30_000);
    expect([pings.due(34_999), pings.due(35_000)]).toEqual(["nothing", "dead"]);
});

// holds: js-wake
test("after sleep the bridge is asked at once", async () => {
    const { socket, application } = await online();
    await pass(1);
    sleep(3_600);
    await pass(4);
    expect(socket.take()).toEqual([PING]);
    expect(application.state.status).toBe("online");
    await pass(9.9);
    expect(application.state.status).toBe("online");
    await pass(0.1);
    expect(application.state.status).toBe("waiting");
});

// holds: js-wake
test("an answer that was slept through is asked for once more, and only once", async () => {
    const { socket, application } = await online();
    await pass(26);
    sleep(3_600);
    await pass(4);
    expect(socket.take()).toEqual([PING, PING]);
    sleep(3_600);
    await pass(5);
    expect(application.state.status).toBe("waiting");
});

// holds: js-wake
test("a clock that was set back does not postpone the ping", async () => {
    const { socket } = await online();
    await pass(1);
    sleep(-3_600);
    await pass(5);
    expect(socket.take()).toEqual([PING]);
});

// holds: js-wake
test("a wait that was slept through ends at once", async () => {
    const { socket } = await online();
    for (let tries = 0; tries < 6; tries += 1) {
        await newest().end();
        await pass(30);
    }
    await newest().end();
    expect(newest()).not.toBe(socket);
    const dialled = FakeSocket.all.length;
    sleep(3_600);
    await pass(5);
    expect(FakeSocket.all).toHaveLength(dialled + 1);
});

/** A page whose events a test dispatches. */
function page(): { document: EventTarget & { visibilityState: string }; window: EventTarget } {
    const document = Object.assign(new EventTarget(), { visibilityState: "visible" });
    const window = new EventTarget();
    vi.stubGlobal("document", document);
    vi.stubGlobal("window", window);
    return { document, window };
}

// holds: js-wake
test.each(["visibilitychange", "resume", "pageshow", "online"])("a page that hears %s asks at once", async (event) => {
    const { document, window } = page();
    const { socket } = await online();
    const target = event === "pageshow" || event === "online" ? window : document;
    target.dispatchEvent(new Event(event));
    expect(socket.take()).toEqual([PING]);
    // One question at a time.
    target.dispatchEvent(new Event(event));
    expect(socket.take()).toEqual([]);
});

// holds: js-wake
test("a page that is hidden asks nothing", async () => {
    const { document } = page();
    const { socket } = await online();
    document.visibilityState = "hidden";
    document.dispatchEvent(new Event("visibilitychange"));
    expect(socket.take()).toEqual([]);
});

// holds: js-wake
test("a page that is back reconnects at once instead of waiting", async () => {
    const { window } = page();
    const { socket } = await online();
    await socket.end();
    window.dispatchEvent(new Event("online"));
    await settle();
    expect(FakeSocket.all).toHaveLength(2);
    newest().open();
    newest().hear(REGISTERED);
});

// holds: js-wake
test("an application that has ended listens to the page no longer", async () => {
    const { window } = page();
    const removed = vi.spyOn(window, "removeEventListener");
    const { socket } = await online();
    await socket.end(4400);
    expect(removed.mock.calls.map(([event]) => event)).toEqual(["pageshow", "online"]);
    window.dispatchEvent(new Event("online"));
    await settle();
    expect(FakeSocket.all).toHaveLength(1);
});
