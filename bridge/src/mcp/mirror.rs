//! Mirrored headers: what a transport repeats of a modern request has to say the same as its body (MCP 2026-07-28,
//! Streamable HTTP: Server Validation; `docs/protocol.md`, "Mirrored headers").
//!
//! Whoever routes or filters by the headers must not be told something else than the application. So nothing is
//! forgiven here: what cannot be compared does not agree.

use std::{borrow::Cow, collections::HashMap};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::value::RawValue;

use super::{Mirror, Mirrored};
use crate::{
    declaration::{MirroredParam, ParamKind, Tool},
    text::{self, Text, Token, Tokens},
};

/// Why headers and body do not agree: the message of JSON-RPC error -32020. Foreign text in it is cut and escaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MirrorFault {
    /// The body has a value, the header is not there.
    #[error("Header mismatch: {header} is missing")]
    Missing {
        /// The header's name.
        header: String,
    },
    /// The header is there more than once.
    #[error("Header mismatch: {header} is repeated")]
    Repeated {
        /// The header's name.
        header: String,
    },
    /// The header is there, and the body has no value for it.
    #[error("Header mismatch: {header} is there, but the body has no such argument")]
    Unexpected {
        /// The header's name.
        header: String,
    },
    /// The header's value cannot be read.
    #[error("Header mismatch: {header} {fault}")]
    Value {
        /// The header's name.
        header: String,
        /// What is wrong with it.
        fault: ValueFault,
    },
    /// Both have a value, and not the same.
    #[error("Header mismatch: {header} says '{said}', the body says '{body}'")]
    Differs {
        /// The header's name.
        header: String,
        /// The header's value, decoded.
        said: String,
        /// The body's value.
        body: String,
    },
    /// A member that leads to the argument stands twice in the body, so that readers may disagree which one counts.
    #[error("Header mismatch: the body repeats a member on the way to the argument of {header}")]
    Ambiguous {
        /// The header's name.
        header: String,
    },
    /// The argument is not of the declared type, so that there is no rule by which it could be mirrored.
    #[error("Header mismatch: the argument of {header} is no {}", describe(*kind))]
    Kind {
        /// The header's name.
        header: String,
        /// The type that the tool declares.
        kind: ParamKind,
    },
}

/// Why a header's value cannot be read (MCP 2026-07-28, Streamable HTTP: Value Encoding).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueFault {
    /// A byte that is neither visible ASCII nor a space or a tab.
    #[error("has a character that no header may have")]
    Character,
    /// Between the markers stands no canonical Base64 of the standard alphabet, with padding (RFC 4648, section 4).
    #[error("is not valid Base64 between its markers")]
    Base64,
    /// The decoded bytes are no UTF-8.
    #[error("is not UTF-8 between its Base64 markers")]
    Utf8,
}

/// The text that a header's value stands for: between `=?base64?` and `?=` it is Base64 of UTF-8, anything else is
/// literal. The markers are case-sensitive and do not overlap, so `=?base64?=` is literal.
pub fn decode_sentinel(value: &[u8]) -> Result<Cow<'_, str>, ValueFault> {
    let literal = std::str::from_utf8(value).map_err(|_| ValueFault::Character)?;
    if !value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
        return Err(ValueFault::Character);
    }
    let Some(encoded) = literal.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Ok(Cow::Borrowed(literal));
    };
    let bytes = STANDARD.decode(encoded).map_err(|_| ValueFault::Base64)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| ValueFault::Utf8)
}

/// `Mcp-Method` has to be there once and be the body's `method`. It is never encoded.
pub fn check_method(header: Mirrored<'_>, body: &str) -> Result<(), MirrorFault> {
    let said = once("Mcp-Method", header)?;
    same("Mcp-Method", said == body.as_bytes(), &String::from_utf8_lossy(said), body)
}

/// `Mcp-Name` has to be there once and be the body's `params.name`, plain or encoded.
pub fn check_name(header: Mirrored<'_>, body: &str) -> Result<(), MirrorFault> {
    let said = decoded("Mcp-Name", once("Mcp-Name", header)?)?;
    same("Mcp-Name", said == body, &said, body)
}

/// Every `Mcp-Param-*` header that the tool asks for has to say what the arguments say; others are ignored.
///
/// An absent or `null` argument has no header. One that is not of its declared type is refused with or without one:
/// there is no rule for its header, and a reader of headers alone would be told nothing or something else.
pub fn check_params(tool: &Tool, arguments: &Text, mirror: &dyn Mirror) -> Result<(), MirrorFault> {
    if tool.mirrored.is_empty() {
        return Ok(());
    }
    let mut paths = Paths::default();
    let places: Vec<_> = tool.mirrored.iter().map(|param| paths.place(&param.path)).collect();
    let found = paths.read(arguments.as_str());
    tool.mirrored.iter().zip(places).try_for_each(|(param, place)| {
        let argument = found.get(place).copied().unwrap_or(Argument::Absent);
        check_param(param, argument, mirror.header(&param.header))
    })
}

fn check_param(param: &MirroredParam, argument: Argument<'_>, header: Mirrored<'_>) -> Result<(), MirrorFault> {
    let name = param.header.as_str();
    let argument = match argument {
        Argument::Absent | Argument::Scalar("null") => return absent(name, header),
        Argument::Ambiguous => return Err(MirrorFault::Ambiguous { header: shown(name) }),
        Argument::Structure => return Err(MirrorFault::Kind { header: shown(name), kind: param.kind }),
        Argument::Scalar(scalar) => scalar,
    };
    let argument =
        Value::of(param.kind, argument).ok_or_else(|| MirrorFault::Kind { header: shown(name), kind: param.kind })?;
    let said = decoded(name, once(name, header)?)?;
    same(name, argument.is(&said), &said, &argument.to_string())
}

fn absent(name: &str, header: Mirrored<'_>) -> Result<(), MirrorFault> {
    match header {
        Mirrored::Absent => Ok(()),
        Mirrored::Once(_) | Mirrored::Repeated => Err(MirrorFault::Unexpected { header: shown(name) }),
    }
}

/// The value of a header that has to be there once.
pub(super) fn once<'a>(name: &str, header: Mirrored<'a>) -> Result<&'a [u8], MirrorFault> {
    match header {
        Mirrored::Once(value) => Ok(value),
        Mirrored::Absent => Err(MirrorFault::Missing { header: shown(name) }),
        Mirrored::Repeated => Err(MirrorFault::Repeated { header: shown(name) }),
    }
}

fn decoded<'a>(name: &str, value: &'a [u8]) -> Result<Cow<'a, str>, MirrorFault> {
    decode_sentinel(value).map_err(|fault| MirrorFault::Value { header: shown(name), fault })
}

fn same(name: &str, same: bool, said: &str, body: &str) -> Result<(), MirrorFault> {
    if same {
        return Ok(());
    }
    Err(MirrorFault::Differs { header: shown(name), said: shown(said), body: shown(body) })
}

/// What stands at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument<'a> {
    /// Nothing, or the path leads through something that is no object.
    Absent,
    /// As it was written.
    Scalar(&'a str),
    /// An object or an array.
    Structure,
    /// A member on the path is repeated.
    Ambiguous,
}

/// All paths of a tool as one tree, so that one pass over the arguments is enough. Place 0 is the root; the place behind
/// a name is always greater than the one before it.
#[derive(Default)]
struct Paths<'p> {
    steps: HashMap<(usize, &'p str), usize>,
    /// The place before each place but the root.
    before: Vec<usize>,
}

impl<'p> Paths<'p> {
    fn place(&mut self, path: &'p [String]) -> usize {
        path.iter().fold(0, |place, name| {
            *self.steps.entry((place, name.as_str())).or_insert_with(|| {
                self.before.push(place);
                self.before.len()
            })
        })
    }

    /// What stands at each place.
    fn read<'a>(&self, arguments: &'a str) -> Vec<Argument<'a>> {
        let mut found = vec![Argument::Absent; self.before.len() + 1];
        // The place of each open object that is on a path.
        let mut open: Vec<Option<usize>> = Vec::new();
        let mut next = Some(0);
        for token in Tokens::new(arguments) {
            match token {
                Token::Name(name) => {
                    let inside = open.last().copied().flatten();
                    next = inside.and_then(|place| self.steps.get(&(place, name.as_ref())).copied());
                }
                Token::Open { object } => {
                    let place = next.take();
                    put(&mut found, place, Argument::Structure);
                    open.push(place.filter(|_| object));
                }
                Token::Scalar(text) => put(&mut found, next.take(), Argument::Scalar(text)),
                Token::Close => drop(open.pop()),
            }
        }
        self.spread_ambiguity(&mut found);
        found
    }

    /// Behind a repeated member nothing is certain either.
    fn spread_ambiguity(&self, found: &mut [Argument<'_>]) {
        for (place, before) in (1..).zip(&self.before) {
            if found.get(*before) == Some(&Argument::Ambiguous) {
                put(found, Some(place), Argument::Ambiguous);
            }
        }
    }
}

/// A place that something was put at before is ambiguous.
fn put<'a>(found: &mut [Argument<'a>], place: Option<usize>, argument: Argument<'a>) {
    if let Some(slot) = place.and_then(|place| found.get_mut(place)) {
        *slot = if *slot == Argument::Absent { argument } else { Argument::Ambiguous };
    }
}

/// An argument of its declared type.
enum Value<'a> {
    String(Cow<'a, str>),
    Integer(i64),
    Boolean(bool),
}

impl<'a> Value<'a> {
    /// Nothing when it is not of that type, or has no form that a header could carry.
    fn of(kind: ParamKind, scalar: &'a str) -> Option<Self> {
        match kind {
            ParamKind::String => {
                serde_json::from_str::<&RawValue>(scalar).ok().and_then(text::string).map(Self::String)
            }
            ParamKind::Integer => integer(scalar).map(Self::Integer),
            ParamKind::Boolean => boolean(scalar).map(Self::Boolean),
        }
    }

    /// Whether a header's decoded value means the same.
    fn is(&self, said: &str) -> bool {
        match self {
            Self::String(value) => value == said,
            Self::Integer(value) => integer(said) == Some(*value),
            Self::Boolean(value) => boolean(said) == Some(*value),
        }
    }
}

impl std::fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::String(value) => f.write_str(value),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Boolean(value) => write!(f, "{value}"),
        }
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// The greatest integer that a double holds exactly together with both its neighbours.
const SAFE_INTEGER: i64 = (1 << 53) - 1;

/// The value of a JSON number (RFC 8259, section 6), when it is an integer within +-(2^53 - 1). Digits are read as they
/// stand, never through a double, and no power is written out: `1e999999999` costs its eleven characters.
fn integer(text: &str) -> Option<i64> {
    let (negative, number) = text.strip_prefix('-').map_or((false, text), |number| (true, number));
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    if !are_digits(whole) || !are_digits(fraction) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    let exponent = power(exponent)?;
    let digits = || whole.bytes().chain(fraction.bytes());
    let zeros = digits().rev().take_while(|digit| *digit == b'0').count();
    let length = whole.len() + fraction.len();
    if zeros == length {
        return Some(0);
    }
    // The digits without the zeros at their end, times ten to the power of this.
    let shift = exponent.saturating_add(i64::try_from(zeros).ok()?).saturating_sub(i64::try_from(fraction.len()).ok()?);
    let ten = 10_i64.checked_pow(u32::try_from(shift).ok()?)?;
    let append = |value: i64, digit: u8| value.checked_mul(10)?.checked_add(i64::from(digit - b'0'));
    let value = digits().take(length - zeros).try_fold(0, append)?.checked_mul(ten)?;
    (value <= SAFE_INTEGER).then_some(if negative { -value } else { value })
}

/// An exponent; one that is too large for any text stays the largest.
fn power(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    let append = |value: i64, digit: u8| value.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
    let value = are_digits(digits).then(|| digits.bytes().fold(0, append))?;
    Some(if negative { -value } else { value })
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn describe(kind: ParamKind) -> &'static str {
    match kind {
        ParamKind::String => "string of Unicode characters",
        ParamKind::Integer => "integer within +-(2^53-1)",
        ParamKind::Boolean => "boolean",
    }
}

/// Characters of foreign text in a message.
const SHOWN_CHARS: usize = 64;

/// Foreign text for a message: one short line, controls and invisible characters escaped.
fn shown(text: &str) -> String {
    let start: String = text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() { start + "..." } else { start }
}

#[cfg(test)]
mod tests;
