//! What the desktop asks of the bridge.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Count, Memory, Mode, Rule, Settings, Until, Verdict};
use crate::ids::{ClientId, Fingerprint, Label, QuestionId, Role, ToolName};

/// One command. Each is answered by one `reply` with its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Request {
    /// The desktop's number for it.
    pub request: Count,
    /// What is asked.
    #[serde(flatten)]
    pub command: Command,
}

/// What the desktop can ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Command {
    /// The first command: begins to listen. Nothing but `shutdown` is served before it.
    Start(Box<Start>),
    /// Answers a question.
    Decide(Decide),
    /// Sets an application's mode.
    SetMode {
        /// Which application.
        application: ClientId,
        /// Its mode.
        mode: Mode,
        /// Until when.
        until: Until,
    },
    /// Replaces all rules. Refused when others came meanwhile.
    SetRules {
        /// The revision that the desktop saw last.
        revision: Count,
        /// The rules from now on.
        rules: Vec<Rule>,
    },
    /// Adds an origin to those from which an application may connect.
    AddOrigin {
        /// Which application.
        application: ClientId,
        /// A serialized origin or `native`; `null` is refused.
        origin: String,
    },
    /// Answers every call `paused` until `resume`. Calls that were sent go on.
    Pause,
    /// Ends `pause`.
    Resume,
    /// Closes an application's connection; it may connect again.
    Disconnect {
        /// Which application.
        application: ClientId,
    },
    /// Refuses tokens from now on, and cuts off who used them.
    Revoke {
        /// Whose tokens.
        application: ClientId,
        /// Of which role.
        role: Role,
        /// Which of them.
        which: Which,
    },
    /// Lifts the block of an agent.
    Unblock {
        /// Whose agent.
        application: ClientId,
        /// Its label.
        label: Option<Label>,
    },
    /// Replaces all secrets: the first signs. Dropping one cuts off all that it let in.
    SetSecrets {
        /// One or more, each of at least 32 bytes.
        secrets: Secrets,
    },
    /// Replaces all settings.
    SetSettings {
        /// The settings from now on.
        settings: Settings,
    },
    /// Makes a token.
    Mint {
        /// Whose.
        application: ClientId,
        /// Of which role.
        role: Role,
        /// What the agent is called.
        label: Option<Label>,
        /// Seconds until it ends; none for never.
        #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
        seconds: Option<u64>,
    },
    /// The person's own call: the click is its approval.
    TryTool {
        /// Whose tool.
        application: ClientId,
        /// Which tool.
        tool: ToolName,
        /// The definition that the person saw.
        fingerprint: Fingerprint,
        /// A JSON object.
        arguments: String,
    },
    /// Runs the sample application in this process.
    SampleStart,
    /// Ends it.
    SampleStop,
    /// Reads a text, from a byte offset on, in a piece of at most 256 KiB.
    Get {
        /// Which text.
        text: TextRef,
        /// Where the piece begins.
        offset: Count,
    },
    /// Lets a host in at the local door, without asking.
    AllowPair {
        /// What it calls itself.
        host: Label,
        /// To which application's tools; none for all of them.
        application: Option<ClientId>,
    },
    /// Forgets a pair: who came in by it is cut off, and the person is asked the next time.
    ForgetPair {
        /// What the host calls itself.
        host: Label,
        /// Which application; none for the pair with all of them.
        application: Option<ClientId>,
    },
    /// Answers a question at the local door.
    DecideDoor {
        /// Which question.
        question: QuestionId,
        /// Yes or no. To a pair it is remembered, to a token it is for this once.
        verdict: Verdict,
    },
    /// Ends the bridge, in order.
    Shutdown,
}

/// What a bridge starts with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Start {
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// One or more: the first signs, all verify.
    pub secrets: Secrets,
    /// What the person set.
    pub settings: Settings,
    /// What the bridge had written down.
    pub memory: Memory,
    /// Whether it starts paused.
    pub paused: bool,
}

/// Secrets on their way in. They are never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Secrets(pub Vec<String>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Decide {
    /// Which question.
    pub question: QuestionId,
    /// The definition that was shown: an answer to another one does nothing.
    pub fingerprint: Fingerprint,
    /// Yes or no.
    pub verdict: Verdict,
    /// What else is to be done in the same step.
    pub also: Also,
}

/// What goes with an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Also {
    /// Nothing: this call alone.
    Nothing,
    /// Remember the answer for this tool. An allow rule is bound to the question's definition and origin; a deny rule to
    /// neither.
    Remember {
        /// For every agent, or for the one that asked.
        any_agent: bool,
        /// Until when.
        until: Until,
    },
    /// With a no: refuse all calls of this agent for 15 minutes.
    BlockAgent,
}

/// Which tokens are revoked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Which {
    /// All of the application and role: the generation is raised.
    All,
    /// Those of one label issued until now: a floor is set.
    Label(Option<Label>),
}

/// A text that can be read piece by piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum TextRef {
    /// Of an open question.
    Question {
        /// Which.
        id: QuestionId,
        /// Which text of it.
        part: QuestionPart,
    },
    /// Of a finished call that is still kept.
    Call {
        /// Its number.
        number: Count,
        /// Which text of it.
        part: CallPart,
    },
    /// Of a connected application.
    Application {
        /// Which.
        id: ClientId,
        /// Which text of it.
        part: ApplicationPart,
    },
}

/// Texts of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum QuestionPart {
    /// As they will be sent.
    Arguments,
    /// The tool's definition.
    Tool,
}

/// Texts of a finished call, each cut at 64 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum CallPart {
    /// As they were sent.
    Arguments,
    /// As it was answered.
    Result,
}

/// Texts of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum ApplicationPart {
    /// A JSON array of its tools' definitions.
    Tools,
    /// A JSON string, or `null`.
    Instructions,
}
