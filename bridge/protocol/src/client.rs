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

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages that the JavaScript SDK reads and writes in its own tests.
    const GOLDEN: &str = include_str!("../fixtures/client-channel.json");

    #[derive(Deserialize)]
    struct Golden {
        name: String,
        from: String,
        text: String,
    }

    fn golden(from: &str) -> Vec<Golden> {
        let all: Vec<Golden> = serde_json::from_str(GOLDEN).unwrap();
        let theirs: Vec<_> = all.into_iter().filter(|golden| golden.from == from).collect();
        assert!(!theirs.is_empty());
        theirs
    }

    fn printed(message: &impl Serialize) -> String {
        serde_json::to_string(message).unwrap()
    }

    // holds: golden-messages
    #[test]
    fn what_the_bridge_sends_is_read_and_printed_to_the_byte() {
        for Golden { name, text, .. } in golden("bridge") {
            let received: Received<'_> = serde_json::from_str(&text).unwrap();
            let message = match received.kind.as_str() {
                "registered" => FromBridge::Registered,
                "call" => FromBridge::Call {
                    id: received.id.as_deref().unwrap(),
                    name: received.name.as_deref().unwrap(),
                    arguments: received.arguments.unwrap(),
                },
                "cancel" => FromBridge::Cancel { id: received.id.as_deref().unwrap() },
                "pong" => FromBridge::Pong,
                kind => panic!("{name}: {kind}"),
            };
            assert_eq!(printed(&message), text, "{name}");
        }
        assert!(golden("bridge").iter().any(|golden| golden.text == PONG));
    }

    /// What an application sends, in pieces as they stood.
    #[derive(Deserialize)]
    struct Sent<'a> {
        r#type: String,
        tools: Option<Vec<Box<RawValue>>>,
        instructions: Option<String>,
        id: Option<String>,
        #[serde(borrow)]
        result: Option<&'a RawValue>,
    }

    // holds: golden-messages
    #[test]
    fn what_an_application_sends_is_printed_to_the_byte() {
        for Golden { name, text, .. } in golden("application") {
            let sent: Sent<'_> = serde_json::from_str(&text).unwrap();
            let message = match sent.r#type.as_str() {
                "register" => FromApplication::Register {
                    tools: sent.tools.as_deref().unwrap(),
                    instructions: sent.instructions.as_deref(),
                },
                "result" => FromApplication::Result { id: sent.id.as_deref().unwrap(), result: sent.result.unwrap() },
                "ping" => FromApplication::Ping,
                kind => panic!("{name}: {kind}"),
            };
            assert_eq!(printed(&message), text, "{name}");
        }
        assert!(golden("application").iter().any(|golden| golden.text == PING));
    }
}
