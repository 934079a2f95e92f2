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
///
/// Its text is for the person who runs the application: what happened, what it means and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ended {
    /// A newer connection took this client ID (close code 4409). [`Handle::take_over`](crate::Handle::take_over) takes
    /// it back.
    #[error(
        "another connection with this client ID took this one's place, and agents now reach that one; this one stays \
         away: end the other instance, or take the place back with `Handle::take_over`"
    )]
    Replaced,
    /// The bridge, or the SDK before it, refused what it was given. Trying again would not help.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The application closed the connection, or dropped its handle.
    #[error("this application closed its connection, and no agent reaches it any more; connect anew to come back")]
    Closed,
}

/// What was refused. The text says what to do about it, and holds nothing of the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The declaration or a message is wrong (close code 4400): a bug to fix.
    #[error(
        "the bridge refused what this application sent, and would refuse it again: {}; correct what it names, most \
         often a tool's definition",
        .reason.escape_debug()
    )]
    Message {
        /// The bridge's words.
        reason: String,
    },
    /// The bridge does not take the token (close code 4401).
    #[error(
        "the bridge refused the token: {}; it may have ended, been revoked, be signed with another bridge's secret, or \
         be an agent's: make a client token with `clientmcp token NAME --role client`",
        .reason.escape_debug()
    )]
    Token {
        /// The bridge's words.
        reason: String,
    },
    /// The token cannot stand in a WebSocket handshake.
    #[error(
        "the token was not sent, for it can be none: it is empty, begins with `clientmcp.`, or holds a character that \
         no token has (a space or a line end, perhaps); give the line that `clientmcp token` prints, without its end"
    )]
    TokenText,
    /// The address is none that this build can open.
    #[error(
        "no connection was tried, for the bridge's address is not usable: {reason}; give one like \
         ws://127.0.0.1:27182/connect, which `clientmcp serve` prints as `connect`"
    )]
    Url {
        /// What is wrong with it.
        reason: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_token_is_told_with_what_to_do() {
        let refused = Ended::from(Refusal::Token { reason: "the token\n is not valid".into() }).to_string();
        assert!(refused.starts_with("the bridge refused the token: the token\\n is not valid; it may have ended"));
        assert!(refused.ends_with("`clientmcp token NAME --role client`"), "{refused}");
    }

    #[test]
    fn every_text_says_what_happened_and_what_to_do_in_one_line() {
        let reason = "\u{202e}bad\r\nnews";
        for ended in [
            Ended::Replaced,
            Ended::Closed,
            Refusal::Message { reason: reason.into() }.into(),
            Refusal::Token { reason: reason.into() }.into(),
            Refusal::TokenText.into(),
            Refusal::Url { reason: "it is no WebSocket URL" }.into(),
        ] {
            let text = ended.to_string();
            assert!(text.contains("; ") && !text.contains(['\r', '\n', '\u{202e}']), "{text}");
        }
    }
}
