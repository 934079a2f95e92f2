/** Texts that do not look like what they are: invisible characters, and those that turn the writing round. */

const INVISIBLE = String.raw`[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]`;
/** An emoji may hold invisible characters, and is seen all the same. */
const EMOJI = String.raw`\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)*`;

/** True when there is anything to see. */
export function isVisible(text: string): boolean {
    return text.replace(new RegExp(`\\s|${INVISIBLE}`, "gu"), "") !== "";
}

/** The text with nothing in it that cannot be seen: such characters by their number, and much blank space in words. */
export function revealed(text: string): string {
    return text
        .replace(/\s{9,}/gu, (blank) => ` <${blank.length} blank characters> `)
        .replace(new RegExp(`${EMOJI}|[\\n\\t]|(?<hidden>${INVISIBLE})`, "gu"), (found, hidden?: string) =>
            hidden ? `<U+${hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>` : found,
        );
}
