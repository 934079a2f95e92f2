//! What agents and hosts are called (`docs/protocol.md`, "Tokens" and "Texts").
//!
//! A label is a key and is shown: the person revokes, blocks and forgets by what they read. So one that comes out of a token
//! is made harmless once, where the token is read, and that is the agent's label everywhere. One that somebody types must be
//! plain already. Both are brought to one form, in which two that are read as one are one: NFC, without the invisible
//! characters that stay in other texts.

use std::fmt;

use unicode_normalization::UnicodeNormalization as _;

use super::{Label, NameError};
use crate::{
    limits::LABEL_CHARS,
    shown::{shown_bare, shown_whole, stands_for},
};

/// The brackets around what we put into a text.
const BRACKETS: [char; 2] = ['\u{27e6}', '\u{27e7}'];

impl Label {
    /// The label of a token, which may have been made elsewhere: harmless from here on.
    pub fn claimed(text: &str) -> Result<Self, NameError> {
        let fits = (1..=LABEL_CHARS).contains(&composed(text).chars().count()) && !text.chars().any(char::is_control);
        if fits { Ok(Self(named(text).into())) } else { Err(NameError::Label) }
    }

    /// A name as somebody typed it: nothing hidden in it, and no space that could not be told from another. What keyboards put
    /// in by themselves, as between the pictures of one emoji, is left out.
    pub fn typed(text: &str) -> Result<Self, NameFault> {
        if text.is_empty() {
            return Err(NameFault::Empty);
        }
        let composed = composed(text);
        if composed.chars().count() > LABEL_CHARS {
            return Err(NameFault::Long);
        }
        let bare = shown_bare(&composed, false);
        match [text, &composed, &bare].into_iter().find_map(odd) {
            None => Ok(Self(named(text).into())),
            Some((at, odd)) => Err(NameFault::Odd { at: at + 1, odd }),
        }
    }

    /// The same label as it is shown, which is the key everywhere. What is harmless already stays as it is.
    #[must_use]
    pub fn harmless(&self) -> Self {
        if is_harmless(&self.0) { self.clone() } else { Self(named(&self.0).into()) }
    }
}

/// Why a name that somebody typed is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFault {
    /// There is none.
    Empty,
    /// Too many characters.
    Long,
    /// A character that would not be seen, or not as what it is.
    Odd {
        /// Which one, counted from 1.
        at: usize,
        /// The character.
        odd: char,
    },
}

impl std::error::Error for NameFault {}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a name has at least one character: choose one"),
            Self::Long => write!(f, "a name has at most {LABEL_CHARS} characters: choose a shorter one"),
            Self::Odd { at, odd } if odd.is_whitespace() => {
                write!(
                    f,
                    "character {at} of the name (U+{:04X}) is a space at an end, beside another one or of a special \
                           kind: leave it out, or put one plain space between words",
                    u32::from(*odd)
                )
            }
            Self::Odd { at, odd } => {
                write!(
                    f,
                    "character {at} of the name (U+{:04X}) cannot be seen, or not as what it is: leave it out",
                    u32::from(*odd)
                )
            }
        }
    }
}

/// The first character that is not shown as it is, or a space at an end, and how many come before it.
fn odd(text: &str) -> Option<(usize, char)> {
    let shown = with_ends(&shown_whole(text));
    // What is shown has that bracket at the beginning of a mark alone.
    let differs = text.chars().zip(shown.chars()).position(|(one, other)| one != other || one == BRACKETS[0]);
    // Only characters at the end can be left out of what is shown.
    let at = differs.or_else(|| (text != shown).then(|| shown.chars().count()))?;
    Some((at, text.chars().nth(at)?))
}

/// The key: as every text of others is shown, whole, but composed and without invisible characters.
fn named(text: &str) -> String {
    let mut shown = shown_bare(&composed(text), false);
    // What an invisible character kept apart may be one letter now, and what was left out is not there to be looked at.
    loop {
        let again = shown_bare(&composed(&shown), true);
        if again == shown {
            return with_ends(&shown);
        }
        shown = again;
    }
}

/// Two ways to write one letter come to one.
fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// What is shown, with a space at an end by its name, for it could not be seen.
fn with_ends(shown: &str) -> String {
    const SPACE: &str = "\u{27e6}U+0020\u{27e7}";
    let (start, rest) = shown.strip_prefix(' ').map_or(("", shown), |rest| (SPACE, rest));
    let (middle, end) = rest.strip_suffix(' ').map_or((rest, ""), |middle| (middle, SPACE));
    [start, middle, end].concat()
}

/// Whether a text could be what [`named`] gives: nothing of it would be shown in another way, but for its marks.
fn is_harmless(text: &str) -> bool {
    let plain = without_marks(text);
    named(&plain) == plain
}

/// How many characters a label has, composed: what a mark stands for is one.
pub(super) fn length(text: &str) -> usize {
    composed(&without_marks(text)).chars().count()
}

/// With a letter in the place of each mark of ours.
fn without_marks(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(BRACKETS[0]) {
        plain.push_str(before);
        rest = match behind.split_once(BRACKETS[1]) {
            Some((inner, behind)) if is_mark(inner) => {
                plain.push('x');
                behind
            }
            Some(_) | None => {
                plain.push(BRACKETS[0]);
                behind
            }
        };
    }
    plain + rest
}

/// `U+202E`, or `+96` where a label is short enough for so many marks. A label is never cut.
fn is_mark(inner: &str) -> bool {
    stands_for(inner).is_some_and(|count| count <= LABEL_CHARS) && !inner.starts_with('\u{2026}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ODD: [(&str, &str); 9] = [
        ("Claude\u{202e}", "Claude⟦U+202E⟧"),
        ("Cl\u{200b}aude", "Cl⟦U+200B⟧aude"),
        (" Claude", "⟦U+0020⟧Claude"),
        ("Claude ", "Claude⟦U+0020⟧"),
        (" ", "⟦U+0020⟧"),
        ("Claude  Desktop", "Claude Desktop"),
        ("Claude\u{a0}Desktop", "Claude Desktop"),
        ("⟦U+202E⟧", "⟦U+27E6⟧U+202E⟦U+27E7⟧"),
        ("x\u{301}\u{301}\u{301}\u{301}\u{301}", "x\u{301}\u{301}\u{301}\u{301}⟦+1⟧"),
    ];

    // holds: label-harmless
    #[test]
    fn a_label_out_of_a_token_is_named_as_it_is_shown() {
        for plain in ["Claude Desktop", "エージェント", "a", "हिन्दी", "👩🔧 bot", &"ü".repeat(64)]
        {
            assert_eq!(Label::claimed(plain).unwrap().as_str(), plain);
            assert_eq!(Label::typed(plain).unwrap().as_str(), plain);
        }
        for (raw, expected) in ODD {
            assert_eq!(Label::claimed(raw).unwrap().as_str(), expected, "{raw:?}");
            assert!(Label::typed(raw).is_err(), "{raw:?}");
        }
        for none in ["", "a\nb", "a\u{7f}", &"ü".repeat(65), &"⟦U+202E⟧".repeat(9)] {
            assert_eq!(Label::claimed(none), Err(NameError::Label), "{none:?}");
        }
    }

    /// What is read as one, by the ways in which it is written.
    const ONE: [(&str, &[&str]); 13] = [
        ("Caf\u{e9}", &["Cafe\u{301}"]),
        ("K", &["\u{212a}"]),
        ("\u{c5}", &["\u{212b}", "A\u{30a}"]),
        ("\u{3a9}", &["\u{2126}"]),
        ("\u{ac00}", &["\u{1100}\u{1161}"]),
        ("\u{915}\u{93c}", &["\u{958}"]),
        ("\u{e01}\u{e02}", &["\u{e01}\u{200b}\u{e02}"]),
        ("\u{4e00}", &["\u{4e00}\u{fe00}", "\u{4e00}\u{e0100}"]),
        ("\u{1820}", &["\u{1820}\u{180b}"]),
        ("\u{6cc}\u{62e}", &["\u{6cc}\u{200c}\u{62e}", "\u{6cc}\u{200d}\u{62e}"]),
        ("👩🔧 bot", &["👩\u{200d}🔧 bot", "👩\u{200d}🔧\u{fe0f} bot"]),
        ("1\u{20e3}", &["1\u{fe0f}\u{20e3}"]),
        // What stood between them is gone, and they are one letter.
        ("\u{622}\u{628}", &["\u{627}\u{200c}\u{653}\u{628}"]),
    ];

    // holds: label-one
    #[test]
    fn labels_that_are_read_as_one_are_one() {
        for (one, ways) in ONE {
            for way in [one].iter().chain(ways) {
                assert_eq!(Label::claimed(way).map(|label| label.to_string()), Ok(one.to_owned()), "{way:?}");
                assert_eq!(Label::new(way).unwrap().harmless().as_str(), one, "{way:?}");
                if !way.contains("\u{200c}\u{653}") {
                    assert_eq!(Label::typed(way).map(|label| label.to_string()), Ok(one.to_owned()), "{way:?}");
                }
            }
        }
        // Characters are counted in that form.
        assert!(Label::claimed(&"e\u{301}".repeat(64)).is_ok() && Label::typed(&"e\u{301}".repeat(64)).is_ok());
        assert!(Label::new(&"e\u{301}".repeat(64)).is_ok());
        for long in ["e\u{301}".repeat(65), "\u{958}".repeat(33)] {
            assert_eq!(Label::claimed(&long), Err(NameError::Label));
            assert_eq!(Label::typed(&long), Err(NameFault::Long));
        }
    }

    // holds: label-typed
    #[test]
    fn a_name_that_is_typed_says_which_character_is_odd() {
        let odd = |text: &str| match Label::typed(text) {
            Err(NameFault::Odd { at, odd }) => (at, odd),
            other => panic!("{text:?}: {other:?}"),
        };
        for (raw, at, character) in [
            ("Claude\u{202e}", 7, '\u{202e}'),
            ("Cl\u{200b}aude", 3, '\u{200b}'),
            (" Claude", 1, ' '),
            ("Claude ", 7, ' '),
            ("Claude  Desktop", 8, ' '),
            ("Claude \u{2003}", 7, ' '),
            ("Claude\u{a0}Desktop", 7, '\u{a0}'),
            ("a⟧", 2, '⟧'),
            ("🙂⟦", 2, '⟦'),
            ("a\u{7}b", 2, '\u{7}'),
            ("e\u{301}\u{301}\u{301}\u{301}\u{301}", 6, '\u{301}'),
        ] {
            assert_eq!(odd(raw), (at, character), "{raw:?}");
            let sentence = Label::typed(raw).unwrap_err().to_string();
            assert!(sentence.contains(&format!("U+{:04X}", u32::from(character))), "{sentence}");
        }
        assert_eq!(Label::typed(""), Err(NameFault::Empty));
        assert_eq!(Label::typed(&"ü".repeat(65)), Err(NameFault::Long));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        // holds: label-harmless
        #[test]
        fn what_is_shown_of_a_label_is_the_same_label_again(
            text in prop_oneof![
                "\\PC{1,64}",
                "[a \u{301}\u{344}\u{653}\u{94d}\u{200b}\u{200c}\u{200d}\u{202e}\u{a0}\u{feff}\u{fe0f}\u{20e3}\u{e0100}\u{e0067}क\u{958}\u{212a}한1#x🙂👩🏽🇩🏴⟦⟧U+0123]{1,64}",
                "[\u{1100}-\u{11ff}\u{627}-\u{65f}\u{e01}-\u{e4e}\u{4e00}\u{180b}\u{1820}\u{200b}-\u{200d}]{1,64}",
            ],
        ) {
            let Ok(label) = Label::claimed(&text) else { return Ok(()) };
            prop_assert_eq!(label.harmless(), label.clone());
            prop_assert_eq!(Label::new(label.as_str()), Ok(label.clone()), "it can be named in a command");
            let plain = without_marks(label.as_str());
            prop_assert_eq!(shown_whole(&plain), plain.clone());
            prop_assert_eq!(plain.trim(), &plain);
            prop_assert_eq!(composed(label.as_str()), label.as_str());
            let invisible = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{fe0f}', '\u{e0100}'];
            prop_assert_eq!(label.as_str().find(invisible), None);
            if let Ok(typed) = Label::typed(&text) {
                prop_assert_eq!(&typed, &label);
                prop_assert_eq!(Label::typed(typed.as_str()), Ok(typed));
                prop_assert!(!label.as_str().contains(BRACKETS), "what is typed is plain");
            }
            // What was written down before, and what somebody says now, comes to the same.
            if !text.contains(BRACKETS) {
                prop_assert_eq!(Label::new(&text).unwrap().harmless(), label);
            }
        }
    }
}
