//! Identities: who an application is, what an agent is called, which tool is meant.

mod label;

use std::{fmt, sync::Arc};

pub use self::label::NameFault;

use serde::{Deserialize, Serialize};

use crate::limits::{LABEL_CHARS, NAME_CHARS};

/// An application's identity, the `sub` of its tokens: 1 to 128 of `A-Z a-z 0-9 _ - .` (`docs/protocol.md`, "Tokens").
///
/// It is the unit of isolation: tools, calls and notifications of one client ID are never visible to another.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct ClientId(Arc<str>);

/// A tool's name: the same alphabet and length as a client ID (`docs/protocol.md`, "register").
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct ToolName(Arc<str>);

/// What an agent is called by the person who made its token, or a host by itself: at most 64 characters, any script, where
/// a mark that stands for what cannot be shown counts as one.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct Label(Arc<str>);

/// What a token lets its holder be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Role {
    /// An application: may connect and declare tools.
    Client,
    /// An agent: may list and call the tools of one application.
    Agent,
}

/// SHA-256 of a text: an approval of one definition is none of another. On the wire 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct Fingerprint(pub [u8; 32]);

/// A question's identity: 128 random bits, never used again. On the wire 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub struct QuestionId(pub u128);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        let mut bytes = [0; 32];
        let digits = digits(&text, 64)?;
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            *byte = pair.iter().fold(0, |byte, digit| byte << 4 | digit);
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for QuestionId {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        let digits = digits(&text, 32)?;
        Ok(Self(digits.iter().fold(0, |number, digit| number << 4 | u128::from(*digit))))
    }
}

/// Lower case alone: one identity has one spelling.
fn digits(text: &str, count: usize) -> Result<Vec<u8>, NameError> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let digits: Option<Vec<u8>> = text.bytes().map(digit).collect();
    digits.filter(|digits| digits.len() == count).ok_or(NameError::Hexadecimal)
}

macro_rules! hexadecimal {
    ($type:ident) => {
        impl Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($type), "({})"), self)
            }
        }
    };
}

hexadecimal!(Fingerprint);
hexadecimal!(QuestionId);

/// A name that breaks its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// Client IDs and tool names.
    Name,
    /// Labels.
    Label,
    /// Fingerprints and question ids.
    Hexadecimal,
}

impl std::error::Error for NameError {}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str("not 1 to 128 characters from A-Z a-z 0-9 _ - ."),
            Self::Label => f.write_str("not 1 to 64 characters without control characters"),
            Self::Hexadecimal => f.write_str("not the right number of hexadecimal digits in lower case"),
        }
    }
}

fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=NAME_CHARS).contains(&text.len()) && text.bytes().all(allowed)
}

fn is_label(text: &str) -> bool {
    (1..=LABEL_CHARS).contains(&label::length(text)) && !text.chars().any(char::is_control)
}

macro_rules! name {
    ($type:ident, $rule:ident, $error:expr) => {
        impl $type {
            /// Checks the rule of the type.
            pub fn new(text: &str) -> Result<Self, NameError> {
                if $rule(text) { Ok(Self(text.into())) } else { Err($error) }
            }

            /// The name itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl TryFrom<String> for $type {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                Self::new(&text)
            }
        }

        impl std::str::FromStr for $type {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                self.as_str()
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.as_str())
            }
        }
    };
}

name!(ClientId, is_name, NameError::Name);
name!(ToolName, is_name, NameError::Name);
name!(Label, is_label, NameError::Label);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_1_to_128_characters_of_its_alphabet() {
        for good in ["a", "A.b_c-9", ".", "-", &"x".repeat(128)] {
            assert!(ClientId::new(good).is_ok(), "{good:?}");
        }
        for bad in ["", "a b", "a/b", "ä", "a\n", &"x".repeat(129)] {
            assert_eq!(ClientId::new(bad), Err(NameError::Name), "{bad:?}");
            assert_eq!(ToolName::new(bad), Err(NameError::Name), "{bad:?}");
        }
    }

    #[test]
    fn hexadecimal_identities_have_one_spelling() {
        let text = "0123456789abcdef0123456789abcdef";
        let id = QuestionId::try_from(text.to_owned()).expect("32 digits");
        assert_eq!((id.0, id.to_string().as_str()), (0x0123_4567_89ab_cdef_0123_4567_89ab_cdef, text));
        let fingerprint = Fingerprint::try_from(text.repeat(2)).expect("64 digits");
        assert_eq!(fingerprint.to_string(), text.repeat(2));
        for bad in ["", "0", &text.to_uppercase(), &text.repeat(2), &format!("{text}0"), &text.replace('0', "+")] {
            assert!(QuestionId::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_label_has_1_to_64_characters_of_any_script_and_no_controls() {
        for good in ["Claude Code", "エージェント", &"ü".repeat(64)] {
            assert!(Label::new(good).is_ok(), "{good:?}");
        }
        for bad in ["", "a\nb", "a\u{7f}", &"ü".repeat(65)] {
            assert_eq!(Label::new(bad), Err(NameError::Label), "{bad:?}");
        }
    }
}
