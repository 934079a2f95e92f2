//! What can go wrong, in words that hold no token and no argument.

/// Why a call failed, written for the agent: it reads the message and may try again.
///
/// There is no conversion from other errors on purpose. Their text was written for a developer and may hold paths or
/// secrets; what an agent reads is for the application to choose.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    message: String,
}

impl ToolError {
    /// One or two short sentences that a model can act on.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self { message }
    }
}

impl From<&str> for ToolError {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

impl From<Malformed> for ToolError {
    fn from(fault: Malformed) -> Self {
        Self::new(format!("the tool's result is {fault}"))
    }
}

/// A JSON text that is not what it was given as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It is not JSON.
    #[error("not valid JSON")]
    NotJson,
    /// It is JSON, but no object.
    #[error("not a JSON object")]
    NotObject,
    /// A tool's definition without a string `name`.
    #[error("an object without a string `name`")]
    NoName,
    /// A call's result without a `content` array.
    #[error("an object without a `content` array")]
    NoContent,
    /// A call's result whose `_meta` is no object.
    #[error("an object whose `_meta` is no object")]
    MetaNotObject,
}

/// Why the application does not come back by itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    /// A newer connection took this client ID (close code 4409). [`Handle::take_over`](crate::Handle::take_over) takes
    /// it back.
    #[error("another instance of this application took its place")]
    Replaced,
    /// The bridge, or the SDK before it, refused what it was given. Trying again would not help.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The application closed the connection, or dropped its handle.
    #[error("the connection was closed")]
    Closed,
}

/// What was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The declaration or a message is wrong (close code 4400): a bug to fix.
    #[error("the bridge refused a message: {}", .reason.escape_debug())]
    Message {
        /// The bridge's words.
        reason: String,
    },
    /// The bridge does not take the token (close code 4401).
    #[error("the bridge refused the token: {}", .reason.escape_debug())]
    Token {
        /// The bridge's words.
        reason: String,
    },
    /// The token cannot stand in a WebSocket handshake.
    #[error("the token is empty, begins with `clientmcp.` or holds a character that no token has")]
    TokenText,
    /// The address is none that this build can open.
    #[error("the bridge's address is not usable: {reason}")]
    Url {
        /// What is wrong with it.
        reason: &'static str,
    },
}
