//! `tools/call` in both eras: reading its parameters, and giving its result the shape of an era.

use std::sync::Arc;

use clientmcp_protocol::shown::shown;
use serde_json::value::RawValue;

use super::{Peer, Server, message::Params};
use crate::{
    call::{Call, HangUp, RequestKey, Routed},
    flow,
    refusal::Refusal,
    respond,
    text::{self, Kind, Object, Text},
};

/// How an era writes a `CallToolResult`.
pub(super) trait Shape {
    /// The result as JSON, every member that stays being the text it was.
    fn shape(&self, result: &Object<'_>) -> String;
}

/// Reads the parameters. Absent `arguments` are an empty object.
pub(super) fn read(
    peer: &Peer<'_>,
    params: &Params<'_>,
    hang_up: HangUp,
    key: Option<RequestKey>,
) -> Result<Call, Refusal> {
    let name = params.get("name").and_then(text::string);
    let tool = name.ok_or_else(|| Refusal::InvalidParams("\"name\" is not a string".into()))?.into_owned();
    let arguments = match params.get("arguments") {
        None => Text::empty_object(),
        Some(arguments) if text::kind(arguments) == Kind::Object => Text::of(arguments),
        Some(_) => return Err(Refusal::InvalidParams("\"arguments\" is not an object".into())),
    };
    let Server::Bridge { agent, claims, .. } = &peer.server else { return Err(Refusal::UnknownTool(tool)) };
    Ok(Call {
        agent: (*agent).clone(),
        tool,
        arguments,
        hang_up,
        key,
        reported: reported(params),
        credential: Some(Arc::clone(claims)),
    })
}

/// What a modern agent says of itself. Legacy ones say it once, in `initialize`, and nothing is kept of that.
fn reported(params: &Params<'_>) -> Option<String> {
    let info = Object::parse(params.meta("io.modelcontextprotocol/clientInfo")?.get()).ok()?;
    info.get("name").and_then(text::string).map(|name| shown(&name))
}

/// Brings a call to its application.
pub(super) async fn run(
    peer: &Peer<'_>,
    call: Call,
    agrees: impl FnOnce(&Routed) -> Result<(), Refusal>,
) -> Result<Text, Refusal> {
    match &peer.server {
        Server::Bridge { hub, .. } => flow::call(hub, call, agrees).await,
        Server::StandIn(_) => Err(Refusal::UnknownTool(call.tool)),
    }
}

/// The result of a call that came to an end, in the era's shape; an error for one that could not begin.
pub(super) fn answer(peer: &Peer<'_>, result: Result<Text, Refusal>, era: &dyn Shape) -> Result<String, Refusal> {
    match (result, &peer.server) {
        (Ok(text), _) => shape(text.as_str(), era),
        (Err(Refusal::Ended(ended)), Server::Bridge { agent, .. }) => {
            shape(&respond::error_result(&ended, &agent.application), era)
        }
        (Err(refusal), _) => Err(refusal),
    }
}

pub(super) fn shape(result: &str, era: &dyn Shape) -> Result<String, Refusal> {
    // What is not an object was refused when the application sent it.
    let members = Object::parse(result).map_err(|_| Refusal::ShuttingDown)?;
    Ok(era.shape(&members))
}

/// Writes `"name":value` behind what stands there already; without a value the caller writes it.
pub(super) fn member(out: &mut String, name: &str, value: Option<&RawValue>) {
    if !out.ends_with('{') {
        out.push(',');
    }
    out.push_str(&text::json_string(name));
    out.push(':');
    if let Some(value) = value {
        out.push_str(value.get());
    }
}
