// Builds `dist`: one small module for each entry, what they share in a chunk of its own, and the types.
//
// esbuild makes the modules, so that a page without a bundler loads one file and not ten; tsc alone can write types.

import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

rmSync(here("dist"), { recursive: true, force: true });
await build({
    absWorkingDir: here("."),
    entryPoints: ["index", "confirm", "outcome", "webmcp"].map((entry) => `src/${entry}.ts`),
    outdir: "dist",
    bundle: true,
    splitting: true,
    format: "esm",
    // Leaves `process.env.NODE_ENV` to whoever bundles the application.
    platform: "neutral",
    target: "es2022",
    minify: true,
    // Whoever opens it, or reads a stack trace, sees lines.
    lineLimit: 120,
    sourcemap: true,
});
execFileSync(process.execPath, [tsc, "-p", here("tsconfig.build.json")], { stdio: "inherit" });
for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) {
    copyFileSync(here(`../../${licence}`), here(`dist/${licence}`));
}
