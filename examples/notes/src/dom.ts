/** Elements, made and kept. Text goes in as text alone: nothing that an agent wrote is ever read as HTML. */

/** The element of the page with this id. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
    return document.getElementById(id) as E;
}

/** A new element with a class and contents. */
export function make<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    className = "",
    ...contents: (Node | string)[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    element.className = className;
    element.append(...contents);
    return element;
}

/** A button that does something. Its name for screen readers may say more than it shows. */
export function button(text: string, name: string, click: () => void): HTMLButtonElement {
    const made = make("button", "", text);
    made.type = "button";
    if (name !== text) {
        made.ariaLabel = name;
    }
    made.addEventListener("click", click);
    return made;
}

/** Writes a text, unless it stands there already: what is written again is read out again. */
export function write(element: Element, text: string): void {
    if (element.textContent !== text) {
        element.textContent = text;
    }
}

/** Text that somebody else wrote, in its own direction, cut where it is long. */
export function foreign(text: string, most = 200): HTMLElement {
    const made = make("bdi", "", text.length > most ? `${text.slice(0, most)}…` : text);
    made.dir = "auto";
    return made;
}

/** A list whose elements stay, with focus and selection, while their items do. */
export class List<T> {
    readonly #elements = new Map<string, HTMLElement>();

    constructor(
        readonly parent: HTMLElement,
        readonly key: (item: T) => string,
        readonly show: (item: T, before: HTMLElement | undefined) => HTMLElement,
    ) {}

    /** Shows these items, in this order. */
    set(items: readonly T[]): void {
        const gone = new Set(this.#elements.keys());
        let next = this.parent.firstElementChild;
        for (const item of items) {
            const key = this.key(item);
            gone.delete(key);
            const before = this.#elements.get(key);
            const element = this.show(item, before);
            this.#elements.set(key, element);
            if (before && before !== element) {
                next = next === before ? element : next;
                // The same button of the new element has the focus that the old one's had.
                const focused = [...before.querySelectorAll("button")].findIndex((one) => one === document.activeElement);
                before.replaceWith(element);
                element.querySelectorAll("button")[focused]?.focus();
            }
            if (element === next) {
                next = next.nextElementSibling;
            } else {
                this.parent.insertBefore(element, next);
            }
        }
        for (const key of gone) {
            this.#elements.get(key)?.remove();
            this.#elements.delete(key);
        }
    }

    get(key: string): HTMLElement | undefined {
        return this.#elements.get(key);
    }
}
