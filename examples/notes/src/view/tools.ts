/** What agents can do here, as long as they can do it. */

import type { Tool } from "clientmcp";

import { byId, List, make, write } from "../dom.js";

/** What a person should know of a tool before an agent calls it. */
const BADGES: Record<string, string> = {
    list_notes: "only reads",
    read_through: "only reads, slowly",
    delete_note: "asks you first",
};

/** Shows the tools. */
export class ToolsView {
    readonly #isRunning: (tool: string) => boolean;
    readonly #list = new List<Tool>(byId("tool-list"), ({ name }) => name, (tool, before) => this.#tool(tool, before));

    constructor(isRunning: (tool: string) => boolean) {
        this.#isRunning = isRunning;
    }

    show(tools: readonly Tool[]): void {
        this.#list.set(tools);
    }

    #tool({ name, title = name }: Tool, before: HTMLElement | undefined): HTMLElement {
        const element = before ?? make("li", "tool", make("span", "title", title), make("code", "", name), make("span", "badge"));
        const running = this.#isRunning(name);
        element.classList.toggle("running", running);
        write(element.querySelector(".badge")!, running ? "at work…" : (BADGES[name] ?? "changes notes"));
        return element;
    }
}
