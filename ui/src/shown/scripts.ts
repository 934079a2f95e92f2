/**
 * Words that mix alphabets: the same function as `mixed` of `bridge/protocol`, held to the same table of cases. Letters of
 * different alphabets look alike, so a word of several may be a copy of another one.
 *
 * The rule is the "highly restrictive" level of UTS 39 for each word: letters of one script, or those that Japanese, Korean
 * and Chinese are written with together, Latin among them. Which script is whose is the web view's own Unicode version.
 */

/** By their names in Unicode. */
export const SCRIPTS: readonly string[] =
    `Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki
    Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee
    Chorasmian Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan
    Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi
    Gurmukhi Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inscriptional_Pahlavi
    Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki
    Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic
    Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs
    Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu
    Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian
    Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau
    Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala
    Sogdian Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil
    Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi
    Zanabazar_Square`.split(/\s+/);

/** What is written with several scripts at once. */
const TOGETHER: readonly (readonly string[])[] = [
    ["Latin", "Han", "Hiragana", "Katakana"],
    ["Latin", "Han", "Bopomofo"],
    ["Latin", "Han", "Hangul"],
];

/** Scripts that are named of one word. */
const MOST = 3;

const WORDS = /[\p{L}\p{M}\p{N}_'\u2019-]+/gu;

/** The scripts of the first word that mixes them, in their order there; none when every word keeps to one alphabet. */
export function mixed(text: string): string[] {
    // Most names are plain: nothing of them needs a second look.
    if (/^[ -~]*$/.test(text)) {
        return [];
    }
    for (const [word] of text.matchAll(WORDS)) {
        const letters = [...word].map(scriptsOf).filter((scripts) => scripts.length > 0);
        if (!isOneAlphabet(letters)) {
            return named(letters).slice(0, MOST);
        }
    }
    return [];
}

function isOneAlphabet(letters: readonly (readonly string[])[]): boolean {
    const [first] = letters;
    const fits = (alphabet: readonly string[]): boolean => letters.every((scripts) => scripts.some((script) => alphabet.includes(script)));
    return first === undefined || first.some((script) => fits([script])) || TOGETHER.some(fits);
}

/** A letter of several scripts is named only where no other letter names one of them. */
function named(letters: readonly (readonly string[])[]): string[] {
    const sure = new Set(letters.flatMap((scripts) => (scripts.length === 1 ? scripts : [])));
    const all = new Set<string>();
    for (const scripts of letters) {
        const known = scripts.find((script) => sure.has(script)) ?? scripts[0]!;
        sure.add(known);
        all.add(known);
    }
    return [...all].map((script) => script.replaceAll("_", " "));
}

const found = new Map<string, readonly string[]>();

/** The scripts that a character belongs to, in the order of the list; none for what belongs to all. */
function scriptsOf(letter: string): readonly string[] {
    let scripts = found.get(letter);
    if (!scripts) {
        scripts = SCRIPTS.filter((_, index) => tests()[index]?.test(letter));
        // Bounded: who sends ever other letters must not fill the memory.
        if (found.size < 10_000) {
            found.set(letter, scripts);
        }
    }
    return scripts;
}

let compiled: (RegExp | undefined)[] | undefined;

function tests(): (RegExp | undefined)[] {
    compiled ??= SCRIPTS.map((script) => {
        try {
            return new RegExp(`^\\p{Script_Extensions=${script}}$`, "u");
        } catch {
            // Newer than this web view, whose letters it does not know and names by their numbers.
            return undefined;
        }
    });
    return compiled;
}
