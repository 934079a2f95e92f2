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
pub(super) trait Shape: Sync {
    /// The result as JSON, every member that stays being the text it was.
    fn shape(&self, result: &Object<'_>) -> String;
}

/// Reads the parameters. Absent `arguments` are an empty object.
fn read(params: &Params<'_>) -> Result<(String, Text), Refusal> {
    let name = params.get("name").and_then(text::string);
    let tool = name.ok_or_else(|| Refusal::InvalidParams("\"name\" is not a string".into()))?.into_owned();
    let arguments = match params.get("arguments") {
        None => Text::empty_object(),
        Some(arguments) if text::kind(arguments) == Kind::Object => Text::of(arguments),
        Some(_) => return Err(Refusal::InvalidParams("\"arguments\" is not an object".into())),
    };
    Ok((tool, arguments))
}

/// Brings a call to its application and its result back, in the era's shape.
pub(super) async fn run(
    peer: &Peer<'_>,
    params: &Params<'_>,
    hang_up: HangUp,
    key: Option<RequestKey>,
    agrees: impl FnOnce(&Routed) -> Result<(), Refusal>,
    era: &dyn Shape,
) -> Result<String, Refusal> {
    let (tool, arguments) = read(params)?;
    let (hub, agent, claims, caller) = match &peer.server {
        Server::Bridge { hub, agent, claims, caller, declaration: _ } => (hub, agent, claims, *caller),
        Server::StandIn(stand_in) => return shape(&stand_in.result, era),
    };
    let call = Call {
        agent: (*agent).clone(),
        tool,
        arguments,
        hang_up,
        key,
        reported: reported(params),
        credential: Some(Arc::clone(claims)),
        caller: caller.clone(),
    };
    match flow::call(hub, call, agrees).await {
        Ok(text) => shape(text.as_str(), era),
        Err(Refusal::Ended(ended)) => shape(&respond::error_result(&ended, &agent.application), era),
        Err(refusal) => Err(refusal),
    }
}

/// What a modern agent says of itself. Legacy ones say it once, in `initialize`, and nothing is kept of that.
fn reported(params: &Params<'_>) -> Option<String> {
    let info = Object::parse(params.meta("io.modelcontextprotocol/clientInfo")?.get()).ok()?;
    info.get("name").and_then(text::string).map(|name| shown(&name))
}

fn shape(result: &str, era: &dyn Shape) -> Result<String, Refusal> {
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
