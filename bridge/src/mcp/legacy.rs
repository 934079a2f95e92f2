//! The legacy era: revisions 2025-11-25, 2025-06-18 and 2025-03-26. A method that is not in the table is unknown.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{
    Carrier, Mirrored, Peer, Reply, Server,
    call::{self, Shape},
    message::{self, Params, Request},
};
use crate::{
    call::{HangUp, RequestKey},
    declaration::Tool,
    pieces::Pieces,
    refusal::Refusal,
    revision::{Era, Revision},
    text::{self, Kind, Object},
};

/// Answers a request with its result, as JSON, and with a session id if it opened one.
pub(super) async fn answer(peer: &Peer<'_>, request: &Request<'_>) -> Result<Reply, Refusal> {
    match request.method.as_ref() {
        "initialize" => initialize(peer, &request.params),
        "ping" => Ok(Reply::plain("{}".to_owned())),
        "tools/list" => list(peer, request).map(Reply::plain),
        "tools/call" => tools_call(peer, request).await.map(Reply::plain),
        method => Err(Refusal::UnknownMethod(method.to_owned())),
    }
}

fn initialize(peer: &Peer<'_>, params: &Params<'_>) -> Result<Reply, Refusal> {
    let asked = params.get("protocolVersion").and_then(text::string);
    let asked = asked.ok_or_else(|| Refusal::InvalidParams("\"protocolVersion\" is not a string".into()))?;
    let instructions = peer.instructions().map(|text| format!(",\"instructions\":{text}")).unwrap_or_default();
    let result = format!(
        "{{\"protocolVersion\":\"{}\",\"capabilities\":{},\"serverInfo\":{}{instructions}}}",
        agreed(&asked).as_str(),
        super::CAPABILITIES,
        peer.server_info(),
    );
    Ok(Reply::Result { result: result.into(), session: Some(format!("{:032x}", rand::random::<u128>())) })
}

/// What an `initialize` that asks for this is answered with.
pub(super) fn agreed(asked: &str) -> Revision {
    Revision::named(asked).filter(|revision| revision.era() == Era::Legacy).unwrap_or(Revision::NEWEST_LEGACY)
}

fn list(peer: &Peer<'_>, request: &Request<'_>) -> Result<Pieces, Refusal> {
    super::no_cursor(&request.params)?;
    let tools = peer.list(Era::Legacy, |tools| {
        let texts: Vec<_> = tools.iter().map(|tool| adapted(tool)).collect();
        texts.join(",")
    });
    Ok(Pieces::from("{\"tools\":[".to_owned()).and(tools).and("]}".to_owned()))
}

async fn tools_call(peer: &Peer<'_>, request: &Request<'_>) -> Result<String, Refusal> {
    let hang_up = match peer.carrier {
        Carrier::Requests(_) => HangUp::Ignored,
        // The connection is the session: nobody could read the answer on another one.
        Carrier::Lines { .. } => HangUp::Cancels,
    };
    call::run(peer, &request.params, hang_up, key(peer, request.id), |_| Ok(()), &Plain).await
}

/// Takes back the call that the notification names. Without a session nothing can be told apart, so nothing is done.
pub(super) async fn cancelled(peer: &Peer<'_>, params: &Params<'_>) {
    if let (Server::Bridge { hub, .. }, Some(id)) = (&peer.server, params.get("requestId"))
        && let Some(key) = key(peer, id)
    {
        hub.cancel(key).await;
    }
}

/// On a connection of lines whoever reads them ends the request itself.
fn key(peer: &Peer<'_>, id: &RawValue) -> Option<RequestKey> {
    let (Carrier::Requests(mirror), Server::Bridge { agent, .. }) = (peer.carrier, &peer.server) else { return None };
    let Mirrored::Once(session) = mirror.header("mcp-session-id") else { return None };
    let session = std::str::from_utf8(session).ok()?.into();
    Some(RequestKey { agent: (*agent).clone(), session, id: message::id(id)? })
}

/// A legacy result: without what only the modern era knows, and without what makes strict SDKs refuse it.
struct Plain;

impl Shape for Plain {
    fn shape(&self, result: &Object<'_>) -> String {
        let mut out = String::from("{");
        for (name, value) in result.iter() {
            let dropped = name == "resultType" || name == "structuredContent" && text::kind(value) != Kind::Object;
            if !dropped {
                call::member(&mut out, name, Some(value));
            }
        }
        out.push('}');
        out
    }
}

/// A definition that strict legacy SDKs accept: one they refuse would cost the agent the whole list.
fn adapted(tool: &Tool) -> Cow<'_, str> {
    let text = tool.text.as_str();
    let Ok(members) = Object::parse(text) else { return Cow::Borrowed(text) };
    let foreign = |name: &str, value: &RawValue| match name {
        "outputSchema" => !is_object_schema(value) || has_boolean_property(value),
        "inputSchema" => has_boolean_property(value),
        _ => false,
    };
    if !members.iter().any(|(name, value)| foreign(name, value)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::from("{");
    for (name, value) in members.iter() {
        match name {
            "outputSchema" if !is_object_schema(value) => {}
            "inputSchema" | "outputSchema" => schema(&mut out, name, value),
            _ => call::member(&mut out, name, Some(value)),
        }
    }
    out.push('}');
    Cow::Owned(out)
}

fn is_object_schema(schema: &RawValue) -> bool {
    let members = Object::parse(schema.get()).ok();
    members.and_then(|members| members.get("type")).and_then(text::string).as_deref() == Some("object")
}

fn has_boolean_property(schema: &RawValue) -> bool {
    let Ok(members) = Object::parse(schema.get()) else { return false };
    let properties = members.get("properties").and_then(|properties| Object::parse(properties.get()).ok());
    properties.is_some_and(|properties| properties.iter().any(|(_, value)| text::kind(value) == Kind::Bool))
}

fn schema(out: &mut String, name: &str, value: &RawValue) {
    call::member(out, name, None);
    let Ok(members) = Object::parse(value.get()) else { return out.push_str(value.get()) };
    out.push('{');
    for (name, value) in members.iter() {
        match Object::parse(value.get()) {
            Ok(properties) if name == "properties" => schema_properties(out, &properties),
            _ => call::member(out, name, Some(value)),
        }
    }
    out.push('}');
}

fn schema_properties(out: &mut String, properties: &Object<'_>) {
    call::member(out, "properties", None);
    out.push('{');
    for (name, value) in properties.iter() {
        match value.get() {
            "true" => {
                call::member(out, name, None);
                out.push_str("{}");
            }
            "false" => {
                call::member(out, name, None);
                out.push_str("{\"not\":{}}");
            }
            _ => call::member(out, name, Some(value)),
        }
    }
    out.push('}');
}
