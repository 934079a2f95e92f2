/**
 * Tells each time that an element is at another place than in the frame before, or that something in the page came to lie
 * on one of its buttons (links in a sentence answer nothing), or went away from there. The returned function ends it.
 */
export function watchPlace(element: Element, moved: () => void): () => void {
    let place = placeOf(element);
    let frame = requestAnimationFrame(look);
    function look(): void {
        const now = placeOf(element);
        if (now !== place) {
            place = now;
            moved();
        }
        frame = requestAnimationFrame(look);
    }
    return () => cancelAnimationFrame(frame);
}

/** Across a button, where it is looked at: what lies on it may not reach its middle. */
const ACROSS = [0.1, 0.5, 0.9];

function placeOf(element: Element): string {
    const { left, top, width, height } = element.getBoundingClientRect();
    const buttons = [...element.querySelectorAll("button:not(.link)")].map((button) => freeParts(button)).join(" ");
    return `${left} ${top} ${width} ${height} ${buttons}`;
}

/** A dialog, a sentence of ours, what is scrolled over it: a click meant for that must not become one for the button. */
function freeParts(button: Element): string {
    const { left, top, width, height } = button.getBoundingClientRect();
    const isFree = (part: number): boolean => button.contains(document.elementFromPoint(left + width * part, top + height / 2));
    return ACROSS.map((part) => (isFree(part) ? "1" : "0")).join("");
}
