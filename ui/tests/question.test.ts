import { cleanup, fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { AboutQuestion, Ask, QuestionView, RefusedCode } from "../src/desktop";
import { watchPlace } from "../src/place";
import { Reading } from "../src/reading.svelte";
import { text } from "../src/text";
import { size } from "../src/times";
import QuestionWindow from "../src/views/QuestionWindow.svelte";
import { FakeApp } from "./support/fake";
import { question, questionView, snapshot, view } from "./support/fixture";
import { atItsMoment, Frames, open, settled } from "./support/render";

const words = text.question;
let frames: Frames;

beforeEach(() => {
    atItsMoment();
    frames = new Frames();
});
afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
});

async function ask(more: Partial<QuestionView> = {}, prepare: (app: FakeApp) => void = () => undefined): Promise<FakeApp> {
    const app = new FakeApp();
    app.question = { ...app.question, ...more };
    prepare(app);
    app.install(window as unknown as Record<string, unknown>);
    render(QuestionWindow);
    await settled();
    return app;
}

const told = (app: FakeApp, about: string): (Ask | AboutQuestion)[] => app.asked.filter((one) => "about" in one && one.about === about);
const press = (name: string): Promise<boolean> => fireEvent.click(screen.getByRole("button", { name }));
const decided = (app: FakeApp): unknown => told(app, "decide").map((one) => ({ ...one, fingerprint: undefined, about: undefined }));

// holds: ui-question-shown
test("shows who asks, whose tool it is, and every text through the one function", async () => {
    await ask({ question: question({ agent: "Cla\u202eude", origin: "https://wallet.example", definition: "changed", description: "Sends⟦U+200B⟧ it" }) });
    const page = document.body.textContent;
    for (const part of ["Cla⟦U+202E⟧ude", "sendPayment", "alice-wallet", "https://wallet.example", "claude-code 2.1.4", words.notVerified, words.changed, "Sends⟦U+200B⟧ it", "claims risk: moves money", "249 bytes"]) {
        expect(page).toContain(part);
    }
    expect(page).not.toContain("\u202e");
});

// holds: ui-json-digits, ui-json-repeated, ui-question-shown
test("arguments show the digits as written, repeated members marked, invisible characters visible", async () => {
    await ask();
    const tree = screen.getByRole("region", { name: words.arguments });
    for (const digits of ["12345678901234567890", "1e400", "-0", "0.10"]) {
        expect(within(tree).getByText(digits).textContent).toBe(digits);
    }
    expect(within(tree).getAllByText(text.json.repeated)).toHaveLength(2);
    expect(tree.textContent).toContain("⟦U+202E⟧");
    await fireEvent.click(screen.getByRole("radio", { name: words.exact }));
    expect(screen.getByRole("region", { name: words.arguments }).textContent).toContain('"amount":12345678901234567890,"fee":0.10,"limit":1e400,"shift":-0');
});

// holds: ui-json-blanks
test("arguments behind many blanks are shown, not taken for none", async () => {
    await ask({}, (app) => (app.arguments = `{${" ".repeat(80)}"command":"rm -rf /"}`));
    expect(screen.getByRole("region", { name: words.arguments }).textContent).toContain("rm -rf /");
});

// holds: ui-question-painted
test("is reported as readable on the second frame with the arguments in the page, and not before", async () => {
    let answer: () => void = () => undefined;
    const app = await ask({}, (app) => {
        const piece = new Promise<void>((resolve) => (answer = resolve));
        const given = app.instead;
        app.instead = (what) => ("about" in what && what.about === "text" ? (piece.then(() => ({ text: { piece: app.arguments, bytes: app.arguments.length } })) as never) : given(what));
    });
    await frames.next();
    await frames.next();
    expect(told(app, "painted")).toEqual([]);
    answer();
    await settled();
    expect(document.body.textContent).toContain("12345678901234567890");
    await frames.next();
    expect(told(app, "painted")).toEqual([]);
    await frames.next();
    expect(told(app, "painted")).toHaveLength(1);
});

// holds: ui-question-painted
test("arguments that cannot be read are never reported, and nothing can be allowed", async () => {
    const app = await ask({}, (app) => (app.instead = (what) => ("about" in what && what.about === "text" ? { refused: { code: "no_bridge", sentence: "No bridge." } } : undefined)));
    await frames.next();
    await frames.next();
    await frames.next();
    expect(told(app, "painted")).toEqual([]);
    expect(screen.getByRole<HTMLButtonElement>("button", { name: words.once }).disabled).toBe(true);
    await press(words.deny);
    expect(decided(app)).toEqual([{ verdict: "deny", also: "nothing" }]);
});

// holds: ui-question-moved
test("a button row that is at another place is reported each time", async () => {
    const app = await ask();
    let top = 100;
    vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(() => ({ left: 0, top, width: 400, height: 100 }) as DOMRect);
    await frames.next();
    await frames.next();
    await frames.next();
    expect(told(app, "moved")).toEqual([]);
    top = 140;
    await frames.next();
    expect(told(app, "moved")).toHaveLength(1);
    await frames.next();
    expect(told(app, "moved")).toHaveLength(1);
    top = 139;
    await frames.next();
    expect(told(app, "moved")).toHaveLength(2);
});

// holds: ui-question-moved
test("what lies on the buttons, or no longer does, is reported like a move", async () => {
    const app = await ask();
    let above: Element | null = null;
    vi.spyOn(document, "elementFromPoint").mockImplementation(() => above);
    for (let frame = 0; frame < 4; frame += 1) {
        await frames.next();
    }
    expect(told(app, "moved")).toEqual([]);
    above = screen.getByRole("button", { name: words.once });
    await frames.next();
    expect(told(app, "moved")).toHaveLength(1);
    await frames.next();
    expect(told(app, "moved")).toHaveLength(1);
    above = document.body;
    await frames.next();
    expect(told(app, "moved")).toHaveLength(2);
});

// holds: ui-question-moved
test("answers that are offered anew have had their places before, and move no button", async () => {
    const app = await ask({ all_seen: false, always: "not_all_shown" });
    for (let frame = 0; frame < 4; frame += 1) {
        await frames.next();
    }
    const buttons = [...document.querySelectorAll(".answers .longer button")];
    const names = (): string[] => screen.getAllByRole("button").map((button) => button.textContent?.trim() ?? "");
    expect(names()).not.toContain(words.quit);
    expect(names()).not.toContain(words.always);
    app.emit("question", questionView({ all_seen: true, always: "offered" }));
    await settled();
    await frames.next();
    expect(names()).toEqual(expect.arrayContaining([words.quit, words.always]));
    expect([...document.querySelectorAll(".answers .longer button")]).toEqual(buttons);
    expect(told(app, "moved")).toEqual([]);
});

// holds: ui-question-moved
test("a button that comes is no move, and one that shifts another is", () => {
    const row = document.body.appendChild(document.createElement("div"));
    const button = (): HTMLButtonElement => row.appendChild(document.createElement("button"));
    const first = button();
    let moves = 0;
    const end = watchPlace(row, () => (moves += 1));
    const second = button();
    void frames.next();
    expect(moves).toBe(0);
    vi.spyOn(first, "offsetLeft", "get").mockReturnValue(40);
    void frames.next();
    expect(moves).toBe(1);
    second.remove();
    void frames.next();
    expect(moves).toBe(1);
    end();
    row.remove();
});

// holds: ui-question-moved
test("whatever the clock may say has its room before it is said", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let refused: RefusedCode = "early";
    const app = await ask({ armed_in: null, deny_in: 300, always: "destructive", question: question({ hints: { read_only: null, destructive: true, idempotent: null, open_world: null } }) }, (app) => {
        app.instead = (what) => ("about" in what && what.about === "decide" ? { refused: { code: refused, sentence: "something lies on the question" } } : undefined);
    });
    const rooms = (): (string | null)[] => [...document.querySelectorAll(".now [data-says]")].map((room) => room.getAttribute("data-says"));
    const before = rooms();
    const says = (): string => document.querySelector(".now [role=status]")!.textContent!.trim();
    const said = [says()];
    await press(words.deny);
    await settled();
    said.push(says());
    vi.advanceTimersByTime(300);
    refused = "covered";
    await settled();
    await press(words.once);
    await settled();
    said.push(says());
    for (const view of [{ armed_in: 600 }, { armed_in: 0 }, { armed_in: 0, all_seen: false }] as const) {
        app.question = questionView({ ...app.question, ...view });
        app.emit("question", app.question);
        await settled();
        said.push(says());
        expect(rooms()).toEqual(before);
    }
    expect(said).toEqual([words.standing, words.early, words.covered, words.covered, words.destructive, words.notAllShown]);
    expect(before).toEqual(expect.arrayContaining([...said, words.arming]));
    vi.useRealTimers();
});

// holds: ui-question-painted
test("a card says that it begins before it shows anything: the app may have armed this question for an earlier one", async () => {
    const app = await open({ ...view, wanted: ["approvals", 1] });
    await fireEvent.click(screen.getByText("delete-note").closest("button")!);
    await settled();
    app.asked.length = 0;
    await fireEvent.click(screen.getByText("sendPayment").closest("button")!);
    await settled();
    const abouts = app.asked.flatMap((one) => ("ask" in one && one.ask === "question" ? [one.about.about] : []));
    expect(abouts.slice(0, 2)).toEqual(["begin", "text"]);
});

// holds: ui-question-answers
test.each([
    [words.deny, "deny", "nothing"],
    [words.once, "allow", "nothing"],
    [words.minutes15, "allow", { tool: { any_agent: false, lasts: "minutes15" } }],
    [words.quit, "allow", { tool: { any_agent: false, lasts: "quit" } }],
    [words.always, "allow", { tool: { any_agent: false, lasts: "always" } }],
    [words.denyTool, "deny", { tool: { any_agent: false, lasts: "always" } }],
    [words.denyAgent, "deny", "agent"],
])("%s", async (name, verdict, also) => {
    const app = await ask();
    await press(name);
    await press(name);
    expect(decided(app)).toEqual([{ verdict, also }]);
});

// holds: ui-question-always
test("always is offered only when the app offers it and all was shown here", async () => {
    await ask({ always: "destructive" });
    expect(screen.queryByRole("button", { name: words.always })).toBeNull();
    expect(document.body.textContent).toContain(words.destructive);
    cleanup();

    const long = `{"text":"${"x".repeat(200_000)}"}`;
    const app = await ask({ always: "offered", question: question({ arguments_bytes: long.length }) }, (app) => (app.arguments = long));
    expect(screen.queryByRole("button", { name: words.always })).toBeNull();
    await fireEvent.click(screen.getByText(/^Show the rest/));
    await settled();
    expect(screen.getByRole("button", { name: words.always })).toBeTruthy();
    expect(told(app, "text").length).toBeGreaterThan(0);
});

// holds: ui-question-always
test("how much is shown is counted in bytes, as the whole is", async () => {
    const long = `{"text":"${"é".repeat(50_000)}"}`;
    await ask({ question: question({ arguments_bytes: 100_011 }) }, (app) => (app.arguments = long));
    expect(document.body.textContent).toContain(words.partly("64 KB", size(100_011)));
    expect(screen.getByRole("button", { name: words.rest(size(100_011 - 65_535)) })).toBeTruthy();
});

// holds: ui-question-arming
test("looks unready until the app's clock has run, and an early answer is told softly", async () => {
    const app = await ask({ armed_in: null }, (app) => (app.instead = (what) => ("about" in what && what.about === "decide" ? { refused: { code: "early", sentence: "too early" } } : undefined)));
    const once = screen.getByRole("button", { name: words.once });
    expect(once.getAttribute("aria-disabled")).toBe("true");
    expect(document.body.textContent).toContain(words.standing);
    await fireEvent.click(once);
    await settled();
    expect(document.body.textContent).toContain(words.early);
    expect(document.body.textContent).not.toContain("too early");
    app.emit("question", questionView({ armed_in: 0 }));
    await settled();
    expect(once.getAttribute("aria-disabled")).toBeNull();
    expect(document.body.textContent).not.toContain(words.early);
});

// holds: ui-question-arming
test("arms after the time that the app names", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await ask({ armed_in: 600 });
    const once = screen.getByRole("button", { name: words.once });
    vi.advanceTimersByTime(599);
    await settled();
    expect(once.getAttribute("aria-disabled")).toBe("true");
    vi.advanceTimersByTime(1);
    await settled();
    expect(once.getAttribute("aria-disabled")).toBeNull();
    vi.useRealTimers();
});

// holds: ui-question-arming
test("a no that does not count yet looks like it, and what is said of it stays until it does", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let deny_in: number | null = 300;
    const app = await ask({ armed_in: null, deny_in }, (app) => {
        app.instead = (what) => {
            app.question = { ...app.question, deny_in };
            return "about" in what && what.about === "decide" ? { refused: { code: "early", sentence: "too early" } } : undefined;
        };
    });
    const noes = [words.deny, words.denyTool, words.denyAgent].map((name) => screen.getByRole("button", { name }));
    const looks = (): (string | null)[] => noes.map((button) => button.getAttribute("aria-disabled"));
    expect(looks()).toEqual(["true", "true", "true"]);
    expect(screen.getByRole<HTMLButtonElement>("button", { name: words.deny }).disabled).toBe(false);
    deny_in = 1_000;
    await press(words.deny);
    await settled();
    const says = (): string => document.querySelector(".now [role=status]")!.textContent!.trim();
    expect(says()).toBe(words.early);
    // A look meanwhile, and that what must be read first is out of view: nothing of that is an answer to the click.
    await frames.next();
    await frames.next();
    app.emit("question", questionView({ armed_in: 900, deny_in: 900 }));
    await settled();
    expect([says(), ...looks()]).toEqual([words.early, "true", "true", "true"]);
    vi.advanceTimersByTime(899);
    await settled();
    expect(says()).toBe(words.early);
    vi.advanceTimersByTime(1);
    await settled();
    expect([says(), ...looks()]).toEqual([words.firstLine + " " + words.showFirst, null, null, null]);
    vi.useRealTimers();
});

test("counts down to its end", async () => {
    await ask();
    expect(screen.getByRole("timer", { name: words.timeLeft }).textContent?.trim()).toBe("1:39");
});

// holds: ui-question-closed
test("a question that is not open any more says so and takes no answer", async () => {
    const app = await ask({}, (app) => (app.instead = (what) => ("about" in what && what.about === "decide" ? { refused: { code: { bridge: "no_such_question" }, sentence: "gone" } } : undefined)));
    app.instead = (what) => ("about" in what && what.about !== "text" ? { refused: { code: { bridge: "no_such_question" }, sentence: "gone" } } : undefined);
    await press(words.once);
    await settled();
    expect(document.body.textContent).toContain(words.closed);
    expect(screen.getByRole<HTMLButtonElement>("button", { name: words.deny }).disabled).toBe(true);
});

// holds: ui-reading
test("a text that is asked for twice at once is read once", async () => {
    const asked: number[] = [];
    const reading = new Reading(async (offset) => {
        asked.push(offset);
        await Promise.resolve();
        return { text: { piece: "abcdef".slice(offset, offset + 2), bytes: 6 } };
    });
    await Promise.all([reading.more(), reading.all(), reading.all()]);
    expect([reading.text, asked]).toEqual(["abcdef", [0, 2, 4]]);
});

test("the definition is shown on request", async () => {
    const app = await ask();
    expect(told(app, "text")).toHaveLength(1);
    await press(words.showDefinition("392 bytes"));
    await settled();
    expect(screen.getByRole("region", { name: text.tools.definition }).textContent).toContain("destructiveHint");
});

// holds: ui-json-large
test("4 MiB of arguments do not hang", async () => {
    const long = `{"list":[${Array.from({ length: 550_000 }, (_, at) => at).join(",")}],"text":"${"é".repeat(50_000)}"}`;
    await ask({ question: question({ arguments_bytes: long.length }) }, (app) => (app.arguments = long));
    await fireEvent.click(screen.getByText(/^Show the rest/));
    for (let turn = 0; turn < 200 && screen.queryByText(/^Show the rest/); turn += 1) {
        await settled();
    }
    expect(screen.queryByText(/^Show the rest/)).toBeNull();
    await fireEvent.click(screen.getByRole("radio", { name: words.exact }));
    await settled();
    // What hangs draws hundreds of thousands, and takes longer than any machine needs for what it may draw.
    expect(document.querySelectorAll("*").length).toBeLessThan(5_000);
}, 180_000);

// holds: ui-question-focus
test("on the page, the focus lands on Deny, unless the person is writing", async () => {
    await open({ ...view, wanted: ["approvals", 1] });
    expect(document.activeElement).toBe(screen.getByRole("button", { name: words.deny }));

    const rules = Array.from({ length: 9 }, (_, at) => ({ ...snapshot.rules[0]!, id: `r${at}` }));
    const app = await open({ ...view, snapshot: { ...snapshot, questions: [], rules }, wanted: ["approvals", 1] });
    const search = screen.getByRole("searchbox");
    search.focus();
    app.emit("view", { ...app.view, snapshot: { ...snapshot, rules } });
    await settled();
    expect(screen.getByRole("button", { name: words.deny })).toBeTruthy();
    expect(document.activeElement).toBe(search);
});

// holds: ui-question-focus
test("on the page, the keyboard stays there after the last answer", async () => {
    const app = await open({ ...view, wanted: ["approvals", 1] });
    expect(document.activeElement).toBe(screen.getByRole("button", { name: words.deny }));
    app.emit("view", { ...app.view, snapshot: { ...snapshot, questions: [], door_questions: [] } });
    await settled();
    expect(document.activeElement?.classList).toContain("approvals-page");
});

// holds: ui-question-page
test("on the page, the earliest is asked, another can be picked, and a rule may be for any agent", async () => {
    const app = await open({ ...view, wanted: ["approvals", 1] });
    const card = (): HTMLElement => screen.getByRole("article");
    expect(card().textContent).toContain("sendPayment");
    expect(screen.getAllByRole("article")).toHaveLength(1);
    await fireEvent.click(screen.getByText("delete-note").closest("button")!);
    await settled();
    expect(card().textContent).toContain("delete-note");
    await fireEvent.click(screen.getByRole("checkbox", { name: words.anyAgent }));
    await press(words.minutes15);
    const sent = app.asked.flatMap((one) => ("ask" in one && one.ask === "question" && one.about.about === "decide" ? [{ id: one.id, about: one.about }] : []));
    expect(sent).toEqual([{ id: "1123456789abcdef0123456789abcdef", about: { about: "decide", fingerprint: question().fingerprint, verdict: "allow", also: { tool: { any_agent: true, lasts: "minutes15" } } } }]);
});
