import { expect, test, vi } from "vitest";

import { requestConfirmation } from "../src/confirm.js";
import { pass, settled } from "./support.js";

/** A question on a screen. */
function question(): {
    ask: (signal: AbortSignal) => Promise<boolean>;
    say: (yes: unknown) => void;
    withdrawn: () => boolean;
} {
    let answer: (yes: boolean) => void = () => undefined;
    let shown: AbortSignal | undefined;
    const ask = (signal: AbortSignal): Promise<boolean> => {
        shown = signal;
        return new Promise((resolve) => (answer = resolve));
    };
    return { ask, say: (yes) => answer(yes as boolean), withdrawn: () => shown?.aborted ?? false };
}

// holds: js-confirmation
test("yes confirms, and nothing else does", async () => {
    for (const [said, confirmed] of [
        [true, true],
        [false, false],
        [undefined, false],
        ["no", false],
        [1, false],
    ]) {
        const { ask, say } = question();
        const answer = requestConfirmation({ signal: new AbortController().signal, ask });
        say(said);
        expect((await answer).confirmed).toBe(confirmed);
    }
    const now = await requestConfirmation({ signal: new AbortController().signal, ask: () => true });
    expect(now).toEqual({ confirmed: true });
});

// holds: js-confirmation
test("no is said to the agent", async () => {
    const answer = await requestConfirmation({ signal: new AbortController().signal, ask: () => false });
    expect(answer).toMatchObject({ confirmed: false, code: "declined" });
});

// holds: js-confirmation-withdrawn
test("a cancelled call withdraws its question; an answer that still comes confirms nothing", async () => {
    const call = new AbortController();
    const { ask, say, withdrawn } = question();
    const answer = requestConfirmation({ signal: call.signal, ask });
    expect(await settled(answer)).toBe("pending");
    call.abort();
    say(true);
    expect(await answer).toMatchObject({ confirmed: false, code: "withdrawn" });
    expect(withdrawn()).toBe(true);
});

// holds: js-confirmation-withdrawn
test("a call that is over already asks nobody", async () => {
    const ask = vi.fn(() => true);
    const answer = await requestConfirmation({ signal: AbortSignal.abort(), ask });
    expect(answer).toMatchObject({ confirmed: false, code: "withdrawn" });
    expect(ask).not.toHaveBeenCalled();
});

// holds: js-confirmation-time
test("nobody is waited for longer than 110 s, which is shorter than the bridge waits", async () => {
    const { ask, withdrawn } = question();
    const answer = requestConfirmation({ signal: new AbortController().signal, ask });
    await pass(109.9);
    expect(await settled(answer)).toBe("pending");
    expect(withdrawn()).toBe(false);
    await pass(0.1);
    expect(await answer).toMatchObject({ confirmed: false, code: "unanswered" });
    expect(withdrawn()).toBe(true);
});

// holds: js-confirmation-time
test("another time can be said, and no timer is left behind", async () => {
    const { ask } = question();
    const answer = requestConfirmation({ signal: new AbortController().signal, ask, timeout: 1_000 });
    await pass(1);
    expect(await answer).toMatchObject({ code: "unanswered" });
    await requestConfirmation({ signal: new AbortController().signal, ask: () => true });
    expect(vi.getTimerCount()).toBe(0);
});

// holds: js-confirmation
test("a question that cannot be asked is no yes", async () => {
    const ask = (): boolean => {
        throw new Error("no dialog");
    };
    const signal = new AbortController().signal;
    await expect(requestConfirmation({ signal, ask })).rejects.toThrow("no dialog");
    expect(vi.getTimerCount()).toBe(0);
});
