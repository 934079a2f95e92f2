/** What TypeScript knows about handlers. `tsc` checks this file; running it only shows that it is there. */

import { expectTypeOf, test } from "vitest";

import { connect, type FromSchema, type State, tool } from "../src/index.js";
import { FakeSocket } from "./support.js";

// holds: js-types
test("a handler's arguments have the type of its schema", () => {
    tool({
        name: "add",
        inputSchema: {
            type: "object",
            properties: {
                text: { type: "string" },
                count: { type: "integer" },
                ratio: { type: "number" },
                pinned: { type: "boolean" },
                tags: { type: "array", items: { type: "string" } },
                color: { enum: ["red", "blue"] },
                kind: { const: "note" },
                maybe: { type: ["string", "null"] },
                place: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
                free: { type: "object" },
                any: {},
            },
            required: ["text", "tags"],
        },
        handler: (args, call) => {
            expectTypeOf(args).toEqualTypeOf<{
                text: string;
                tags: string[];
                count?: number;
                ratio?: number;
                pinned?: boolean;
                color?: "red" | "blue";
                kind?: "note";
                maybe?: string | null;
                place?: { x: number };
                free?: Record<string, unknown>;
                any?: unknown;
            }>();
            expectTypeOf(call.signal).toEqualTypeOf<AbortSignal>();
            // @ts-expect-error: the schema does not require it
            args.count.toFixed();
            // @ts-expect-error: the schema does not have it
            args.other;
            return args.text;
        },
    });
});

// holds: js-types
test("a handler with other arguments than its schema does not compile", () => {
    tool({
        name: "add",
        inputSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
        // @ts-expect-error: `a` is a number
        handler: ({ a }: { a: string }) => a,
    });
    // @ts-expect-error: arguments are an object
    tool({ name: "add", inputSchema: { type: "string" }, handler: () => "" });
    // @ts-expect-error: there is no handler
    tool({ name: "add" });
});

// holds: js-types
test("without a schema, or with one that is not known here, arguments are an open object or unknown", () => {
    tool({ name: "a", handler: (args) => expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>() });
    expectTypeOf<FromSchema<{ type: "object" }>>().toEqualTypeOf<Record<string, unknown>>();
    expectTypeOf<FromSchema<{ type: string }>>().toEqualTypeOf<unknown>();
    expectTypeOf<FromSchema<{ anyOf: [] }>>().toEqualTypeOf<unknown>();
    expectTypeOf<FromSchema<{ type: "array" }>>().toEqualTypeOf<unknown[]>();
});

// holds: js-types
test("tools with different schemas stand in one list, beside plain ones", () => {
    const one = tool({
        name: "a",
        inputSchema: { type: "object", properties: { n: { type: "number" } } },
        handler: () => 1,
    });
    const plain = { name: "b", handler: (args: { x: string }) => args.x };
    connect({ token: "t", tools: [one, plain], dev: false, WebSocket: FakeSocket });
    // @ts-expect-error: a token is needed
    (): unknown => connect({ tools: [one] });
});

// holds: js-node
test("the browser's WebSocket is one that can be handed in", () => {
    (): unknown => connect({ token: "t", WebSocket });
});

// holds: js-types
test("a state says by its status what else it has", () => {
    const told = (state: State): string => {
        switch (state.status) {
            case "waiting":
                return state.nextTry.toISOString();
            case "refused":
                return state.refusal.reason;
            case "permission-needed":
            case "permission-denied":
                return state.advice;
            default:
                // @ts-expect-error: the others have nothing more
                return state.nextTry;
        }
    };
    told({ status: "online" });
});
