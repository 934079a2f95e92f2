/**
 * Text that another program wrote, made safe and honest for the windows: the same function as `shown` of
 * `bridge/protocol`, held to the same table of cases.
 *
 * What is put in stands between white square brackets, which are never passed on: `⟦U+202E⟧` for a character that cannot
 * be seen, `⟦+96⟧` for marks beyond four on one letter, `⟦…+9800⟧` for what was cut off. Show a text once, and in a
 * `<bdi>`: it keeps its direction to itself then. A text that the bridge made harmless (`made`) has its marks already: they
 * are passed on whole, and what is cut of it counts as what it was at first.
 */

import { classOf, inPlace, isEmoji, isFlagHalf, isSkinTone, selects, TAGGED_FLAGS, type Class } from "./shown/points";

/** Characters shown of a text outside detail views. */
export const SHOWN_CHARS = 200;

const SHOWN_MARKS = 4;
const JOINED_EMOJI = 6;
/** UTF-16 units that are looked at, at least and for each character shown; the rest is counted only. */
const LOOKED_AT = { least: 65_536, each: 20 };
/** Blanks in a row that a detail view shows as they are: more could push what follows out of sight. */
const BLANKS = { spaces: 64, lines: 3 };

export interface Showing {
    /** Characters at most. */
    chars?: number;
    /** For detail views: spaces, tabs and line ends stay; white space of other kinds is named. */
    blanks?: boolean;
    /** For texts that the app made harmless already: its marks are passed on. */
    made?: boolean;
}

/** A text for any place, at most 200 characters of it. */
export function shown(text: string, { chars = SHOWN_CHARS, blanks = false, made = false }: Showing = {}): string {
    let end = Math.min(text.length, Math.max(LOOKED_AT.least, chars * LOOKED_AT.each));
    if (end < text.length && isHighHalf(text.charCodeAt(end - 1))) {
        end -= 1;
    }
    // Most texts are plain: nothing of them needs a second look.
    if (end === text.length && end <= chars && /^(?:[!-~]| (?! ))*$/.test(text)) {
        return text;
    }
    return new Piecewise(text.slice(0, end), { blanks, made }).within(chars, (made ? worthIn : pointsIn)(text, end));
}

/** A mark that was put in before. */
const MARK = /⟦(?:U\+[0-9A-F]+(?: ×(\d+))?|…?\+(\d+))⟧/y;

/** How many characters a mark stands for. */
function worthOf([, times, more]: RegExpExecArray): number {
    return Number(times ?? more ?? 1);
}

function markAt(text: string, at: number): RegExpExecArray | null {
    MARK.lastIndex = at;
    return MARK.exec(text);
}

/** The characters of the text that this was made of. */
function worthIn(text: string, from: number): number {
    let worth = 0;
    for (let at = from; at < text.length; ) {
        const mark = markAt(text, at);
        worth += mark ? worthOf(mark) : 1;
        at += mark ? mark[0].length : text.codePointAt(at)! > 0xffff ? 2 : 1;
    }
    return worth;
}

/** A whole text, for a detail view, with its spaces and line ends. */
export function shownWhole(text: string): string {
    return shown(text, { chars: Number.MAX_SAFE_INTEGER, blanks: true });
}

function pointsIn(text: string, from: number): number {
    let points = 0;
    for (let at = from; at < text.length; points += 1) {
        at += text.codePointAt(at)! > 0xffff ? 2 : 1;
    }
    return points;
}

function isHighHalf(unit: number): boolean {
    return unit >= 0xd800 && unit <= 0xdbff;
}

/** A text on its way to be shown: taken a piece at a time, where a piece is what must not be cut. */
class Piecewise {
    #at = 0;
    #chars = 0;
    #out: string[] = [];
    /** The character right before, when something may join to it or stand on it. */
    #before: number | undefined;

    constructor(
        readonly text: string,
        readonly how: { blanks: boolean; made: boolean },
    ) {}

    within(chars: number, beyond: number): string {
        for (;;) {
            const [at, pieces] = [this.#at, this.#out.length];
            if (!this.#piece()) {
                return beyond === 0 ? this.#out.join("") : this.#cut(beyond);
            }
            if (this.#chars > chars && !this.#endsCut(at)) {
                this.#out.length = pieces;
                return this.#cut((this.how.made ? worthIn : pointsIn)(this.text, at) + beyond);
            }
        }
    }

    #cut(left: number): string {
        return `${this.#out.join("")}⟦…+${left}⟧`;
    }

    /** The piece that begins here says how much was cut off, behind all the rest: it always has room. */
    #endsCut(at: number): boolean {
        return this.how.made && this.#at === this.text.length && this.text.startsWith("⟦…+", at);
    }

    #piece(): boolean {
        const mark = this.how.made ? markAt(this.text, this.#at) : null;
        if (mark) {
            this.#at += mark[0].length;
            this.#put(mark[0]);
            return true;
        }
        const point = this.#next();
        if (point === undefined) {
            return false;
        }
        switch (this.#class(point)) {
            case "space":
                this.#space(point);
                break;
            case "visible":
                this.#letter(point);
                break;
            case "spacing-mark":
                this.#before === undefined ? this.#name(point) : this.#letter(point);
                break;
            case "mark":
                this.#name(point);
                break;
            case "hidden":
                this.#before !== undefined && inPlace(this.#before, point, this.#peek()) ? this.#joiner(point) : this.#name(point);
        }
        return true;
    }

    #class(point: number): Class {
        return this.how.made && (point === 0x27e6 || point === 0x27e7) ? "visible" : classOf(point);
    }

    #peek(skip = 0): number | undefined {
        let at = this.#at;
        for (let left = skip; left > 0 && at < this.text.length; left -= 1) {
            at += this.text.codePointAt(at)! > 0xffff ? 2 : 1;
        }
        return this.text.codePointAt(at);
    }

    #next(): number | undefined {
        const point = this.text.codePointAt(this.#at);
        this.#at += point === undefined ? 0 : point > 0xffff ? 2 : 1;
        return point;
    }

    #take(wanted: (point: number) => boolean): number | undefined {
        const point = this.#peek();
        return point !== undefined && wanted(point) ? this.#next() : undefined;
    }

    #takeIn(wanted: (point: number) => boolean): boolean {
        const point = this.#take(wanted);
        if (point !== undefined) {
            this.#push(point);
        }
        return point !== undefined;
    }

    #push(point: number): void {
        this.#out.push(String.fromCodePoint(point));
        this.#chars += 1;
        this.#before = point;
    }

    #put(mark: string): void {
        this.#out.push(mark);
        this.#chars += mark.length;
        this.#before = undefined;
    }

    #name(point: number): void {
        this.#put(`⟦U+${point.toString(16).toUpperCase().padStart(4, "0")}⟧`);
    }

    #space(first: number): void {
        if (!this.how.blanks) {
            while (this.#take((point) => classOf(point) === "space") !== undefined);
            this.#put(" ");
            return;
        }
        const letter = String.fromCodePoint(first);
        if (letter !== " " && letter !== "\n" && letter !== "\t") {
            this.#name(first);
            return;
        }
        let more = 0;
        while (this.#take((point) => point === first) !== undefined) {
            more += 1;
        }
        const most = letter === "\n" ? BLANKS.lines : BLANKS.spaces;
        const kept = Math.min(more, most - 1);
        this.#put(letter.repeat(kept + 1));
        if (more > kept) {
            const number = first.toString(16).toUpperCase().padStart(4, "0");
            this.#put(`⟦U+${number} ×${more - kept}⟧`);
        }
    }

    #letter(point: number): void {
        this.#push(point);
        if (isEmoji(point)) {
            this.#emoji(point);
        } else if (isFlagHalf(point)) {
            this.#takeIn(isFlagHalf);
        } else if ((point >= 0x30 && point <= 0x39) || point === 0x23 || point === 0x2a) {
            this.#keycap();
        } else if (point > 0x7f) {
            this.#takeIn((selector) => selects(point, selector));
        }
        this.#marks();
    }

    /** Keeps a joiner together with the letter behind it, so that no cut leaves it at an end. */
    #joiner(point: number): void {
        this.#push(point);
        this.#before = undefined;
        const letter = this.#take((next) => classOf(next) === "visible");
        if (letter !== undefined) {
            this.#letter(letter);
        }
    }

    #emoji(first: number): void {
        this.#dress(first);
        if (first === 0x1f3f4) {
            this.#tags();
        }
        for (let joined = 1; joined < JOINED_EMOJI; joined += 1) {
            const next = this.#peek() === 0x200d ? this.#peek(1) : undefined;
            if (next === undefined || !isEmoji(next)) {
                return;
            }
            this.#push(this.#next()!);
            this.#push(this.#next()!);
            this.#dress(next);
        }
    }

    #dress(picture: number): void {
        this.#takeIn((selector) => selects(picture, selector));
        this.#takeIn(isSkinTone);
    }

    #tags(): void {
        const tags = TAGGED_FLAGS.find((tags) => this.text.startsWith(tags, this.#at));
        for (const tag of tags ?? "") {
            this.#push(tag.codePointAt(0)!);
            this.#at += tag.length;
        }
    }

    #keycap(): void {
        if (this.#peek() === 0xfe0f && this.#peek(1) === 0x20e3) {
            this.#push(this.#next()!);
            this.#push(this.#next()!);
        }
    }

    #marks(): void {
        const isMark = (point: number): boolean => point > 0x2ff && classOf(point) === "mark";
        for (let marks = 0; marks < SHOWN_MARKS; marks += 1) {
            if (!this.#takeIn(isMark) && !this.#joinedMark(isMark)) {
                return;
            }
        }
        let more = 0;
        while (this.#take(isMark) !== undefined) {
            more += 1;
        }
        if (more > 0) {
            this.#put(`⟦+${more}⟧`);
        }
    }

    /** A joiner and the mark behind it: a virama that is to be drawn in another way. */
    #joinedMark(isMark: (point: number) => boolean): boolean {
        const [joiner, mark] = [this.#peek(), this.#peek(1)];
        if (joiner === undefined || mark === undefined || this.#before === undefined) {
            return false;
        }
        const fits = isMark(mark) && inPlace(this.#before, joiner, mark);
        if (fits) {
            this.#push(this.#next()!);
            this.#push(this.#next()!);
        }
        return fits;
    }
}
