/** The windows with a fake app behind them. */

import { cleanup, render } from "@testing-library/svelte";
import { tick } from "svelte";
import { vi } from "vitest";

import type { View } from "../../src/desktop";
import { desktop } from "../../src/state.svelte";
import App from "../../src/views/App.svelte";
import { FakeApp } from "./fake";
import { NOW } from "./fixture";

/** Opens the main window at what is to be seen, and forgets what it asked at its start. */
export async function open(view?: View, prepare: (app: FakeApp) => void = () => undefined): Promise<FakeApp> {
    cleanup();
    desktop.clear();
    const app = new FakeApp();
    if (view) {
        app.view = view;
    }
    prepare(app);
    app.install(window as unknown as Record<string, unknown>);
    render(App);
    await settled();
    app.asked.length = 0;
    return app;
}

/** Waits until what was asked is answered and drawn. */
export async function settled(): Promise<void> {
    for (let turn = 0; turn < 12; turn += 1) {
        await Promise.resolve();
        await tick();
    }
    await new Promise((ready) => setImmediate(ready));
    await tick();
}

/** Waits until nothing is wrong; what stays wrong is thrown. The limit ends what hangs, and decides no test that passes. */
export async function eventually(check: () => void): Promise<void> {
    await vi.waitFor(check, { timeout: 50_000, interval: 20 });
}

/** The fixture's own moment. Timers stay real. */
export function atItsMoment(): void {
    vi.spyOn(Date, "now").mockReturnValue(NOW);
}

/** Animation frames that come when the test says so. */
export class Frames {
    #waiting = new Map<number, FrameRequestCallback>();
    #ids = 0;

    constructor() {
        vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => {
            this.#waiting.set((this.#ids += 1), callback);
            return this.#ids;
        });
        vi.stubGlobal("cancelAnimationFrame", (id: number) => this.#waiting.delete(id));
    }

    async next(): Promise<void> {
        const now = [...this.#waiting.values()];
        this.#waiting.clear();
        now.forEach((callback) => callback(performance.now()));
        await settled();
    }
}
