/** Where an element is, and each of its buttons in it. */
interface Place {
    readonly box: string;
    readonly buttons: ReadonlyMap<Element, string>;
}

/**
 * Tells each time that an element or one of its buttons is at another place than in the frame before, or that something in
 * the page came to lie on one of them (links in a sentence answer nothing), or went away from there. A button that comes or
 * goes is no move as long as all others stay where they were. The returned function ends it.
 */
export function watchPlace(element: Element, moved: () => void): () => void {
    let place = placeOf(element);
    let frame = requestAnimationFrame(look);
    function look(): void {
        const now = placeOf(element);
        const has = hasMoved(place, now);
        place = now;
        if (has) {
            moved();
        }
        frame = requestAnimationFrame(look);
    }
    return () => cancelAnimationFrame(frame);
}

/** Across a button, where it is looked at: what lies on it may not reach its middle. */
const ACROSS = [0.1, 0.5, 0.9];

function hasMoved(before: Place, now: Place): boolean {
    return before.box !== now.box || [...now.buttons].some(([button, place]) => (before.buttons.get(button) ?? place) !== place);
}

function placeOf(element: Element): Place {
    const { left, top, width, height } = element.getBoundingClientRect();
    const buttons = element.querySelectorAll<HTMLElement>("button:not(.link, .kept)");
    return { box: `${left} ${top} ${width} ${height}`, buttons: new Map([...buttons].map((button) => [button, placeIn(button)])) };
}

/** Without what a press does to it: one that is held down is drawn a little lower. */
function placeIn(button: HTMLElement): string {
    return `${button.offsetLeft} ${button.offsetTop} ${button.offsetWidth} ${button.offsetHeight} ${freeParts(button)}`;
}

/** A dialog, a sentence of ours, what is scrolled over it: a click meant for that must not become one for the button. */
function freeParts(button: Element): string {
    const { left, top, width, height } = button.getBoundingClientRect();
    const isFree = (part: number): boolean => button.contains(document.elementFromPoint(left + width * part, top + height / 2));
    return ACROSS.map((part) => (isFree(part) ? "1" : "0")).join("");
}
