//! Refusals before anything is parsed, in one order: Host, path, Origin, credential, method, media types
//! (`docs/protocol.md`, "The ladder"). Headers are parsed, never searched as substrings.

use axum::http::{
    HeaderMap, HeaderName, HeaderValue, Method,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN},
    request::Parts,
};

use crate::refusal::Refusal;

/// What belongs to this bridge: where it is addressed, and its own origins.
#[derive(Debug)]
pub struct Guard {
    authorities: [String; 2],
    origins: [String; 2],
}

impl Guard {
    /// The guard of a bridge that listens there.
    pub fn new(port: u16) -> Self {
        let authorities = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let origins = authorities.each_ref().map(|authority| format!("http://{authority}"));
        Self { authorities, origins }
    }

    /// One `Host`, and it is ours: a page that rebinds its name to 127.0.0.1 sends its own name here.
    pub fn host(&self, parts: &Parts) -> Result<(), Refusal> {
        let host = single(&parts.headers, &HOST).and_then(|host| host.to_str().ok());
        let host = host.filter(|host| self.authorities.iter().any(|ours| ours.eq_ignore_ascii_case(host)));
        let host = host.ok_or(Refusal::ForeignHost)?;
        let target_agrees = match (parts.uri.scheme_str(), parts.uri.authority()) {
            (None, None) => true,
            (Some(scheme), Some(authority)) => scheme == "http" && authority.as_str().eq_ignore_ascii_case(host),
            (None, Some(_)) | (Some(_), None) => false,
        };
        if target_agrees { Ok(()) } else { Err(Refusal::ForeignHost) }
    }

    /// No `Origin` is no page. An `Origin` must stand once and be on the list; `null` never is. The bridge's own origins
    /// are always allowed, though it serves no page there.
    pub fn origin(&self, headers: &HeaderMap, allowed: &[String]) -> Result<Option<HeaderValue>, Refusal> {
        if !headers.contains_key(ORIGIN) {
            return Ok(None);
        }
        let origin = single(headers, &ORIGIN).ok_or(Refusal::ForeignOrigin)?;
        let mut list = self.origins.iter().chain(allowed);
        if origin != "null" && list.any(|allowed| allowed.as_bytes() == origin.as_bytes()) {
            Ok(Some(origin.clone()))
        } else {
            Err(Refusal::ForeignOrigin)
        }
    }
}

/// Where hosts look for OAuth, and must find nothing.
const WELL_KNOWN: &str = ".well-known";

/// True for `/mcp` and `/mcp/<token>`.
pub fn is_endpoint(path: &str) -> bool {
    let is_token = |token: &str| !token.is_empty() && !token.contains('/') && token != WELL_KNOWN;
    path == "/mcp" || path.strip_prefix("/mcp/").is_some_and(is_token)
}

/// The token of a path `/mcp/<token>`; nothing for `/mcp`. The path stays undecoded.
pub fn path_token(path: &str) -> Result<Option<&str>, Refusal> {
    let token = path.strip_prefix("/mcp/");
    if path.split('/').any(|segment| segment == WELL_KNOWN) { Err(Refusal::UnknownPath) } else { Ok(token) }
}

/// The one token that was presented, in the path or as `Authorization: Bearer`.
pub fn credential<'a>(headers: &'a HeaderMap, path_token: Option<&'a str>) -> Result<&'a str, Refusal> {
    if !headers.contains_key(AUTHORIZATION) {
        return path_token.ok_or(Refusal::NoCredential);
    }
    if path_token.is_some() {
        return Err(Refusal::BadCredential);
    }
    let header = single(headers, &AUTHORIZATION).ok_or(Refusal::BadCredential)?;
    let header = header.to_str().map_err(|_| Refusal::BadCredential)?;
    let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
    let token = token.trim_matches(' ');
    if token.is_empty() || !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Refusal::NoCredential);
    }
    Ok(token)
}

/// What an agent asks of the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A message.
    Post,
    /// The notification stream of the legacy era.
    Get,
}

/// Messages are posted; the legacy notification stream is got.
pub fn method(method: &Method) -> Result<Asked, Refusal> {
    match *method {
        Method::POST => Ok(Asked::Post),
        Method::GET => Ok(Asked::Get),
        _ => Err(Refusal::MethodNotAllowed { allow: "GET, POST" }),
    }
}

/// The body is declared to be JSON.
pub fn content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let declared = single(headers, &CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = declared.and_then(|value| value.split(';').next()).map(str::trim);
    match essence {
        Some(essence) if essence.eq_ignore_ascii_case("application/json") => Ok(()),
        _ => Err(Refusal::MediaType),
    }
}

/// What an agent can read as an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// `application/json`.
    pub json: bool,
    /// `text/event-stream`, named as such: who admits anything gets JSON.
    pub events: bool,
}

/// At least one kind of answer is wanted. No `Accept` admits JSON.
pub fn accept(headers: &HeaderMap) -> Result<Admitted, Refusal> {
    let lines = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges: Vec<_> = lines.flat_map(media_ranges).collect();
    let json = ranges.is_empty() || admits(&ranges, 0, "application", "json");
    let admitted = Admitted { json, events: admits(&ranges, 1, "text", "event-stream") };
    if admitted.json || admitted.events { Ok(admitted) } else { Err(Refusal::NotAcceptable) }
}

/// The most specific range that fits decides; of equal ones any that admits.
fn admits(ranges: &[MediaRange<'_>], least: u8, kind: &str, subtype: &str) -> bool {
    let ranked = || ranges.iter().filter_map(|range| Some((range.rank(kind, subtype)?, range)));
    let Some(most) = ranked().map(|(rank, _)| rank).max() else { return false };
    most >= least && ranked().any(|(rank, range)| rank == most && range.quality > 0.0)
}

/// One range of an `Accept` header (RFC 9110, section 12.5.1).
struct MediaRange<'a> {
    kind: &'a str,
    subtype: &'a str,
    quality: f32,
}

fn media_ranges(header: &str) -> impl Iterator<Item = MediaRange<'_>> {
    header.split(',').map(str::trim).filter(|range| !range.is_empty()).map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let (kind, subtype) = parts.next().and_then(|range| range.split_once('/')).unwrap_or((range, ""));
        let quality = parts.filter_map(|parameter| parameter.split_once('='));
        let mut weights = quality.filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
        // A weight that cannot be read excludes nothing.
        let quality = weights.next().and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(1.0);
        MediaRange { kind: kind.trim(), subtype: subtype.trim(), quality }
    })
}

impl MediaRange<'_> {
    /// How specifically the range names this type: the most specific range decides.
    fn rank(&self, kind: &str, subtype: &str) -> Option<u8> {
        match (self.kind, self.subtype) {
            ("*", "*") => Some(0),
            (range, "*") if range.eq_ignore_ascii_case(kind) => Some(1),
            (range, sub) if range.eq_ignore_ascii_case(kind) && sub.eq_ignore_ascii_case(subtype) => Some(2),
            _ => None,
        }
    }
}

/// The value of a header that stands there once.
pub fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then_some(value)
}
