//! MCP over HTTP: the ladder from Origin to body, then the codecs, then headers and statuses (`docs/protocol.md`, "Agent
//! endpoint"). It decides nothing about a call.

mod body;

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW, CONNECTION, CONTENT_TYPE, VARY,
            WWW_AUTHENTICATE,
        },
        request::Parts,
    },
};
use clientmcp_protocol::ids::Role;

use crate::{
    call::Agent,
    guard::{self, Guard},
    hub::Hub,
    mcp::{self, Answer, Mirror, Mirrored},
    refusal::Refusal,
    respond::{self, Refused},
    revision::Era,
    token::Access,
};

/// What the endpoint works with.
#[derive(Debug)]
pub struct Endpoint {
    /// Where calls go.
    pub hub: Hub,
    /// Who is let in.
    pub access: Arc<Access>,
    /// Which pages may speak here.
    pub guard: Arc<Guard>,
}

/// Marks a response that must not be sent: the connection ends instead.
#[derive(Clone, Copy, Debug)]
pub struct Severed;

/// Serves `/mcp` and `/mcp/<token>`.
pub async fn serve(State(endpoint): State<Arc<Endpoint>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(path_token) = guard::path_token(parts.uri.path()) else { return unknown_path() };
    let origin = match endpoint.guard.origin(&parts.headers) {
        Ok(origin) => origin,
        Err(refusal) => return refuse(&refusal),
    };
    let mut response = match &origin {
        Some(_) if parts.method == Method::OPTIONS => preflight(&parts.headers),
        _ => match endpoint.answer(&parts, path_token, body).await {
            Ok(answer) => write(answer),
            Err(refusal) => refuse(&refusal),
        },
    };
    if let Some(origin) = origin {
        allow_origin(response.headers_mut(), origin);
    }
    response
}

impl Endpoint {
    async fn answer(&self, parts: &Parts, path_token: Option<&str>, body: Body) -> Result<Answer, Refusal> {
        let agent = self.admit(&parts.headers, path_token)?;
        guard::method(&parts.method)?;
        guard::content_type(&parts.headers)?;
        guard::accept(&parts.headers)?;
        let body = body::read(&parts.headers, body).await?;
        Ok(mcp::answer(&self.hub, &agent, &body, &Headers(&parts.headers)).await)
    }

    fn admit(&self, headers: &HeaderMap, path_token: Option<&str>) -> Result<Agent, Refusal> {
        let token = guard::credential(headers, path_token)?;
        let claims = self.access.admit(token, Role::Agent).map_err(|fault| {
            tracing::debug!(%fault, "an agent's token was refused");
            Refusal::BadCredential
        })?;
        Ok(Agent { application: claims.subject, label: claims.label })
    }
}

/// HTTP's headers as what repeats the body.
struct Headers<'a>(&'a HeaderMap);

impl Mirror for Headers<'_> {
    fn header(&self, name: &str) -> Mirrored<'_> {
        let mut values = self.0.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Mirrored::Absent,
            (Some(value), None) => Mirrored::Once(value.as_bytes().trim_ascii()),
            (Some(_), Some(_)) => Mirrored::Repeated,
        }
    }
}

fn write(answer: Answer) -> Response<Body> {
    match answer {
        Answer::Accepted => empty(StatusCode::ACCEPTED),
        Answer::Result { body, session } => {
            let mut response = json(StatusCode::OK, body);
            if let Some(session) = session.and_then(|session| HeaderValue::try_from(session).ok()) {
                response.headers_mut().insert("mcp-session-id", session);
            }
            response
        }
        Answer::Refused(Refused { status, body }) => {
            json(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), body)
        }
        Answer::Nothing => {
            let mut response = empty(StatusCode::SERVICE_UNAVAILABLE);
            response.extensions_mut().insert(Severed);
            response
        }
    }
}

/// A refusal before JSON was read: a JSON-RPC error without `id`, and what HTTP wants said beside it.
pub fn refuse(refusal: &Refusal) -> Response<Body> {
    let Refused { status, body } = respond::refused(None, Era::Modern, refusal);
    let mut response = json(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), body);
    if let Some((name, value)) = beside(refusal) {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn beside(refusal: &Refusal) -> Option<(HeaderName, &'static str)> {
    let told = [
        (Refusal::NoCredential, WWW_AUTHENTICATE, "Bearer"),
        (Refusal::BadCredential, WWW_AUTHENTICATE, "Bearer error=\"invalid_token\""),
        (Refusal::MethodNotAllowed, ALLOW, "POST"),
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

fn preflight(headers: &HeaderMap) -> Response<Body> {
    let mut response = empty(StatusCode::NO_CONTENT);
    let asked = headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter().filter_map(|value| value.to_str().ok());
    let asked = asked.flat_map(|names| names.split(',')).map(str::trim);
    let params = asked.filter_map(|name| HeaderName::try_from(name).ok());
    let params = params.filter(|name| name.as_str().starts_with("mcp-param-"));
    let allowed = params.fold(guard::PREFLIGHT_HEADERS.to_owned(), |all, name| all + ", " + name.as_str());
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
    if let Ok(allowed) = HeaderValue::try_from(allowed) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    response
}

fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"),
    );
    headers.insert(VARY, HeaderValue::from_static("Origin"));
}

fn empty(status: StatusCode) -> Response<Body> {
    with_status(status, Body::empty())
}

fn json(status: StatusCode, body: String) -> Response<Body> {
    let mut response = with_status(status, Body::from(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn with_status(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}
