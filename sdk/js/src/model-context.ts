/**
 * WebMCP's `ModelContext`, as much of it as a page registers tools with and an adapter reads them from. The shape is
 * that of `document.modelContext` (WebMCP, draft of the Web Machine Learning Community Group).
 */

/** A tool as a page registers it. */
export interface ModelContextTool {
    readonly name: string;
    readonly description: string;
    readonly title?: string;
    readonly inputSchema?: object;
    readonly outputSchema?: object;
    readonly annotations?: object;
    readonly execute: (input: any, options: { readonly signal: AbortSignal }) => unknown;
}

/** A tool as it is listed. */
export interface RegisteredTool {
    readonly name: string;
    readonly description: string;
    readonly title?: string | null;
    /** An object; its text in browsers of before. */
    readonly inputSchema?: object | string | null;
    readonly outputSchema?: object | string | null;
    readonly annotations?: object | null;
    /** The window whose document registered it. */
    readonly source?: unknown;
    /** What `source` was called before. */
    readonly window?: unknown;
}

/** Where a page registers tools, and where they are listed and run. */
export interface ModelContext {
    registerTool(tool: ModelContextTool, options?: { readonly signal?: AbortSignal }): Promise<void>;
    getTools(): Promise<readonly RegisteredTool[]>;
    executeTool(tool: RegisteredTool, input?: any, options?: { readonly signal?: AbortSignal }): Promise<unknown>;
    addEventListener(event: "toolchange", listener: () => void): void;
    removeEventListener(event: "toolchange", listener: () => void): void;
}

/** One for pages whose browser has none. It is a value like any other: nothing global changes by making it. */
export class PageModelContext extends EventTarget implements ModelContext {
    readonly #tools = new Map<string, { readonly tool: ModelContextTool; readonly listed: RegisteredTool }>();

    async registerTool(tool: ModelContextTool, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        const { name, execute: _, ...rest } = tool;
        if (this.#tools.has(name)) {
            throw new DOMException(`there is a tool of the name ${name}`, "InvalidStateError");
        }
        if (!/^[\w.-]{1,128}$/.test(name) || !tool.description) {
            throw new DOMException("a tool needs a name of A-Z a-z 0-9 _ - . and a description", "InvalidStateError");
        }
        signal?.throwIfAborted();
        const copy = JSON.parse(JSON.stringify(rest)) as typeof rest;
        this.#tools.set(name, { tool, listed: Object.freeze({ ...copy, name, source: globalThis.window }) });
        signal?.addEventListener("abort", () => this.unregisterTool(name), { once: true });
        this.#changed();
    }

    async getTools(): Promise<readonly RegisteredTool[]> {
        return [...this.#tools.values()].map(({ listed }) => listed);
    }

    async executeTool(
        { name }: RegisteredTool,
        input: object = {},
        { signal = new AbortController().signal }: { readonly signal?: AbortSignal } = {},
    ): Promise<unknown> {
        const tool = this.#tools.get(name)?.tool;
        if (!tool) {
            throw new DOMException(`there is no tool of the name ${name}`, "NotFoundError");
        }
        signal.throwIfAborted();
        const result = await tool.execute(structuredClone(input), { signal });
        return typeof result === "string" ? result : (JSON.stringify(result) ?? null);
    }

    /** Takes a tool away. Browsers had it before the registration's signal did the same. */
    unregisterTool(name: string): void {
        this.#tools.delete(name);
        this.#changed();
    }

    /** Later, as the browser does it: a page that registers ten tools hears of them when it is done. */
    #changed(): void {
        queueMicrotask(() => this.dispatchEvent(new Event("toolchange")));
    }
}
