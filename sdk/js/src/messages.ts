/** Messages of the bridge, read; messages to the bridge, written. */

import { MESSAGE_BYTES, NESTING } from "./limits.js";
import { failure } from "./answer.js";
import type { CallToolResult, Definition } from "./tool.js";

/** The subprotocol that the bridge selects. */
export const SUBPROTOCOL = "clientmcp.v1";

/** The exact text of a ping, so that a bridge can answer without parsing. */
export const PING = '{"type":"ping"}';

/** A message of the bridge. `unknown` is of a type that is newer than this package. */
export type Message =
    | { readonly type: "registered" | "pong" | "unknown" }
    | { readonly type: "call"; readonly id: string; readonly name: string; readonly arguments: object }
    | { readonly type: "cancel"; readonly id: string };

/** Reads a message; `undefined` when it breaks the protocol. */
export function read(data: unknown): Message | undefined {
    const message = parse(data);
    if (!isObject(message) || typeof message["type"] !== "string") {
        return undefined;
    }
    const { type, id, name, arguments: args } = message;
    switch (type) {
        case "registered":
        case "pong":
            return { type };
        case "call":
            return typeof id === "string" && typeof name === "string" && isObject(args)
                ? { type, id, name, arguments: args }
                : undefined;
        case "cancel":
            return typeof id === "string" ? { type, id } : undefined;
        default:
            return { type: "unknown" };
    }
}

function parse(data: unknown): unknown {
    try {
        return typeof data === "string" ? JSON.parse(data) : undefined;
    } catch {
        return undefined;
    }
}

/** True for what JSON calls an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Writes a `register`. */
export function register(tools: readonly Definition[], instructions: string | undefined): string {
    return JSON.stringify({ type: "register", tools, instructions });
}

/** Writes a `result`; one that no message can hold becomes a tool error that says so. */
export function result(id: string, answer: CallToolResult): string {
    const text = JSON.stringify({ type: "result", id, result: answer });
    const excuse = excuseFor(text);
    return excuse === undefined ? text : JSON.stringify({ type: "result", id, result: failure(excuse) });
}

function excuseFor(text: string): string | undefined {
    const bytes = byteLength(text);
    if (bytes > MESSAGE_BYTES) {
        return (
            `the tool's result is too large: its message has ${bytes} bytes and may have ${MESSAGE_BYTES}. ` +
            "The tool has run; ask for less."
        );
    }
    return nesting(text) > NESTING
        ? `the tool's result is nested too deep: its message may have ${NESTING} levels. The tool has run.`
        : undefined;
}

function byteLength(text: string): number {
    // Three bytes of UTF-8 are the most that one unit of a string can need.
    return text.length * 3 <= MESSAGE_BYTES ? text.length : new TextEncoder().encode(text).length;
}

/** The levels of a JSON text. Its strings are passed over. */
function nesting(text: string): number {
    let deepest = 0;
    for (let at = 0, depth = 0; at < text.length; at += 1) {
        const unit = text[at];
        if (unit === '"') {
            for (at += 1; text[at] !== '"'; at += 1) {
                if (text[at] === "\\") {
                    at += 1;
                }
            }
        } else if (unit === "{" || unit === "[") {
            depth += 1;
            deepest = Math.max(deepest, depth);
        } else if (unit === "}" || unit === "]") {
            depth -= 1;
        }
    }
    return deepest;
}
