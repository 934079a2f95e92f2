import { cleanup, fireEvent, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import golden from "../../bridge/protocol/fixtures/scripts.json";
import type { View } from "../src/desktop";
import { shown } from "../src/shown";
import { mixed, SCRIPTS } from "../src/shown/scripts";
import { text } from "../src/text";
import { doorQuestion, finished, question, snapshot, view } from "./support/fixture";
import { atItsMoment, open, settled } from "./support/render";

const { came } = text.agents;
const FORGED = "Claude Desktop” was allowed by you. Click Let it in";
const MIXED = "\u0421laude Desktop";
const tag = text.agents.mixed(["Cyrillic", "Latin"]);

afterEach(() => {
    cleanup();
    vi.restoreAllMocks();
});

describe("words that mix alphabets", () => {
    // holds: ui-mixed
    test.each(golden.mixed)("$why", ({ input, output }) => {
        expect(mixed(input)).toEqual(output);
    });

    // holds: ui-mixed
    test("are looked for in the scripts of the table, all of which this web view knows", () => {
        expect(SCRIPTS).toEqual(golden.scripts);
        SCRIPTS.forEach((script) => expect(() => new RegExp(`\\p{Script_Extensions=${script}}`, "u")).not.toThrow());
    });
});

describe("a text that the bridge made harmless and cut", () => {
    // holds: ui-shown-once
    test.each([
        ["what was cut", `${"x".repeat(200)}⟦…+8800⟧`, `${"x".repeat(200)}⟦…+8800⟧`],
        ["the longest that it makes", `${"⟦U+202E⟧".repeat(25)}⟦…+8975⟧`, `${"⟦U+202E⟧".repeat(25)}⟦…+8975⟧`],
        ["marks of all kinds", "a⟦U+202E⟧b⟦+96⟧⟦…+3⟧", "a⟦U+202E⟧b⟦+96⟧⟦…+3⟧"],
        ["what looks like a mark and is none", "⟦x⟧⟦…+⟧", "⟦x⟧⟦…+⟧"],
    ])("is not cut again: %s", (_, made, expected) => {
        expect(shown(made, { made: true })).toBe(expected);
        expect(shown(shown(made, { made: true }), { made: true })).toBe(expected);
    });

    // holds: ui-shown-once
    test("in less room counts what it was at first, and no mark is cut in half", () => {
        const made = `${"x".repeat(200)}⟦…+8800⟧`;
        expect(shown(made, { made: true, chars: 50 })).toBe(`${"x".repeat(50)}⟦…+8950⟧`);
        expect(shown("ab⟦U+202E⟧c⟦+96⟧de⟦…+10⟧", { made: true, chars: 6 })).toBe("ab⟦…+110⟧");
    });

    // holds: ui-shown-once
    test("stands in a question as it came", async () => {
        atItsMoment();
        await open({ ...view, wanted: ["approvals", 1], snapshot: { ...snapshot, door_questions: [], questions: [question({ description: `${"d".repeat(200)}⟦…+8800⟧` })] } });
        expect(screen.getByRole("article").textContent).toContain("d⟦…+8800⟧");
    });
});

describe("a name", () => {
    beforeEach(atItsMoment);

    const at = (page: View["wanted"][0], more: Partial<View["snapshot"]> = {}): View => ({ ...view, wanted: [page, 1], snapshot: { ...snapshot, questions: [], door_questions: [], ...more } });
    /** The line that a name stands on, alone but for a mark that is set apart. */
    const lineOf = (name: string): Element => {
        const line = [...document.querySelectorAll(".own-line, .who-holds .name")].find((one) => one.textContent?.includes(name));
        expect(line, name).toBeTruthy();
        return line!;
    };
    const isAlone = (name: string): void => {
        const line = lineOf(name).cloneNode(true) as Element;
        line.querySelectorAll(".tag, .soft").forEach((mark) => mark.remove());
        expect(line.textContent?.trim()).toBe(name);
    };

    // holds: ui-names
    test.each([
        ["door", came.door],
        ["token", came.token],
    ] as const)("of an agent that came by %s is marked in its question", async (via, says) => {
        await open(at("approvals", { questions: [question({ agent: FORGED, via })] }));
        const card = screen.getByRole("article");
        expect(card.textContent).toContain(says);
        isAlone(FORGED);
        expect(within(card).queryAllByText(via === "door" ? came.token : came.door)).toHaveLength(0);
    });

    // holds: ui-names
    test("stands alone at the local door, among others that wait, and where a host is forgotten", async () => {
        await open(at("approvals", { questions: [question()], door_questions: [doorQuestion({ wants: { pair: { host: FORGED, application: "alice-wallet" } } })] }));
        isAlone(FORGED);
        await open(at("approvals", { questions: [question(), question({ id: "9".repeat(32), agent: FORGED, via: "door", ends: question().ends + 1 })] }));
        isAlone(FORGED);
        expect(screen.getByText(came.doorShort).getAttribute("title")).toBe(came.door);
        await open(at("connect", { pairs: [{ host: FORGED, application: null, verdict: "allow", made: 0 }] }));
        isAlone(FORGED);
        await fireEvent.click(screen.getByText(text.connect.forget));
        const dialog = screen.getByRole("dialog");
        expect(within(dialog).getByRole("heading").textContent).not.toContain(FORGED);
        expect(within(dialog).getByText(FORGED).closest(".own-line")!.textContent?.trim()).toBe(FORGED);
        dialog.querySelectorAll("p:not(.own-line)").forEach((says) => expect(says.textContent).not.toContain("Claude"));
    });

    // holds: ui-names
    test("stands alone where tokens are revoked", async () => {
        const known = [{ application: "alice-wallet", last_seen: null, labels: (["agent", "client"] as const).map((role) => ({ role, label: FORGED, last_use: null, end: null })) }];
        for (const index of [0, 1]) {
            await open({ ...at("applications", { blocked: [], pairs: [] }), known });
            isAlone(FORGED);
            await fireEvent.click(screen.getAllByText(text.agents.revoke)[index]!);
            const dialog = screen.getByRole("dialog");
            expect(within(dialog).getByRole("heading").textContent).not.toContain("Claude");
            expect(within(dialog).getByText(FORGED).closest(".own-line")).toBeTruthy();
        }
    });

    // holds: ui-names
    test("of a token that ends stands alone, too", async () => {
        await open({ ...at("applications"), notices: [{ number: 1, at: 0, kind: "token_ends", application: "notes", detail: FORGED }] });
        isAlone(FORGED);
    });

    // holds: ui-names
    test("is marked in the list of calls and beside it", async () => {
        const calls = finished(1);
        calls.calls[0]!.call = { ...calls.calls[0]!.call, agent: MIXED, via: "door", own: false };
        await open(at("calls", { calls: [] }), (app) => (app.finished = calls));
        const row = screen.getByText("laude Desktop", { exact: false }).closest("button")!;
        expect(row.textContent).toContain(tag);
        expect(within(row).getByText(came.doorShort).getAttribute("title")).toBe(came.door);
        await fireEvent.click(row);
        const detail = screen.getByRole("complementary").textContent;
        expect(detail).toContain(came.door);
        expect(detail).toContain(tag);
    });

    // holds: ui-names
    test("of a rule and a block is marked as what comes under it", async () => {
        const [rule, pair] = [snapshot.rules[0]!, snapshot.pairs[0]!];
        const under = (label: string, application: string | null): Partial<View["snapshot"]> => ({
            rules: [{ ...rule, application: "alice-wallet", agent: { one: label } }],
            blocked: [{ application: "alice-wallet", label, until: "always" }],
            pairs: [{ ...pair, host: label, application, verdict: "allow" }],
        });
        for (const [label, application, says] of [
            ["Somebody", null, came.door],
            ["Somebody", "alice-wallet", came.door],
            ["Claude Code", "alice-wallet", came.both],
            ["Claude Code", "notes", came.token],
        ] as const) {
            await open(at("approvals", under(label, application)));
            expect(screen.getAllByText(says), `${label} ${application}`).toHaveLength(2);
        }
    });

    // holds: ui-names
    test("that mixes alphabets is tagged wherever it stands: agent, reported name, title, host, label, rule", async () => {
        const mixing = { agent: MIXED, reported: "\u0421ursor", title: "S\u0435nd" };
        await open(at("approvals", { blocked: [{ application: "notes", label: MIXED, until: "always" }], rules: [{ ...snapshot.rules[0]!, agent: { one: MIXED } }], questions: [question(mixing)] }));
        expect(screen.getAllByText(tag)).toHaveLength(4);
        expect(screen.getAllByText(text.agents.mixed(["Latin", "Cyrillic"]))).toHaveLength(1);
        await open(at("approvals", { blocked: [], rules: [], door_questions: [doorQuestion({ wants: { token: { application: "notes", role: "agent", label: MIXED, seconds: 60 } } })] }));
        expect(screen.getAllByText(tag)).toHaveLength(1);
        await open(at("connect", { pairs: [{ host: MIXED, application: null, verdict: "deny", made: 0 }] }));
        expect(screen.getAllByText(tag)).toHaveLength(1);
        await open(at("approvals", { questions: [question({ agent: "Zoom会議" })], blocked: [], rules: [] }));
        expect(screen.getByRole("article").textContent).not.toContain("more than one alphabet");
    });

    // holds: ui-let-in
    test("of who was let in without a token stands with the application, and is forgotten there", async () => {
        const pairs = [
            { host: "Claude Desktop", application: "alice-wallet", verdict: "allow", made: 0 },
            { host: "Editor", application: null, verdict: "allow", made: 0 },
            { host: "Stranger", application: "alice-wallet", verdict: "deny", made: 0 },
            { host: "Elsewhere", application: "notes", verdict: "allow", made: 0 },
        ] as const;
        const app = await open({ ...at("applications", { pairs: [...pairs] }), known: [] });
        const list = screen.getByRole("list", { name: text.agents.pairs });
        const rows = within(list).getAllByRole("listitem");
        expect(rows.map((row) => row.textContent?.replace(/\s+/g, " "))).toEqual([
            expect.stringMatching(/Let in.*Claude Desktop.*alice-wallet.*no token/),
            expect.stringMatching(/Refused.*Stranger.*alice-wallet/),
            expect.stringMatching(/Let in.*Editor.*all applications/),
        ]);
        expect(document.body.textContent).not.toContain(text.agents.noneAtAll);
        await fireEvent.click(within(rows[0]!).getByText(text.connect.forget));
        await fireEvent.click(within(screen.getByRole("dialog")).getByRole("button", { name: "Forget" }));
        await settled();
        expect(app.asked).toContainEqual({ ask: "forget_pair", host: "Claude Desktop", application: "alice-wallet" });
        await open({ ...at("applications", { pairs: [], blocked: [] }), known: [] });
        expect(document.body.textContent).toContain(text.agents.noneAtAll);
    });
});
