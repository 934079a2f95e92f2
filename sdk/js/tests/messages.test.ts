import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { PING, read, register, result } from "../src/messages.js";
import type { CallToolResult } from "../src/index.js";

interface Golden {
    readonly name: string;
    readonly from: "application" | "bridge";
    readonly text: string;
}

const file = new URL("../../../bridge/protocol/fixtures/client-channel.json", import.meta.url);
const golden = JSON.parse(readFileSync(file, "utf8")) as Golden[];

describe("the golden messages, which the Rust side reads and writes too", () => {
    // holds: js-golden
    test.each(golden.filter(({ from }) => from === "application"))("is written to the byte: $name", ({ text }) => {
        const message = JSON.parse(text);
        const written = {
            register: register(message.tools, message.instructions),
            result: result(message.id, message.result),
            ping: PING,
        };
        expect(written[message.type as keyof typeof written]).toBe(text);
    });

    // holds: js-golden
    test.each(golden.filter(({ from }) => from === "bridge"))("is read: $name", ({ text }) => {
        expect(read(text)).toEqual(JSON.parse(text));
    });
});

function texts(length: number): CallToolResult {
    return { content: [{ type: "text", text: "x".repeat(length) }] };
}

const ENVELOPE = result("1", texts(0)).length;

// holds: js-oversize
test("a result may fill its message and not a byte more", () => {
    const largest = 4_194_304 - ENVELOPE;
    expect(result("1", texts(largest))).toHaveLength(4_194_304);
    const excuse = JSON.parse(result("1", texts(largest + 1)));
    expect(excuse).toMatchObject({ id: "1", result: { isError: true } });
    expect(excuse.result.content[0].text).toContain("4194305 bytes and may have 4194304");
});

// holds: js-oversize
test("bytes of UTF-8 are counted, not units of a string", () => {
    const wide = (length: number): CallToolResult => ({ content: [{ type: "text", text: "\u20ac".repeat(length) }] });
    const most = Math.floor((4_194_304 - ENVELOPE) / 3);
    expect(JSON.parse(result("1", wide(most))).result.isError).toBeUndefined();
    expect(JSON.parse(result("1", wide(most + 1))).result.isError).toBe(true);
});

// holds: js-oversize
test("a result that is nested deeper than a message may be is a tool error, too", () => {
    const nested = (levels: number): CallToolResult => {
        const value = JSON.parse(`${'{"a":'.repeat(levels)}"[[{{\\"[[\\\\"${"}".repeat(levels)}`) as object;
        return { content: [], structuredContent: { value } };
    };
    // The message, the result and the structured content are three.
    expect(JSON.parse(result("1", nested(125))).result.isError).toBeUndefined();
    expect(JSON.parse(result("1", nested(126))).result.content[0].text).toContain("nested too deep");
});

// holds: js-breach
test.each([
    "",
    "x",
    "null",
    "[]",
    "{}",
    '{"type":1}',
    '{"type":"pong"}x',
    '{"type":"call","id":"1","name":"t"}',
    7,
    null,
])("is no message: %j", (text) => {
    expect(read(text)).toBeUndefined();
});
