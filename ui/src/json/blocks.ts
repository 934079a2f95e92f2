/** UTF-16 units of a block: so many are laid out at once. */
const BLOCK = 16_384;

/** A text in blocks that can be drawn apart, cut behind a comma where there is one, and never inside a character. */
export function blocksOf(text: string): string[] {
    const blocks: string[] = [];
    for (let at = 0; at < text.length; ) {
        let end = Math.min(text.length, at + BLOCK);
        if (end < text.length) {
            const comma = text.lastIndexOf(",", end - 1);
            end = comma > at + BLOCK / 2 ? comma + 1 : end;
            const unit = text.charCodeAt(end - 1);
            end -= unit >= 0xd800 && unit <= 0xdbff ? 1 : 0;
        }
        blocks.push(text.slice(at, end));
        at = end;
    }
    return blocks;
}
