//! The `register` message: what an application declares, checked before any of it is served (`docs/protocol.md`,
//! "register").
//!
//! A tool that agents would silently drop becomes a refusal its developer can see. Definitions are only read: what is
//! accepted stays as the application wrote it.

use std::{collections::HashSet, fmt};

use clientmcp_protocol::{
    ids::ToolName,
    limits::{CLOSE_REASON_BYTES, INSTRUCTIONS_BYTES, MESSAGE_BYTES, TOOLS},
};
use serde_json::value::RawValue;

use super::schema::{self, HeaderFault};
use crate::{
    declaration::{Declaration, Tool},
    text::{self, Kind, Object, Text},
};

/// Why a `register` is refused. Its text is a close reason: at most 123 bytes (RFC 6455, section 5.5), the tool first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegisterFault {
    /// `tools` is missing or no array.
    Tools,
    /// More tools than the limit.
    TooManyTools,
    /// `instructions` is no string.
    Instructions,
    /// `instructions` is longer than the limit.
    InstructionsTooLong,
    /// One tool breaks a rule.
    Tool {
        /// Its name, or its place (`tool 3`) when it has no usable name.
        tool: String,
        /// The rule.
        fault: ToolFault,
    },
}

/// The rule that a definition breaks (`docs/protocol.md`, "register").
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolFault {
    /// The definition is no object.
    #[error("the definition is no object")]
    NotObject,
    /// An object in the definition has a member twice; its name, made harmless.
    #[error("member {0} stands twice in one object")]
    Repeated(String),
    /// No name, or one that breaks the rule of [`ToolName`].
    #[error("the name is not 1 to 128 characters from A-Z a-z 0-9 _ - .")]
    Name,
    /// An earlier tool has this name.
    #[error("the name is declared twice")]
    NameTwice,
    /// A known member has another type than MCP gives it.
    #[error("{within}{name} is no {}", word(*kind))]
    Member {
        /// The object it stands in, with a dot; empty for the definition itself.
        within: &'static str,
        /// The member.
        name: &'static str,
        /// What it has to be.
        kind: Kind,
    },
    /// `icons` is not what MCP says.
    #[error("icons is no array of objects with a string src")]
    Icons,
    /// `inputSchema` is not there.
    #[error("inputSchema is missing")]
    NoInputSchema,
    /// The `type` of `inputSchema` is not exactly `"object"`.
    #[error("the type of inputSchema is not \"object\"")]
    InputSchemaType,
    /// A mirrored parameter breaks MCP's constraints.
    #[error(transparent)]
    Header(#[from] HeaderFault),
}

/// Reads what a `register` declares. The caller has checked the envelope: one `type`, no repeated member, bounded
/// nesting.
pub fn declaration(message: &Object<'_>) -> Result<Declaration, RegisterFault> {
    let definitions = message.get("tools").and_then(items).ok_or(RegisterFault::Tools)?;
    if definitions.len() > TOOLS {
        return Err(RegisterFault::TooManyTools);
    }
    let instructions = message.get("instructions").map(instructions).transpose()?;
    let mut seen = HashSet::with_capacity(definitions.len());
    let mut room = MESSAGE_BYTES;
    let tools = definitions.into_iter().enumerate().map(|(place, raw)| {
        tool(raw, &mut seen, &mut room).map_err(|fault| RegisterFault::Tool { tool: name_or_place(raw, place), fault })
    });
    Ok(Declaration::new(tools.collect::<Result<_, _>>()?, instructions))
}

fn items(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// Bytes are counted decoded; a string with a lone surrogate, which has no UTF-8, counts as it is written.
fn instructions(raw: &RawValue) -> Result<Text, RegisterFault> {
    if text::kind(raw) != Kind::String {
        return Err(RegisterFault::Instructions);
    }
    let bytes = text::string(raw).map_or(raw.get().len(), |words| words.len());
    if bytes > INSTRUCTIONS_BYTES {
        return Err(RegisterFault::InstructionsTooLong);
    }
    Ok(Text::of(raw))
}

/// `room` is what the paths of mirrored parameters may still cost over the whole message.
fn tool(raw: &RawValue, seen: &mut HashSet<ToolName>, room: &mut usize) -> Result<Tool, ToolFault> {
    let definition = Object::parse(raw.get()).map_err(|_| ToolFault::NotObject)?;
    if let Some(member) = text::repeated_member(raw.get()) {
        return Err(ToolFault::Repeated(schema::shown(&member)));
    }
    let name = usable_name(&definition).ok_or(ToolFault::Name)?;
    if !seen.insert(name.clone()) {
        return Err(ToolFault::NameTwice);
    }
    check_known_members(&definition)?;
    let mirrored = schema::mirrored(input_schema(&definition)?, room)?;
    Ok(Tool::new(name, Text::of(raw), mirrored))
}

fn usable_name(definition: &Object<'_>) -> Option<ToolName> {
    ToolName::new(&text::string(definition.get("name")?)?).ok()
}

fn name_or_place(raw: &RawValue, place: usize) -> String {
    let name = Object::parse(raw.get()).ok().and_then(|definition| usable_name(&definition));
    name.map_or_else(|| format!("tool {}", place + 1), |name| name.to_string())
}

const TOOL_MEMBERS: [(&str, Kind); 5] = [
    ("title", Kind::String),
    ("description", Kind::String),
    ("outputSchema", Kind::Object),
    ("annotations", Kind::Object),
    ("_meta", Kind::Object),
];

/// Where a schema's `properties` are looked at.
const SCHEMAS: [(&str, &str); 2] = [("inputSchema", "inputSchema."), ("outputSchema", "outputSchema.")];

const ANNOTATIONS: [(&str, Kind); 5] = [
    ("title", Kind::String),
    ("readOnlyHint", Kind::Bool),
    ("destructiveHint", Kind::Bool),
    ("idempotentHint", Kind::Bool),
    ("openWorldHint", Kind::Bool),
];

/// Members that MCP knows have MCP's types, since a strict agent drops a whole list for one that has not. Others are
/// the application's own affair.
fn check_known_members(definition: &Object<'_>) -> Result<(), ToolFault> {
    check_kinds("", definition, &TOOL_MEMBERS)?;
    if let Some(annotations) = definition.get("annotations").and_then(object) {
        check_kinds("annotations.", &annotations, &ANNOTATIONS)?;
    }
    for (name, within) in SCHEMAS {
        if let Some(schema) = definition.get(name).and_then(object) {
            check_kinds(within, &schema, &[("properties", Kind::Object)])?;
        }
    }
    let is_icon = |raw| object(raw).and_then(|icon| icon.get("src")).is_some_and(|src| text::kind(src) == Kind::String);
    let are_icons = |raw| items(raw).is_some_and(|icons| icons.into_iter().all(is_icon));
    if definition.get("icons").is_some_and(|raw| !are_icons(raw)) {
        return Err(ToolFault::Icons);
    }
    Ok(())
}

fn check_kinds(within: &'static str, object: &Object<'_>, members: &[(&'static str, Kind)]) -> Result<(), ToolFault> {
    let wrong = |(name, kind): &&(&'static str, Kind)| object.get(name).is_some_and(|raw| text::kind(raw) != *kind);
    match members.iter().find(wrong) {
        Some(&(name, kind)) => Err(ToolFault::Member { within, name, kind }),
        None => Ok(()),
    }
}

/// The text of `inputSchema`, when it is an object schema.
fn input_schema<'a>(definition: &Object<'a>) -> Result<&'a str, ToolFault> {
    let raw = definition.get("inputSchema").ok_or(ToolFault::NoInputSchema)?;
    let schema = object(raw).ok_or(ToolFault::Member { within: "", name: "inputSchema", kind: Kind::Object })?;
    if schema.get("type").and_then(text::string).as_deref() != Some("object") {
        return Err(ToolFault::InputSchemaType);
    }
    Ok(raw.get())
}

fn object(raw: &RawValue) -> Option<Object<'_>> {
    Object::parse(raw.get()).ok()
}

impl std::error::Error for RegisterFault {}

impl fmt::Display for RegisterFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tools => f.write_str("register: tools is missing or no array"),
            Self::TooManyTools => write!(f, "register: more than {TOOLS} tools"),
            Self::Instructions => f.write_str("register: instructions is no string"),
            Self::InstructionsTooLong => write!(f, "register: instructions has more than {INSTRUCTIONS_BYTES} bytes"),
            Self::Tool { tool, fault } => f.write_str(&reason(tool, &fault.to_string())),
        }
    }
}

/// Both parts fit: a long name gives way to the fault, which is always short.
fn reason(tool: &str, fault: &str) -> String {
    let room = CLOSE_REASON_BYTES.saturating_sub(": ".len() + fault.len());
    if tool.len() <= room {
        return format!("{tool}: {fault}");
    }
    format!("{}...: {fault}", start(tool, room.saturating_sub("...".len())))
}

/// At most so many bytes, cut between characters.
fn start(text: &str, bytes: usize) -> &str {
    (0..=bytes.min(text.len())).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool => "boolean",
        Kind::Number => "number",
        Kind::String => "string",
        Kind::Array => "array",
        Kind::Object => "object",
    }
}

#[cfg(test)]
mod tests;
