/** Where faults go that nobody else hears of. */

/** Reports it as an uncaught exception is, and throws nothing itself. */
export function reportUncaught(error: unknown): void {
    try {
        const report = (globalThis as { reportError?: (error: unknown) => void }).reportError ?? console.error;
        report(error);
    } catch {
        // What cannot even be written is lost.
    }
}
