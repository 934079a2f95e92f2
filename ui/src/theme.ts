import type { Theme } from "./desktop";

/** Light or dark for the whole window; as it began until something is known. */
export function setTheme(theme: Theme | undefined): void {
    if (theme === undefined) {
        return;
    }
    if (theme === "system") {
        delete document.documentElement.dataset["theme"];
    } else {
        document.documentElement.dataset["theme"] = theme;
    }
}
