//! What agents and hosts are called (`docs/protocol.md`, "Tokens" and "Texts").
//!
//! A label is a key and is shown: the person revokes, blocks and forgets by what they read. So one that comes out of a token
//! is made harmless once, where the token is read, and that is the agent's label everywhere. One that somebody types must be
//! plain already.

use std::fmt;

use super::{Label, NameError};
use crate::{
    limits::LABEL_CHARS,
    shown::{shown_whole, stands_for},
};

/// The brackets around what we put into a text.
const BRACKETS: [char; 2] = ['\u{27e6}', '\u{27e7}'];

impl Label {
    /// The label of a token, which may have been made elsewhere: harmless from here on.
    pub fn claimed(text: &str) -> Result<Self, NameError> {
        let fits = (1..=LABEL_CHARS).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        if fits { Ok(Self(named(text).into())) } else { Err(NameError::Label) }
    }

    /// A name as somebody typed it: nothing hidden in it, and no space that could not be told from another.
    pub fn typed(text: &str) -> Result<Self, NameFault> {
        if text.is_empty() {
            return Err(NameFault::Empty);
        }
        if text.chars().count() > LABEL_CHARS {
            return Err(NameFault::Long);
        }
        match odd(text) {
            None => Ok(Self(text.into())),
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
    let shown = named(text);
    // What is shown has that bracket at the beginning of a mark alone.
    let differs = text.chars().zip(shown.chars()).position(|(one, other)| one != other || one == BRACKETS[0]);
    // Only characters at the end can be left out of what is shown.
    let at = differs.or_else(|| (text != shown).then(|| shown.chars().count()))?;
    Some((at, text.chars().nth(at)?))
}

/// As every text of others is shown, whole, and a space at an end by its name, for it could not be seen.
fn named(text: &str) -> String {
    const SPACE: &str = "\u{27e6}U+0020\u{27e7}";
    let shown = shown_whole(text);
    let (start, rest) = shown.strip_prefix(' ').map_or(("", &*shown), |rest| (SPACE, rest));
    let (middle, end) = rest.strip_suffix(' ').map_or((rest, ""), |middle| (middle, SPACE));
    [start, middle, end].concat()
}

/// Whether a text could be what [`named`] gives: nothing of it would be shown in another way, but for its marks.
fn is_harmless(text: &str) -> bool {
    let plain = without_marks(text);
    named(&plain) == plain
}

/// How many characters a label has: what a mark stands for is one.
pub(super) fn length(text: &str) -> usize {
    without_marks(text).chars().count()
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
        ("e\u{301}\u{301}\u{301}\u{301}\u{301}", "e\u{301}\u{301}\u{301}\u{301}⟦+1⟧"),
    ];

    // holds: label-harmless
    #[test]
    fn a_label_out_of_a_token_is_named_as_it_is_shown() {
        for plain in ["Claude Desktop", "エージェント", "a", "हिन्दी", "👩‍🔧 bot", &"ü".repeat(64)]
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
                "[a \u{301}\u{94d}\u{200c}\u{200d}\u{202e}\u{a0}\u{feff}\u{fe0f}क한1#🙂👩🏽🇩⟦⟧U+0123]{1,64}",
            ],
        ) {
            let Ok(label) = Label::claimed(&text) else { return Ok(()) };
            prop_assert_eq!(label.harmless(), label.clone());
            prop_assert_eq!(Label::new(label.as_str()), Ok(label.clone()), "it can be named in a command");
            let plain = without_marks(label.as_str());
            prop_assert_eq!(shown_whole(&plain), plain.clone());
            prop_assert_eq!(plain.trim(), &plain);
            if Label::typed(&text).is_ok() {
                prop_assert_eq!(label.as_str(), text.as_str());
            }
            // What was written down before, and what somebody says now, comes to the same.
            if !text.contains(BRACKETS) {
                prop_assert_eq!(Label::new(&text).unwrap().harmless(), label);
            }
        }
    }
}
