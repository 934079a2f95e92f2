/** Tools: what an agent reads about them, and the handler that runs when one calls. */

import type { FromSchema, ObjectSchema } from "./schema.js";

/** MCP's hints about a tool: the application's own claims, which a person or host may trust or not. */
export interface Annotations {
    /** A name for people. */
    readonly title?: string;
    /** The tool changes nothing. */
    readonly readOnlyHint?: boolean;
    /** The tool may destroy what was there, rather than only add to it. MCP assumes it when absent. */
    readonly destructiveHint?: boolean;
    /** Calling it again with the same arguments changes nothing more. */
    readonly idempotentHint?: boolean;
    /** The tool reaches out of the application, as a web search does. MCP assumes it when absent. */
    readonly openWorldHint?: boolean;
    readonly [hint: string]: unknown;
}

/** What an agent reads about a tool: an MCP `Tool` object. Members that are not named here are passed on. */
export interface Definition<S extends ObjectSchema = ObjectSchema> {
    /** 1 to 128 characters from `A-Z a-z 0-9 _ - .`; some hosts take no dot and at most 60. */
    readonly name: string;
    /** A name for people. */
    readonly title?: string;
    /** What the tool does, when to use it, and what it answers: the agent decides by this text. */
    readonly description?: string;
    /**
     * The JSON Schema of the arguments. Without one, any object is taken. Neither the bridge nor this package checks
     * arguments against it: a language model wrote them, and the handler checks them.
     */
    readonly inputSchema?: S;
    /** The JSON Schema of the result's `structuredContent`. */
    readonly outputSchema?: ObjectSchema;
    /** Hints about what the tool does. */
    readonly annotations?: Annotations;
    /** Pictures for people. */
    readonly icons?: readonly { readonly src: string; readonly [member: string]: unknown }[];
    /** Data for programs, such as the application's own measure of risk. */
    readonly _meta?: { readonly [key: string]: unknown };
    readonly [member: string]: unknown;
}

/** One call of a tool, beside its arguments. */
export interface Call {
    /** The name under which the tool was called. */
    readonly name: string;
    /** Aborted when the agent cancels, or the connection ends: nobody waits for the answer any more. */
    readonly signal: AbortSignal;
}

/** A block of a result's content: text, or what else MCP knows. */
export interface Content {
    readonly type: string;
    readonly [member: string]: unknown;
}

/** An MCP `CallToolResult`. */
export interface CallToolResult {
    /** What an agent reads. */
    readonly content: readonly Content[];
    /** What a program reads. */
    readonly structuredContent?: { readonly [member: string]: unknown };
    /** The tool failed; `content` says how. */
    readonly isError?: boolean;
    /** Data for programs. */
    readonly _meta?: { readonly [key: string]: unknown };
    readonly [member: string]: unknown;
}

/**
 * What a handler may return: text; an object, sent as `structuredContent` and as text; any other JSON value, sent as
 * text; nothing; or a whole `CallToolResult`, which is an object with a `content` array.
 */
export type Answer = string | number | boolean | null | undefined | void | object | CallToolResult;

/** Runs when an agent calls. Calls run at the same time. */
export type Handler<A = unknown> = (args: A, call: Call) => Answer | Promise<Answer>;

/** A tool: its definition, and the handler that answers its calls. */
export interface Tool extends Definition {
    /** Runs when an agent calls. Its arguments are whatever the agent wrote. */
    // `any` lets a handler with typed arguments be a tool without a cast.
    readonly handler: Handler<any>;
}

/** A tool whose handler's arguments are typed by its schema. */
export interface TypedTool<S extends ObjectSchema> extends Definition<S> {
    /** Runs when an agent calls, with arguments of the type that `inputSchema` describes. */
    readonly handler: Handler<FromSchema<S>>;
}

/**
 * Gives a tool's handler the type of its `inputSchema`; it returns what it was given.
 *
 * ```ts
 * const add = tool({
 *     name: "add",
 *     description: "Adds two numbers",
 *     inputSchema: {
 *         type: "object",
 *         properties: { a: { type: "number" }, b: { type: "number" } },
 *         required: ["a", "b"],
 *     },
 *     handler: ({ a, b }) => `${a + b}`,
 * });
 * ```
 */
export function tool<const S extends ObjectSchema = { readonly type: "object" }>(definition: TypedTool<S>): Tool {
    return definition;
}
