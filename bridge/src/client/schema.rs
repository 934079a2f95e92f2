//! The walk through an input schema for `x-mcp-header` annotations (MCP 2026-07-28, Streamable HTTP: Custom Headers from
//! Tool Parameters; `docs/protocol.md`, "register").
//!
//! One pass over the text, without recursion. It knows enough of JSON Schema to tell keywords from names and from data,
//! and never judges whether a schema makes sense.

use std::{borrow::Cow, collections::HashSet};

use serde_json::value::RawValue;

use crate::{
    declaration::{MirroredParam, ParamKind},
    text::{self, Token, Tokens},
};

/// How an annotation breaks MCP's constraints. Header names inside are made harmless for a close reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// It stands where a chain of `properties` does not lead.
    #[error("x-mcp-header stands where properties alone do not lead")]
    Unreached,
    /// Its value is no string.
    #[error("x-mcp-header is no string")]
    NotString,
    /// Its value is the empty string.
    #[error("x-mcp-header is empty")]
    Empty,
    /// It is no token in the sense of RFC 9110, section 5.6.2.
    #[error("x-mcp-header {0} is no HTTP token")]
    NotToken(String),
    /// Another annotation of the tool has the same name, letter case aside.
    #[error("x-mcp-header {0} is used twice")]
    Twice(String),
    /// The property has another type.
    #[error("x-mcp-header {0} is on no string, integer or boolean")]
    Type(String),
    /// The paths to the register's annotations are longer, together, than a message may be.
    #[error("x-mcp-header is used too often, too deep")]
    TooMuch,
}

/// The mirrored parameters of a tool, in the order their properties end in the text. The schema must be JSON without
/// repeated members; `room` is what all paths may still cost, since many leaves under one long name would multiply it.
pub(super) fn mirrored(schema: &str, room: &mut usize) -> Result<Vec<MirroredParam>, HeaderFault> {
    let mut walk = Walk { next: Some(Value::Schema(Some(0))), ..Walk::default() };
    for token in Tokens::new(schema) {
        match token {
            Token::Name(name) => walk.name(name)?,
            Token::Open { object } => walk.open(object)?,
            Token::Scalar(text) => walk.scalar(text)?,
            Token::Close => walk.close(room)?,
        }
    }
    Ok(walk.found)
}

/// How many names lead from the root to a schema, when `properties` alone lead there. The root's is 0.
type Reach = Option<usize>;

/// What the next value is.
#[derive(Clone, Copy)]
enum Value {
    Schema(Reach),
    /// Names, each with a schema.
    Map(Reach),
    /// The `type` of a schema.
    Type,
    /// An annotation that is allowed to stand here.
    Header,
    /// Not a schema, whatever it holds.
    Data,
}

/// What an open object or array is.
enum Frame {
    Schema {
        reach: Reach,
        kind: Option<ParamKind>,
        header: Option<String>,
    },
    Map(Reach),
    /// An array. Nothing in it is reached through `properties` alone.
    List,
    Data,
}

#[derive(Default)]
struct Walk<'a> {
    open: Vec<Frame>,
    /// Set by a name for the value that follows.
    next: Option<Value>,
    /// The names that lead here, and maybe further: a [`Reach`] says how many count.
    path: Vec<Cow<'a, str>>,
    headers: HashSet<String>,
    found: Vec<MirroredParam>,
}

impl<'a> Walk<'a> {
    fn name(&mut self, name: Cow<'a, str>) -> Result<(), HeaderFault> {
        let value = match self.open.last() {
            Some(&Frame::Schema { reach, .. }) => keyword(&name, reach)?,
            Some(&Frame::Map(Some(reach))) => {
                self.path.truncate(reach);
                self.path.push(name);
                Value::Schema(Some(reach + 1))
            }
            Some(Frame::Map(None)) => Value::Schema(None),
            Some(Frame::List | Frame::Data) | None => Value::Data,
        };
        self.next = Some(value);
        Ok(())
    }

    /// What begins here: what the name said, or, in an array, what arrays hold.
    fn value(&mut self) -> Value {
        let inside = || match self.open.last() {
            Some(Frame::Data) => Value::Data,
            Some(Frame::Schema { .. } | Frame::Map(_) | Frame::List) | None => Value::Schema(None),
        };
        self.next.take().unwrap_or_else(inside)
    }

    fn open(&mut self, object: bool) -> Result<(), HeaderFault> {
        let frame = match self.value() {
            Value::Data => Frame::Data,
            Value::Header => return Err(HeaderFault::NotString),
            Value::Schema(_) | Value::Map(_) | Value::Type if !object => Frame::List,
            Value::Schema(reach) => Frame::Schema { reach, kind: None, header: None },
            Value::Map(reach) => Frame::Map(reach),
            Value::Type => Frame::Schema { reach: None, kind: None, header: None },
        };
        self.open.push(frame);
        Ok(())
    }

    fn scalar(&mut self, text: &'a str) -> Result<(), HeaderFault> {
        let value = self.value();
        let Some(Frame::Schema { kind, header, .. }) = self.open.last_mut() else { return Ok(()) };
        match value {
            Value::Type => *kind = param_kind(text),
            Value::Header => *header = Some(token(text)?),
            Value::Schema(_) | Value::Map(_) | Value::Data => {}
        }
        Ok(())
    }

    fn close(&mut self, room: &mut usize) -> Result<(), HeaderFault> {
        // A schema's type may stand behind its annotation, so both are looked at when it ends.
        let Some(Frame::Schema { reach: Some(reach), kind, header: Some(header) }) = self.open.pop() else {
            return Ok(());
        };
        let kind = kind.ok_or_else(|| HeaderFault::Type(shown(&header)))?;
        let lower = header.to_ascii_lowercase();
        if self.headers.contains(&lower) {
            return Err(HeaderFault::Twice(shown(&header)));
        }
        self.path.truncate(reach);
        let cost: usize = self.path.iter().map(|name| name.len() + size_of::<String>()).sum();
        *room = room.checked_sub(cost).ok_or(HeaderFault::TooMuch)?;
        let path = self.path.iter().map(|name| name.clone().into_owned()).collect();
        self.found.push(MirroredParam { header: format!("mcp-param-{lower}"), path, kind });
        self.headers.insert(lower);
        Ok(())
    }
}

/// What a keyword of JSON Schema says about its value. The value of one we do not know may be a schema, so that an
/// annotation in it counts, as one that is not reached.
fn keyword(name: &str, reach: Reach) -> Result<Value, HeaderFault> {
    match name {
        "x-mcp-header" if reach.is_none_or(|names| names == 0) => Err(HeaderFault::Unreached),
        "x-mcp-header" => Ok(Value::Header),
        "type" => Ok(Value::Type),
        "properties" => Ok(Value::Map(reach)),
        "patternProperties" | "$defs" | "definitions" | "dependentSchemas" | "dependentRequired" | "dependencies" => {
            Ok(Value::Map(None))
        }
        "default" | "const" | "enum" | "examples" => Ok(Value::Data),
        _ => Ok(Value::Schema(None)),
    }
}

fn param_kind(scalar: &str) -> Option<ParamKind> {
    match string(scalar)?.as_ref() {
        "string" => Some(ParamKind::String),
        "integer" => Some(ParamKind::Integer),
        "boolean" => Some(ParamKind::Boolean),
        _ => None,
    }
}

/// An annotation's value, when it can be part of a header's name.
fn token(scalar: &str) -> Result<String, HeaderFault> {
    if !scalar.starts_with('"') {
        return Err(HeaderFault::NotString);
    }
    // A lone surrogate has no Rust string, and is no token either.
    let name = string(scalar).ok_or_else(|| HeaderFault::NotToken(shown(scalar)))?;
    if name.is_empty() {
        return Err(HeaderFault::Empty);
    }
    if !name.bytes().all(is_tchar) {
        return Err(HeaderFault::NotToken(shown(&name)));
    }
    Ok(name.into_owned())
}

fn string(scalar: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str::<&RawValue>(scalar).ok().and_then(text::string)
}

/// RFC 9110, section 5.6.2.
fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Bytes of a foreign name inside a fault: the tool's name needs the rest of the close reason.
const SHOWN_BYTES: usize = 32;

/// A foreign name for a close reason: quoted, short, controls and invisible characters escaped.
pub(super) fn shown(name: &str) -> String {
    let mut shown = String::from("\"");
    for character in name.chars() {
        let escaped = character.escape_debug().to_string();
        if shown.len() + escaped.len() > SHOWN_BYTES {
            return shown + "...\"";
        }
        shown.push_str(&escaped);
    }
    shown + "\""
}

#[cfg(test)]
mod tests;
