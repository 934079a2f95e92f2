/** Answers to calls: what a handler returned or threw, as an MCP `CallToolResult`. */

import { ToolError } from "./error.js";
import { isObject } from "./messages.js";
import type { Call, CallToolResult, Handler } from "./tool.js";

/** How a handler ended. */
export interface Ran {
    readonly result: CallToolResult;
    /** What it threw that is no `ToolError`: the agent reads nothing of it. */
    readonly fault?: { readonly error: unknown };
}

/** Runs a handler. It never throws. */
export async function run(handler: Handler<any>, args: object, call: Call): Promise<Ran> {
    try {
        const answer: unknown = await handler(args, call);
        if (answer instanceof Error) {
            throw answer;
        }
        return { result: toResult(answer) };
    } catch (error) {
        const told = messageOf(error);
        if (told !== undefined) {
            return { result: failure(told) };
        }
        return {
            result: failure("the tool failed unexpectedly; what it had done until then is not known"),
            fault: { error },
        };
    }
}

/** What a `ToolError` tells the agent. Anything can be thrown, also what cannot be looked at (a revoked `Proxy`). */
function messageOf(error: unknown): string | undefined {
    try {
        return error instanceof ToolError ? `${error.message}` : undefined;
    } catch {
        return undefined;
    }
}

/** Turns what a handler returned into a result. */
export function toResult(answer: unknown): CallToolResult {
    if (answer === undefined) {
        return { content: [] };
    }
    if (typeof answer === "string") {
        return text(answer);
    }
    const written = write(answer);
    const value: unknown = JSON.parse(written);
    if (!isObject(value)) {
        return text(written);
    }
    if (!Array.isArray(value["content"])) {
        return { ...text(written), structuredContent: value };
    }
    // The bridge would close the connection for it.
    return "_meta" in value && !isObject(value["_meta"])
        ? failure("the tool's result is an object whose `_meta` is no object")
        : (value as CallToolResult & typeof value);
}

/** What JSON does not have (a function, a cycle, a `bigint`) is a fault that the agent may know of. */
function write(answer: unknown): string {
    try {
        const written: unknown = JSON.stringify(answer);
        if (typeof written === "string") {
            return written;
        }
    } catch {
        // Said below.
    }
    throw new ToolError("the result cannot be written as JSON");
}

/** A failure that the agent can read. */
export function failure(message: string): CallToolResult {
    return { ...text(message), isError: true };
}

function text(text: string): CallToolResult {
    return { content: [{ type: "text", text }] };
}
