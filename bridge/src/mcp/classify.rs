//! Which era a message belongs to: decided once, at the door (`docs/protocol.md`, "Era and revision").

use std::borrow::Cow;

use super::{Carrier, Mirror, Mirrored, message::Params};
use crate::{
    refusal::Refusal,
    revision::{Era, Revision},
    text,
};

/// The header that carries the revision, in lower case.
pub const VERSION_HEADER: &str = "mcp-protocol-version";

/// The `_meta` member that carries the revision.
pub const VERSION_META: &str = "io.modelcontextprotocol/protocolVersion";

/// The era of a request: the first rule that fits.
pub fn request(method: &str, params: &Params<'_>, carrier: Carrier<'_>) -> Result<Era, Refusal> {
    let mirror = match carrier {
        Carrier::Requests(mirror) => mirror,
        Carrier::Lines { .. } => return named_once(params).unwrap_or(Ok(Era::Legacy)),
    };
    let header = version_header(mirror)?;
    if let Some(version) = params.meta(VERSION_META) {
        return match text::string(version) {
            Some(version) => named_twice(&version, header.as_deref()),
            // It names none. Modern and malformed, which is said once the other headers were looked at.
            None => Ok(Era::Modern),
        };
    }
    if method == "initialize" {
        return Ok(Era::Legacy);
    }
    match header_era(header.as_deref())? {
        Era::Modern => Err(Refusal::IncompleteMeta(format!("\"_meta\" lacks \"{VERSION_META}\""))),
        Era::Legacy => Ok(Era::Legacy),
    }
}

/// A notification needs no `_meta`; only an unknown or disagreeing version refuses it.
pub fn notification(params: &Params<'_>, carrier: Carrier<'_>) -> Result<Era, Refusal> {
    let mirror = match carrier {
        Carrier::Requests(mirror) => mirror,
        Carrier::Lines { .. } => {
            return params.meta(VERSION_META).and_then(text::string).map_or(Ok(Era::Legacy), |version| era(&version));
        }
    };
    let header = version_header(mirror)?;
    match params.meta(VERSION_META).and_then(text::string) {
        Some(version) => named_twice(&version, header.as_deref()),
        None => header_era(header.as_deref()),
    }
}

/// A response has no `_meta` of its own: the header alone tells.
pub fn response(carrier: Carrier<'_>) -> Result<(), Refusal> {
    let Carrier::Requests(mirror) = carrier else { return Ok(()) };
    match header_era(version_header(mirror)?.as_deref())? {
        Era::Modern => Err(Refusal::InvalidRequest("an agent sends no responses in revision 2026-07-28".into())),
        Era::Legacy => Ok(()),
    }
}

/// The legacy stream is opened by a request without a body.
pub fn stream(carrier: Carrier<'_>) -> Result<Era, Refusal> {
    let Carrier::Requests(mirror) = carrier else { return Ok(Era::Legacy) };
    header_era(version_header(mirror)?.as_deref())
}

/// Where nothing is repeated the body alone tells. A version that is no string names none, and the request is malformed.
fn named_once(params: &Params<'_>) -> Option<Result<Era, Refusal>> {
    let version = params.meta(VERSION_META)?;
    Some(text::string(version).map_or(Ok(Era::Modern), |version| era(&version)))
}

fn version_header(mirror: &dyn Mirror) -> Result<Option<Cow<'_, str>>, Refusal> {
    match mirror.header(VERSION_HEADER) {
        Mirrored::Absent => Ok(None),
        Mirrored::Once(value) => Ok(Some(String::from_utf8_lossy(value))),
        Mirrored::Repeated => Err(Refusal::HeaderMismatch("MCP-Protocol-Version is repeated".into())),
    }
}

fn named_twice(version: &str, header: Option<&str>) -> Result<Era, Refusal> {
    match header {
        Some(header) if header == version => era(version),
        Some(header) => Err(Refusal::HeaderMismatch(format!(
            "MCP-Protocol-Version says {}, the body says {}",
            text::quoted(header),
            text::quoted(version)
        ))),
        None => Err(Refusal::HeaderMismatch("MCP-Protocol-Version is missing".into())),
    }
}

/// Without a header an agent of before 2025-06-18 speaks, which did not define it.
fn header_era(header: Option<&str>) -> Result<Era, Refusal> {
    header.map_or(Ok(Era::Legacy), era)
}

fn era(version: &str) -> Result<Era, Refusal> {
    Revision::named(version)
        .map(Revision::era)
        .ok_or_else(|| Refusal::UnsupportedVersion { requested: version.to_owned() })
}
