import { describe, expect, test } from "vitest";

import golden from "../../bridge/protocol/fixtures/shown.json";
import { saidBy } from "../src/json/scan";
import { shown, shownWhole } from "../src/shown";

interface Case {
    why: string;
    input?: string;
    parts?: [string, number][];
    written?: string;
    chars?: number;
    output: string;
}

const cases = golden as unknown as { shown: Case[]; within: Case[]; json: Case[] };
const textOf = ({ input, parts, written }: Case): string =>
    (input ?? written ?? "") + (parts ?? []).map(([part, times]) => part.repeat(times)).join("");

describe("texts of other programs", () => {
    // holds: ui-shown
    test.each(cases.shown)("$why", (one) => {
        expect(shown(textOf(one))).toBe(one.output);
    });

    // holds: ui-shown
    test.each(cases.within)("in so much room: $why", (one) => {
        expect(shown(textOf(one), { chars: one.chars! })).toBe(one.output);
    });

    // holds: ui-shown
    test.each(cases.json)("a JSON string: $why", (one) => {
        expect(shown(saidBy(textOf(one)))).toBe(one.output);
    });

    test("a detail view keeps spaces and line ends, and counts what would push the rest away", () => {
        expect(shownWhole("a  b\n\tc\u00a0d\u202e")).toBe("a  b\n\tc⟦U+00A0⟧d⟦U+202E⟧");
        expect(shownWhole(`a${"\n".repeat(1_000)}b`)).toBe("a\n\n\n⟦U+000A ×997⟧b");
        expect(shownWhole(`a${" ".repeat(500)}b`)).toBe(`a${" ".repeat(64)}⟦U+0020 ×436⟧b`);
    });

    test("what the app made harmless already keeps the app's marks, and nothing else passes", () => {
        expect(shown("a⟦U+202E⟧b\u202e〚", { made: true })).toBe("a⟦U+202E⟧b⟦U+202E⟧⟦U+301A⟧");
    });
});
