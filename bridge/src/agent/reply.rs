//! Responses: statuses and headers, and what HTTP wants said beside a refusal.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderName, HeaderValue, Response, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW, CACHE_CONTROL, CONNECTION,
            CONTENT_TYPE, VARY, WWW_AUTHENTICATE,
        },
    },
};
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use crate::{
    pieces::Pieces,
    refusal::Refusal,
    respond::{self, Refused},
    revision::Era,
};

/// Marks a response that must not be sent: the connection ends instead.
#[derive(Clone, Copy, Debug)]
pub struct Severed;

/// What an allowed page may send.
const PREFLIGHT_HEADERS: &str = "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, \
                                 mcp-session-id, last-event-id";

/// A refusal before JSON was read: a JSON-RPC error without `id`.
pub fn refuse(refusal: &Refusal) -> Response<Body> {
    let mut response = refused(respond::refused(None, Era::Modern, refusal));
    if let Some((name, value)) = beside(refusal) {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn beside(refusal: &Refusal) -> Option<(HeaderName, &'static str)> {
    if let Refusal::MethodNotAllowed { allow } = refusal {
        return Some((ALLOW, allow));
    }
    let told = [
        (Refusal::NoCredential, WWW_AUTHENTICATE, "Bearer"),
        (Refusal::BadCredential, WWW_AUTHENTICATE, "Bearer error=\"invalid_token\""),
        // What is left of the body would be read as the next request.
        (Refusal::BodyTooLarge, CONNECTION, "close"),
        (Refusal::BodyTooSlow, CONNECTION, "close"),
    ];
    told.into_iter().find(|(told, _, _)| told == refusal).map(|(_, name, value)| (name, value))
}

/// Hosts take anything but a plain 404 under `/.well-known/` as an invitation to start OAuth.
pub fn unknown_path() -> Response<Body> {
    empty(StatusCode::NOT_FOUND)
}

/// Answers an allowed page's question whether it may ask.
pub(super) fn preflight(headers: &HeaderMap) -> Response<Body> {
    let mut response = empty(StatusCode::NO_CONTENT);
    let asked = headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter().filter_map(|value| value.to_str().ok());
    let asked = asked.flat_map(|names| names.split(',')).map(str::trim);
    let params = asked.filter_map(|name| HeaderName::try_from(name).ok());
    let params = params.filter(|name| name.as_str().starts_with("mcp-param-"));
    let allowed = params.fold(PREFLIGHT_HEADERS.to_owned(), |all, name| all + ", " + name.as_str());
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
    if let Ok(allowed) = HeaderValue::try_from(allowed) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    response
}

/// Lets an allowed page read the answer.
pub(super) fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"),
    );
    headers.insert(VARY, HeaderValue::from_static("Origin"));
}

/// A refusal with its status.
pub(super) fn refused(Refused { status, body }: Refused) -> Response<Body> {
    json(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), body.into())
}

/// No body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    with_status(status, Body::empty())
}

/// A JSON body.
pub(super) fn json(status: StatusCode, message: Pieces) -> Response<Body> {
    let mut response = with_status(status, body(message));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A body of so many bytes, written piece by piece.
pub(super) fn body(pieces: Pieces) -> Body {
    Body::new(Whole(pieces))
}

struct Whole(Pieces);

impl HttpBody for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.next().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.bytes() as u64)
    }
}

/// A body of server-sent events, which nothing on the way may keep or hold back.
pub(super) fn events(body: Body) -> Response<Body> {
    let mut response = with_status(StatusCode::OK, body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// See [`Severed`].
pub(super) fn severed() -> Response<Body> {
    let mut response = empty(StatusCode::SERVICE_UNAVAILABLE);
    response.extensions_mut().insert(Severed);
    response
}

fn with_status(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}
