/** Every call, as it comes and as it ends: what the page shows of its tools' work. */

import type { Answer, Tool } from "clientmcp";

/** One call. */
export interface Call {
    readonly number: number;
    readonly tool: string;
    /** The arguments, as JSON. */
    readonly args: string;
    readonly began: Date;
    readonly state: "running" | "done" | "failed" | "cancelled";
    readonly milliseconds?: number;
    /** What the agent read when it failed. */
    readonly words?: string;
}

/** As many are kept. */
const KEPT = 50;

/** The calls, the newest first. */
export class Calls {
    #all: readonly Call[] = [];
    #count = 0;

    constructor(readonly changed: () => void) {}

    get all(): readonly Call[] {
        return this.#all;
    }

    /** Whether a tool is at work. */
    isRunning(tool: string): boolean {
        return this.#all.some((call) => call.tool === tool && call.state === "running");
    }

    /** The same tool, with its calls seen here. */
    watch(tool: Tool): Tool {
        const handler: Tool["handler"] = async (args: unknown, call): Promise<Answer> => {
            const number = this.#begin(tool.name, args);
            const ended = (state: Call["state"], words = ""): void =>
                this.#end(number, call.signal.aborted ? "cancelled" : state, words);
            call.signal.addEventListener("abort", () => ended("cancelled"));
            try {
                const answer = await tool.handler(args, call);
                const { isError, content } = (answer ?? {}) as { isError?: boolean; content?: { text?: string }[] };
                ended(isError ? "failed" : "done", isError ? content?.[0]?.text : "");
                return answer;
            } catch (error) {
                ended("failed", error instanceof Error ? error.message : "");
                throw error;
            }
        };
        return { ...tool, handler };
    }

    #begin(tool: string, args: unknown): number {
        this.#count += 1;
        const call: Call = {
            number: this.#count,
            tool,
            args: JSON.stringify(args),
            began: new Date(),
            state: "running",
        };
        // What still runs stays, however many came after.
        this.#all = [call, ...this.#all.filter(({ state }, at) => at < KEPT - 1 || state === "running")];
        this.changed();
        return call.number;
    }

    #end(number: number, state: Call["state"], words: string): void {
        this.#all = this.#all.map((call) => {
            const milliseconds = Date.now() - call.began.getTime();
            return call.number === number && call.state === "running" ? { ...call, state, milliseconds, words } : call;
        });
        this.changed();
    }
}
