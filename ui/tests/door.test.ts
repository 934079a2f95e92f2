import { cleanup, fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { DoorQuestion } from "../src/bindings";
import type { Ask, DoorQuestionView, View } from "../src/desktop";
import { text } from "../src/text";
import QuestionWindow from "../src/views/QuestionWindow.svelte";
import { FakeApp } from "./support/fake";
import { doorQuestion, snapshot, view } from "./support/fixture";
import { atItsMoment, Frames, open, settled } from "./support/render";

const words = text.door;

afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
});

const at = (page: View["wanted"][0], more: Partial<View["snapshot"]> = {}): View => ({ ...view, wanted: [page, 1], snapshot: { ...snapshot, ...more } });
const press = (name: string): Promise<boolean> => fireEvent.click(screen.getByRole("button", { name }));
const told = (app: FakeApp, about: string): Ask[] => app.asked.filter((one): one is Ask => "ask" in one && one.ask === "door_question" && one.about.about === about);
const decided = (app: FakeApp): unknown => told(app, "decide").map((one) => "about" in one && typeof one.about === "object" && "verdict" in one.about && one.about.verdict);

describe("a question at the local door", () => {
    let frames: Frames;

    beforeEach(() => {
        atItsMoment();
        frames = new Frames();
    });

    const ask = (more: Partial<DoorQuestion> = {}, prepare?: (app: FakeApp) => void): Promise<FakeApp> =>
        open(at("approvals", { questions: [], door_questions: [doorQuestion(more)] }), prepare);

    // holds: ui-door-shown
    test("shows who wants in to what, that nobody checked the name, and what the system tells", async () => {
        await ask({ wants: { pair: { host: "Cla\u202eude", application: "alice-wallet" } }, program: { pid: 12, path: "/opt/x⟦U+202E⟧y", parent: null } });
        const card = screen.getByRole("article");
        for (const part of ["Cla⟦U+202E⟧ude", "alice-wallet", words.nameSays, words.pairSays, "/opt/x⟦U+202E⟧y", words.unknown, "12", words.whoSays]) {
            expect(card.textContent).toContain(part);
        }
        expect(within(card).getAllByText(words.unverified)).toHaveLength(2);
        expect(document.body.textContent).not.toContain("\u202e");
        expect(screen.getByRole("article", { name: /wants to call the tools of alice-wallet/ })).toBe(card);
    });

    // holds: ui-door-shown
    test("all applications, and a token, are said as what they are", async () => {
        await ask({ wants: { pair: { host: "Editor", application: null } } });
        expect(screen.getByRole("article").textContent).toContain(words.everySays);
        expect(screen.getByRole("heading", { level: 2, name: /every application/ })).toBeTruthy();
        await ask({ wants: { token: { application: "notes", role: "client", label: "CI", seconds: 3_600 } } });
        const card = screen.getByRole("article").textContent;
        for (const part of ["notes", words.tokenSays.client, words.roles.client, "CI", words.endsIn("1:00:00")]) {
            expect(card).toContain(part);
        }
        expect(screen.getByRole("button", { name: words.giveToken })).toBeTruthy();
        await ask({ wants: { token: { application: "notes", role: "agent", label: null, seconds: null } } });
        expect(screen.getByRole("article").textContent).toContain(words.endsNever);
    });

    // holds: ui-door-answers
    test("the focus is at Deny, and what was painted and moved is told by its id", async () => {
        const app = await ask();
        expect(document.activeElement?.textContent?.trim()).toBe(words.deny);
        expect(told(app, "painted")).toEqual([]);
        let top = 100;
        vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(() => ({ left: 0, top, width: 400, height: 100 }) as DOMRect);
        await frames.next();
        await frames.next();
        const about = (about: string): unknown => ({ ask: "door_question", id: doorQuestion().id, about: { about } });
        expect(told(app, "painted")).toEqual([about("painted")]);
        await frames.next();
        top = 140;
        await frames.next();
        expect(told(app, "moved")).toEqual([about("moved")]);
    });

    // holds: ui-door-answers
    test.each([
        [words.deny, "deny"],
        [words.letIn, "allow"],
    ])("%s is told once", async (name, verdict) => {
        const app = await ask();
        await press(name);
        await press(name);
        expect(decided(app)).toEqual([verdict]);
    });

    // holds: ui-door-answers
    test("looks unready until the app's clock has run, and an early answer is told softly", async () => {
        const early = { refused: { code: "early", sentence: "too early" } } as const;
        const app = await ask({}, (app) => {
            app.doorArmedIn = null;
            app.instead = (what) => ("ask" in what && what.ask === "door_question" && what.about.about === "decide" ? early : undefined);
        });
        const letIn = screen.getByRole("button", { name: words.letIn });
        expect(letIn.getAttribute("aria-disabled")).toBe("true");
        expect(document.body.textContent).toContain(words.standing);
        await fireEvent.click(letIn);
        await settled();
        expect(document.body.textContent).toContain(text.question.early);
        await press(words.deny);
        expect(decided(app)).toEqual(["allow", "deny"]);
    });

    // holds: ui-door-answers
    test("one that is gone can be answered no more", async () => {
        await ask({}, (app) => (app.instead = (what) => ("ask" in what && what.ask === "door_question" ? { refused: { code: { bridge: "no_such_question" }, sentence: "Gone." } } : undefined)));
        expect(screen.getByRole("article").textContent).toContain(text.question.closed);
        expect(screen.getByRole<HTMLButtonElement>("button", { name: words.letIn }).disabled).toBe(true);
    });

    // holds: ui-door-window
    test("has the small window, which is told when it can be allowed, and answers there", async () => {
        const told = (armed_in: number | null): DoorQuestionView => ({ question: doorQuestion(), armed_in, deny_in: 0, others: 2, theme: "dark" });
        const app = new FakeApp();
        app.instead = (what) => ("ask" in what ? undefined : what.about === "decide_door" ? "done" : { door_question: told(0) });
        app.install(window as unknown as Record<string, unknown>);
        render(QuestionWindow);
        await settled();
        const card = screen.getByRole("article");
        for (const part of ["Claude Desktop", words.pairSays, words.whoSays, text.question.more(2)]) {
            expect(card.textContent).toContain(part);
        }
        expect(document.documentElement.dataset["theme"]).toBe("dark");
        const letIn = screen.getByRole("button", { name: words.letIn });
        expect(letIn.getAttribute("aria-disabled")).not.toBe("true");
        app.emit("door_question", told(null));
        await settled();
        expect(letIn.getAttribute("aria-disabled")).toBe("true");
        expect(card.textContent).toContain(words.standing);
        app.emit("door_question", told(0));
        await settled();
        await press(words.letIn);
        expect(app.asked.filter((one) => "about" in one && one.about === "decide_door")).toEqual([{ about: "decide_door", verdict: "allow" }]);
        // It reads no arguments: there are none.
        expect(app.asked.some((one) => "about" in one && one.about === "text")).toBe(false);
    });

    // holds: ui-door-shown
    test("waits in one row with calls, and one that comes earlier takes no place", async () => {
        const app = await open(at("approvals"));
        expect(screen.getByRole("article").textContent).toContain("sendPayment");
        await fireEvent.click(screen.getByRole("button", { name: /Claude Desktop wants to call/ }));
        await settled();
        expect(screen.getByRole("article").textContent).toContain(words.pairSays);
        app.emit("view", at("approvals", { door_questions: [doorQuestion(), doorQuestion({ id: "5".repeat(32), ends: 0 })] }));
        await settled();
        expect(screen.getByRole("article").textContent).toContain("Claude Desktop");
        expect(screen.getByRole("navigation").textContent).toContain("5");
    });
});

describe("connecting by a command", () => {
    beforeEach(atItsMoment);

    const done = (app: FakeApp): unknown[] => app.asked.filter((one) => !["text", "looking", "question", "snippets"].includes((one as Ask).ask));

    // holds: ui-connect-command
    test("stands first where a host takes one, without a token, and the button says that it lets in", async () => {
        const app = await open(at("connect"));
        const hosts = within(screen.getByRole("list", { name: text.connect.hosts })).getAllByRole("button");
        expect(hosts.map((host) => host.textContent).slice(0, 3)).toEqual(["Claude Desktop", "Claude Code", "Cursor"]);
        expect(screen.getByRole("region", { name: "Claude Desktop" }).textContent).toContain('"command"');
        expect(document.querySelector("mark")).toBeNull();
        expect(document.body.textContent).toContain(text.connect.letInSays("Claude Desktop", "alice-wallet"));
        expect(screen.queryByRole("radio", { name: text.connect.byUrl })).toBeNull();
        await press(text.connect.letIn);
        await press("Cursor");
        expect(screen.getByRole<HTMLInputElement>("radio", { name: text.connect.byCommand }).checked).toBe(true);
        await fireEvent.click(screen.getByRole("radio", { name: text.connect.byUrl }));
        await press(text.connect.withToken);
        expect(done(app)).toEqual([
            { ask: "copy_snippet", application: "alice-wallet", host: "claude-desktop", by: "command" },
            { ask: "copy_snippet", application: "alice-wallet", host: "cursor", by: "url" },
        ]);
    });

    // holds: ui-pairs
    test("who was let in or refused is listed, and forgotten after a question", async () => {
        const app = await open(at("connect"));
        const list = screen.getByRole("heading", { name: text.connect.pairs }).closest("section")!;
        const rows = within(list).getAllByRole("listitem").map((row) => row.textContent ?? "");
        expect(rows[0]).toMatch(/Let in.*Claude Desktop.*notes.*since/s);
        expect(rows[1]).toMatch(/Let in.*Editor⟦U\+202E⟧.*all applications/s);
        expect(rows[2]).toMatch(/Refused.*Unknown helper.*alice-wallet/s);
        const forget = within(list).getAllByText(text.connect.forget);
        for (const [index, pair] of snapshot.pairs.entries()) {
            await fireEvent.click(forget[index]!);
            const confirm = text.confirm.forgetPair(pair.host, pair.application, pair.verdict === "allow");
            const dialog = screen.getByRole("dialog");
            confirm.says.forEach((says) => expect(dialog.textContent).toContain(says));
            expect(done(app)).toHaveLength(index);
            await fireEvent.click(within(dialog).getByRole("button", { name: confirm.yes }));
            await settled();
        }
        expect(done(app)).toEqual(snapshot.pairs.map(({ host, application }) => ({ ask: "forget_pair", host, application })));
    });

    // holds: ui-pairs
    test("a door that is closed says why", async () => {
        await open(at("connect", { pairs: [], door: { open: false, fault: "another bridge has the door" } }));
        const list = screen.getByRole("heading", { name: text.connect.pairs }).closest("section")!;
        expect(within(list).getByRole("alert").textContent).toContain("another bridge has the door");
        expect(list.textContent).toContain(text.connect.pairsNone);
    });
});
