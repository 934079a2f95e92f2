//! A fake MCP agent: right requests of both eras, easily spoilt in one place, and what it reads in the answers.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::http::{Request, Response};

/// The one modern revision.
pub(crate) const MODERN: &str = "2026-07-28";

/// The newest legacy revision.
pub(crate) const LEGACY: &str = "2025-11-25";

/// A complete `_meta` of a modern request.
pub(crate) const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);

/// Who asks: a bridge's port and a token.
#[derive(Clone)]
pub(crate) struct Agent {
    port: u16,
    token: String,
}

impl Agent {
    pub(crate) fn new(port: u16, token: &str) -> Self {
        Self { port, token: token.to_owned() }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// A POST as both eras send it, with this body.
    pub(crate) fn post(&self, body: &str) -> Request {
        Request::new(self.port, "POST", "/mcp")
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .body(body)
    }

    /// A modern request; `members` are those of `params`, without braces and without `_meta`.
    pub(crate) fn modern(&self, method: &str, members: &str) -> Request {
        let comma = if members.is_empty() { "" } else { "," };
        let params = format!("{{{members}{comma}{META}}}");
        self.post(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#))
            .header("MCP-Protocol-Version", MODERN)
            .header("Mcp-Method", method)
    }

    /// A legacy request; `members` are those of `params`, without braces.
    pub(crate) fn legacy(&self, method: &str, members: &str) -> Request {
        self.post(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{members}}}}}"#))
            .header("MCP-Protocol-Version", LEGACY)
    }

    pub(crate) fn discover(&self) -> Request {
        self.modern("server/discover", "")
    }

    pub(crate) fn list(&self) -> Request {
        self.modern("tools/list", "")
    }

    pub(crate) fn call(&self, name: &str, arguments: &str) -> Request {
        let members = format!(r#""name":"{name}","arguments":{arguments}"#);
        self.modern("tools/call", &members).header("Mcp-Name", name)
    }

    /// As an SDK sends it first: without the version header.
    pub(crate) fn initialize(&self, revision: &str) -> Request {
        let client = r#""capabilities":{},"clientInfo":{"name":"test","version":"1"}"#;
        self.legacy("initialize", &format!(r#""protocolVersion":"{revision}",{client}"#))
            .without("MCP-Protocol-Version")
    }

    pub(crate) fn ping(&self) -> Request {
        self.legacy("ping", "")
    }

    pub(crate) fn legacy_list(&self) -> Request {
        self.legacy("tools/list", "")
    }

    pub(crate) fn legacy_call(&self, name: &str, arguments: &str) -> Request {
        self.legacy("tools/call", &format!(r#""name":"{name}","arguments":{arguments}"#))
    }
}

/// A JSON-RPC response, member by member as texts: a double would lose what the bridge promises to keep.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) id: Option<String>,
    pub(crate) result: Option<String>,
    pub(crate) error: Option<RpcError>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl Response {
    /// The JSON-RPC message of the body, checked for what every message of the bridge has.
    pub(crate) fn message(&self) -> Message {
        let text = self.only_message();
        assert!(!text.contains(['\r', '\n']), "more than one line: {text}");
        let mut members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).unwrap();
        let mut take = |name: &str| members.remove(name).map(|value| value.get().to_owned());
        assert_eq!(take("jsonrpc").as_deref(), Some(r#""2.0""#), "{text}");
        let (id, result, error) = (take("id"), take("result"), take("error"));
        assert_ne!(id.as_deref(), Some("null"), "{text}");
        assert!(result.is_some() != error.is_some(), "both or neither of result and error: {text}");
        assert!(members.is_empty(), "unexpected members: {text}");
        let error = error.map(|error| serde_json::from_str::<RpcError>(&error).unwrap());
        if let Some(error) = &error {
            assert!(!error.message.is_empty(), "{text}");
            assert_eq!(error.data.is_some(), error.code == -32022, "data goes with -32022 alone: {text}");
        }
        Message { id, result, error }
    }

    /// The body, or the only event of an answer that took so long that it became a stream.
    fn only_message(&self) -> &str {
        let text = self.text();
        match self.header("Content-Type") {
            Some("text/event-stream") => {
                let mut events = text.lines().filter_map(|line| line.strip_prefix("data: "));
                let event = events.next().unwrap_or_else(|| panic!("no event: {text}"));
                assert_eq!(events.next(), None, "more than one event: {text}");
                event
            }
            kind => {
                assert_eq!(kind, Some("application/json"), "{text}");
                text
            }
        }
    }

    /// The text of the result; anything else fails.
    pub(crate) fn result(&self) -> String {
        assert_eq!(self.status, 200, "{}", self.text());
        self.message().result.unwrap_or_else(|| panic!("no result: {}", self.text()))
    }

    /// The result, for tests that do not look at its letters.
    pub(crate) fn result_value(&self) -> Value {
        serde_json::from_str(&self.result()).unwrap()
    }

    /// Checks an error answer: status, code, and the `id` as written or its absence.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: i32, id: Option<&str>) -> RpcError {
        assert_eq!(self.status, status, "{}", self.text());
        let message = self.message();
        let error = message.error.unwrap_or_else(|| panic!("no error: {}", self.text()));
        assert_eq!((error.code, message.id.as_deref()), (code, id), "{}", self.text());
        error
    }

    /// Checks an answer of the rungs before the body: no `id`, code -32600.
    #[track_caller]
    pub(crate) fn refused_early(&self, status: u16) {
        self.refused(status, -32600, None);
    }

    /// Checks the answer to a notification or a response.
    #[track_caller]
    pub(crate) fn accepted(&self) {
        assert_eq!((self.status, self.text()), (202, ""));
    }
}
