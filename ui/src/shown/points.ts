/**
 * What single characters are, as far as showing them goes. The tables are those of `bridge/protocol`; the categories are
 * those of the web view's own Unicode version, and a character that it does not know is named by its number.
 */

/** What to do with a character when nothing around it changes that. */
export type Class = "visible" | "space" | "mark" | "spacing-mark" | "hidden";

export function classOf(point: number): Class {
    if (point >= 0x20 && point <= 0x7e) {
        return point === 0x20 ? "space" : "visible";
    }
    const letter = String.fromCodePoint(point);
    if (SPACE.test(letter)) {
        return "space";
    }
    if (BLANK.test(letter) || BRACKETS.test(letter)) {
        return "hidden";
    }
    if (MARK.test(letter)) {
        return "mark";
    }
    if (SPACING_MARK.test(letter)) {
        return "spacing-mark";
    }
    return UNSEEN.test(letter) && !VISIBLE_FORMAT.test(letter) ? "hidden" : "visible";
}

/** True when this invisible character has its place between these two neighbours, because the script needs it there. */
export function inPlace(before: number, point: number, next: number | undefined): boolean {
    const [left, right] = [String.fromCodePoint(before), next === undefined ? "" : String.fromCodePoint(next)];
    const both = (table: RegExp): boolean => table.test(left) && table.test(right);
    switch (point) {
        case 0x200c:
        case 0x200d:
            return VIRAMA.test(left) || (VIRAMA.test(right) && INDIC.test(left)) || both(CURSIVE);
        case 0x200b:
            return both(UNSPACED);
        case 0x180e:
            return both(MONGOLIAN);
        default:
            return false;
    }
}

/** True when this variation selector may stand right behind this character. */
export function selects(base: number, selector: number): boolean {
    if (selector === 0xfe0e || selector === 0xfe0f) {
        return isEmoji(base);
    }
    if ((selector >= 0xfe00 && selector <= 0xfe02) || (selector >= 0xe0100 && selector <= 0xe01ef)) {
        return HAN.test(String.fromCodePoint(base));
    }
    const mongolian = (selector >= 0x180b && selector <= 0x180d) || selector === 0x180f;
    return mongolian && MONGOLIAN.test(String.fromCodePoint(base));
}

/** A picture; the digits, which Unicode counts as emoji too, and the halves of flags are none. */
export function isEmoji(point: number): boolean {
    return point > 0x7f && !isFlagHalf(point) && EMOJI.test(String.fromCodePoint(point));
}

export function isFlagHalf(point: number): boolean {
    return point >= 0x1f1e6 && point <= 0x1f1ff;
}

export function isSkinTone(point: number): boolean {
    return point >= 0x1f3fb && point <= 0x1f3ff;
}

/** What may follow U+1F3F4 for the flags of England, Scotland and Wales: the tag characters that are in place. */
export const TAGGED_FLAGS = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

const SPACE = /^\p{White_Space}$/u;
const MARK = /^[\p{Mn}\p{Me}]$/u;
const SPACING_MARK = /^\p{Mc}$/u;
const UNSEEN = /^[\p{C}\p{Z}]$/u;
const EMOJI = /^\p{Emoji}$/u;

const table = (ranges: string): RegExp => new RegExp(`^[${ranges}]$`, "u");

/** The brackets of our own marks, and their doubles for Chinese and Japanese. */
const BRACKETS = table(
    String.raw`\u{27e6}-\u{27e7}\u{301a}-\u{301b}`,
);

/** Letters, marks and symbols that show nothing. */
const BLANK = table(
    String.raw`\u{34f}\u{115f}-\u{1160}\u{17b4}-\u{17b5}\u{180b}-\u{180f}\u{2800}\u{3164}\u{fe00}-\u{fe0f}\u{ffa0}` +
    String.raw`\u{fffc}\u{13441}-\u{13442}\u{16fe4}\u{1d159}\u{e0100}-\u{e01ef}`,
);

/** Signs of the category "format" that are drawn: they stand around the digits or letters that follow. */
const VISIBLE_FORMAT = table(
    String.raw`\u{600}-\u{605}\u{6dd}\u{70f}\u{890}-\u{891}\u{8e2}\u{110bd}\u{110cd}`,
);

/** Scripts whose letters join, so that a joiner or non-joiner between two of them changes their shapes. */
const CURSIVE = table(
    String.raw`\u{620}-\u{65f}\u{66e}-\u{6d3}\u{6d5}-\u{6dc}\u{6df}-\u{6e8}\u{6ea}-\u{6ef}\u{6fa}-\u{6ff}` +
    String.raw`\u{710}-\u{74a}\u{74d}-\u{77f}\u{7ca}-\u{7f5}\u{840}-\u{85b}\u{860}-\u{86a}\u{870}-\u{887}` +
    String.raw`\u{889}-\u{88f}\u{897}-\u{8e1}\u{8e3}-\u{8ff}\u{1820}-\u{1878}\u{1880}-\u{18aa}\u{a840}-\u{a872}` +
    String.raw`\u{10ac0}-\u{10ae6}\u{10b80}-\u{10b91}\u{10d00}-\u{10d27}\u{10f30}-\u{10f50}\u{10f70}-\u{10f85}` +
    String.raw`\u{10fb0}-\u{10fcb}\u{1e900}-\u{1e94b}`,
);

/** Mongolian letters. */
const MONGOLIAN = table(
    String.raw`\u{1820}-\u{1878}\u{1880}-\u{18aa}`,
);

/** Scripts without spaces between words, where U+200B marks a place to break the line. */
const UNSPACED = table(
    String.raw`\u{e01}-\u{e4e}\u{e81}-\u{ece}\u{1000}-\u{109f}\u{1780}-\u{17b3}\u{17b6}-\u{17d3}\u{1950}-\u{1974}` +
    String.raw`\u{1980}-\u{19c9}\u{1a20}-\u{1a7c}\u{a980}-\u{a9c0}\u{aa60}-\u{aa7f}`,
);

/** Scripts in which a joiner may also stand before a virama. */
const INDIC = table(
    String.raw`\u{900}-\u{963}\u{971}-\u{9e3}\u{9f0}-\u{df3}\u{1000}-\u{109f}`,
);

/** Ideographs, which have registered variants. */
const HAN = table(
    String.raw`\u{3400}-\u{4dbf}\u{4e00}-\u{9fff}\u{f900}-\u{faff}\u{20000}-\u{323af}`,
);

/** Signs that take a consonant's vowel away: those of canonical combining class 9. */
const VIRAMA = table(
    String.raw`\u{94d}\u{9cd}\u{a4d}\u{acd}\u{b4d}\u{bcd}\u{c4d}\u{ccd}\u{d3b}-\u{d3c}\u{d4d}\u{dca}\u{e3a}\u{eba}` +
    String.raw`\u{f84}\u{1039}-\u{103a}\u{1714}-\u{1715}\u{1734}\u{17d2}\u{1a60}\u{1b44}\u{1baa}-\u{1bab}` +
    String.raw`\u{1bf2}-\u{1bf3}\u{2d7f}\u{a806}\u{a82c}\u{a8c4}\u{a953}\u{a9c0}\u{aaf6}\u{abed}\u{10a3f}\u{11046}` +
    String.raw`\u{11070}\u{1107f}\u{110b9}\u{11133}-\u{11134}\u{111c0}\u{11235}\u{112ea}\u{1134d}` +
    String.raw`\u{113ce}-\u{113d0}\u{11442}\u{114c2}\u{115bf}\u{1163f}\u{116b6}\u{1172b}\u{11839}` +
    String.raw`\u{1193d}-\u{1193e}\u{119e0}\u{11a34}\u{11a47}\u{11a99}\u{11c3f}\u{11d44}-\u{11d45}\u{11d97}` +
    String.raw`\u{11f41}-\u{11f42}`,
);
