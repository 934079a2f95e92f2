//! The client channel: `GET /connect`, the upgrade and who is let in (`docs/protocol.md`, "Client channel").
//!
//! The upgrade is hyper's, not axum's: axum's extractor hides a repeated offer.

mod message;
mod rate;
pub mod register;
mod schema;
mod socket;

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Version,
        header::{
            CONNECTION, CONTENT_TYPE, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
            SEC_WEBSOCKET_VERSION, UPGRADE,
        },
    },
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use clientmcp_protocol::{
    client::{SUBPROTOCOL, SUBPROTOCOL_PREFIX},
    codes::CloseCode,
    ids::Role,
    limits::{HANDSHAKE_TIME, HANDSHAKES},
    origin,
};
use hyper_util::rt::TokioIo;
use tokio::sync::{Semaphore, mpsc};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::{
    guard,
    hub::{Hub, NATIVE},
    refusal::Refusal,
    respond,
    token::Claims,
};

/// What the channel works with.
#[derive(Debug)]
pub struct Channel {
    /// Where connections go.
    pub hub: Hub,
    /// Held by each connection until it has ended.
    pub alive: mpsc::Sender<()>,
    handshakes: Arc<Semaphore>,
}

impl Channel {
    /// A channel without connections. `alive` closes when the channel and its last connection are gone.
    pub fn new(hub: Hub, alive: mpsc::Sender<()>) -> Self {
        Self { hub, alive, handshakes: Arc::new(Semaphore::new(HANDSHAKES)) }
    }

    /// Exactly two values, one of them a token that lets its holder be an application. What failed is not said: the
    /// offer may come from anybody.
    fn admit(&self, offer: &[&str]) -> Option<Arc<Claims>> {
        let token = match offer {
            [SUBPROTOCOL, token] | [token, SUBPROTOCOL] if !token.starts_with(SUBPROTOCOL_PREFIX) => token,
            _ => return None,
        };
        match self.hub.admit(token, Role::Client) {
            Ok(claims) => Some(claims),
            Err(fault) => {
                tracing::debug!(%fault, "an application's token was refused");
                None
            }
        }
    }
}

/// Serves `/connect`.
pub async fn connect(State(channel): State<Arc<Channel>>, mut request: Request) -> Response<Body> {
    if !is_upgrade(&request) {
        return upgrade_required();
    }
    let Some(accept) = accept_key(request.headers()) else {
        return refuse(StatusCode::BAD_REQUEST, "one Sec-WebSocket-Key of 16 bytes in Base64 is needed");
    };
    let offer = list(request.headers(), &SEC_WEBSOCKET_PROTOCOL);
    if !offer.contains(&SUBPROTOCOL) {
        return refuse(StatusCode::BAD_REQUEST, "offer the subprotocol clientmcp.v1 and a client token");
    }
    let Ok(place) = Arc::clone(&channel.handshakes).try_acquire_owned() else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "too many handshakes are under way: try again in a moment");
    };
    let admitted = channel.admit(&offer);
    let origin = from(request.headers());
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let upgraded = tokio::time::timeout(HANDSHAKE_TIME, upgrade).await;
        drop(place);
        let Ok(Ok(upgraded)) = upgraded else { return };
        let socket = socket::Socket::new(TokioIo::new(upgraded)).await;
        match admitted {
            Some(claims) => socket.serve(&channel.hub, claims, origin).await,
            None => socket.close(CloseCode::Unauthorized, "not a valid client token for this bridge").await,
        }
    });
    switching(&accept)
}

/// Where an application comes from. What is no origin by the rule for those that a person adds, or more than one, names
/// nobody.
fn from(headers: &HeaderMap) -> Option<String> {
    if !headers.contains_key(ORIGIN) {
        return Some(NATIVE.to_owned());
    }
    let origin = guard::single(headers, &ORIGIN).and_then(|origin| origin.to_str().ok());
    origin.filter(|origin| origin::check(origin).is_ok()).map(str::to_owned)
}

fn is_upgrade(request: &Request) -> bool {
    let headers = request.headers();
    let holds =
        |name: &HeaderName, word: &str| list(headers, name).iter().any(|value| value.eq_ignore_ascii_case(word));
    request.version() == Version::HTTP_11
        && request.method() == Method::GET
        && holds(&CONNECTION, "upgrade")
        && holds(&UPGRADE, "websocket")
        && guard::single(headers, &SEC_WEBSOCKET_VERSION).is_some_and(|version| version == "13")
}

fn accept_key(headers: &HeaderMap) -> Option<HeaderValue> {
    let key = guard::single(headers, &SEC_WEBSOCKET_KEY)?.as_bytes();
    let is_key = STANDARD.decode(key).is_ok_and(|bytes| bytes.len() == 16);
    is_key.then(|| HeaderValue::try_from(derive_accept_key(key)).ok())?
}

/// The values of a list header over all its lines.
fn list<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<&'a str> {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim).filter(|value| !value.is_empty()).collect()
}

fn switching(accept: &HeaderValue) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept.clone());
    headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    response
}

fn upgrade_required() -> Response<Body> {
    let mut response = refuse(StatusCode::UPGRADE_REQUIRED, "applications connect here with a WebSocket, version 13");
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    response.headers_mut().insert(UPGRADE, HeaderValue::from_static("websocket"));
    response.headers_mut().insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    response
}

/// A request for another host than this bridge.
pub fn refuse_host() -> Response<Body> {
    refuse(StatusCode::FORBIDDEN, &respond::sentence(&Refusal::ForeignHost))
}

fn refuse(status: StatusCode, sentence: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(sentence.to_owned()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
