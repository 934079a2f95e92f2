//! What single characters are, as far as showing them goes: tables and rules, no text.
//!
//! Categories are those of the Unicode version of `unicode-properties`: a character newer than that counts as unassigned
//! and is named by its number. The short tables here hold what no category says.

use std::ops::RangeInclusive;

use unicode_properties::{GeneralCategory, UnicodeEmoji as _, UnicodeGeneralCategory as _};

/// What to do with a character when nothing around it changes that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// It can be seen, and takes room of its own.
    Visible,
    /// White space of any kind, line ends too.
    Space,
    /// A mark that stands above, below or around what precedes it.
    Mark,
    /// A vowel sign or the like: it belongs to what precedes it, and takes room of its own.
    SpacingMark,
    /// A control, or else not to be seen, or one of our own brackets.
    Hidden,
}

pub(super) fn class(point: char) -> Class {
    use GeneralCategory as Category;
    if matches!(point, ' '..='~') {
        return if point == ' ' { Class::Space } else { Class::Visible };
    }
    if point.is_whitespace() {
        return Class::Space;
    }
    if within(point, BLANK) || within(point, BRACKETS) {
        return Class::Hidden;
    }
    match point.general_category() {
        Category::NonspacingMark | Category::EnclosingMark => Class::Mark,
        Category::SpacingMark => Class::SpacingMark,
        Category::Format if within(point, VISIBLE_FORMAT) => Class::Visible,
        Category::Control
        | Category::Format
        | Category::Surrogate
        | Category::PrivateUse
        | Category::Unassigned
        | Category::LineSeparator
        | Category::ParagraphSeparator
        | Category::SpaceSeparator => Class::Hidden,
        Category::UppercaseLetter
        | Category::LowercaseLetter
        | Category::TitlecaseLetter
        | Category::ModifierLetter
        | Category::OtherLetter
        | Category::DecimalNumber
        | Category::LetterNumber
        | Category::OtherNumber
        | Category::ConnectorPunctuation
        | Category::DashPunctuation
        | Category::OpenPunctuation
        | Category::ClosePunctuation
        | Category::InitialPunctuation
        | Category::FinalPunctuation
        | Category::OtherPunctuation
        | Category::MathSymbol
        | Category::CurrencySymbol
        | Category::ModifierSymbol
        | Category::OtherSymbol => Class::Visible,
    }
}

/// True when this invisible character has its place between these two neighbours, because the script needs it there.
pub(super) fn in_place(before: char, point: char, next: Option<char>) -> bool {
    let both = |table| within(before, table) && next.is_some_and(|next| within(next, table));
    match point {
        '\u{200c}' | '\u{200d}' => {
            let conjunct = next.is_some_and(|next| within(next, VIRAMA)) && within(before, INDIC);
            within(before, VIRAMA) || conjunct || both(CURSIVE)
        }
        '\u{200b}' => both(UNSPACED),
        '\u{180e}' => both(MONGOLIAN),
        _ => false,
    }
}

/// True when this variation selector may stand right behind this character.
pub(super) fn selects(base: char, selector: char) -> bool {
    match selector {
        '\u{fe0e}' | '\u{fe0f}' => is_emoji(base),
        '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => within(base, HAN),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => within(base, MONGOLIAN),
        _ => false,
    }
}

/// A picture; the digits, which Unicode counts as emoji too, and the halves of flags are none.
pub(super) fn is_emoji(point: char) -> bool {
    !point.is_ascii() && !is_flag_half(point) && point.is_emoji_char()
}

pub(super) fn is_flag_half(point: char) -> bool {
    matches!(point, '\u{1f1e6}'..='\u{1f1ff}')
}

pub(super) fn is_skin_tone(point: char) -> bool {
    matches!(point, '\u{1f3fb}'..='\u{1f3ff}')
}

/// What may follow U+1F3F4 for the flags of England, Scotland and Wales: the tag characters that are in place.
pub(super) const TAGGED_FLAGS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

type Table = &'static [RangeInclusive<char>];

fn within(point: char, table: Table) -> bool {
    let after = table.partition_point(|range| *range.end() < point);
    table.get(after).is_some_and(|range| range.contains(&point))
}

/// The brackets of our own marks, and their doubles for Chinese and Japanese.
const BRACKETS: Table = &['\u{27e6}'..='\u{27e7}', '\u{301a}'..='\u{301b}'];

/// Letters, marks and symbols that show nothing.
const BLANK: Table = &[
    '\u{34f}'..='\u{34f}',     // combining grapheme joiner
    '\u{115f}'..='\u{1160}',   // Hangul fillers
    '\u{17b4}'..='\u{17b5}',   // Khmer inherent vowels
    '\u{180b}'..='\u{180f}',   // Mongolian selectors and vowel separator
    '\u{2800}'..='\u{2800}',   // Braille without a dot
    '\u{3164}'..='\u{3164}',   // Hangul filler
    '\u{fe00}'..='\u{fe0f}',   // variation selectors
    '\u{ffa0}'..='\u{ffa0}',   // half-width Hangul filler
    '\u{fffc}'..='\u{fffc}',   // object replacement
    '\u{13441}'..='\u{13442}', // Egyptian blanks
    '\u{16fe4}'..='\u{16fe4}', // Khitan filler
    '\u{1d159}'..='\u{1d159}', // null notehead
    '\u{e0100}'..='\u{e01ef}', // variation selectors
];

/// Signs of the category "format" that are drawn: they stand around the digits or letters that follow.
const VISIBLE_FORMAT: Table = &[
    '\u{600}'..='\u{605}',
    '\u{6dd}'..='\u{6dd}',
    '\u{70f}'..='\u{70f}',
    '\u{890}'..='\u{891}',
    '\u{8e2}'..='\u{8e2}',
    '\u{110bd}'..='\u{110bd}',
    '\u{110cd}'..='\u{110cd}',
];

/// Scripts whose letters join, so that a joiner or non-joiner between two of them changes their shapes.
const CURSIVE: Table = &[
    '\u{620}'..='\u{65f}',     // Arabic
    '\u{66e}'..='\u{6d3}',     // Arabic
    '\u{6d5}'..='\u{6dc}',     // Arabic
    '\u{6df}'..='\u{6e8}',     // Arabic
    '\u{6ea}'..='\u{6ef}',     // Arabic
    '\u{6fa}'..='\u{6ff}',     // Arabic
    '\u{710}'..='\u{74a}',     // Syriac
    '\u{74d}'..='\u{77f}',     // Syriac, Arabic
    '\u{7ca}'..='\u{7f5}',     // N'Ko
    '\u{840}'..='\u{85b}',     // Mandaic
    '\u{860}'..='\u{86a}',     // Syriac
    '\u{870}'..='\u{887}',     // Arabic
    '\u{889}'..='\u{88f}',     // Arabic
    '\u{897}'..='\u{8e1}',     // Arabic
    '\u{8e3}'..='\u{8ff}',     // Arabic
    '\u{1820}'..='\u{1878}',   // Mongolian
    '\u{1880}'..='\u{18aa}',   // Mongolian
    '\u{a840}'..='\u{a872}',   // Phags-pa
    '\u{10ac0}'..='\u{10ae6}', // Manichaean
    '\u{10b80}'..='\u{10b91}', // Psalter Pahlavi
    '\u{10d00}'..='\u{10d27}', // Hanifi Rohingya
    '\u{10f30}'..='\u{10f50}', // Sogdian
    '\u{10f70}'..='\u{10f85}', // Old Uyghur
    '\u{10fb0}'..='\u{10fcb}', // Chorasmian
    '\u{1e900}'..='\u{1e94b}', // Adlam
];

const MONGOLIAN: Table = &['\u{1820}'..='\u{1878}', '\u{1880}'..='\u{18aa}'];

/// Scripts without spaces between words, where U+200B marks a place to break the line.
const UNSPACED: Table = &[
    '\u{e01}'..='\u{e4e}',   // Thai
    '\u{e81}'..='\u{ece}',   // Lao
    '\u{1000}'..='\u{109f}', // Myanmar
    '\u{1780}'..='\u{17b3}', // Khmer
    '\u{17b6}'..='\u{17d3}', // Khmer
    '\u{1950}'..='\u{1974}', // Tai Le
    '\u{1980}'..='\u{19c9}', // New Tai Lue
    '\u{1a20}'..='\u{1a7c}', // Tai Tham
    '\u{a980}'..='\u{a9c0}', // Javanese
    '\u{aa60}'..='\u{aa7f}', // Myanmar
];

/// Scripts in which a joiner may also stand before a virama.
const INDIC: Table = &['\u{900}'..='\u{963}', '\u{971}'..='\u{9e3}', '\u{9f0}'..='\u{df3}', '\u{1000}'..='\u{109f}'];

/// Ideographs, which have registered variants.
const HAN: Table =
    &['\u{3400}'..='\u{4dbf}', '\u{4e00}'..='\u{9fff}', '\u{f900}'..='\u{faff}', '\u{20000}'..='\u{323af}'];

/// Signs that take a consonant's vowel away: those of canonical combining class 9.
const VIRAMA: Table = &[
    '\u{94d}'..='\u{94d}',
    '\u{9cd}'..='\u{9cd}',
    '\u{a4d}'..='\u{a4d}',
    '\u{acd}'..='\u{acd}',
    '\u{b4d}'..='\u{b4d}',
    '\u{bcd}'..='\u{bcd}',
    '\u{c4d}'..='\u{c4d}',
    '\u{ccd}'..='\u{ccd}',
    '\u{d3b}'..='\u{d3c}',
    '\u{d4d}'..='\u{d4d}',
    '\u{dca}'..='\u{dca}',
    '\u{e3a}'..='\u{e3a}',
    '\u{eba}'..='\u{eba}',
    '\u{f84}'..='\u{f84}',
    '\u{1039}'..='\u{103a}',
    '\u{1714}'..='\u{1715}',
    '\u{1734}'..='\u{1734}',
    '\u{17d2}'..='\u{17d2}',
    '\u{1a60}'..='\u{1a60}',
    '\u{1b44}'..='\u{1b44}',
    '\u{1baa}'..='\u{1bab}',
    '\u{1bf2}'..='\u{1bf3}',
    '\u{2d7f}'..='\u{2d7f}',
    '\u{a806}'..='\u{a806}',
    '\u{a82c}'..='\u{a82c}',
    '\u{a8c4}'..='\u{a8c4}',
    '\u{a953}'..='\u{a953}',
    '\u{a9c0}'..='\u{a9c0}',
    '\u{aaf6}'..='\u{aaf6}',
    '\u{abed}'..='\u{abed}',
    '\u{10a3f}'..='\u{10a3f}',
    '\u{11046}'..='\u{11046}',
    '\u{11070}'..='\u{11070}',
    '\u{1107f}'..='\u{1107f}',
    '\u{110b9}'..='\u{110b9}',
    '\u{11133}'..='\u{11134}',
    '\u{111c0}'..='\u{111c0}',
    '\u{11235}'..='\u{11235}',
    '\u{112ea}'..='\u{112ea}',
    '\u{1134d}'..='\u{1134d}',
    '\u{113ce}'..='\u{113d0}',
    '\u{11442}'..='\u{11442}',
    '\u{114c2}'..='\u{114c2}',
    '\u{115bf}'..='\u{115bf}',
    '\u{1163f}'..='\u{1163f}',
    '\u{116b6}'..='\u{116b6}',
    '\u{1172b}'..='\u{1172b}',
    '\u{11839}'..='\u{11839}',
    '\u{1193d}'..='\u{1193e}',
    '\u{119e0}'..='\u{119e0}',
    '\u{11a34}'..='\u{11a34}',
    '\u{11a47}'..='\u{11a47}',
    '\u{11a99}'..='\u{11a99}',
    '\u{11c3f}'..='\u{11c3f}',
    '\u{11d44}'..='\u{11d45}',
    '\u{11d97}'..='\u{11d97}',
    '\u{11f41}'..='\u{11f42}',
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_order() {
        for table in [BRACKETS, BLANK, VISIBLE_FORMAT, CURSIVE, MONGOLIAN, UNSPACED, INDIC, HAN, VIRAMA] {
            assert!(table.iter().all(|range| range.start() <= range.end()));
            assert!(table.windows(2).all(|pair| pair[0].end() < pair[1].start()), "{table:x?}");
        }
    }

    #[test]
    fn scripts_are_made_of_letters_and_marks() {
        for table in [CURSIVE, MONGOLIAN, UNSPACED, INDIC, HAN, VIRAMA] {
            for point in table.iter().cloned().flatten() {
                assert_ne!(class(point), Class::Space, "{point:x?}");
                let drawn = class(point) != Class::Hidden;
                assert!(drawn || point.general_category() == GeneralCategory::Unassigned, "{:x}", u32::from(point));
            }
        }
        assert!(VIRAMA.iter().cloned().flatten().all(|point| matches!(class(point), Class::Mark | Class::SpacingMark)));
    }

    #[test]
    fn every_character_has_a_class() {
        let count = |class_of| ('\0'..=char::MAX).filter(|point| class(*point) == class_of).count();
        assert_eq!(count(Class::Space), ('\0'..=char::MAX).filter(|point| point.is_whitespace()).count());
        assert!(count(Class::Mark) > 1_700 && count(Class::SpacingMark) > 400);
        assert!(count(Class::Visible) > 140_000 && count(Class::Visible) < 200_000);
    }
}
