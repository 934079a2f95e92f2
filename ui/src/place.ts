/** Tells each time that an element is at another place than in the frame before. The returned function ends it. */
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

function placeOf(element: Element): string {
    const { left, top, width, height } = element.getBoundingClientRect();
    return `${left} ${top} ${width} ${height}`;
}
