import { expect, test } from "vitest";

import { accepted, completed, type OutcomeData, rejected } from "../src/outcome.js";
import { toResult } from "../src/answer.js";

// holds: js-outcome
test("an outcome is structured content with a status, and the same as text", () => {
    const outcomes = [
        [completed(), { status: "completed" }],
        [completed({ note: 7 }), { status: "completed", note: 7 }],
        [accepted("export-1", { total: 3 }), { status: "accepted", operation: "export-1", total: 3 }],
        [rejected("declined", "no"), { status: "rejected", reason: { code: "declined", detail: "no" } }],
    ] as const;
    for (const [result, expected] of outcomes) {
        expect(result.structuredContent).toEqual(expected);
        expect(result.content).toEqual([{ type: "text", text: JSON.stringify(expected) }]);
        expect(toResult(result)).toEqual(result);
    }
});

// holds: js-outcome
test("a rejected one is an error, and the others are none", () => {
    expect(rejected("x", "y").isError).toBe(true);
    expect([completed().isError, accepted("1").isError]).toEqual([undefined, undefined]);
});

// holds: js-outcome
test.each(["status", "operation", "reason"])("data that takes the name %s is a mistake", (name) => {
    const data = { [name]: 1 } as unknown as OutcomeData;
    expect(() => completed(data)).toThrow(`\`${name}\` is the outcome's own member`);
    // @ts-expect-error: the name is the outcome's own
    expect(() => completed({ reason: "x" })).toThrow(TypeError);
});
