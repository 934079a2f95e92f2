/** Advice for developers, on the console, once each: what is allowed and will still not work everywhere. */

import type { Definition } from "./tool.js";

declare const process: { env: { NODE_ENV?: string } };

const given = new Set<string>();

/** Says what some hosts will not like about a tool. */
export function advise({ name, description }: Definition): void {
    if (!/^[\w-]{1,60}$/.test(name)) {
        say(name, "some hosts refuse names that are not 1 to 60 characters from A-Z a-z 0-9 _ -");
    }
    if (!description) {
        say(name, "without a description an agent does not know when to use it");
    } else if (description.length > 1_000) {
        say(name, "its description has over 1,000 characters, which some hosts cut");
    }
}

function say(name: string, advice: string): void {
    const text = `clientmcp: the tool "${name}": ${advice}`;
    if (!given.has(text)) {
        given.add(text);
        console.warn(text);
    }
}

/** True while somebody develops: by what bundlers and Node know, and without them on a page of this machine. */
export function isDevelopment(): boolean {
    try {
        return process.env.NODE_ENV !== "production";
    } catch {
        return isLoopback(globalThis.location?.hostname);
    }
}

/** True for the names of this machine. */
export function isLoopback(hostname: string | undefined): boolean {
    return /^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(hostname ?? "");
}
