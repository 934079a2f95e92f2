/** The calls on the page. Arguments come from an agent, and are shown as the text that they are. */

import type { Call, Calls } from "../calls.js";
import { byId, foreign, List, make } from "../dom.js";

const STATES: Record<Call["state"], string> = {
    running: "running",
    done: "done",
    failed: "failed",
    cancelled: "cancelled",
};

/** Shows the calls. */
export class CallsView {
    readonly #list = new List<Call>(byId("call-list"), ({ number }) => `${number}`, show);

    show(calls: Calls): void {
        this.#list.set(calls.all);
        byId("no-calls").hidden = calls.all.length > 0;
    }
}

function show(call: Call, before: HTMLElement | undefined): HTMLElement {
    if (before?.dataset["state"] === call.state) {
        return before;
    }
    const { tool, args, began, state, milliseconds, words } = call;
    const time = make("time", "", began.toLocaleTimeString());
    time.dateTime = began.toISOString();
    const took = milliseconds === undefined ? "" : ` after ${lasted(milliseconds)}`;
    const element = make(
        "li",
        "call",
        make("code", "name", tool),
        make("span", "state", `${STATES[state]}${took}`),
        time,
    );
    if (args !== "{}") {
        element.append(make("code", "args", foreign(args)));
    }
    if (words) {
        element.append(make("p", "words", foreign(words)));
    }
    element.dataset["state"] = state;
    return element;
}

function lasted(milliseconds: number): string {
    return milliseconds < 1_000 ? `${milliseconds} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}
