//! One message of an application, read (`docs/protocol.md`, "Messages"). What is not right is a protocol error.

use clientmcp_protocol::limits::JSON_NESTING;
use serde_json::value::RawValue;

use super::register::{self, RegisterFault};
use crate::{
    declaration::Declaration,
    text::{self, Kind, Object, Text},
};

/// What an application said.
#[derive(Debug)]
pub(super) enum Message {
    Register(Declaration),
    Result {
        number: Option<u64>,
        result: Text,
    },
    Ping,
    /// A type of a later version.
    Unknown,
}

/// What is wrong with it. The text is a close reason.
#[derive(Debug, thiserror::Error)]
pub(super) enum MessageFault {
    #[error("not a JSON object")]
    NotObject,
    #[error("nested more than {JSON_NESTING} deep")]
    TooDeep,
    #[error("member {0} stands twice")]
    Repeated(String),
    #[error("\"type\" is missing or no string")]
    Type,
    #[error("a result needs an \"id\" that is a string")]
    ResultId,
    #[error("a result needs a \"result\" that is an object with a \"content\" array")]
    ResultContent,
    #[error("\"_meta\" of a result is no object")]
    ResultMeta,
    #[error("{0}")]
    Register(#[from] RegisterFault),
}

pub(super) fn read(message: &str) -> Result<Message, MessageFault> {
    let members = Object::parse(message).map_err(|_| MessageFault::NotObject)?;
    if text::nesting(message) > JSON_NESTING {
        return Err(MessageFault::TooDeep);
    }
    if let Some(name) = members.repeated() {
        return Err(MessageFault::Repeated(text::quoted(name)));
    }
    let kind = members.get("type").and_then(text::string).ok_or(MessageFault::Type)?;
    match kind.as_ref() {
        "register" => Ok(Message::Register(register::declaration(&members)?)),
        "result" => result(&members),
        "ping" => Ok(Message::Ping),
        _ => Ok(Message::Unknown),
    }
}

fn result(members: &Object<'_>) -> Result<Message, MessageFault> {
    let id = members.get("id").and_then(text::string).ok_or(MessageFault::ResultId)?;
    let result = members.get("result").ok_or(MessageFault::ResultContent)?;
    check_result(result)?;
    Ok(Message::Result { number: number(&id), result: Text::of(result) })
}

fn check_result(result: &RawValue) -> Result<(), MessageFault> {
    let members = Object::parse(result.get()).map_err(|_| MessageFault::ResultContent)?;
    if members.get("content").map(text::kind) != Some(Kind::Array) {
        return Err(MessageFault::ResultContent);
    }
    match members.get("_meta").map(text::kind) {
        None | Some(Kind::Object) => Ok(()),
        Some(Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Array) => Err(MessageFault::ResultMeta),
    }
}

/// Our ids are decimal numbers; another spelling is another id, and ours is none of those.
fn number(id: &str) -> Option<u64> {
    id.parse().ok().filter(|number: &u64| number.to_string() == id)
}
