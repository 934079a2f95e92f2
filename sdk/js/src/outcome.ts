/**
 * Results that say how a call ended, in the same words for all applications: `structuredContent` with a `status`.
 *
 * @module clientmcp/outcome
 */

import type { CallToolResult } from "./tool.js";

/** The application's own data beside an outcome. The outcome's own names are not for it. */
export interface OutcomeData {
    readonly status?: never;
    readonly operation?: never;
    readonly reason?: never;
    readonly [member: string]: unknown;
}

/** The change holds: the application has seen it in its state, not merely run the function that asks for it. */
export function completed(data: OutcomeData = {}): CallToolResult {
    return outcome({ status: "completed" }, data);
}

/** It started and goes on; `operation` names it, and the application reports its state through its own tools. */
export function accepted(operation: string, data: OutcomeData = {}): CallToolResult {
    return outcome({ status: "accepted", operation }, data);
}

/** Nothing changed. `code` is for the agent to act on, `detail` for a reader. */
export function rejected(code: string, detail: string, data: OutcomeData = {}): CallToolResult {
    return { ...outcome({ status: "rejected", reason: { code, detail } }, data), isError: true };
}

function outcome(
    own: { readonly status: string; readonly [member: string]: unknown },
    data: OutcomeData,
): CallToolResult {
    const taken = ["status", "operation", "reason"].find((name) => Object.hasOwn(data, name));
    if (taken) {
        throw new TypeError(`\`${taken}\` is the outcome's own member`);
    }
    const structuredContent = { ...own, ...data };
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}
