/** What a person may write, and what is said when it is something else. The limits are those of `docs/protocol.md`. */

import { text } from "./text";

const { wrong } = text;

/** What is wrong with a value; none when it can be taken. */
export type Wrong = string | undefined;

export function clientId(value: string): Wrong {
    if (value === "") {
        return wrong.needed;
    }
    return value.length > 128 ? wrong.tooLong(128) : /^[A-Za-z0-9_.-]+$/.test(value) ? undefined : wrong.clientId;
}

/** A label: 1 to 64 characters without controls. Empty stands for none. */
export function label(value: string): Wrong {
    return [...value].length > 64 ? wrong.tooLong(64) : /\p{Cc}|\p{Cs}/u.test(value) ? wrong.controls : undefined;
}

export function port(value: string): Wrong {
    return wholeWithin(value, 1, 65_535) ? undefined : wrong.between(1, 65_535);
}

export function callSeconds(value: string): Wrong {
    return wholeWithin(value, 1, 3_600) ? undefined : wrong.between(1, 3_600);
}

export function questionSeconds(value: string): Wrong {
    return wholeWithin(value, 10, 600) ? undefined : wrong.between(10, 600);
}

function wholeWithin(value: string, least: number, most: number): boolean {
    return /^\d{1,5}$/.test(value) && Number(value) >= least && Number(value) <= most;
}

/** An origin as browsers write it: `scheme://host` or `scheme://host:port`, and nothing behind. */
export function origin(value: string): Wrong {
    if (value === "") {
        return wrong.needed;
    }
    if (new TextEncoder().encode(value).length > 300) {
        return wrong.tooLong(300);
    }
    return /^[a-z][a-z0-9+.-]*:\/\/(?:\[[0-9a-f:.]+\]|[^\s/?#@:*A-Z\\"<>[\]]+)(?::[1-9]\d{0,4})?$/.test(value) ? undefined : wrong.origin;
}

/** From where an application may connect: an origin, or `native` for programs that are no page. */
export function clientOrigin(value: string): Wrong {
    return value === "native" ? undefined : origin(value);
}

/** One origin a line, at most 64. */
export function origins(value: string): Wrong {
    const lines = linesOf(value);
    if (lines.length > 64) {
        return wrong.tooMany(64);
    }
    const bad = lines.find((line) => origin(line) !== undefined);
    return bad === undefined ? undefined : wrong.originLine(bad);
}

export function linesOf(value: string): string[] {
    return [...new Set(value.split(/\s+/).filter((line) => line !== ""))];
}
