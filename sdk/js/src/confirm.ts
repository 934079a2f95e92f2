/**
 * Asking the person before something that matters. What needs a question is the application's to decide, and to
 * enforce: an agent's access to the bridge is nobody's approval of a call.
 *
 * @module clientmcp/confirm
 */

/** What is asked, and for how long. */
export interface ConfirmationRequest {
    /** The call's `signal`: when the agent cancels, or the bridge no longer waits, the question is withdrawn. */
    readonly signal: AbortSignal;
    /**
     * Shows the question, and answers true for yes. When its signal is aborted nobody waits for the answer: take the
     * question away. An answer that still comes is ignored.
     */
    readonly ask: (signal: AbortSignal) => boolean | Promise<boolean>;
    /**
     * Milliseconds to wait for an answer, 110,000 when nothing else is said: less than the 120 s after which a bridge
     * gives up, so that the agent reads how the wait ended. Set it lower for a bridge with a shorter `--call-timeout`.
     */
    readonly timeout?: number;
}

/** How a question ended: only `confirmed` allows anything. */
export type Confirmation =
    | { readonly confirmed: true }
    | {
          readonly confirmed: false;
          /** `declined`: no. `unanswered`: nobody answered in time. `withdrawn`: nobody waits any more. */
          readonly code: "declined" | "unanswered" | "withdrawn";
          /** The same in words, for an agent. */
          readonly detail: string;
      };

const DETAILS = {
    declined: "the user declined; do not retry unless the user asks",
    unanswered: "the user did not answer in time",
    withdrawn: "the call was cancelled before the user answered",
};

/**
 * Asks the person, and withdraws the question when nobody waits for the answer any more. Where it is not confirmed, do
 * nothing.
 *
 * ```ts
 * const answer = await requestConfirmation({ signal, ask: (signal) => showDialog("Delete all notes?", signal) });
 * if (!answer.confirmed) return rejected(answer.code, answer.detail);
 * ```
 */
export async function requestConfirmation(request: ConfirmationRequest): Promise<Confirmation> {
    const { signal, ask, timeout = 110_000 } = request;
    const question = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let withdraw: (() => void) | undefined;
    try {
        const ended = new Promise<End>((end) => {
            timer = setTimeout(end, timeout, "unanswered");
            withdraw = () => end("withdrawn");
            signal.addEventListener("abort", withdraw);
        });
        const end = signal.aborted ? "withdrawn" : await Promise.race([ended, answer(ask, question.signal)]);
        return end === "confirmed" ? { confirmed: true } : { confirmed: false, code: end, detail: DETAILS[end] };
    } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", withdraw!);
        question.abort();
    }
}

type End = "confirmed" | keyof typeof DETAILS;

async function answer(ask: ConfirmationRequest["ask"], signal: AbortSignal): Promise<End> {
    // True and nothing else: what a forgotten `return` or a dialog's text says is no yes.
    return (await ask(signal)) === true ? "confirmed" : "declined";
}
