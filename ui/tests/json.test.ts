import { describe, expect, test } from "vitest";

import { blocksOf } from "../src/json/blocks";
import { children, isCut, isEmpty, root, saidBy, written, type Span } from "../src/json/scan";
import { fingerprintOf, isObject, toolsIn } from "../src/json/tools";

const ALL = Number.MAX_SAFE_INTEGER;
const inside = (text: string, span: Span = root(text)): string[] =>
    children(text, span, ALL).list.map((child) => `${child.name ?? ""}${written(text, child)}${child.repeated ? "!" : ""}`);

describe("JSON as text", () => {
    // holds: ui-json-digits
    test("numbers are the digits that were written", () => {
        expect(inside("[12345678901234567890, 1e400 ,-0,0.10,1E+2]")).toEqual(["12345678901234567890", "1e400", "-0", "0.10", "1E+2"]);
    });

    // holds: ui-json-repeated
    test("each copy of a repeated member is marked, however it is written", () => {
        expect(inside('{"a":1,"b":2,"\\u0061":3}')).toEqual(['"a"1!', '"b"2', '"\\u0061"3!']);
    });

    // holds: ui-json-blanks
    test("nothing is taken for empty that has something behind however many blanks", () => {
        for (const blanks of ["", " ", " ".repeat(63), "\t\n ".repeat(2_000)]) {
            for (const [text, is] of [[`{${blanks}}`, true], [`[${blanks}]`, true], [`{${blanks}"a":1}`, false], [`[${blanks}0${blanks}]`, false]] as const) {
                expect(isEmpty(text, root(text))).toBe(is);
            }
        }
        expect(isEmpty("{  ", root("{  ", true))).toBe(false);
    });

    test("order, escapes and nesting stay", () => {
        const text = ' {"z":{"y":[1,{}]},"a":"\\"}]\\\\"} ';
        expect(inside(text)).toEqual(['"z"{"y":[1,{}]}', '"a""\\"}]\\\\"']);
        expect(saidBy('"\\"}]\\\\"')).toBe('"}]\\');
    });

    test.each(["", "{", '{"a"}', "[1,]x", "{} {}", "nul", "01", '"a', "[1}"])("what is no JSON is one broken text: %s", (text) => {
        const whole = root(text);
        const readable = whole.kind === "broken" || children(text, whole, ALL).broken;
        expect(readable).toBe(true);
    });

    test("of a beginning, what is whole is shown, and what is open counts as cut", () => {
        const text = '{"a":[1,2],"b":{"c":"long te';
        const whole = root(text, true);
        expect(isCut(text, whole)).toBe(true);
        const [a, b] = children(text, whole, ALL).list;
        expect(written(text, a!)).toBe("[1,2]");
        expect(inside(text, b)).toEqual(['"c""long te"']);
        expect(inside('[12,34', root("[12,34", true))).toEqual(["12"]);
    });

    // holds: ui-json-large
    test("4 MiB and 128 levels are read at once", () => {
        const began = performance.now();
        const wide = `{${Array.from({ length: 300_000 }, (_, at) => `"k${at}":${at}`).join(",")}}`;
        expect(wide.length).toBeGreaterThan(4_000_000);
        const some = children(wide, root(wide), 50);
        expect([some.list.length, some.count, some.broken]).toEqual([50, 300_000, false]);
        const deep = `${"[".repeat(128)}1${"]".repeat(128)}`;
        let span = root(deep);
        for (let level = 1; level < 128; level += 1) {
            span = children(deep, span, 1).list[0]!;
        }
        expect(written(deep, span)).toBe("[1]");
        const quotes = `"${'\\"'.repeat(2_000_000)}"`;
        expect(root(quotes).kind).toBe("string");
        // Whoever read it again for each member would need hours.
        expect(performance.now() - began).toBeLessThan(40_000);
    });

    test("blocks make the text again, and no character is cut in two", () => {
        for (const text of ["", "a,".repeat(20_000), "🙂".repeat(40_001), `x${"🙂".repeat(40_001)}`]) {
            const blocks = blocksOf(text);
            expect(blocks.join("")).toBe(text);
            expect(blocks.every((block) => !/^[\udc00-\udfff]/.test(block))).toBe(true);
        }
    });

    test("tools are read from their definitions, and the fingerprint is over the text as it is", async () => {
        const [tool] = toolsIn('[ {"name":"a","title":"A\\u202e","inputSchema":{"type":"object","x":0.10},"annotations":{"readOnlyHint":true,"destructiveHint":1}} ]');
        expect(tool).toMatchObject({ name: "a", title: "A\u202e", readOnly: true, destructive: undefined, inputSchema: '{"type":"object","x":0.10}' });
        expect(await fingerprintOf("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    });

    test.each([["{}", true], ['{"a":[1,{"b":1e400}]}', true], ["[]", false], ['{"a":01}', false], ['{"a":1,}', false], ["", false]])("arguments are one object: %s %s", (text, is) => {
        expect(isObject(text as string)).toBe(is);
    });
});
