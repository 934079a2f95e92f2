/**
 * The browser's permission to reach this machine. Chrome asks for it where a page of the web connects to 127.0.0.1;
 * a page that made the question come up by itself would surprise its visitors.
 */

import { isLoopback } from "./advice.js";
import type { State } from "./state.js";

/** The permission that a connection to this address needs; `undefined` where no browser would ask. */
export async function permissionFor(url: string): Promise<PermissionStatus | undefined> {
    // Pages of this machine are exempt, and so are programs that are no page.
    const page = globalThis.location?.hostname;
    if (!page || isLoopback(page) || !isLoopback(hostname(url))) {
        return undefined;
    }
    try {
        return await navigator.permissions.query({ name: "loopback-network" as PermissionName });
    } catch {
        // A browser that does not know the permission does not ask for it.
        return undefined;
    }
}

function hostname(url: string): string | undefined {
    try {
        return new URL(url).hostname;
    } catch {
        return undefined;
    }
}

/** True while a person has just clicked or typed: what the page does now is what they asked for. */
export function isAfterClick(): boolean {
    return globalThis.navigator?.userActivation?.isActive ?? false;
}

/** What to say while there is no permission. `tried`: a connection was tried, and the question is still open. */
export function withoutPermission(state: PermissionState, tried: boolean): State {
    if (state === "denied") {
        return {
            status: "permission-denied",
            advice:
                "The browser does not let this page reach programs on this device. Allow it in the browser's " +
                "settings for this site (\u201cApps on device\u201d or \u201cLocal network\u201d); the page then " +
                "connects by itself.",
        };
    }
    return {
        status: "permission-needed",
        advice: tried
            ? "No connection came about. See that ClientMCP runs on this device, then connect again and allow the " +
              "access when the browser asks."
            : "Connect with a click, and allow this page to reach programs on this device when the browser asks.",
    };
}
