/**
 * Tools that a page registers by WebMCP (`document.modelContext`, and `navigator.modelContext` in browsers of before)
 * become tools of the application. Nothing of the page or the browser is changed, unless `install` asks for it.
 *
 * @module clientmcp/webmcp
 */

import { type ModelContext, PageModelContext, type RegisteredTool } from "./model-context.js";
import type { ObjectSchema } from "./schema.js";
import type { Answer, Tool } from "./tool.js";

export type { ModelContext, ModelContextTool, RegisteredTool } from "./model-context.js";

/** Where tools are read from. */
export interface WebMcpOptions {
    /** The context to follow; the browser's own when nothing else is said, and where it has none, a new one. */
    readonly modelContext?: ModelContext;
    /** Where the browser has none, puts the new one at `document.modelContext`, for scripts that look for it there. */
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
 * Follows the tools of this page: hears them now and after each change, ready for `setTools`.
 *
 * ```ts
 * followWebMcp((tools) => application.setTools([...mine, ...tools]));
 * ```
 */
export function followWebMcp(onTools: (tools: Tool[]) => void, options: WebMcpOptions = {}): WebMcp {
    const found = options.modelContext ?? browsers();
    const modelContext = found ?? new PageModelContext();
    const uninstall = !found && options.install ? install(modelContext) : undefined;
    let looks = 0;
    const look = async (): Promise<void> => {
        looks += 1;
        const mine = looks;
        const listed = await modelContext.getTools();
        if (mine === looks) {
            onTools(ofThisPage(listed).map((tool) => adapt(tool, modelContext)));
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

/** The browser's context, where it can list tools and run them. */
function browsers(): ModelContext | undefined {
    const [newer, older] = [globalThis.document, globalThis.navigator] as { modelContext?: ModelContext }[];
    return [newer?.modelContext, older?.modelContext].find((context) => context?.getTools && context.executeTool);
}

function install(modelContext: ModelContext): () => void {
    Object.defineProperty(document, "modelContext", { value: modelContext, configurable: true });
    return () => void Reflect.deleteProperty(document, "modelContext");
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
