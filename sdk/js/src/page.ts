/** What a page hears of its own sleep. */

/** Calls `woke` when the page is seen again, thawed, shown again or back on a network; returns the end of it. */
export function watchPage(woke: () => void): () => void {
    const seen = (): void => {
        if (document.visibilityState === "visible") {
            woke();
        }
    };
    const heard: [EventTarget | undefined, string, () => void][] = [
        [globalThis.document, "visibilitychange", seen],
        [globalThis.document, "resume", woke],
        [globalThis.window, "pageshow", woke],
        [globalThis.window ?? globalThis.self, "online", woke],
    ];
    heard.forEach(([target, event, listener]) => target?.addEventListener?.(event, listener));
    return () => heard.forEach(([target, event, listener]) => target?.removeEventListener?.(event, listener));
}
