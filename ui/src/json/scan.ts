/**
 * JSON as text: where its values stand, never what they would be in JavaScript. Digits, order, repeated members and
 * escapes are those of the text.
 *
 * A value is looked into when somebody opens it: its children are found then, and those of the children are passed over.
 * What is no JSON is shown as it is written, so nothing here refuses.
 */

export type Kind = "object" | "array" | "string" | "number" | "word" | "broken";

/** A value: a part of the text. */
export interface Span {
    readonly kind: Kind;
    readonly start: number;
    readonly end: number;
}

/** A member of an object, or an element of an array (without a name). */
export interface Child extends Span {
    /** The name as it is written, in its quotes. */
    readonly name: string | undefined;
    /** Another member of the same object has the same name, however it is written. */
    readonly repeated: boolean;
}

export interface Children {
    readonly list: readonly Child[];
    /** How many there are in all. */
    readonly count: number;
    /** What stands where JSON has nothing: the text ends early, or goes on wrongly. */
    readonly broken: boolean;
}

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COMMA, COLON] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a];

/**
 * The value that the text is. Of a text that is only a beginning (`cut`), what is open at its end counts as ending behind
 * it: `isCut` tells.
 */
export function root(text: string, cut = false): Span {
    const start = skipBlank(text, 0);
    const whole = valueAt(text, start, cut);
    if (isCut(text, whole)) {
        return whole;
    }
    const clean = whole.kind !== "broken" && skipBlank(text, whole.end) === text.length;
    return clean ? whole : { kind: "broken", start: 0, end: text.length };
}

export function isCut(text: string, span: Span): boolean {
    return span.end > text.length;
}

/** Whether nothing but blanks stands in an object or array, all of them looked at. */
export function isEmpty(text: string, of: Span): boolean {
    return !isCut(text, of) && skipBlank(text, of.start + 1) === of.end - 1;
}

/** The value that begins here, to its end. */
export function valueAt(text: string, start: number, cut = false): Span {
    const first = text.charCodeAt(start);
    if (first === QUOTE) {
        const end = stringEnd(text, start);
        return ended(text, "string", start, end, cut);
    }
    if (first === OPEN || first === OPEN_LIST) {
        const end = containerEnd(text, start);
        return ended(text, first === OPEN ? "object" : "array", start, end, cut);
    }
    SCALAR.lastIndex = start;
    const word = SCALAR.exec(text)?.[0] ?? "";
    const kind = NUMBER.test(word) ? "number" : WORDS.has(word) ? "word" : "broken";
    return { kind, start, end: start + word.length };
}

function ended(text: string, kind: Kind, start: number, end: number, cut: boolean): Span {
    if (end >= 0) {
        return { kind, start, end };
    }
    return cut ? { kind, start, end: text.length + 1 } : { kind: "broken", start, end: text.length };
}

const SCALAR = /[^\s,:{}[\]"]*/y;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORDS = new Set(["true", "false", "null"]);

/** What stands in an object or array: the first `most` of it, and all of it counted and compared. */
export function children(text: string, of: Span, most: number): Children {
    const isObject = of.kind === "object";
    const cut = isCut(text, of);
    const found: { name: string | undefined; span: Span }[] = [];
    const names = new Map<string, number>();
    let count = 0;
    let at = skipBlank(text, of.start + 1);
    while (at < of.end - 1) {
        let name: string | undefined;
        if (isObject) {
            const end = text.charCodeAt(at) === QUOTE ? stringEnd(text, at) : -1;
            if (end < 0) {
                return { list: marked(found, names), count, broken: true };
            }
            name = text.slice(at, end);
            at = skipBlank(text, end);
            if (text.charCodeAt(at) !== COLON) {
                return { list: marked(found, names), count, broken: true };
            }
            at = skipBlank(text, at + 1);
        }
        const span = valueAt(text, at, cut);
        // A number or word at the very end of a beginning may go on.
        if (span.kind === "broken" || (cut && span.end === text.length)) {
            return { list: marked(found, names), count, broken: true };
        }
        count += 1;
        if (count <= most) {
            found.push({ name, span });
        }
        if (name !== undefined) {
            const said = saidBy(name);
            names.set(said, (names.get(said) ?? 0) + 1);
        }
        if (isCut(text, span)) {
            break;
        }
        at = skipBlank(text, span.end);
        if (text.charCodeAt(at) !== COMMA) {
            break;
        }
        at = skipBlank(text, at + 1);
        if (at >= of.end - 1) {
            return { list: marked(found, names), count, broken: true };
        }
    }
    return { list: marked(found, names), count, broken: cut || at !== of.end - 1 };
}

function marked(found: readonly { name: string | undefined; span: Span }[], names: ReadonlyMap<string, number>): Child[] {
    return found.map(({ name, span }) => ({
        ...span,
        name,
        repeated: name !== undefined && (names.get(saidBy(name)) ?? 0) > 1,
    }));
}

/** How many values stand in an object or array, at all levels, and how many levels they are deep. */
export function extent(text: string, of: Span): { values: number; levels: number } {
    const end = Math.min(of.end, text.length);
    let [values, levels, depth] = [0, 0, 0];
    for (let at = of.start; at < end; at += 1) {
        const unit = text.charCodeAt(at);
        if (unit === QUOTE) {
            const behind = stringEnd(text, at);
            at = behind < 0 ? end : behind - 1;
        } else if (unit === OPEN || unit === OPEN_LIST) {
            depth += 1;
            const first = text.charCodeAt(skipBlank(text, at + 1));
            if (first !== CLOSE && first !== CLOSE_LIST) {
                values += 1;
                levels = Math.max(levels, depth);
            }
        } else if (unit === CLOSE || unit === CLOSE_LIST) {
            depth -= 1;
        } else if (unit === COMMA) {
            values += 1;
        }
    }
    return { values, levels };
}

/** The member of this name; the last one where it is repeated, as most programs read it. */
export function member(text: string, of: Span, name: string): Span | undefined {
    return of.kind === "object"
        ? children(text, of, Number.MAX_SAFE_INTEGER).list.findLast((child) => child.name !== undefined && saidBy(child.name) === name)
        : undefined;
}

/** The value's text. A string that is cut gets its quote, so that it can be read. */
export function written(text: string, span: Span): string {
    return text.slice(span.start, span.end) + (span.kind === "string" && isCut(text, span) ? '"' : "");
}

/** What a string says, given in its quotes; lone surrogates stay alone. Anything else is what is written. */
export function saidBy(string: string): string {
    if (string.length < 2 || !string.startsWith('"') || !string.endsWith('"')) {
        return string;
    }
    const inside = string.slice(1, -1);
    return inside.includes("\\")
        ? inside.replace(ESCAPE, (_, plain?: string, hex?: string) =>
              plain === undefined ? String.fromCharCode(Number.parseInt(hex!, 16)) : (PLAIN[plain] ?? plain),
          )
        : inside;
}

const ESCAPE = /\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))/g;
const PLAIN: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

function skipBlank(text: string, start: number): number {
    let at = start;
    for (;;) {
        const unit = text.charCodeAt(at);
        if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) {
            return at;
        }
        at += 1;
    }
}

/** Where the string that begins here ends, or -1. */
function stringEnd(text: string, start: number): number {
    let at = start + 1;
    for (;;) {
        const quote = text.indexOf('"', at);
        if (quote < 0) {
            return -1;
        }
        let slashes = quote - 1;
        while (slashes > start && text.charCodeAt(slashes) === BACKSLASH) {
            slashes -= 1;
        }
        if ((quote - slashes) % 2 === 1) {
            return quote + 1;
        }
        at = quote + 1;
    }
}

/** Where the object or array that begins here ends, or -1: strings are passed over, brackets counted. */
function containerEnd(text: string, start: number): number {
    const open: number[] = [];
    for (let at = start; at < text.length; ) {
        const unit = text.charCodeAt(at);
        if (unit === QUOTE) {
            at = stringEnd(text, at);
            if (at < 0) {
                return -1;
            }
            continue;
        }
        if (unit === OPEN || unit === OPEN_LIST) {
            open.push(unit === OPEN ? CLOSE : CLOSE_LIST);
        } else if (unit === CLOSE || unit === CLOSE_LIST) {
            if (open.pop() !== unit) {
                return -1;
            }
            if (open.length === 0) {
                return at + 1;
            }
        }
        at += 1;
    }
    return -1;
}
