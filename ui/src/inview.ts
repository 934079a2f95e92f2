/**
 * What of a page is in view: measured, frame by frame, where it is drawn. Told to the app, which allows nothing while what
 * must be read first is out of view, and nothing for longer than 15 minutes of which not all was in view.
 */

/** What is in view. */
export interface InView {
    /** What must be read first: whole, now. */
    readonly first: boolean;
    /** All of it: at some time, since it was begun to be looked at. */
    readonly all: boolean;
    /** Counts up each time that all of it is looked at anew. */
    readonly round: number;
}

interface Box {
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
}

/** What lies over the text of a page: the answers that stay at its foot, what was said, a dialog. */
const OVER = ".answers, .said, dialog[open]";

/** What a line of a tree is drawn in, and a part of an exact text. */
const PIECES = ".line, .block";

/** What is folded or cut in a tree, or not drawn yet. */
const CUT = "data-cut";
const HIDDEN = `.twist[aria-expanded='false'], [${CUT}]`;

/** Pixels that a rounded edge may be off. */
const OFF = 1;

/** Looks in every frame, and tells each time that something else is in view. */
export class Looking {
    #frame = 0;
    #told = "";

    constructor(
        readonly measure: () => InView,
        readonly tell: (seen: InView) => void,
    ) {
        this.#look();
    }

    end(): void {
        cancelAnimationFrame(this.#frame);
    }

    #look = (): void => {
        const seen = this.measure();
        const now = `${seen.first} ${seen.all} ${seen.round}`;
        if (now !== this.#told) {
            this.#told = now;
            this.tell(seen);
        }
        this.#frame = requestAnimationFrame(this.#look);
    };
}

/** Who asks and what for: the first line of it now, and all of it at some time. */
export class AskedInView {
    #coverage = new Coverage();

    constructor(readonly parts: () => readonly Element[]) {}

    measure(): InView {
        const parts = this.parts();
        const [first] = parts;
        const line = first && firstLetter(first);
        if (!first || !line) {
            return { first: false, all: false, round: 0 };
        }
        const port = portOf(first);
        return { first: isInView(line, first, port), all: this.#coverage.look(parts, port), round: 0 };
    }

    /** Scrolls to what was not in view yet, a part of it at a time; after that to where it begins. */
    show(): void {
        const parts = this.parts();
        const rest = parts.find((part) => !this.#coverage.isWhole(part)) ?? parts[0];
        if (!rest) {
            return;
        }
        rest.scrollIntoView({ block: "start" });
        const seen = this.#coverage.seenFromTop(rest);
        if (seen > 0) {
            scrollerOf(rest)?.scrollBy(0, seen);
        }
    }
}

/** JSON in view, as a tree or as it stands. */
export class JsonInView {
    #coverage = new Coverage();
    /** How all of it stood when it was measured last. */
    #stood = "";
    #all = false;
    #round = 0;
    #changed = true;
    #watched: Element | undefined;
    #changes = new MutationObserver(() => (this.#changed = true));

    /** `region`: where it is drawn. `isWhole`: it is the whole text that is drawn there. */
    constructor(
        readonly region: () => Element | undefined,
        readonly isWhole: () => boolean,
    ) {}

    /** Nothing of it was in view yet. */
    anew(): void {
        this.#coverage = new Coverage();
        this.#all = false;
        this.#stood = "";
        this.#round += 1;
    }

    end(): void {
        this.#changes.disconnect();
    }

    measure(): InView {
        const region = this.region();
        if (!region) {
            return { first: false, all: this.#all, round: this.#round };
        }
        this.#watch(region);
        const port = portOf(region);
        const line = firstLine(region);
        const first = line !== undefined && isInView(line, region, port);
        this.#all ||= this.#lookedThrough(region, port) && this.isWhole();
        return { first, all: this.#all, round: this.#round };
    }

    #watch(region: Element): void {
        if (this.#watched !== region) {
            this.#watched = region;
            this.#changed = true;
            this.#changes.disconnect();
            this.#changes.observe(region, { attributes: true, characterData: true, childList: true, subtree: true });
        }
    }

    #lookedThrough(region: Element, port: Box): boolean {
        const { left, top, right, bottom } = region.getBoundingClientRect();
        const stands = [left, top, right, bottom, port.left, port.top, port.right, port.bottom].join(" ");
        if (stands === this.#stood && !this.#changed) {
            return false;
        }
        [this.#stood, this.#changed] = [stands, false];
        const looked = this.#coverage.look([...region.querySelectorAll(PIECES)], port);
        return looked && !region.matches(HIDDEN) && region.querySelector(HIDDEN) === null;
    }
}

/** Which pieces were in view, whole or from where to where. */
class Coverage {
    #seen = new WeakMap<Element, Seen>();

    /** Takes in what is in view now of pieces that stand one below the other; whether all of them were, by now. */
    look(pieces: readonly Element[], port: Box): boolean {
        for (let at = firstBelow(pieces, port.top); at < pieces.length; at += 1) {
            const piece = pieces[at]!;
            const box = boxOf(piece);
            if (box.top >= port.bottom) {
                break;
            }
            this.#see(piece, box, port);
        }
        return pieces.length > 0 && pieces.every((piece) => this.isWhole(piece));
    }

    isWhole(piece: Element): boolean {
        return this.#seen.get(piece)?.whole === true;
    }

    /** How far from its top a piece was in view that was not in view as a whole. */
    seenFromTop(piece: Element): number {
        const seen = this.#seen.get(piece);
        const [first] = seen?.whole ? [] : (seen?.spans ?? []);
        return first && first[0] <= OFF ? Math.floor(first[1]) : 0;
    }

    #see(piece: Element, box: Box, port: Box): void {
        // What is cut has more than what is drawn of it, and is another piece once it is whole.
        if (piece.hasAttribute(CUT)) {
            this.#seen.delete(piece);
            return;
        }
        const before = this.#seen.get(piece);
        const isNarrow = box.left >= port.left - OFF && box.right <= port.right + OFF && piece.scrollWidth <= piece.clientWidth + OFF;
        const [width, height] = [box.right - box.left, box.bottom - box.top];
        const same = before && Math.abs(before.width - width) < OFF && Math.abs(before.height - height) < OFF;
        if ((same && before.whole) || !isNarrow || !isLaidOut(box)) {
            return;
        }
        const from = Math.max(0, port.top - box.top);
        const to = Math.min(height, port.bottom - box.top);
        const spans = joined([...(same ? before.spans : []), [from, to]]);
        const [[start, end]] = spans as [Span, ...Span[]];
        const whole = spans.length === 1 && start <= OFF && end >= height - OFF;
        this.#seen.set(piece, { width, height, spans, whole });
    }
}

type Span = readonly [from: number, to: number];
type Seen = { readonly width: number; readonly height: number; readonly spans: readonly Span[]; readonly whole: boolean };

/** Spans in their order, those that meet as one. */
function joined(spans: Span[]): Span[] {
    const all: [number, number][] = [];
    for (const [from, to] of spans.toSorted(([a], [b]) => a - b)) {
        const last = all.at(-1);
        if (last && from <= last[1] + OFF) {
            last[1] = Math.max(last[1], to);
        } else {
            all.push([from, to]);
        }
    }
    return all;
}

/** The first piece that ends below this height: they stand one below the other. */
function firstBelow(pieces: readonly Element[], top: number): number {
    let [low, high] = [0, pieces.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (pieces[middle]!.getBoundingClientRect().bottom > top) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/**
 * The first line of JSON: of a tree, the first member with the first line of its value, or the braces of what has none; of
 * an exact text, its first line.
 */
export function firstLine(region: Element): Box | undefined {
    const lines = region.querySelectorAll(".line");
    const piece = lines[1] ?? lines[0] ?? region.querySelector(".block");
    if (!piece) {
        return undefined;
    }
    const whole = boxOf(piece);
    const value = piece.querySelector(".string, .number, .word, .broken, .holds") ?? piece;
    const letter = firstLetter(value);
    return letter ? { ...whole, bottom: Math.min(whole.bottom, letter.bottom) } : whole;
}

/** Whether the first line has room, once what it scrolls in is at `top`. */
export function fits(region: Element, top: Element): boolean {
    const [line, port] = [firstLine(region), portOf(region)];
    // Where nothing is drawn, nothing can be told.
    if (!line || !isLaidOut(line)) {
        return true;
    }
    const from = top.getBoundingClientRect().top - top.scrollTop;
    return line.bottom - from <= port.bottom - Math.max(port.top, 0) + OFF;
}

function firstLetter(element: Element): Box | undefined {
    const letters = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = letters.nextNode(); node; node = letters.nextNode()) {
        if (node.textContent?.trim()) {
            const range = document.createRange();
            const at = node.textContent.search(/\S/);
            range.setStart(node, at);
            range.setEnd(node, at + 1);
            return range.getBoundingClientRect();
        }
    }
    return undefined;
}

/** Whether a box of this element is whole in its port, and the element itself is what is seen there. */
function isInView(box: Box, element: Element, port: Box): boolean {
    const isInside = box.left >= port.left - OFF && box.top >= port.top - OFF && box.right <= port.right + OFF && box.bottom <= port.bottom + OFF;
    return isLaidOut(box) && isInside && [0.1, 0.5, 0.9].every((part) => isFree(box, element, part));
}

/** Nothing else of the page lies there. */
function isFree({ left, top, right, bottom }: Box, element: Element, part: number): boolean {
    const found = document.elementFromPoint(left + (right - left) * part, (top + bottom) / 2);
    return element.contains(found);
}

function isLaidOut({ left, top, right, bottom }: Box): boolean {
    return right > left && bottom > top;
}

/** Where an element can be seen: what the window and the boxes that it scrolls in leave of it, above what lies over them. */
export function portOf(element: Element): Box {
    let [left, top, right, bottom] = [0, 0, window.innerWidth, window.innerHeight];
    for (let box = element.parentElement; box; box = box.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(box);
        if (overflowX !== "visible" || overflowY !== "visible") {
            const outer = box.getBoundingClientRect();
            [left, top] = [Math.max(left, outer.left + box.clientLeft), Math.max(top, outer.top + box.clientTop)];
            right = Math.min(right, outer.left + box.clientLeft + box.clientWidth);
            bottom = Math.min(bottom, outer.top + box.clientTop + box.clientHeight);
        }
    }
    for (const over of document.querySelectorAll(OVER)) {
        const box = over.getBoundingClientRect();
        if (isLaidOut(box) && !over.contains(element)) {
            bottom = Math.min(bottom, box.top);
        }
    }
    return { left, top, right, bottom };
}

/** What an element scrolls in. */
function scrollerOf(element: Element): Element | undefined {
    for (let box = element.parentElement; box; box = box.parentElement) {
        if (getComputedStyle(box).overflowY !== "visible") {
            return box;
        }
    }
    return undefined;
}

function boxOf(element: Element): Box {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return { left, top, right, bottom };
}
