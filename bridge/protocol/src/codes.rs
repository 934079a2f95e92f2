//! Codes that programs act on. They are stable; the sentences beside them are not.

use serde::{Deserialize, Serialize};

/// Why the bridge closed a client connection (`docs/protocol.md`, "Close codes").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum CloseCode {
    /// The bridge shuts down, or heard nothing for 90 s. Reconnect, with backoff.
    GoingAway = 1001,
    /// Text that is not UTF-8 (RFC 6455).
    InvalidUtf8 = 1007,
    /// A protocol error or an exceeded limit, named in the reason. Stop: it is a bug to fix.
    ProtocolError = 4400,
    /// Not a valid client token, revoked, or an origin not allowed. Stop, or fetch a new token once.
    Unauthorized = 4401,
    /// A newer connection took this client ID. Never reconnect by itself.
    Replaced = 4409,
}

impl CloseCode {
    /// The number on the wire.
    pub const fn number(self) -> u16 {
        self as u16
    }

    /// The code with this number, if the protocol gives it a meaning.
    pub const fn from_number(number: u16) -> Option<Self> {
        match number {
            1001 => Some(Self::GoingAway),
            1007 => Some(Self::InvalidUtf8),
            4400 => Some(Self::ProtocolError),
            4401 => Some(Self::Unauthorized),
            4409 => Some(Self::Replaced),
            _ => None,
        }
    }
}

/// How a call ended that the application did not answer (`docs/protocol.md`, "Call outcomes").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum OutcomeCode {
    /// The application is not connected, or has not registered yet. Nothing was done.
    Offline,
    /// The connection ended or was replaced after the call was sent. It may have happened.
    Disconnected,
    /// The application did not answer in time. It may have happened.
    Timeout,
    /// The application seems frozen. It may have happened.
    Unresponsive,
    /// The person, or a rule of theirs, said no. Nothing was done.
    Declined,
    /// Nobody answered the question in time. Nothing was done.
    Unanswered,
    /// Asking is needed and nobody can be asked. Nothing was done.
    Unattended,
    /// The tool changed, or the application was replaced, before the call was sent. Nothing was done.
    Changed,
    /// The person paused the bridge. Nothing was done.
    Paused,
    /// The person blocked this application or agent. Nothing was done.
    Blocked,
    /// A limit was reached. Nothing was done.
    Busy,
    /// The agent went away; nobody reads the answer.
    Cancelled,
}

impl OutcomeCode {
    /// The code as it stands on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Disconnected => "disconnected",
            Self::Timeout => "timeout",
            Self::Unresponsive => "unresponsive",
            Self::Declined => "declined",
            Self::Unanswered => "unanswered",
            Self::Unattended => "unattended",
            Self::Changed => "changed",
            Self::Paused => "paused",
            Self::Blocked => "blocked",
            Self::Busy => "busy",
            Self::Cancelled => "cancelled",
        }
    }

    /// True when the application may have acted before the call ended.
    pub const fn may_have_happened(self) -> bool {
        match self {
            Self::Disconnected | Self::Timeout | Self::Unresponsive | Self::Cancelled => true,
            Self::Offline
            | Self::Declined
            | Self::Unanswered
            | Self::Unattended
            | Self::Changed
            | Self::Paused
            | Self::Blocked
            | Self::Busy => false,
        }
    }
}

/// JSON-RPC error codes that the bridge uses (JSON-RPC 2.0; MCP 2026-07-28, basic).
pub mod rpc {
    /// Not JSON.
    pub const PARSE_ERROR: i32 = -32700;
    /// JSON, but no request that can be served.
    pub const INVALID_REQUEST: i32 = -32600;
    /// No such method in this revision.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The method's parameters are not right.
    pub const INVALID_PARAMS: i32 = -32602;
    /// A header and the body disagree.
    pub const HEADER_MISMATCH: i32 = -32020;
    /// The revision asked for is not served here.
    pub const UNSUPPORTED_VERSION: i32 = -32022;
}
