//! MCP without a transport: which era a message belongs to, and what it says in each. Nothing here knows HTTP or a socket:
//! how messages travel, and what a transport repeats of the body, reaches it as a [`Carrier`].

pub mod batch;
mod call;
pub mod classify;
mod legacy;
mod listen;
pub mod message;
pub mod mirror;
mod modern;
pub mod session;

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;

use crate::{
    call::Agent,
    declaration::{Declaration, Tool},
    hub::Hub,
    pieces::Pieces,
    presence::Caller,
    refusal::Refusal,
    respond::{self, Refused},
    revision::Era,
    text::{self, Kind},
    token::Claims,
};

pub use self::listen::Listening;
use self::message::{Message, Notification, Params, Request};

/// One header as the transport carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mirrored<'a> {
    /// Not there.
    Absent,
    /// There once; the bytes without surrounding white space.
    Once(&'a [u8]),
    /// There more than once.
    Repeated,
}

/// What a transport repeats of a message outside its body: HTTP's headers (MCP 2026-07-28, Streamable HTTP: Request
/// Metadata).
pub trait Mirror: Sync {
    /// The header of this lower-case name.
    fn header(&self, name: &str) -> Mirrored<'_>;
}

/// How an agent's messages travel, and what is said beside them.
#[derive(Clone, Copy)]
pub enum Carrier<'a> {
    /// Each in a request of its own, whose headers repeat the body.
    Requests(&'a dyn Mirror),
    /// One a line on one connection, and nothing is repeated (MCP 2026-07-28, stdio).
    Lines {
        /// Whether the connection's `initialize` agreed on the revision that has batches.
        batches: bool,
    },
}

/// What goes back to the agent.
#[derive(Debug)]
pub enum Answer {
    /// There is nothing to say.
    Accepted,
    /// A JSON-RPC result.
    Result {
        /// The message, on one line.
        body: Pieces,
        /// The session that an `initialize` opened.
        session: Option<String>,
    },
    /// A JSON-RPC error.
    Refused(Refused),
    /// Messages from now on.
    Listen(Box<Listening>),
    /// The agent took its request back and reads no answer.
    Cancelled,
    /// The bridge shuts down, or the agent's token was revoked: the connection ends without an answer.
    Nothing,
}

/// Answers one message of an agent.
pub async fn answer(peer: &Peer<'_>, body: &[u8]) -> Answer {
    match message::read(body) {
        Err(unreadable) => Answer::Refused(respond::refused(unreadable.id, Era::Modern, &unreadable.refusal)),
        Ok(Message::Response) => accepted(classify::response(peer.carrier)),
        Ok(Message::Notification(notification)) => accepted(notified(peer, &notification).await),
        Ok(Message::Request(request)) => answer_request(peer, &request).await,
    }
}

/// The legacy era's stream of notifications.
pub fn listen(peer: &Peer<'_>) -> Result<Listening, Refusal> {
    match classify::stream(peer.carrier)? {
        Era::Modern => Err(Refusal::MethodNotAllowed { allow: "POST" }),
        Era::Legacy => Ok(listen::legacy(peer)),
    }
}

fn accepted(verdict: Result<(), Refusal>) -> Answer {
    match verdict {
        Ok(()) => Answer::Accepted,
        Err(refusal) => Answer::Refused(respond::refused(None, Era::Modern, &refusal)),
    }
}

/// Only a legacy cancel does anything: in the modern era closing the response is what cancels.
async fn notified(peer: &Peer<'_>, notification: &Notification<'_>) -> Result<(), Refusal> {
    let era = classify::notification(&notification.params, peer.carrier)?;
    if era == Era::Legacy && notification.method == "notifications/cancelled" {
        legacy::cancelled(peer, &notification.params).await;
    }
    Ok(())
}

async fn answer_request(peer: &Peer<'_>, request: &Request<'_>) -> Answer {
    let era = match classify::request(&request.method, &request.params, peer.carrier) {
        Ok(era) => era,
        Err(refusal) => return Answer::Refused(respond::refused(Some(request.id), Era::Modern, &refusal)),
    };
    let reply = match era {
        Era::Modern => modern::answer(peer, request).await,
        Era::Legacy => legacy::answer(peer, request).await,
    };
    match reply {
        Ok(Reply::Result { result, session }) => Answer::Result { body: respond::result(request.id, result), session },
        Ok(Reply::Listen(listening)) => Answer::Listen(listening),
        Err(Refusal::ShuttingDown | Refusal::Revoked) => Answer::Nothing,
        Err(Refusal::Cancelled) => Answer::Cancelled,
        Err(refusal) => Answer::Refused(respond::refused(Some(request.id), era, &refusal)),
    }
}

/// What a codec makes of a request.
enum Reply {
    Result { result: Pieces, session: Option<String> },
    Listen(Box<Listening>),
}

impl Reply {
    fn plain(result: impl Into<Pieces>) -> Self {
        Self::Result { result: result.into(), session: None }
    }
}

/// What every server here can do.
const CAPABILITIES: &str = r#"{"tools":{"listChanged":true}}"#;

/// One agent and what it sees, at the moment of its request.
pub struct Peer<'a> {
    server: Server<'a>,
    carrier: Carrier<'a>,
    /// Whether the agent reads streams.
    streams: bool,
}

/// Who answers.
enum Server<'a> {
    /// One application, through the bridge.
    Bridge {
        hub: &'a Hub,
        agent: &'a Agent,
        claims: &'a Arc<Claims>,
        caller: &'a Caller,
        declaration: Option<Arc<Declaration>>,
    },
    /// Nobody is behind it.
    StandIn(&'a StandIn),
}

/// What answers an agent where the bridge cannot be reached, or where several applications are behind one server.
#[derive(Debug)]
pub struct StandIn {
    /// What the server is called.
    pub title: String,
    /// The words for the agent.
    pub instructions: String,
    /// Definitions, joined by commas.
    pub tools: &'static str,
    /// Another value is another list.
    pub list: watch::Receiver<u64>,
    /// The `CallToolResult` of every call.
    pub result: String,
}

impl<'a> Peer<'a> {
    /// `streams` says whether the agent reads an answer of many messages.
    pub fn new(
        hub: &'a Hub,
        agent: &'a Agent,
        claims: &'a Arc<Claims>,
        caller: &'a Caller,
        carrier: Carrier<'a>,
        streams: bool,
    ) -> Self {
        let declaration = hub.served(&agent.application).map(|served| served.declaration);
        Self { server: Server::Bridge { hub, agent, claims, caller, declaration }, carrier, streams }
    }

    /// An agent whose messages come in lines and find no bridge.
    pub fn alone(stand_in: &'a StandIn, batches: bool) -> Self {
        Self { server: Server::StandIn(stand_in), carrier: Carrier::Lines { batches }, streams: true }
    }

    /// The tools as the era's agents read them; nothing while the application is offline.
    fn list(&self, era: Era, make: impl FnOnce(&[Arc<Tool>]) -> String) -> Bytes {
        match &self.server {
            Server::Bridge { declaration, .. } => {
                declaration.as_ref().map_or_else(Bytes::new, |declaration| declaration.list(era, make))
            }
            Server::StandIn(stand_in) => Bytes::from_static(stand_in.tools.as_bytes()),
        }
    }

    /// The words for the agent, as a JSON string.
    fn instructions(&self) -> Option<String> {
        match &self.server {
            Server::Bridge { declaration: Some(declaration), .. } => {
                declaration.instructions().map(|text| text.as_str().to_owned())
            }
            Server::Bridge { agent, declaration: None, .. } => Some(text::json_string(&format!(
                "The application {} is not connected. Its tools appear when it opens.",
                agent.application
            ))),
            Server::StandIn(stand_in) => Some(text::json_string(&stand_in.instructions)),
        }
    }

    /// Who answers: one server for each application.
    fn server_info(&self) -> String {
        let title = match &self.server {
            Server::Bridge { agent, .. } => agent.application.as_str(),
            Server::StandIn(stand_in) => &stand_in.title,
        };
        format!(
            "{{\"name\":\"clientmcp\",\"title\":{},\"version\":\"{}\"}}",
            text::json_string(title),
            env!("CARGO_PKG_VERSION")
        )
    }
}

/// Lists are one page, so no cursor was ever given out.
fn no_cursor(params: &Params<'_>) -> Result<(), Refusal> {
    match params.get("cursor").map(text::kind) {
        None | Some(Kind::Null) => Ok(()),
        Some(Kind::Bool | Kind::Number | Kind::String | Kind::Array | Kind::Object) => {
            Err(Refusal::InvalidParams("\"cursor\" is none that was given out: the list has one page".into()))
        }
    }
}
