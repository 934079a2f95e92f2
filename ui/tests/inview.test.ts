import { cleanup, fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { AboutQuestion, QuestionView } from "../src/desktop";
import { text } from "../src/text";
import QuestionWindow from "../src/views/QuestionWindow.svelte";
import { FakeApp } from "./support/fake";
import { doorQuestion, question, questionView, snapshot, view } from "./support/fixture";
import { Layout } from "./support/layout";
import { atItsMoment, Frames, open, settled } from "./support/render";

const words = text.question;
let frames: Frames;
let layout: Layout;

beforeEach(() => {
    atItsMoment();
    frames = new Frames();
    layout = new Layout();
});
afterEach(() => {
    cleanup();
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
});

/** A small window with these arguments, painted; what it reported so far is forgotten. */
async function ask(args: string, more: Partial<QuestionView> = {}): Promise<FakeApp> {
    const app = new FakeApp();
    app.arguments = args;
    app.question = { ...app.question, all_seen: false, always: "not_all_shown", question: question({ arguments_bytes: args.length }), ...more };
    app.instead = (what) => {
        if (!("about" in what) || what.about !== "in_view") {
            return undefined;
        }
        app.question = { ...app.question, all_seen: app.question.all_seen || what.all };
        return { question: app.question };
    };
    app.install(window as unknown as Record<string, unknown>);
    render(QuestionWindow);
    await settled();
    await frames.next();
    await frames.next();
    return app;
}

const told = (app: FakeApp): { first: boolean; all: boolean }[] =>
    app.asked.flatMap((one) => ("about" in one && typeof one.about === "string" && one.about === "in_view" ? [one as Extract<AboutQuestion, { about: "in_view" }>] : [])).map(({ first, all }) => ({ first, all }));
const last = (app: FakeApp): unknown => told(app).at(-1);

async function scrollTo(at: number): Promise<void> {
    layout.scroll = at;
    await frames.next();
}

/** As somebody who reads does. */
async function scrollThrough(): Promise<void> {
    for (let at = 0; at < layout.end; at += layout.height / 2) {
        await scrollTo(at);
    }
}

const nested = (levels: number): string => `${'{"in":'.repeat(levels)}{"cmd":"rm -rf ~"}${"}".repeat(levels)}`;
const wide = (members: number): string => JSON.stringify(Object.fromEntries(Array.from({ length: members }, (_, at) => [`m${at}`, at === members - 1 ? "rm -rf ~" : at])));

// holds: ui-first-line
test.each(['{"cmd":"rm -rf ~"}', "{}", '{"list":[1,2,3]}', nested(3)])("the first line of %s in view is told, and each time that it goes and comes back", async (args) => {
    const app = await ask(args);
    expect(told(app)).toHaveLength(1);
    expect(last(app)).toMatchObject({ first: true });
    await frames.next();
    expect(told(app)).toHaveLength(1);
    // Half of it is not all of it.
    const line = args === "{}" ? 0 : 1;
    await scrollTo(line * 20 + 10);
    expect(last(app)).toMatchObject({ first: false });
    expect(document.body.textContent).toContain(words.firstLine);
    expect(screen.getByRole("button", { name: words.once }).getAttribute("aria-disabled")).toBe("true");
    await scrollTo(0);
    expect(last(app)).toMatchObject({ first: true });
    expect(told(app)).toHaveLength(3);
});

// holds: ui-first-line
test("a first line below the edge, of no height, or under something else is not in view", async () => {
    layout.above = 90;
    const app = await ask('{"cmd":"rm -rf ~"}');
    expect(told(app)).toEqual([{ first: false, all: false }]);
    await scrollTo(40);
    expect(last(app)).toMatchObject({ first: true });
    layout.covered = true;
    await frames.next();
    expect(last(app)).toMatchObject({ first: false });
    layout.covered = false;
    layout.height = 10;
    await frames.next();
    expect(last(app)).toMatchObject({ first: false });
});

// holds: ui-first-line
test("what would push the first line out of view is folded: long names first, then the answers for later", async () => {
    layout.above = 20;
    await ask('{"cmd":"ls"}');
    const card = (): Element => screen.getByRole("article");
    expect(card().classList).not.toContain("folded");
    expect(screen.queryByRole("button", { name: words.moreAnswers })).toBeNull();
    cleanup();
    layout.above = 90;
    let app = await ask('{"cmd":"ls"}');
    expect(card().classList).toContain("folded");
    // Nothing of it is cut.
    expect(screen.queryByRole("button", { name: words.wholeNames })).toBeNull();
    cleanup();
    app = await ask('{"cmd":"ls"}', { question: question({ agent: "An agent with a name that goes on and on" }) });
    expect(card().classList).toContain("folded");
    await fireEvent.click(screen.getByRole("button", { name: words.wholeNames }));
    expect(card().classList).not.toContain("folded");
    expect(screen.queryByRole("button", { name: words.denyAgent })).toBeNull();
    app.asked.length = 0;
    await fireEvent.click(screen.getByRole("button", { name: words.moreAnswers }));
    expect(app.asked).toContainEqual({ about: "moved" });
    expect(screen.getByRole("button", { name: words.denyAgent })).toBeTruthy();
    expect(screen.queryByRole("button", { name: words.once })).toBeNull();
    await fireEvent.click(screen.getByRole("button", { name: words.lessAnswers }));
    expect(screen.getByRole("button", { name: words.once })).toBeTruthy();
});

describe("what stands longer than 15 minutes", () => {
    const offered = (): boolean[] => [words.quit, words.always].map((name) => [...document.querySelectorAll(".answers button:not(.kept)")].some((button) => button.textContent?.trim() === name));

    // holds: ui-all-seen
    test("is offered at once where all is in view at once", async () => {
        const app = await ask('{"cmd":"ls"}', { always: "offered" });
        expect(told(app)).toEqual([{ first: true, all: true }]);
        expect(offered()).toEqual([true, true]);
        expect(screen.getByRole("button", { name: words.minutes15 })).toBeTruthy();
    });

    // holds: ui-all-seen
    test("is offered by the app's word alone: a page that saw everything offers nothing", async () => {
        const app = await ask('{"cmd":"ls"}', { always: "offered" });
        app.emit("question", questionView({ all_seen: false }));
        await settled();
        expect(offered()).toEqual([false, false]);
    });

    // holds: ui-all-seen, ui-json-folded
    test.each([
        ["40 levels", nested(40), 37],
        ["2,001 members", wide(2_001), 1_951],
    ])("is not offered while any of %s is folded, and the foot says how much is", async (_, args, folded) => {
        layout.height = 10_000;
        const app = await ask(args, { always: "offered" });
        expect(document.body.textContent).not.toContain("rm -rf ~");
        expect(last(app)).toEqual({ first: true, all: false });
        expect(offered()).toEqual([false, false]);
        expect(document.body.textContent).toContain(words.notAllShown);
        expect(document.querySelector("p.folded")!.textContent).toMatch(new RegExp(`Not shown: ${folded.toLocaleString("en")} members`));
    });

    // holds: ui-all-seen, ui-json-folded
    test("a string that was seen cut, and then opened, was not seen", async () => {
        const app = await ask(JSON.stringify({ what: `${"x".repeat(2_500)} THEN DELETE ALL ${"y".repeat(30_000)}` }), { always: "offered" });
        await scrollThrough();
        expect(last(app)).toMatchObject({ all: false });
        const link = [...document.querySelectorAll<HTMLElement>(".tree button.link")].at(-1)!;
        // All of it is drawn in the same line, which is longer than the window then.
        layout.long = 400;
        await fireEvent.click(link);
        await settled();
        await scrollTo(0);
        expect(document.body.textContent).toContain("THEN DELETE ALL");
        expect(offered()).toEqual([false, false]);
        await scrollThrough();
        expect(last(app)).toMatchObject({ all: true });
    });

    // holds: ui-all-seen
    test("what was opened counts once it was in view, not because it was opened", async () => {
        const app = await ask(nested(40), { always: "offered" });
        expect(document.querySelector("p.folded")!.textContent).toContain("37 levels deeper");
        await fireEvent.click(screen.getByText(text.json.openAll));
        await settled();
        await frames.next();
        expect(document.body.textContent).toContain("rm -rf ~");
        expect(document.querySelector("p.folded")).toBeNull();
        expect(last(app)).toEqual({ first: true, all: false });
        // To the end, past what lies between.
        await scrollTo(layout.end - layout.height);
        expect(last(app)).toEqual({ first: false, all: false });
        await scrollThrough();
        expect(last(app)).toMatchObject({ all: true });
        expect(offered()).toEqual([true, true]);
    });

    // holds: ui-all-seen
    test("is offered when the exact text was in view to its end", async () => {
        const app = await ask(nested(40), { always: "offered" });
        await fireEvent.click(screen.getByRole("radio", { name: words.exact }));
        await settled();
        await frames.next();
        expect(last(app)).toEqual({ first: true, all: false });
        await scrollTo(layout.end - layout.height);
        await scrollTo(0);
        expect(last(app)).toEqual({ first: true, all: false });
        await scrollThrough();
        expect(last(app)).toMatchObject({ all: true });
        expect(offered()).toEqual([true, true]);
    });

    // holds: ui-all-seen
    test("is not offered while a string or the text is cut", async () => {
        layout.height = 100_000;
        let app = await ask(`{"text":"${"x".repeat(2_500)}"}`, { always: "offered" });
        expect(last(app)).toEqual({ first: true, all: false });
        await fireEvent.click(screen.getByRole("button", { name: /^Show all/ }));
        await settled();
        await frames.next();
        expect(last(app)).toEqual({ first: true, all: true });
        cleanup();

        const long = `{"text":"${"x".repeat(70_000)}"}`;
        app = await ask(long, { always: "offered", question: question({ arguments_bytes: long.length }) });
        await fireEvent.click(screen.getByRole("radio", { name: words.exact }));
        await settled();
        await frames.next();
        expect(last(app)).toEqual({ first: true, all: false });
        expect(offered()).toEqual([false, false]);
    });

    // holds: ui-all-seen
    test("is counted anew when the question says something else, and when the app did not count it", async () => {
        vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
        const app = await ask('{"cmd":"ls"}', { always: "offered" });
        expect(told(app)).toHaveLength(1);
        app.emit("question", { ...app.question, all_seen: true, question: { ...app.question.question, ends: 0 } });
        await frames.next();
        expect(told(app)).toHaveLength(1);
        app.emit("question", { ...app.question, question: { ...app.question.question, definition: "new" } });
        await frames.next();
        expect(told(app)).toEqual([{ first: true, all: true }, { first: true, all: true }]);

        app.question = { ...app.question, all_seen: false };
        app.instead = (what) => ("about" in what && what.about === "in_view" ? { question: app.question } : undefined);
        app.emit("question", { ...app.question, question: { ...app.question.question, definition: "changed" } });
        await frames.next();
        expect(told(app)).toHaveLength(3);
        await frames.next();
        expect(told(app)).toHaveLength(3);
        // What was not taken is not claimed again by a first line that goes and comes back meanwhile.
        await scrollTo(30);
        await scrollTo(0);
        expect(told(app).slice(3)).toEqual([{ first: false, all: false }, { first: true, all: false }]);
        vi.advanceTimersByTime(250);
        await frames.next();
        expect(told(app).slice(5)).toEqual([{ first: true, all: true }]);
    });
});

// holds: ui-first-line
test("on the page, what lies under the answers is not in view", async () => {
    const app = await open({ ...view, wanted: ["approvals", 1], snapshot: { ...snapshot, door_questions: [] } });
    layout.above = 90;
    await frames.next();
    await frames.next();
    const seen = (): unknown => app.asked.flatMap((one) => ("ask" in one && one.ask === "question" && one.about.about === "in_view" ? [one.about] : [])).at(-1);
    expect(seen()).toEqual({ about: "in_view", fingerprint: question().fingerprint, first: false, all: false });
    layout.scroll = 60;
    await frames.next();
    expect(seen()).toMatchObject({ first: true });
});

// holds: ui-door-in-view
test("at the local door, all that is asked for must have been in view, and its first line be", async () => {
    const app = await open({ ...view, wanted: ["approvals", 1], snapshot: { ...snapshot, questions: [], door_questions: [doorQuestion()] } });
    await frames.next();
    await frames.next();
    const seen = (): unknown[] => app.asked.flatMap((one) => ("ask" in one && one.ask === "door_question" && one.about.about === "in_view" ? [one.about.all] : []));
    expect(seen()).toEqual([true]);
    layout.scroll = 10;
    await frames.next();
    expect(seen()).toEqual([true, false]);
    expect(document.body.textContent).toContain(text.door.outOfView);
    expect(screen.getByRole("button", { name: text.door.letIn }).getAttribute("aria-disabled")).toBe("true");
    layout.scroll = 0;
    await frames.next();
    expect(seen()).toEqual([true, false, true]);
});
