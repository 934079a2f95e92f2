/**
 * Tools that a page registers by WebMCP (`document.modelContext`, and `navigator.modelContext` in browsers of before)
 * become tools of the application. Nothing of the page or the browser is changed, unless `install` asks for it.
 *
 * @module clientmcp/webmcp
 */

import { type ModelContext, PageModelContext, type RegisteredTool } from "./model-context.js";
import { reportUncaught } from "./report.js";
import type { ObjectSchema } from "./schema.js";
import type { Answer, Tool } from "./tool.js";

export type { ModelContext, ModelContextTool, RegisteredTool } from "./model-context.js";

/** Where tools are read from. */
export interface WebMcpOptions {
    /** The context to follow; the browser's own when nothing else is said, and where it has none, a new one. */
    readonly modelContext?: ModelContext;
    /**
     * Lets scripts find the new one that know nothing of it. Where the browser has no context, it stands at
     * `document.modelContext`; where the browser's can register tools and not list them, it hears what is registered.
     */
    readonly install?: boolean;
}

/** A context that is followed. */
export interface WebMcp {
    /** Where to register tools: the browser's own context, or a new one. */
    readonly modelContext: ModelContext;
    /** Follows it no longer, and takes away what `install` had put there. */
    readonly stop: () => void;
}

/**
 * Follows the tools of this page: hears them now and after each change, ready for `setTools`. What `onTools` throws
 * is reported as an uncaught exception is.
 *
 * ```ts
 * followWebMcp((tools) => application.setTools([...mine, ...tools]));
 * ```
 */
export function followWebMcp(onTools: (tools: Tool[]) => void, options: WebMcpOptions = {}): WebMcp {
    const found = options.modelContext ?? browsers().find(isListing);
    const made = found ? undefined : new PageModelContext();
    const modelContext = (found ?? made)!;
    const uninstall = made && options.install ? install(made) : undefined;
    let looks = 0;
    const look = async (): Promise<void> => {
        looks += 1;
        const mine = looks;
        try {
            const listed = await modelContext.getTools();
            if (mine === looks) {
                await onTools(ofThisPage(listed).map((tool) => adapt(tool, modelContext)));
            }
        } catch (error) {
            reportUncaught(error);
        }
    };
    modelContext.addEventListener("toolchange", look);
    void look();
    const stop = (): void => {
        looks += 1;
        modelContext.removeEventListener("toolchange", look);
        uninstall?.();
    };
    return { modelContext, stop };
}

/** The browser's contexts, the newer place first. */
function browsers(): Partial<ModelContext>[] {
    const places = [globalThis.document, globalThis.navigator] as { modelContext?: Partial<ModelContext> }[];
    return places.flatMap((place) => place?.modelContext ?? []);
}

function isListing(context: Partial<ModelContext>): context is ModelContext {
    return context.getTools !== undefined && context.executeTool !== undefined;
}

function install(made: PageModelContext): () => void {
    const [older] = browsers();
    if (older) {
        const ends = [hearToo(older, made, "registerTool"), hearToo(older, made, "unregisterTool")];
        return () => ends.forEach((end) => end());
    }
    Object.defineProperty(document, "modelContext", { value: made, configurable: true });
    return () => void Reflect.deleteProperty(document, "modelContext");
}

/** What the browser's context is told, ours is told too, once the browser's has taken it. */
function hearToo(older: any, made: any, method: "registerTool" | "unregisterTool"): () => void {
    const own = older[method] as ((...told: unknown[]) => unknown) | undefined;
    if (!own) {
        return () => undefined;
    }
    const both = (...told: unknown[]): unknown => {
        const answer = own.apply(older, told);
        // What one of the two refuses is said by the browser's, or by neither.
        void Promise.resolve(answer)
            .then(() => made[method](...told))
            .catch(() => undefined);
        return answer;
    };
    const before = Object.getOwnPropertyDescriptor(older, method);
    Object.defineProperty(older, method, { value: both, configurable: true, writable: true });
    return () => {
        Reflect.deleteProperty(older, method);
        if (before) {
            Object.defineProperty(older, method, before);
        }
    };
}

/** Tools of frames are listed too. They are not this page's, and two of one name would be refused. */
function ofThisPage(listed: readonly RegisteredTool[]): RegisteredTool[] {
    const names = new Set<string>();
    return listed.filter((tool) => {
        const mine = (tool.source ?? tool.window ?? globalThis.window) === globalThis.window && !names.has(tool.name);
        return mine && names.add(tool.name);
    });
}

function adapt(listed: RegisteredTool, modelContext: ModelContext): Tool {
    const { name, description, title, inputSchema, outputSchema, annotations } = listed;
    // Browsers that give a schema as text take arguments as text.
    const written = typeof inputSchema === "string";
    return {
        name,
        ...(title && { title }),
        description,
        inputSchema: schema(inputSchema),
        ...(outputSchema && { outputSchema: schema(outputSchema) }),
        ...(annotations && { annotations: { ...annotations } }),
        handler: async (args, { signal }) =>
            answer(await modelContext.executeTool(listed, written ? JSON.stringify(args) : args, { signal })),
    };
}

/** A schema that the bridge takes: its root is an object. */
function schema(given: object | string | null | undefined): ObjectSchema {
    const schema = typeof given === "string" && given ? (JSON.parse(given) as object) : given;
    return { ...(schema as object | null | undefined), type: "object" };
}

/** What a tool returned arrives as text. Text of an object was one. */
function answer(result: unknown): Answer {
    if (typeof result !== "string") {
        return result ?? undefined;
    }
    try {
        const value: unknown = JSON.parse(result);
        return typeof value === "object" && value !== null ? value : result;
    } catch {
        return result;
    }
}
