// The API reference, from the comments in `src`: what the package exports, with its types, as `API.md`.
//
// `node reference.mjs` writes it after `node build.mjs`; a test fails when it is stale.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import ts from "typescript";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const ENTRIES = {
    clientmcp: "index",
    "clientmcp/confirm": "confirm",
    "clientmcp/outcome": "outcome",
    "clientmcp/webmcp": "webmcp",
};

/** The whole page. */
export function reference() {
    const files = Object.values(ENTRIES).map((entry) => here(`dist/${entry}.d.ts`));
    const program = ts.createProgram(files, { target: ts.ScriptTarget.ES2022 });
    const checker = program.getTypeChecker();
    const entries = Object.entries(ENTRIES).map(([name, entry], at) => {
        const module = checker.getSymbolAtLocation(program.getSourceFile(files[at]));
        const exported = checker.getExportsOfModule(module).map((symbol) => resolve(symbol, checker));
        const [values, types] = [exported.filter(isValue), exported.filter((symbol) => !isValue(symbol))];
        const order = (one, other) => (one.name < other.name ? -1 : 1);
        const parts = [...values.sort(order), ...types.sort(order)].map((symbol) => describe(symbol, checker));
        return [`## ${name}`, moduleComment(entry), ...parts].join("\n\n");
    });
    return `# API\n\nMade from the comments in \`src\` by \`node reference.mjs\`.\n\n${entries.join("\n\n")}\n`;
}

function resolve(symbol, checker) {
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function isValue(symbol) {
    return (symbol.flags & ts.SymbolFlags.Value) !== 0;
}

/** A heading, the comment, the declaration with the comments of its members. */
function describe(symbol, checker) {
    const [declared] = symbol.declarations;
    const statement = ts.isVariableDeclaration(declared) ? declared.parent.parent : declared;
    const text = statement
        .getText()
        .replace(/^export (declare )?/, "")
        .replace(/^ *#private;\n/gm, "");
    const throws = symbol.getJsDocTags(checker).filter(({ name }) => name === "throws");
    const comment = [
        linked(symbol.getDocumentationComment(checker)),
        ...throws.map((tag) => `Throws ${linked(tag.text)}`),
    ];
    return [`### ${symbol.name}`, ...comment.filter(Boolean), `\`\`\`ts\n${text}\n\`\`\``].join("\n\n");
}

/** Text in which links are names. */
function linked(parts) {
    return ts
        .displayPartsToString(parts)
        .replace(/\{@link (\w+)\}/g, "`$1`")
        .trim();
}

/** What an entry says of itself at its top. */
function moduleComment(entry) {
    const [, comment] = readFileSync(here(`src/${entry}.ts`), "utf8").match(/^\/\*\*\n([\s\S]*?)\n \* @module/);
    return comment.replace(/^ \* ?/gm, "").trim();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    writeFileSync(here("API.md"), reference());
}
