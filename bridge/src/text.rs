//! JSON texts of others: taken in once, never parsed and printed again.
//!
//! A [`Text`] keeps what somebody wrote: order, digits, escapes, repeated members. Only raw line ends, which in JSON
//! stand between tokens alone, become spaces, so that no text can break a line-framed channel (`docs/protocol.md`,
//! "Texts"). Nothing here decides what a text means.

use std::{borrow::Cow, collections::HashSet, fmt, sync::Arc};

use clientmcp_protocol::{
    limits::NAME_CHARS,
    shown::{self, SHOWN_CHARS, shown_within},
};
use serde::{
    Deserializer as _,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// Valid JSON on one line, exactly as somebody else wrote it. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Text(Arc<str>);

impl Text {
    /// Takes a JSON value out of a larger text.
    pub fn of(raw: &RawValue) -> Self {
        Self(one_line(raw.get()).into())
    }

    /// `{}`
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// The value as it stands, without a line end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same text for serde, which prints it untouched.
    pub fn raw(&self) -> &RawValue {
        // A text is made from a `RawValue` alone, so it parses; `null` keeps this total without a panic.
        serde_json::from_str(&self.0).unwrap_or(RawValue::NULL)
    }

    /// The members, when it is an object.
    pub fn object(&self) -> Result<Object<'_>, Fault> {
        Object::parse(&self.0)
    }
}

impl fmt::Debug for Text {
    // Arguments and results are never logged, not even through a derived `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({} bytes)", self.0.len())
    }
}

/// The text with raw CR and LF as spaces. In valid JSON they stand only between tokens.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\r', b'\n', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(['\r', '\n'], " "))
}

/// Why a text could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is not JSON.
    #[error("not valid JSON")]
    NotJson,
    /// It is JSON, but not the object that is needed here.
    #[error("not a JSON object")]
    NotObject,
}

/// The members of a JSON object, in order, repeated ones included, with values as texts.
#[derive(Debug)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Object<'a> {
    /// Reads one level; values are only checked to be JSON.
    pub fn parse(text: &'a str) -> Result<Self, Fault> {
        if !text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{') {
            return Err(if is_json(text) { Fault::NotObject } else { Fault::NotJson });
        }
        let mut reader = serde_json::Deserializer::from_str(text);
        let members = reader.deserialize_map(Members).map_err(|_| Fault::NotJson)?;
        reader.end().map_err(|_| Fault::NotJson)?;
        Ok(Self { members })
    }

    /// The value of a member; of a repeated one the last, as most parsers read it.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.members.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The members in the order they were written.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.members.iter().map(|(key, value)| (key.as_ref(), *value))
    }

    /// A name that stands there twice, if any.
    pub fn repeated(&self) -> Option<&str> {
        let mut seen = HashSet::with_capacity(self.members.len());
        self.members.iter().map(|(key, _)| key.as_ref()).find(|key| !seen.insert(*key))
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<&RawValue, _>()? {
            members.push((decode(key.get()), value));
        }
        Ok(members)
    }
}

/// The decoded name or string. A lone surrogate, which no Rust string can hold, stays the escape it was written as.
fn decode(raw: &str) -> Cow<'_, str> {
    let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    serde_json::from_str(raw).map_or(Cow::Borrowed(inner), Cow::Owned)
}

/// What kind of JSON value a text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// Any number, of any size.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// The kind of a value, by its first character.
pub fn kind(raw: &RawValue) -> Kind {
    match raw.get().as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b't' | b'f') => Kind::Bool,
        Some(b'n') => Kind::Null,
        _ => Kind::Number,
    }
}

/// The decoded value of a JSON string; nothing for other kinds and for a lone surrogate, which no Rust string can hold.
pub fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get();
    if text.starts_with('"') && !text.contains('\\') {
        return Some(decode(text));
    }
    serde_json::from_str(text).ok().map(Cow::Owned)
}

/// A foreign word for a sentence of ours, in quotes that it cannot end; see [`shown()`].
pub fn quoted(word: &str) -> String {
    let inside = shown(word).replace('\\', r"\\").replace('"', r#"\""#);
    format!("\"{inside}\"")
}

/// A foreign word for a sentence of ours: made safe as every foreign text is, and cut at 128 characters, the longest name.
pub fn shown(word: &str) -> String {
    shown_within(word, NAME_CHARS)
}

/// A sentence of another program of ours, which made what is foreign in it safe already.
pub fn shown_again(sentence: &str) -> String {
    shown::shown_again(sentence, SHOWN_CHARS)
}

/// A string as JSON.
pub fn json_string(text: &str) -> String {
    // A string cannot fail to be written.
    serde_json::to_string(text).unwrap_or_default()
}

/// True when the whole text is one JSON value.
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// How deep arrays and objects stand inside each other; 0 for a plain value. The text must be JSON.
pub fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    deepest
}

fn skip_string(bytes: &mut std::str::Bytes<'_>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
}

/// One step through a JSON text.
#[derive(Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// `{` or `[`: an array says `false`.
    Open {
        /// True for an object.
        object: bool,
    },
    /// `}` or `]`
    Close,
    /// A member's name, decoded; its value comes next.
    Name(Cow<'a, str>),
    /// A string, number, boolean or null, as it was written.
    Scalar(&'a str),
}

/// Walks a text token by token, in one pass and without recursion. The text must be JSON: this reads, it does not check.
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// For each open object or array: true in an object.
    open: Vec<bool>,
    /// True where the next string is a member's name.
    name_next: bool,
}

impl<'a> Tokens<'a> {
    /// Starts before the first token.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, open: Vec::new(), name_next: false }
    }

    /// How many objects and arrays are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// After a [`Token::Name`] or inside an array: passes over the next value whole.
    pub fn skip_value(&mut self) {
        let depth = self.depth();
        while self.next().is_some() && self.depth() > depth {}
    }

    fn scalar(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let mut bytes = rest.bytes();
        let length = if bytes.next() == Some(b'"') {
            skip_string(&mut bytes);
            rest.len() - bytes.len()
        } else {
            rest.bytes().position(|byte| b",]} \t\r\n".contains(&byte)).unwrap_or(rest.len())
        };
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            match self.text.as_bytes().get(self.at)? {
                b' ' | b'\t' | b'\r' | b'\n' | b':' => self.at += 1,
                b',' => {
                    self.at += 1;
                    self.name_next = self.open.last() == Some(&true);
                }
                open @ (b'{' | b'[') => {
                    let object = *open == b'{';
                    self.at += 1;
                    self.open.push(object);
                    self.name_next = object;
                    return Some(Token::Open { object });
                }
                b'}' | b']' => {
                    self.at += 1;
                    self.open.pop();
                    self.name_next = false;
                    return Some(Token::Close);
                }
                _ if self.name_next => {
                    self.name_next = false;
                    return Some(Token::Name(decode(self.scalar())));
                }
                _ => return Some(Token::Scalar(self.scalar())),
            }
        }
    }
}

/// A member name that some object anywhere in the text repeats. The text must be JSON.
pub fn repeated_member(text: &str) -> Option<String> {
    // One set for all objects, each with a number of its own: hostile texts have very many small ones.
    let (mut seen, mut open, mut last) = (HashSet::new(), Vec::new(), 0_u32);
    for token in Tokens::new(text) {
        match token {
            Token::Open { .. } => {
                last += 1;
                open.push(last);
            }
            Token::Close => drop(open.pop()),
            Token::Name(name) => {
                if !seen.insert((open.last().copied(), name.clone())) {
                    return Some(name.into_owned());
                }
            }
            Token::Scalar(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Object<'_> {
        Object::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
    }

    // holds: shown-quoted
    #[test]
    fn a_word_keeps_inside_its_quotes() {
        assert_eq!(quoted(r#"a" \ "b"#), r#""a\" \\ \"b""#);
        assert_eq!(quoted("a\n\u{202e}\u{1b}"), "\"a \u{27e6}U+202E\u{27e7}\u{27e6}U+001B\u{27e7}\"");
        assert_eq!(shown(&"x".repeat(128)), "x".repeat(128));
        assert_eq!(shown(&"x".repeat(130)), "x".repeat(128) + "\u{27e6}\u{2026}+2\u{27e7}");
    }

    #[test]
    fn an_object_keeps_values_as_written() {
        let members = object(r#" {"a": 1e400, "b":"\ud800", "a":{"x" : 0.10}} "#);
        let all: Vec<_> = members.iter().map(|(name, value)| (name, value.get())).collect();
        assert_eq!(all, [("a", "1e400"), ("b", r#""\ud800""#), ("a", r#"{"x" : 0.10}"#)]);
        assert_eq!(members.repeated(), Some("a"));
    }

    #[test]
    fn names_are_compared_decoded() {
        assert_eq!(object(r#"{"type":1,"ty\u0070e":2}"#).repeated(), Some("type"));
        assert_eq!(object(r#"{"\ud800":1,"\ud801":2}"#).repeated(), None);
    }

    #[test]
    fn what_is_no_object_is_told_from_what_is_no_json() {
        for text in ["[]", "1", "null", "\"{}\""] {
            assert_eq!(Object::parse(text).err(), Some(Fault::NotObject), "{text}");
        }
        for text in ["", "{", "{]", "{}{}", "{\"a\"}", "{'a':1}", "nul", "{\"a\":01}", "{\"a\":\"\n\"}"] {
            assert_eq!(Object::parse(text).err(), Some(Fault::NotJson), "{text}");
        }
    }

    #[test]
    fn nesting_counts_what_stands_open() {
        for (text, depth) in [("1", 0), ("[]", 1), ("[{},{}]", 2), (r#"{"[[":"\"[[\\"}"#, 1), (r#"{"a":[[1],2]}"#, 3)] {
            assert_eq!(nesting(text), depth, "{text}");
        }
        assert_eq!(nesting(&"[".repeat(200)), 200);
    }

    #[test]
    fn repeated_members_are_found_at_any_depth() {
        for (text, found) in [
            (r#"{"a":{"b":1},"c":{"b":2}}"#, None),
            (r#"[{"a":1},{"a":2}]"#, None),
            (r#"{"a":[{"b":1e400,"c":{},"b":2}]}"#, Some("b")),
            (r#"{"a":"a","a":"a"}"#, Some("a")),
            (r#"{"a":{"a":{"x":[],"\u0078":1}}}"#, Some("x")),
        ] {
            assert_eq!(repeated_member(text).as_deref(), found, "{text}");
        }
    }

    #[test]
    fn line_ends_between_tokens_become_spaces() {
        let text = "{\r\n\"a\"\n:\"\\n\"}";
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        assert_eq!(Text::of(raw).as_str(), "{  \"a\" :\"\\n\"}");
    }

    #[test]
    fn skipping_passes_over_one_value() {
        let mut tokens = Tokens::new(r#"{"a":{"b":[1,{}]},"c":2}"#);
        assert_eq!(tokens.next(), Some(Token::Open { object: true }));
        assert_eq!(tokens.next(), Some(Token::Name("a".into())));
        tokens.skip_value();
        assert_eq!(tokens.next(), Some(Token::Name("c".into())));
        tokens.skip_value();
        assert_eq!(tokens.next(), Some(Token::Close));
        assert_eq!(tokens.next(), None);
    }
}
