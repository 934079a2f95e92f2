/** A page that is laid out, as far as the tests need it: lines of one height, one below the other, in a box that scrolls. */

import { vi } from "vitest";

const [WIDTH, TOP, LINE] = [400, 60, 20];

export class Layout {
    /** What can be seen of the text at once, in pixels. */
    height = 100;
    /** How far it is scrolled. */
    scroll = 0;
    /** How high a part of an exact text is. */
    block = 1_000;
    /** How high a line is that holds a long string whole. */
    long = LINE;
    /** What stands above the text, and scrolls with it. */
    above = 0;
    /** Something lies on all of it. */
    covered = false;

    constructor() {
        const layout = this;
        this.#changes.observe(document.body, { childList: true, subtree: true });
        vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
            return layout.#boxOf(this);
        });
        vi.spyOn(Range.prototype, "getBoundingClientRect").mockImplementation(function (this: Range) {
            return layout.#boxOf(this.startContainer.parentElement!.closest(".line, .block, .what")!, LINE);
        });
        vi.spyOn(document, "elementFromPoint").mockImplementation((x, y) => (layout.covered ? document.body : layout.#at(x, y)));
        vi.spyOn(Element.prototype, "clientWidth", "get").mockImplementation(() => WIDTH);
        vi.spyOn(Element.prototype, "clientHeight", "get").mockImplementation(() => layout.height);
        const styleOf = getComputedStyle;
        vi.stubGlobal("getComputedStyle", (element: Element) => {
            const style = styleOf(element);
            const overflow = layout.#scrolls(element) ? "auto" : "visible";
            return Object.defineProperties(style, { overflowX: { value: overflow }, overflowY: { value: overflow } });
        });
    }

    /** All that there is, at most. */
    get end(): number {
        return this.above + this.#pieces().reduce((sum, piece) => sum + this.#heightOf(piece), 0);
    }

    #scrolls(element: Element): boolean {
        return element.matches(".small-window .content, .approvals-page");
    }

    #found: Element[] | undefined;
    #changes = new MutationObserver(() => (this.#found = undefined));

    #pieces(): Element[] {
        this.#found ??= [...(document.querySelector("section.json :is(.tree, .exact)")?.querySelectorAll(".line, .block") ?? [])];
        return this.#found;
    }

    #heightOf(piece: Element): number {
        return piece.matches(".block") ? this.block : (piece.textContent?.length ?? 0) > 10_000 ? this.long : LINE;
    }

    #boxOf(element: Element, most = Number.MAX_SAFE_INTEGER): DOMRect {
        if (this.#scrolls(element)) {
            return new DOMRect(0, TOP, WIDTH, this.height);
        }
        if (element.matches(".answers")) {
            return new DOMRect(0, TOP + this.height, WIDTH, 100);
        }
        const start = TOP + this.above - this.scroll;
        const pieces = this.#pieces();
        const at = pieces.indexOf(element);
        if (at >= 0) {
            const before = pieces.slice(0, at).reduce((sum, piece) => sum + this.#heightOf(piece), 0);
            return new DOMRect(0, start + before, WIDTH, Math.min(most, this.#heightOf(element)));
        }
        if (element.matches(".tree, .exact")) {
            return new DOMRect(0, start, WIDTH, pieces.reduce((sum, piece) => sum + this.#heightOf(piece), 0));
        }
        const beside = [".what", ".who", ".facts"].findIndex((name) => element.matches(name));
        return beside >= 0 ? new DOMRect(0, start + beside * LINE, WIDTH, LINE) : element.matches(".question") ? new DOMRect(0, start, WIDTH, LINE) : new DOMRect();
    }

    #at(x: number, y: number): Element | null {
        return [...this.#pieces(), ...document.querySelectorAll(".what, .who, .facts")].find((element) => {
            const { left, right, top, bottom } = this.#boxOf(element);
            return x >= left && x <= right && y >= top && y <= bottom;
        }) ?? null;
    }
}
