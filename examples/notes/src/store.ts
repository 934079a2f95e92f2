/** What this browser keeps for the page. Not every browser lets a page keep anything; then it lasts as long as the page. */

const kept = new Map<string, string>();

export function load(key: string): string | undefined {
    try {
        return localStorage.getItem(key) ?? undefined;
    } catch {
        return kept.get(key);
    }
}

export function save(key: string, text: string): void {
    try {
        localStorage.setItem(key, text);
    } catch {
        kept.set(key, text);
    }
}

export function forget(key: string): void {
    kept.delete(key);
    try {
        localStorage.removeItem(key);
    } catch {
        // It was never there.
    }
}
