//! One JSON-RPC 2.0 message, read once (`docs/protocol.md`, "The ladder"). Members stay the texts they were.

use std::borrow::Cow;

use clientmcp_protocol::limits::JSON_NESTING;
use serde_json::value::RawValue;

use crate::{
    call::RequestId,
    refusal::Refusal,
    text::{self, Fault, Kind, Object},
};

/// What an agent posted.
#[derive(Debug)]
pub enum Message<'a> {
    /// Wants an answer.
    Request(Request<'a>),
    /// Wants none.
    Notification(Notification<'a>),
    /// An answer to something the bridge never asked.
    Response,
}

/// A message with an id.
#[derive(Debug)]
pub struct Request<'a> {
    /// A string or an integer, to be repeated as it was written.
    pub id: &'a RawValue,
    /// The method.
    pub method: Cow<'a, str>,
    /// Its parameters.
    pub params: Params<'a>,
}

/// A message without an id.
#[derive(Debug)]
pub struct Notification<'a> {
    /// The method.
    pub method: Cow<'a, str>,
    /// Its parameters.
    pub params: Params<'a>,
}

/// The `params` object, or its absence.
#[derive(Debug, Default)]
pub struct Params<'a> {
    members: Option<Object<'a>>,
    meta: Option<Object<'a>>,
}

impl<'a> Params<'a> {
    /// A parameter.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.members.as_ref()?.get(name)
    }

    /// A member of `params._meta`.
    pub fn meta(&self, name: &str) -> Option<&'a RawValue> {
        self.meta.as_ref()?.get(name)
    }
}

/// A refusal of a message whose id may have been read.
#[derive(Debug)]
pub struct Unreadable<'a> {
    /// The id, when there was one that could be read.
    pub id: Option<&'a RawValue>,
    /// Why.
    pub refusal: Refusal,
}

/// Reads one message out of a body.
pub fn read(body: &[u8]) -> Result<Message<'_>, Unreadable<'_>> {
    let members = envelope(body).map_err(|refusal| Unreadable { id: None, refusal })?;
    message(&members).map_err(|why| Unreadable { id: readable_id(&members), refusal: Refusal::InvalidRequest(why) })
}

fn envelope(body: &[u8]) -> Result<Object<'_>, Refusal> {
    let body = std::str::from_utf8(body).map_err(|_| Refusal::NotJson)?;
    let members = match Object::parse(body) {
        Err(Fault::NotJson) => return Err(Refusal::NotJson),
        members => members,
    };
    if text::nesting(body) > JSON_NESTING {
        return Err(Refusal::TooDeep);
    }
    members.map_err(|_| Refusal::InvalidRequest("a message is one JSON object".into()))
}

/// A repeated id could mean either, and a response's id was not given by its sender.
fn readable_id<'a>(members: &Object<'a>) -> Option<&'a RawValue> {
    if members.get("method").is_none() && is_answer(members) {
        return None;
    }
    let mut ids = members.iter().filter(|(name, _)| *name == "id").map(|(_, id)| id);
    let id = ids.next().filter(|id| is_id(id))?;
    ids.next().is_none().then_some(id)
}

fn is_answer(members: &Object<'_>) -> bool {
    members.get("result").or(members.get("error")).is_some()
}

fn message<'a>(members: &Object<'a>) -> Result<Message<'a>, String> {
    if let Some(name) = members.repeated() {
        return Err(format!("the member {} is repeated", text::quoted(name)));
    }
    if members.get("jsonrpc").and_then(text::string).as_deref() != Some("2.0") {
        return Err("\"jsonrpc\" is not \"2.0\"".into());
    }
    let method = match (members.get("method"), is_answer(members)) {
        (None, true) => return Ok(Message::Response),
        (None, false) => return Err("\"method\" is missing".into()),
        (Some(_), true) => return Err("a message with \"method\" has no \"result\" and no \"error\"".into()),
        (Some(method), false) => text::string(method).ok_or("\"method\" is not a string")?,
    };
    let params = params(members.get("params"))?;
    match members.get("id") {
        None => Ok(Message::Notification(Notification { method, params })),
        Some(id) if is_id(id) => Ok(Message::Request(Request { id, method, params })),
        Some(_) => Err("\"id\" is neither a string nor an integer".into()),
    }
}

/// Repeated members are refused here too: two readers of such a message would see two different calls.
fn params(raw: Option<&RawValue>) -> Result<Params<'_>, String> {
    let Some(raw) = raw else { return Ok(Params::default()) };
    let members = Object::parse(raw.get()).map_err(|_| "\"params\" is not an object")?;
    if let Some(name) = members.repeated() {
        return Err(format!("the member {} of \"params\" is repeated", text::quoted(name)));
    }
    let meta = members.get("_meta").and_then(|meta| Object::parse(meta.get()).ok());
    if let Some(name) = meta.as_ref().and_then(Object::repeated) {
        return Err(format!("the member {} of \"_meta\" is repeated", text::quoted(name)));
    }
    Ok(Params { members: Some(members), meta })
}

/// An id as it is compared: `1` and `"1"` are two. Nothing for what is none.
pub fn id(raw: &RawValue) -> Option<RequestId> {
    Some(match text::kind(raw) {
        // A lone surrogate has no decoded form, and is compared as it was written.
        Kind::String => RequestId::String(text::string(raw).map_or_else(|| raw.get().to_owned(), Cow::into_owned)),
        Kind::Number => RequestId::Integer(raw.get().to_owned()),
        Kind::Null | Kind::Bool | Kind::Array | Kind::Object => return None,
    })
}

/// A string, or a number without fraction and exponent.
fn is_id(raw: &RawValue) -> bool {
    match text::kind(raw) {
        Kind::String => true,
        Kind::Number => !raw.get().contains(['.', 'e', 'E']),
        Kind::Null | Kind::Bool | Kind::Array | Kind::Object => false,
    }
}
