import { cleanup, fireEvent, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { Ask, KeysState, View } from "../src/desktop";
import { text } from "../src/text";
import { emptyView, finished, NOW, snapshot, view } from "./support/fixture";
import { atItsMoment, eventually, open, settled } from "./support/render";

beforeEach(atItsMoment);
afterEach(() => {
    cleanup();
    vi.restoreAllMocks();
});

const at = (page: View["wanted"][0], more: Partial<View> = {}): View => ({ ...view, wanted: [page, 1], ...more });
/** The first button of this name. Asking for its role would compute the names of all. */
function button(name: string | RegExp): HTMLElement {
    const named = (one: HTMLElement): string => one.getAttribute("aria-label") ?? one.textContent.replace(/\s+/g, " ").trim();
    const found = [...document.querySelectorAll("button")].find((one) => (typeof name === "string" ? named(one) === name : name.test(named(one))));
    if (!found) {
        throw new Error(`no button ${name}`);
    }
    return found;
}
async function press(name: string | RegExp): Promise<void> {
    await fireEvent.click(button(name));
    await settled();
}
async function fill(name: string | RegExp, value: string): Promise<void> {
    await fireEvent.input(screen.getByRole("textbox", { name }), { target: { value } });
}
/** What was asked that changes something. */
const done = (app: { asked: readonly unknown[] }): unknown[] =>
    app.asked.filter((one) => !["text", "looking", "question", "snippets"].includes((one as Ask).ask));

describe("the frame", () => {
    // holds: ui-frame
    test("asks for what there is, and goes where the app wants it", async () => {
        const app = await open(view, (app) => (app.view = view));
        expect(screen.getByRole("main").getAttribute("aria-label")).toBe("Applications");
        app.emit("view", at("settings"));
        await settled();
        expect(screen.getByRole("main").getAttribute("aria-label")).toBe("Settings");
        expect(app.asked).toContainEqual({ ask: "looking", page: "settings" });
        await press(/^Calls/);
        app.emit("view", at("settings"));
        await settled();
        expect(screen.getByRole("main").getAttribute("aria-label")).toBe("Calls");
    });

    // holds: ui-frame
    test("an answer that a newer view overtook does not take its place", async () => {
        await open(view, (app) => {
            app.instead = (what) => {
                if ("ask" in what && what.ask === "view") {
                    app.emit("view", at("settings"));
                    return { view: emptyView };
                }
                return undefined;
            };
        });
        await press(/^Applications/);
        expect(document.body.textContent).not.toContain(text.applications.none[0]);
    });

    // holds: ui-frame
    test("an app that does not answer at the start is no empty window", async () => {
        await open(view, (app) => {
            app.instead = () => {
                throw new Error("gone");
            };
        });
        expect(screen.getByRole("log").textContent).toContain(text.app.unreachable);
    });

    // holds: ui-frame
    test("counts what waits, and says how the bridge is", async () => {
        const app = await open();
        expect(button(/Approvals/).textContent).toContain("4");
        expect(screen.getByRole("navigation").textContent).toContain("Running");
        app.emit("view", { ...view, bridge: { state: "failed", code: "port_taken", sentence: "Port 27182 is taken." } });
        await settled();
        expect(screen.getByRole("alert").textContent).toContain("Port 27182 is taken.");
        await press(text.bridge.retry);
        expect(done(app)).toEqual([{ ask: "retry" }]);
    });

    test.each([
        ["held", text.bridge.held[0]!],
        ["starting", text.bridge.starting[0]!],
    ] as const)("the bridge is %s", async (state, words) => {
        await open({ ...view, bridge: { state } });
        expect(screen.getByRole("navigation").textContent).toContain(words);
    });

    // holds: ui-pause
    test("pauses and resumes, and says what paused means", async () => {
        const app = await open();
        await press(text.bridge.pause);
        app.emit("view", { ...view, snapshot: { ...snapshot, paused: true } });
        await settled();
        expect(document.body.textContent).toContain(text.bridge.resumes);
        await press(text.bridge.resume);
        expect(done(app)).toEqual([{ ask: "pause" }, { ask: "resume" }]);
    });

    // holds: ui-events
    test("events are shown, the newest first, and can be dismissed", async () => {
        const app = await open();
        const events = screen.getByRole("region", { name: text.app.events });
        expect(events.textContent).toContain(text.notices.first_connection[0]);
        expect(events.textContent).not.toContain(text.notices.replaced[0]);
        await press(text.app.moreEvents(2));
        expect(events.textContent).toContain(text.notices.replaced[0]);
        await press(text.app.dismiss);
        expect(done(app)).toEqual([{ ask: "dismiss", number: 3 }]);
        await press(text.app.dismissAll);
        expect(done(app).slice(1)).toEqual([3, 2, 1].map((number) => ({ ask: "dismiss", number })));
    });

    // holds: ui-keys
    test("trouble with the secrets is a choice, each explained, and nothing else is shown", async () => {
        const keys: KeysState = { state: "trouble", code: "locked", sentence: "The keychain is locked.", choices: ["again", "session", "file"] };
        const app = await open({ ...view, keys });
        expect(screen.queryByRole("navigation")).toBeNull();
        for (const choice of ["again", "session", "file"] as const) {
            expect(document.body.textContent).toContain(text.keys[choice][1]);
        }
        expect(done(app)).toEqual([]);
        await press(text.keys.chooseThis(text.keys.session[0]!));
        expect(done(app)).toEqual([{ ask: "keep", choice: "session" }]);
    });

    // holds: ui-quitting
    test("quitting with calls under way asks first", async () => {
        const app = await open({ ...view, quitting: 2 });
        expect(screen.getByRole("dialog").textContent).toContain(text.quitting.says(2));
        expect(done(app)).toEqual([]);
        await press(text.quitting.stay);
        await press(text.quitting.quit);
        expect(done(app)).toEqual([{ ask: "stay" }, { ask: "quit" }]);
    });

    test("what the app refuses is said, and so is that it does not answer", async () => {
        const app = await open();
        app.instead = (what) => ("ask" in what && what.ask === "pause" ? { refused: { code: "no_bridge", sentence: "no bridge runs" } } : undefined);
        await press(text.bridge.pause);
        expect(screen.getByRole("log").textContent).toContain("No bridge runs.");
        app.instead = () => {
            throw new Error("gone");
        };
        await press(text.bridge.pause);
        expect(screen.getByRole("log").textContent).toContain(text.app.unreachable);
    });
});

describe("what cuts off or cannot be undone", () => {
    const deeds: [string, View, string | RegExp, { title: string; says: string[]; yes: string }, Ask][] = [
        ["disconnect", view, text.applications.disconnect, text.confirm.disconnect("alice-wallet"), { ask: "disconnect", application: "alice-wallet" }],
        ["revoke one agent", view, text.agents.revoke, text.confirm.revokeAgent("alice-wallet", "Claude Code"), { ask: "revoke", application: "alice-wallet", role: "agent", which: { label: "Claude Code" } }],
        ["revoke all agents", view, text.agents.revokeAll, text.confirm.revokeAgents("alice-wallet"), { ask: "revoke", application: "alice-wallet", role: "agent", which: "all" }],
        ["rotate", at("settings"), text.settings.rotate[2]!, text.confirm.rotate, { ask: "rotate" }],
        ["drop old secrets", at("settings"), text.settings.dropOld[2]!, text.confirm.dropOld(1), { ask: "drop_old_secrets" }],
        ["revoke everything", at("settings"), text.settings.revokeAll[2]!, text.confirm.revokeAll, { ask: "revoke_all" }],
        ["forget everything", at("settings"), text.settings.forget[2]!, text.confirm.forget, { ask: "forget_everything" }],
    ];

    // holds: ui-confirm
    test.each(deeds)("%s says first what it will do, and nothing is asked before", async (_, seen, opener, words, asked) => {
        const app = await open(seen);
        await press(opener);
        const dialog = screen.getByRole("dialog");
        expect(dialog.textContent).toContain(words.title);
        words.says.forEach((says) => expect(dialog.textContent).toContain(says));
        expect(done(app)).toEqual([]);
        await fireEvent.click(within(dialog).getByRole("button", { name: text.app.cancel }));
        expect(screen.queryByRole("dialog")).toBeNull();
        expect(done(app)).toEqual([]);

        await press(opener);
        if (asked.ask === "forget_everything") {
            expect(within(screen.getByRole("dialog")).getByRole<HTMLButtonElement>("button", { name: words.yes }).disabled).toBe(true);
            await fill(/forget/, "forget");
        }
        await fireEvent.click(within(screen.getByRole("dialog")).getByRole("button", { name: words.yes }));
        await settled();
        expect(done(app)).toEqual([asked]);
        expect(screen.queryByRole("dialog")).toBeNull();
    });

    // holds: ui-confirm
    test("client tokens are revoked by label and all together, after a question", async () => {
        const app = await open();
        const clients = screen.getByRole("heading", { name: text.agents.clients }).closest("section")!;
        await fireEvent.click(within(clients).getByRole("button", { name: text.agents.revoke }));
        expect(screen.getByRole("dialog").textContent).toContain(text.confirm.revokeClient("alice-wallet", null).says[0]);
        await press(text.confirm.revokeClient("alice-wallet", null).yes);
        await fireEvent.click(within(clients).getByRole("button", { name: text.agents.revokeAll }));
        await press(text.confirm.revokeClients("alice-wallet").yes);
        expect(done(app)).toEqual([
            { ask: "revoke", application: "alice-wallet", role: "client", which: { label: null } },
            { ask: "revoke", application: "alice-wallet", role: "client", which: "all" },
        ]);
    });

    // holds: ui-confirm, ui-modes
    test("blocking and allowing everything ask first; the others are set at once", async () => {
        const app = await open();
        const mode = (name: string): Promise<boolean> => fireEvent.click(screen.getByRole("radio", { name }));
        await mode(text.modes.ask_except_read_only[0]!);
        expect(done(app)).toEqual([{ ask: "set_mode", application: "alice-wallet", mode: "ask_except_read_only", lasts: "always" }]);
        app.asked.length = 0;
        await mode(text.modes.block[0]!);
        expect(screen.getByRole("dialog").textContent).toContain(text.confirm.block("alice-wallet").says[0]);
        expect(done(app)).toEqual([]);
        await fireEvent.click(within(screen.getByRole("dialog")).getByRole("button", { name: text.confirm.block("alice-wallet").yes }));
        await settled();
        await mode(text.modes.allow_all[0]!);
        const { yes, says } = text.confirm.allowAll("alice-wallet");
        expect(screen.getByRole("dialog").textContent).toContain(says[0]);
        await press(yes.minutes15);
        await mode(text.modes.allow_all[0]!);
        await press(yes.quit);
        expect(done(app)).toEqual([
            { ask: "set_mode", application: "alice-wallet", mode: "block", lasts: "always" },
            { ask: "set_mode", application: "alice-wallet", mode: "allow_all", lasts: "minutes15" },
            { ask: "set_mode", application: "alice-wallet", mode: "allow_all", lasts: "quit" },
        ]);
    });
});

describe("applications", () => {
    // holds: ui-empty
    test("without one, the page tells what to do first", async () => {
        const app = await open(emptyView);
        expect(document.body.textContent).toContain(text.applications.none[1]);
        await press(text.applications.new);
        await press(text.copyToken.copy);
        expect(document.body.textContent).toContain(text.wrong.needed);
        await fill(text.newApplication.id, "my app");
        expect(document.body.textContent).toContain(text.wrong.clientId);
        await press(text.copyToken.copy);
        expect(done(app)).toEqual([]);
        await fill(text.newApplication.id, "my-app");
        await press(text.copyToken.copy);
        expect(done(app)).toEqual([{ ask: "copy_token", application: "my-app", role: "client", label: null, days: 365 }]);
        expect(screen.getByRole("log").textContent).toContain("Copied.");
    });

    // holds: ui-empty
    test("one that never connected tells what to do, and one that connects is not said to be away", async () => {
        const app = await open({ ...emptyView, known: [{ application: "new-one", last_seen: null, labels: [] }] });
        expect(document.body.textContent).toContain(text.tools.never);
        const head = { ...snapshot.applications[0]!, id: "new-one", registered: false, tools: 0, declaration: null };
        app.emit("view", { ...emptyView, snapshot: { ...emptyView.snapshot!, applications: [head] } });
        await settled();
        expect(button(/^new-one/).textContent).toContain(text.applications.registering);
        expect(document.body.textContent).not.toContain(text.applications.offline);
    });

    // holds: ui-tools
    test("tools are read in pieces and shown with their claims; nothing of them is trusted", async () => {
        await open();
        expect(document.body.textContent).toContain("Sign a message⟦U+202E⟧");
        await press(/sendPayment Send a payment/);
        expect(document.body.textContent).toContain(text.tools.destructive);
        expect(screen.getByRole("region", { name: text.tools.input }).textContent).toContain("0.10");
        await press(text.calls.read("214 bytes"));
        expect(document.body.textContent).toContain("Always ask for the balance first.");
    });

    // holds: ui-agents
    test("a client token that an application is connected with is in use now", async () => {
        const app = await open();
        const clients = (): string => screen.getByRole("heading", { name: text.agents.clients }).closest("section")!.textContent;
        expect(clients()).toContain(text.agents.inUse);
        app.emit("view", { ...view, snapshot: { ...snapshot, applications: [] } });
        await settled();
        expect(clients()).not.toContain(text.agents.inUse);
        expect(clients()).toContain("3 h");
    });

    // holds: ui-agents
    test("agents show last use and end, a warning before it, and blocks", async () => {
        const app = await open();
        const agents = screen.getByRole("heading", { name: text.agents.title }).closest("section")!;
        expect(agents.textContent).toContain(text.agents.endsSoon("5 days"));
        expect(agents.textContent).toContain(text.agents.blockedFor("11:00"));
        await press(text.agents.unblock);
        expect(done(app)).toEqual([{ ask: "unblock", application: "alice-wallet", label: "Überprüfer ✓" }]);
    });

    // holds: ui-token-copy
    test("a token is copied by the app: the window names it and never sees it", async () => {
        const app = await open();
        await press(text.applications.copyAgent);
        await fill(/Label/, "x".repeat(65));
        expect(document.body.textContent).toContain(text.wrong.tooLong(64));
        await fill(/Label/, "Editor");
        await fireEvent.click(screen.getByRole("radio", { name: text.copyToken.never }));
        expect(document.body.textContent).toContain(text.copyToken.neverSays);
        await press(text.copyToken.copy);
        expect(done(app)).toEqual([{ ask: "copy_token", application: "alice-wallet", role: "agent", label: "Editor", days: null }]);
    });

    // holds: ui-origins
    test("another origin is checked and allowed", async () => {
        const app = await open();
        await fill(text.origins.add, "null");
        await press(text.origins.allow);
        expect(document.body.textContent).toContain(text.wrong.origin);
        await fill(text.origins.add, "https://b.example");
        await press(text.origins.allow);
        expect(done(app)).toEqual([{ ask: "add_origin", application: "alice-wallet", origin: "https://b.example" }]);
    });

    // holds: ui-try
    test("a tool is tried with exactly the text of the field, and its result shown as written", async () => {
        const app = await open();
        await press(/^Try .*getBalance/);
        const exact = '{ "chainId": 1e0, "n":12345678901234567890 }';
        await fill(text.tools.arguments, "[]");
        await press(text.tools.run);
        expect(document.body.textContent).toContain(text.tools.notAnObject);
        expect(done(app)).toEqual([]);
        await fill(text.tools.arguments, exact);
        await press(text.tools.run);
        const tried = { ask: "try_tool", application: "alice-wallet", tool: "getBalance", arguments: exact, fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) };
        await eventually(() => expect(done(app)).toEqual([tried]));
        await eventually(() => expect(screen.getByRole("dialog").textContent).toContain("12345678901234567890"));
    });
});

describe("approvals", () => {
    // holds: ui-grants
    test("what runs without asking is listed and can be ended", async () => {
        const app = await open(at("approvals", { snapshot: { ...snapshot, questions: [], door_questions: [] } }));
        expect(document.body.textContent).toContain(text.approvals.none[1]);
        expect(document.body.textContent).toContain(text.times.left("9:12"));
        await press(text.approvals.end);
        await press(text.agents.unblock);
        await press(text.approvals.remove);
        expect(done(app)).toEqual([
            { ask: "set_mode", application: "notes", mode: "ask", lasts: "always" },
            { ask: "unblock", application: "alice-wallet", label: "Überprüfer ✓" },
            { ask: "remove_rule", id: "r2" },
        ]);
    });
});

describe("calls", () => {
    // holds: ui-calls
    test("a thousand calls are listed a part at a time, filtered, and told apart in words", async () => {
        const app = await open(at("calls"), (app) => (app.finished = finished(1_000)));
        expect(document.body.textContent).toContain(text.calls.shown(1_003));
        expect(document.querySelectorAll(".row.call").length).toBeLessThan(100);
        for (const code of ["answered", "failed", "waiting", "running"] as const) {
            expect(document.body.textContent).toContain(text.outcomes[code][0]);
        }
        await fireEvent.change(screen.getByRole("combobox", { name: text.calls.outcome }), { target: { value: "timeout" } });
        await settled();
        const rows = [...document.querySelectorAll(".row.call")];
        expect(rows.length).toBeGreaterThan(10);
        expect(rows.every((row) => row.textContent?.includes(text.outcomes.timeout[0]!))).toBe(true);
        await fireEvent.input(screen.getByRole("searchbox"), { target: { value: "no such" } });
        expect(document.body.textContent).toContain(text.calls.noMatch);
        expect(done(app)).toEqual([]);
    });

    // holds: ui-calls
    test("texts are read when asked for, and those of an earlier bridge are gone", async () => {
        const app = await open(at("calls"));
        const answered = (): Element => [...document.querySelectorAll(".row.call")].find((row) => row.textContent?.includes(text.outcomes.answered[0]!))!;
        await fireEvent.click(answered());
        expect(app.asked.filter((one) => "ask" in one && one.ask === "text")).toEqual([]);
        await press(/Show \(320 bytes\)/);
        expect(document.querySelector(".call-detail")?.textContent).toContain("12345678901234567890");
        app.emit("finished", { run: 2, calls: [], missed: 4 });
        await settled();
        expect(document.body.textContent).toContain(text.calls.gone);
        expect(document.body.textContent).toContain(text.calls.missed(4));
    });

    test("a call that ends leaves the list of those under way at once", async () => {
        const app = await open(at("calls"));
        const before = document.querySelectorAll(".row.call").length;
        const call = snapshot.calls[0]!;
        app.emit("finished", { run: 1, missed: 0, calls: [{ call, outcome: "answered", ended: NOW, result_bytes: 3 }] });
        await settled();
        expect(document.querySelectorAll(".row.call").length).toBe(before);
    });
});

describe("connect and settings", () => {
    // holds: ui-connect
    test("snippets show a placeholder, and are copied with a token by the app", async () => {
        const app = await open(at("connect"));
        expect(document.body.textContent).toContain("http://127.0.0.1:27182/mcp");
        await press("Codex");
        expect(document.querySelector("mark")?.textContent).toBe("<token>");
        await press("Cursor");
        await fireEvent.click(screen.getByRole("radio", { name: text.connect.byUrl }));
        expect(document.body.textContent).toContain("~/.cursor/mcp.json");
        await press(text.connect.withToken);
        await press(text.connect.copyUrl);
        expect(done(app)).toEqual([{ ask: "copy_snippet", application: "alice-wallet", host: "cursor", by: "url" }, { ask: "copy_url" }]);
    });

    // holds: ui-settings
    test("settings are checked before they are saved, and saved whole", async () => {
        const app = await open(at("settings"));
        await fill(text.settings.questionSeconds, "9");
        expect(document.body.textContent).toContain(text.wrong.between(10, 600));
        expect((button(text.settings.save) as HTMLButtonElement).disabled).toBe(true);
        await fill(text.settings.questionSeconds, "60");
        await fill(text.settings.port, "27200");
        await fill(text.settings.allowOrigins, "https://agent.example");
        await fireEvent.submit(button(text.settings.save).closest("form")!);
        await settled();
        expect(done(app)).toEqual([{ ask: "set_preferences", preferences: { ...view.preferences, question_seconds: 60, port: 27_200, allow_origins: ["https://agent.example"] } }]);
    });

    // holds: ui-settings
    test("a port that the command line named for this run is told apart from the one that is remembered", async () => {
        const app = await open(at("settings"));
        const port = (): HTMLInputElement => screen.getByRole("textbox", { name: text.settings.port });
        expect(document.body.textContent).not.toContain(text.settings.otherPort(27_182));
        app.emit("view", at("settings", { bridge: { state: "running", mcp: "http://127.0.0.1:4001/mcp", connect: "ws://127.0.0.1:4001/connect" } }));
        await settled();
        expect(document.body.textContent).toContain(text.settings.otherPort(4_001));
        expect(port().value).toBe("27182");
    });

    // holds: ui-settings
    test("theme and start at login take effect at once", async () => {
        const app = await open(at("settings"));
        await fireEvent.click(screen.getByRole("radio", { name: text.settings.themes.dark }));
        await fireEvent.click(screen.getByRole("checkbox"));
        expect(done(app)).toEqual([
            { ask: "set_preferences", preferences: { ...view.preferences, theme: "dark" } },
            { ask: "set_preferences", preferences: { ...view.preferences, start_at_login: false } },
        ]);
        app.emit("view", at("settings", { preferences: { ...view.preferences, theme: "dark" } }));
        await settled();
        expect(document.documentElement.dataset["theme"]).toBe("dark");
    });

    test("diagnostics are shown and copied", async () => {
        const app = await open(at("settings"));
        await press(text.settings.show);
        expect(screen.getByRole("region", { name: text.settings.diagnostics }).textContent).toContain("port 27182");
        await press(text.settings.copy);
        expect(done(app)).toContainEqual({ ask: "copy_diagnostics" });
    });
});
