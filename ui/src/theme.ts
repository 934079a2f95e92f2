import type { Theme } from "./desktop";

/** Light or dark for the whole window; as the system does until something else is known. */
export function setTheme(theme: Theme | undefined): void {
    if (theme === undefined || theme === "system") {
        delete document.documentElement.dataset["theme"];
    } else {
        document.documentElement.dataset["theme"] = theme;
    }
}
