import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

const src = join(import.meta.dirname, "../src");
const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".svelte"));

/** What of a component would be read by people: text outside tags, and attributes that are said aloud or shown. */
function words(component: string): string[] {
    const markup = component.replace(/<script[\s\S]*?<\/script>/g, "").replace(/<!--[\s\S]*?-->|<Icon [^>]*>/g, "");
    const attributes = [...markup.matchAll(/\s(?:title|aria-label|placeholder|alt|name|label|hint|words)="([^"{]*[A-Za-z][^"{]*)"/g)].map((found) => found[1]!);
    let rest = markup;
    // Expressions hold expressions: take the innermost away until none is left.
    for (let before = ""; before !== rest; ) {
        before = rest;
        rest = rest.replace(/\{[^{}]*\}/g, "");
    }
    return [...attributes, ...rest.replace(/<[^<>]*>/g, "\n").split("\n")].map((line) => line.trim()).filter((line) => /\p{L}/u.test(line));
}

// holds: ui-strings
test.each(files)("no word for people stands in %s", (file) => {
    expect(words(readFileSync(join(src, file), "utf8"))).toEqual([]);
});

// holds: ui-json-digits
test("no window parses JSON or trusts HTML of others", () => {
    for (const file of readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => /\.(?:svelte|ts)$/.test(file))) {
        expect(readFileSync(join(src, file), "utf8"), file).not.toMatch(/JSON\.parse\(|\{@html|innerHTML|\seval\(/);
    }
});
