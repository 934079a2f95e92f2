/** The package as it is built: `npm test` builds it first. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { expect, test, vi } from "vitest";

// @ts-expect-error: a script has no types
import { reference } from "../reference.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, "utf8");
const manifest = JSON.parse(read("package.json")) as Record<string, any>;

/** An entry and the files that it loads in turn. */
function loaded(entry: string): string {
    const text = read(`dist/${entry}`);
    const chunks = [...text.matchAll(/from\s*"\.\/([^"]+)"/g)].map(([, chunk]) => loaded(chunk ?? ""));
    return [text, ...chunks].join("");
}

// holds: js-size
test.each([
    ["index.js", 6 * 1_024],
    ["confirm.js", 1_024],
    ["outcome.js", 1_024],
    ["webmcp.js", 2 * 1_024],
])("%s is small", (entry, most) => {
    const bytes = gzipSync(loaded(entry), { level: 9 }).length;
    console.info(`${entry}: ${bytes} bytes gzipped, at most ${most}`);
    expect(bytes).toBeLessThanOrEqual(most);
});

// holds: js-package
test("it depends on nothing, and its entries are files", () => {
    expect(manifest).not.toHaveProperty("dependencies");
    expect(manifest).not.toHaveProperty("peerDependencies");
    expect(Object.keys(manifest["exports"])).toEqual([".", "./confirm", "./outcome", "./webmcp"]);
    for (const entry of Object.values<Record<string, string>>(manifest["exports"])) {
        for (const path of Object.values(entry)) {
            expect(read(path).length).toBeGreaterThan(0);
        }
    }
});

// holds: js-package
test("what is packed is what was built, and nothing else", () => {
    vi.useRealTimers();
    const npm = process.platform === "win32" ? "npm.cmd" : "npm";
    const options = { cwd: root, shell: process.platform === "win32", encoding: "utf8" } as const;
    const [pack] = JSON.parse(execFileSync(npm, ["pack", "--dry-run", "--json", "--ignore-scripts"], options));
    const paths: string[] = pack.files.map(({ path }: { path: string }) => path);
    const others = paths.filter((path) => !/^dist\/[\w-]+\.(js|js\.map|d\.ts)$/.test(path));
    expect(others.sort()).toEqual(["API.md", "README.md", "dist/LICENSE-APACHE", "dist/LICENSE-MIT", "package.json"]);
    for (const entry of ["index", "confirm", "outcome", "webmcp"]) {
        expect(paths).toEqual(expect.arrayContaining([`dist/${entry}.js`, `dist/${entry}.d.ts`]));
    }
    expect(pack.size).toBeLessThan(100_000);
}, 180_000);

// holds: js-reference
test("the API reference is current: `node reference.mjs` writes it", () => {
    expect(read("API.md").replaceAll("\r\n", "\n")).toBe(reference());
}, 180_000);

// holds: js-package
test("it looks at NODE_ENV when it runs, wherever it was built", () => {
    expect(read("dist/index.js")).toContain("process.env.NODE_ENV");
});

// holds: js-secrets
test("the core writes nothing on the console but advice and what handlers threw", () => {
    expect(loaded("index.js").match(/console\.\w+/g)).toEqual(["console.warn", "console.error"]);
});
