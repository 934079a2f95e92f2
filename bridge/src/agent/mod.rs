//! MCP over HTTP: the ladder from Origin to body, then the codecs, then headers and statuses (`docs/protocol.md`, "Agent
//! endpoint"). It decides nothing about a call.

mod body;
mod exchange;
mod reply;
mod sse;
mod streams;

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, Method, Response, request::Parts},
};
use clientmcp_protocol::ids::Role;

pub use self::reply::{Severed, refuse, unknown_path};
use self::{exchange::Post, streams::Streams};
use crate::{
    call::Agent,
    guard::{self, Asked, Guard},
    hub::{Check, Hub},
    presence::Caller,
    refusal::Refusal,
    token::Claims,
};

/// What the endpoint works with.
#[derive(Debug)]
pub struct Endpoint {
    hub: Hub,
    guard: Arc<Guard>,
    streams: Streams,
}

/// Serves `/mcp` and `/mcp/<token>`.
pub async fn serve(State(endpoint): State<Arc<Endpoint>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(path_token) = guard::path_token(parts.uri.path()) else { return unknown_path() };
    let origin = match endpoint.guard.origin(&parts.headers, &endpoint.hub.settings().allow_origins) {
        Ok(origin) => origin,
        Err(refusal) => {
            endpoint.hub.refused(Check::Origin);
            return refuse(&refusal);
        }
    };
    let mut response = match &origin {
        Some(_) if parts.method == Method::OPTIONS => reply::preflight(&parts.headers),
        _ => endpoint.answer(&parts, path_token, body).await.unwrap_or_else(|refusal| refuse(&refusal)),
    };
    if let Some(origin) = origin {
        reply::allow_origin(response.headers_mut(), origin);
    }
    response
}

impl Endpoint {
    /// An endpoint without streams.
    pub fn new(hub: Hub, guard: Arc<Guard>) -> Self {
        Self { hub, guard, streams: Streams::default() }
    }

    async fn answer(&self, parts: &Parts, path_token: Option<&str>, body: Body) -> Result<Response<Body>, Refusal> {
        let claims = self.admit(&parts.headers, path_token)?;
        let agent = Agent { application: claims.subject.clone(), label: claims.label.clone() };
        let asked = guard::method(&parts.method)?;
        if asked == Asked::Post {
            guard::content_type(&parts.headers)?;
        }
        let admitted = guard::accept(&parts.headers)?;
        let caller = parts.extensions.get().cloned().unwrap_or_else(Caller::nobody);
        let post = Post { hub: self.hub.clone(), agent, claims, caller, headers: parts.headers.clone(), admitted };
        match asked {
            Asked::Get => post.listen(&self.streams),
            Asked::Post => Ok(post.answer(body::read(&parts.headers, body).await?, &self.streams).await),
        }
    }

    fn admit(&self, headers: &HeaderMap, path_token: Option<&str>) -> Result<Arc<Claims>, Refusal> {
        let token = guard::credential(headers, path_token)?;
        self.hub.admit(token, Role::Agent).map_err(|fault| {
            tracing::debug!(%fault, "an agent's token was refused");
            Refusal::BadCredential
        })
    }
}
