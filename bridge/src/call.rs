//! The stage values of the road: each stage takes what only the stage before can make.
//!
//! `Call` -> [`Routed`] -> `approvals::Approved` -> the answer's text. A call that skips the gate does not compile.

use std::{fmt, sync::Arc};

use clientmcp_protocol::ids::{ClientId, Label};

use crate::{declaration::Tool, presence::Caller, text::Text, token::Claims};

/// Who calls: whose tools, and what the person called the agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agent {
    /// The application whose tools it may call.
    pub application: ClientId,
    /// From its token. What the agent says of itself is shown, never trusted.
    pub label: Option<Label>,
}

/// One `tools/call` as an agent asked for it.
#[derive(Debug)]
pub struct Call {
    /// Who asked.
    pub agent: Agent,
    /// The name as it was asked for; nobody has looked for it yet.
    pub tool: String,
    /// A JSON object, exactly as the agent wrote it.
    pub arguments: Text,
    /// What it means when the agent's connection ends.
    pub hang_up: HangUp,
    /// What a legacy cancel calls it.
    pub key: Option<RequestKey>,
    /// What the agent calls itself, made harmless and cut. Nobody has checked it.
    pub reported: Option<String>,
    /// What let the agent in; nothing for the person's own call.
    pub credential: Option<Arc<Claims>>,
    /// Who waits for the answer. Nothing is sent for somebody who is gone.
    pub caller: Caller,
}

/// What a legacy agent's `notifications/cancelled` refers to: ids count per agent and session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey {
    /// Whose request.
    pub agent: Agent,
    /// The session it was made under, as the agent named it. Nothing else is kept under it.
    pub session: Arc<str>,
    /// The request's id.
    pub id: RequestId,
}

/// A JSON-RPC id. `1` and `"1"` are two.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequestId {
    /// Decoded.
    String(String),
    /// As it was written.
    Integer(String),
}

/// What an agent's hang-up means for its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HangUp {
    /// Closing the response is what cancels (MCP 2026-07-28, Cancellation).
    Cancels,
    /// A lost connection is no cancel (MCP 2025-11-25 and earlier, Transports).
    Ignored,
}

/// A call whose application is connected and declares the tool.
#[derive(Debug)]
pub struct Routed {
    /// The call.
    pub call: Call,
    /// The connection that was found; another one is another application.
    pub connection: ConnectionId,
    /// The definition that was found; another one needs another approval.
    pub tool: Arc<Tool>,
}

/// One connection of an application, unique in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// One sent call. The number counts per connection, so that an application learns nothing of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId {
    /// Where it was sent.
    pub connection: ConnectionId,
    /// Its `id` on the wire, in decimal.
    pub number: u64,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.connection.0, self.number)
    }
}
