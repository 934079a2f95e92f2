//! The modern era: revision 2026-07-28. Each request is complete in itself; a method that is not in the table is unknown.

use serde_json::value::RawValue;

use super::{
    Carrier, Mirror, Peer, Reply,
    call::{self, Shape},
    classify::VERSION_META,
    listen,
    message::Request,
    mirror,
};
use crate::{
    call::{HangUp, Routed},
    pieces::Pieces,
    refusal::Refusal,
    revision::{Era, Revision},
    text::{self, Kind, Object},
};

const CAPABILITIES_META: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_INFO_META: &str = "io.modelcontextprotocol/serverInfo";

/// Answers a request: with its result, as JSON, or with messages to come.
pub(super) async fn answer(peer: &Peer<'_>, request: &Request<'_>) -> Result<Reply, Refusal> {
    if let Carrier::Requests(mirror) = peer.carrier {
        agree(request, mirror)?;
    }
    complete_meta(request)?;
    match request.method.as_ref() {
        "server/discover" => Ok(Reply::plain(discover(peer))),
        "tools/list" => list(peer, request).map(Reply::plain),
        "tools/call" => tools_call(peer, request).await.map(Reply::plain),
        "subscriptions/listen" => listen::modern(peer, request).map(|listening| Reply::Listen(Box::new(listening))),
        method => Err(Refusal::UnknownMethod(method.to_owned())),
    }
}

/// The headers say what the body says.
fn agree(request: &Request<'_>, mirror: &dyn Mirror) -> Result<(), Refusal> {
    let mismatch = |fault: mirror::MirrorFault| Refusal::HeaderMismatch(fault.to_string());
    mirror::check_method(mirror.header("mcp-method"), &request.method).map_err(mismatch)?;
    if request.method == "tools/call" {
        let header = mirror.header("mcp-name");
        match request.params.get("name").and_then(text::string) {
            Some(name) => mirror::check_name(header, &name).map_err(mismatch)?,
            // There is nothing to compare with; that the name is no string is said later.
            None => drop(mirror::once("Mcp-Name", header).map_err(mismatch)?),
        }
    }
    Ok(())
}

fn complete_meta(request: &Request<'_>) -> Result<(), Refusal> {
    if request.params.meta(VERSION_META).and_then(text::string).is_none() {
        return Err(Refusal::IncompleteMeta(format!("\"{VERSION_META}\" in \"_meta\" is not a string")));
    }
    match request.params.meta(CAPABILITIES_META) {
        Some(capabilities) if text::kind(capabilities) == Kind::Object => Ok(()),
        Some(_) => Err(Refusal::IncompleteMeta(format!("\"{CAPABILITIES_META}\" in \"_meta\" is not an object"))),
        None => Err(Refusal::IncompleteMeta(format!("\"_meta\" lacks \"{CAPABILITIES_META}\""))),
    }
}

fn discover(peer: &Peer<'_>) -> String {
    let versions = Revision::ALL.map(|revision| format!("\"{}\"", revision.as_str())).join(",");
    let instructions = peer.instructions().map(|text| format!("\"instructions\":{text},")).unwrap_or_default();
    format!(
        "{{\"resultType\":\"complete\",\"supportedVersions\":[{versions}],\"capabilities\":{},{instructions}{}}}",
        super::CAPABILITIES,
        cacheable(peer),
    )
}

fn list(peer: &Peer<'_>, request: &Request<'_>) -> Result<Pieces, Refusal> {
    super::no_cursor(&request.params)?;
    let tools = peer.list(Era::Modern, |tools| {
        let texts: Vec<_> = tools.iter().map(|tool| tool.text.as_str()).collect();
        texts.join(",")
    });
    let rest = format!("],{}}}", cacheable(peer));
    Ok(Pieces::from("{\"resultType\":\"complete\",\"tools\":[".to_owned()).and(tools).and(rest))
}

/// What may change at any moment and belongs to one application is not to be kept.
fn cacheable(peer: &Peer<'_>) -> String {
    format!("\"ttlMs\":0,\"cacheScope\":\"private\",\"_meta\":{{{}}}", server_info_member(peer))
}

pub(super) fn server_info_member(peer: &Peer<'_>) -> String {
    format!("\"{SERVER_INFO_META}\":{}", peer.server_info())
}

async fn tools_call(peer: &Peer<'_>, request: &Request<'_>) -> Result<String, Refusal> {
    let agrees = |routed: &Routed| match peer.carrier {
        Carrier::Requests(headers) => mirror::check_params(&routed.tool, &routed.call.arguments, headers)
            .map_err(|fault| Refusal::HeaderMismatch(fault.to_string())),
        Carrier::Lines { .. } => Ok(()),
    };
    call::run(peer, &request.params, HangUp::Cancels, None, agrees, &Complete { peer }).await
}

/// A modern result: `resultType` is the bridge's own, `serverInfo` joins the application's `_meta`.
struct Complete<'a> {
    peer: &'a Peer<'a>,
}

impl Shape for Complete<'_> {
    fn shape(&self, result: &Object<'_>) -> String {
        let mut out = String::from("{\"resultType\":\"complete\"");
        let last_meta = result.get("_meta");
        for (name, value) in result.iter().filter(|(name, _)| *name != "resultType") {
            let ours = name == "_meta" && last_meta.is_some_and(|last| std::ptr::eq(last, value));
            call::member(&mut out, name, if ours { None } else { Some(value) });
            if ours {
                out.push_str(&self.meta(value));
            }
        }
        if last_meta.is_none() {
            call::member(&mut out, "_meta", None);
            out.push('{');
            out.push_str(&server_info_member(self.peer));
            out.push('}');
        }
        out.push('}');
        out
    }
}

impl Complete<'_> {
    fn meta(&self, meta: &RawValue) -> String {
        let mut out = String::from("{");
        // The hub took in only results whose `_meta` is an object.
        if let Ok(members) = Object::parse(meta.get()) {
            for (name, value) in members.iter().filter(|(name, _)| *name != SERVER_INFO_META) {
                call::member(&mut out, name, Some(value));
            }
        }
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&server_info_member(self.peer));
        out.push('}');
        out
    }
}
