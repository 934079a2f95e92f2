//! Why not: everything that keeps a request from its answer. `respond` maps each to a status, a code and a sentence.

use std::time::Duration;

use clientmcp_protocol::codes::OutcomeCode;

/// One reason. Texts are lower case, without a full stop, without secrets; foreign text in them is cut and escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// `Host` is absent, repeated or not ours: DNS rebinding looks like this.
    ForeignHost,
    /// No such path.
    UnknownPath,
    /// `Origin` is not on the allow-list.
    ForeignOrigin,
    /// No credential at all.
    NoCredential,
    /// A credential that does not let its holder in. Which check failed is nobody's business but the log's.
    BadCredential,
    /// The path is known, the method is not served there.
    MethodNotAllowed {
        /// What is.
        allow: &'static str,
    },
    /// The body is not declared to be JSON.
    MediaType,
    /// `Accept` admits nothing that could be sent.
    NotAcceptable,
    /// The body is over the limit.
    BodyTooLarge,
    /// The body took too long.
    BodyTooSlow,
    /// Not UTF-8, or not JSON.
    NotJson,
    /// Arrays and objects too deep inside each other.
    TooDeep,
    /// JSON, but no message that can be served; the words say why.
    InvalidRequest(String),
    /// A header and the body disagree; the words say where.
    HeaderMismatch(String),
    /// A revision that is not served here.
    UnsupportedVersion {
        /// The revision asked for, as it was written.
        requested: String,
    },
    /// `_meta` of a modern request lacks something; the words say what.
    IncompleteMeta(String),
    /// No such method in this era.
    UnknownMethod(String),
    /// The method's parameters are not right; the words say why.
    InvalidParams(String),
    /// The application is connected and does not declare this tool.
    UnknownTool(String),
    /// As many notification streams are open as may be.
    TooManyStreams,
    /// What let the agent in was revoked while its call was under way: the connection ends without an answer.
    Revoked,
    /// The agent took its call back; nobody reads an answer.
    Cancelled,
    /// The call ended without the application's answer.
    Ended(Ended),
    /// The bridge shuts down: the connection ends without an answer.
    ShuttingDown,
}

/// A call that the application did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub outcome: Outcome,
    /// Whether the answer may carry the outcome as `structuredContent` too: only for a tool known to declare no
    /// `outputSchema`, since a strict agent would check it against that.
    pub structured: bool,
}

/// See `docs/protocol.md`, "Call outcomes".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Not connected, or not registered yet.
    Offline,
    /// The connection ended or was replaced after sending.
    Disconnected,
    /// No answer within this time.
    Timeout(Duration),
    /// It sent nothing after the call, after a long silence.
    Unresponsive,
    /// The person must be asked, and nobody can be.
    Unattended,
    /// The person, or a rule of theirs, said no.
    Declined,
    /// Nobody answered the question within this time.
    Unanswered(Duration),
    /// The person paused the bridge.
    Paused,
    /// The person blocked the application or the agent.
    Blocked,
    /// The tool changed, or the application was replaced, before sending.
    Changed,
    /// A limit was reached.
    Busy(Limit),
}

/// Which limit keeps a call from being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Calls of this application, sent and not answered.
    CallsInFlight,
    /// Calls of all applications.
    CallsInAll,
    /// Bytes the application has not taken yet.
    UnsentBytes,
    /// The message to the application would be over its limit.
    MessageBytes,
    /// Open questions of this application.
    Questions,
    /// Open questions of this agent.
    QuestionsOfAgent,
}

impl Outcome {
    /// What programs match.
    pub const fn code(self) -> OutcomeCode {
        match self {
            Self::Offline => OutcomeCode::Offline,
            Self::Disconnected => OutcomeCode::Disconnected,
            Self::Timeout(_) => OutcomeCode::Timeout,
            Self::Unresponsive => OutcomeCode::Unresponsive,
            Self::Unattended => OutcomeCode::Unattended,
            Self::Declined => OutcomeCode::Declined,
            Self::Unanswered(_) => OutcomeCode::Unanswered,
            Self::Paused => OutcomeCode::Paused,
            Self::Blocked => OutcomeCode::Blocked,
            Self::Changed => OutcomeCode::Changed,
            Self::Busy(_) => OutcomeCode::Busy,
        }
    }
}

impl From<Ended> for Refusal {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}
