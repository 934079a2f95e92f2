//! Messages of the client channel (`docs/protocol.md`, "Client channel"). Texts of others stay texts: `RawValue`, never
//! parsed and printed again.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The subprotocol that the bridge selects.
pub const SUBPROTOCOL: &str = "clientmcp.v1";

/// Values that begin with this are protocol identifiers, never tokens.
pub const SUBPROTOCOL_PREFIX: &str = "clientmcp.";

/// The exact text of a ping, so that a bridge can answer without parsing.
pub const PING: &str = r#"{"type":"ping"}"#;

/// The exact text of the answer to a ping.
pub const PONG: &str = r#"{"type":"pong"}"#;

/// What the bridge sends to an application.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromBridge<'a> {
    /// One for each accepted `register`, in order.
    Registered,
    /// Run a tool of the latest register.
    Call {
        /// To be repeated in the `result`.
        id: &'a str,
        /// The tool.
        name: &'a str,
        /// An object, exactly as the agent wrote it.
        arguments: &'a RawValue,
    },
    /// The answer is no longer wanted.
    Cancel {
        /// The call's id.
        id: &'a str,
    },
    /// The answer to a ping.
    Pong,
}

/// What an application sends to the bridge, as the SDK writes it.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromApplication<'a> {
    /// Replaces everything declared before.
    Register {
        /// MCP Tool objects, in the order to be listed.
        tools: &'a [Box<RawValue>],
        /// Words for the agent; absent clears them.
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<&'a str>,
    },
    /// The answer to a call.
    Result {
        /// The call's id.
        id: &'a str,
        /// An MCP `CallToolResult`.
        result: &'a RawValue,
    },
    /// Are you there?
    Ping,
}

/// Any message of the bridge as an application reads it: members that the type does not need are absent.
#[derive(Debug, Deserialize)]
pub struct Received<'a> {
    /// `registered`, `call`, `cancel`, `pong`, or something newer that is to be ignored.
    #[serde(rename = "type")]
    pub kind: String,
    /// Of `call` and `cancel`.
    pub id: Option<String>,
    /// Of `call`.
    pub name: Option<String>,
    /// Of `call`.
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
}
