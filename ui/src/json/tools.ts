/** An application's declared tools, read from the text of their definitions. All of it is the application's own word. */

import { children, member, root, saidBy, written, type Span } from "./scan";

export interface ToolText {
    /** As the application wrote it: `fingerprint` is over this. */
    readonly definition: string;
    readonly name: string;
    readonly title: string | undefined;
    readonly description: string | undefined;
    readonly readOnly: boolean | undefined;
    readonly destructive: boolean | undefined;
    readonly idempotent: boolean | undefined;
    readonly openWorld: boolean | undefined;
    /** The text of the schema. */
    readonly inputSchema: string | undefined;
    readonly outputSchema: string | undefined;
}

/** The tools of a JSON array of definitions, in its order. */
export function toolsIn(text: string): ToolText[] {
    const list = root(text);
    return list.kind === "array"
        ? children(text, list, Number.MAX_SAFE_INTEGER).list.map((span) => tool(written(text, span)))
        : [];
}

function tool(definition: string): ToolText {
    const whole = root(definition);
    const of = (name: string, inside: Span | undefined = whole): Span | undefined => inside && member(definition, inside, name);
    const text = (span: Span | undefined): string | undefined =>
        span?.kind === "string" ? saidBy(written(definition, span)) : undefined;
    const schema = (name: string): string | undefined => {
        const span = of(name);
        return span && written(definition, span);
    };
    const annotations = of("annotations");
    const hint = (name: string): boolean | undefined => {
        const span = annotations && of(name, annotations);
        const word = span?.kind === "word" ? written(definition, span) : undefined;
        return word === "true" ? true : word === "false" ? false : undefined;
    };
    return {
        definition,
        name: text(of("name")) ?? "",
        title: text(of("title")),
        description: text(of("description")),
        readOnly: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
        openWorld: hint("openWorldHint"),
        inputSchema: schema("inputSchema"),
        outputSchema: schema("outputSchema"),
    };
}

/** SHA-256 of a definition, as the bridge names it. */
export async function fingerprintOf(definition: string): Promise<string> {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(definition));
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether the text is one JSON object, which is what arguments must be. */
export function isObject(text: string): boolean {
    const whole = root(text);
    return whole.kind === "object" && isSound(text, whole);
}

/** Whether everything inside can be read. */
function isSound(text: string, whole: Span): boolean {
    const waiting = [whole];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
        if (next.kind === "broken") {
            return false;
        }
        if (next.kind === "object" || next.kind === "array") {
            const inside = children(text, next, Number.MAX_SAFE_INTEGER);
            if (inside.broken) {
                return false;
            }
            waiting.push(...inside.list);
        }
    }
    return true;
}
