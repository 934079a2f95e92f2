import { afterEach, expect, test, vi } from "vitest";

import { accept, FakeSocket, newest, pass, settle, start } from "./support.js";

afterEach(() => vi.unstubAllGlobals());

/** What a browser says of the permission, and the person who may change it. */
class Permission extends EventTarget {
    state: string;

    constructor(state: string) {
        super();
        this.state = state;
    }

    async becomes(state: string): Promise<void> {
        this.state = state;
        this.dispatchEvent(new Event("change"));
        await settle();
    }
}

/** A page of the web whose browser knows the permission. */
function page(state: string, hostname = "notes.example", isActive = false): Permission {
    const permission = new Permission(state);
    const query = ({ name }: { name: string }): Permission => {
        if (name !== "loopback-network") {
            throw new TypeError("no such permission");
        }
        return permission;
    };
    vi.stubGlobal("location", { hostname });
    vi.stubGlobal("navigator", { permissions: { query }, userActivation: { isActive } });
    return permission;
}

// holds: js-permission-prompt
test("a page that is loaded asks nobody: it waits for a click", async () => {
    page("prompt");
    const { application, statuses } = await start();
    await pass(3_600);
    expect(FakeSocket.all).toEqual([]);
    expect(application.state).toMatchObject({ status: "permission-needed" });
    application.allow();
    await settle();
    expect(FakeSocket.all).toHaveLength(1);
    expect(statuses()).toEqual(["connecting", "permission-needed", "connecting"]);
});

// holds: js-permission-prompt
test("connecting on a click, or when told to, asks", async () => {
    page("prompt", "notes.example", true);
    await start();
    expect(FakeSocket.all).toHaveLength(1);
    page("prompt");
    await start({ connectWhenPrompted: true });
    expect(FakeSocket.all).toHaveLength(2);
});

// holds: js-permission-prompt
test("the person has all the time they want; once they have answered, the handshake has its ten seconds", async () => {
    const permission = page("prompt");
    const { application } = await start();
    application.allow();
    await pass(600);
    expect(application.state.status).toBe("connecting");
    await permission.becomes("granted");
    await pass(9.9);
    expect(application.state.status).toBe("connecting");
    await pass(0.2);
    expect(application.state.status).toBe("waiting");
    await pass(0.5);
    await accept();
    expect(application.state.status).toBe("online");
});

// holds: js-permission-prompt
test("a click is for one try: a question that stays open is not asked again by itself", async () => {
    page("prompt");
    const { application } = await start();
    application.allow();
    await settle();
    await newest().end();
    expect(application.state).toMatchObject({ status: "permission-needed" });
    expect(JSON.stringify(application.state)).toContain("See that ClientMCP runs");
    await pass(3_600);
    expect(FakeSocket.all).toHaveLength(1);
    application.allow();
    await settle();
    expect(FakeSocket.all).toHaveLength(2);
});

// holds: js-permission-denied
test("a denied permission stops it, with what to do, until it is granted", async () => {
    const permission = page("denied");
    const { application } = await start({ connectWhenPrompted: true });
    application.allow();
    await pass(3_600);
    expect(FakeSocket.all).toEqual([]);
    expect(application.state).toMatchObject({ status: "permission-denied" });
    expect(JSON.stringify(application.state)).toContain("settings");
    await permission.becomes("granted");
    expect(FakeSocket.all).toHaveLength(1);
    await accept();
    expect(application.state.status).toBe("online");
});

// holds: js-permission-denied
test("a person who says no is not asked again", async () => {
    const permission = page("prompt");
    const { application } = await start({ connectWhenPrompted: true });
    await permission.becomes("denied");
    await newest().end();
    expect(application.state.status).toBe("permission-denied");
    await pass(3_600);
    expect(FakeSocket.all).toHaveLength(1);
});

// holds: js-permission-prompt
test("a permission that is granted elsewhere connects", async () => {
    const permission = page("prompt");
    const { application } = await start();
    await permission.becomes("granted");
    await accept();
    expect(application.state.status).toBe("online");
});

// holds: js-permission-prompt
test("closing ends the wait for a permission", async () => {
    page("prompt");
    const { application } = await start();
    await application.close();
    expect(application.state.status).toBe("closed");
    application.allow();
    await settle();
    expect(FakeSocket.all).toEqual([]);
});

// holds: js-permission-exempt
test.each(["localhost", "app.localhost", "127.0.0.1", "127.1.2.3", "[::1]"])(
    "pages of this machine need no permission: %s",
    async (hostname) => {
        page("prompt", hostname);
        await start();
        expect(FakeSocket.all).toHaveLength(1);
    },
);

// holds: js-permission-exempt
test("neither do other bridges, nor browsers that do not know it", async () => {
    page("prompt");
    await start({ url: "wss://bridge.example/connect" });
    expect(FakeSocket.all).toHaveLength(1);

    vi.stubGlobal("navigator", { permissions: { query: () => Promise.reject(new TypeError("unknown")) } });
    await start();
    expect(FakeSocket.all).toHaveLength(2);

    vi.stubGlobal("navigator", {});
    await start();
    expect(FakeSocket.all).toHaveLength(3);
});

// holds: js-permission-prompt
test.each(["localhost.example", "example-localhost", "128.0.0.1"])(
    "%s is no page of this machine",
    async (hostname) => {
        page("prompt", hostname);
        await start();
        expect(FakeSocket.all).toEqual([]);
    },
);
