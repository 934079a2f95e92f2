//! What the bridge tells the desktop.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{BlockedAgent, Count, Hello, Memory, Millis, ModeOf, Pair, Rule, Settings};
use crate::{
    codes::OutcomeCode,
    ids::{ClientId, Fingerprint, Label, QuestionId, Role, ToolName},
};

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Event {
    /// The first message.
    Hello(Hello),
    /// The bridge serves.
    Listening {
        /// Where agents call.
        mcp: String,
        /// Where applications connect.
        connect: String,
        /// The bridge's process.
        pid: u32,
    },
    /// All there is to see, whole: never two equal ones, at most 10 a second.
    Snapshot(Box<Snapshot>),
    /// Calls that ended, in the order of their numbers.
    Finished {
        /// Calls.
        calls: Vec<FinishedCall>,
        /// How many between the last message and this one were dropped, because the desktop did not read.
        missed: Count,
    },
    /// What is to be written down, whole, whenever it changed.
    Remember(Box<Memory>),
    /// The answer to a command.
    Reply {
        /// The command's number.
        request: Count,
        /// What came of it.
        reply: Reply,
    },
    /// Something went wrong that no command asked for. One sentence.
    Error {
        /// A stable code.
        code: ErrorCode,
        /// What happened, what it means, what to do.
        sentence: String,
    },
}

/// What came of a command. A token in it is never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Reply {
    /// It is done.
    Done,
    /// A piece of a text.
    Text {
        /// The piece.
        piece: String,
        /// The whole text's bytes.
        bytes: Count,
    },
    /// A token. The only secret that ever comes back, and only to who asked.
    Token {
        /// The token.
        token: String,
        /// When it ends.
        ends: Option<Millis>,
    },
    /// The person's own call ended.
    Tried {
        /// How.
        outcome: Ending,
        /// The number under which its texts are kept.
        number: Count,
    },
    /// Nothing was done.
    Refused {
        /// A stable code.
        code: ErrorCode,
        /// Why.
        sentence: String,
    },
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("Done"),
            Self::Text { piece, bytes } => f.debug_struct("Text").field("piece", piece).field("bytes", bytes).finish(),
            Self::Token { token: _, ends } => f.debug_struct("Token").field("ends", ends).finish_non_exhaustive(),
            Self::Tried { outcome, number } => {
                f.debug_struct("Tried").field("outcome", outcome).field("number", number).finish()
            }
            Self::Refused { code, sentence } => {
                f.debug_struct("Refused").field("code", code).field("sentence", sentence).finish()
            }
        }
    }
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum ErrorCode {
    /// The line was no command that is known.
    NotACommand,
    /// The other end speaks another version of this channel.
    Version,
    /// `start` was missing, or came twice.
    Start,
    /// The port is taken.
    PortTaken,
    /// The port cannot be listened on.
    Listen,
    /// A secret cannot be used.
    Secret,
    /// A value is out of its bounds.
    Value,
    /// There is no such question any more, or its definition is another one.
    NoSuchQuestion,
    /// There is no such thing.
    NotFound,
    /// It changed meanwhile: look again.
    Stale,
}

/// All there is to see. Heads only: whole texts are read with `get`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Snapshot {
    /// Counts up with each snapshot.
    pub revision: Count,
    /// Calls are answered `paused`.
    pub paused: bool,
    /// What is set.
    pub settings: Settings,
    /// Connected applications, by client ID.
    pub applications: Vec<ApplicationHead>,
    /// Open questions, the earliest end first.
    pub questions: Vec<QuestionHead>,
    /// Calls under way, in the order of their numbers.
    pub calls: Vec<CallHead>,
    /// Modes other than `ask`.
    pub modes: Vec<ModeOf>,
    /// Rules in force.
    pub rules: Vec<Rule>,
    /// Counts up with each change of the rules.
    pub rules_revision: Count,
    /// Agents that are blocked.
    pub blocked: Vec<BlockedAgent>,
    /// What was refused at the door since the start.
    pub refused: RefusedCounts,
    /// How many entries were left out to keep the message within its size.
    pub cut: Cut,
    /// The local door.
    #[serde(default)]
    pub door: DoorHead,
    /// Open questions at the local door, the earliest end first.
    #[serde(default)]
    pub door_questions: Vec<DoorQuestion>,
    /// Hosts that were let in at the local door, or turned away.
    #[serde(default)]
    pub pairs: Vec<Pair>,
}

/// The local door, through which hosts that start a command reach the bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DoorHead {
    /// Whether it is open.
    pub open: bool,
    /// Why not, in one sentence.
    pub fault: Option<String>,
}

/// One open question at the local door.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DoorQuestion {
    /// To be named in `decide_door`.
    pub id: QuestionId,
    /// What is asked for.
    pub wants: DoorWants,
    /// Who asks, as the system tells it. What runs there may have changed since: it proves nothing.
    pub program: DoorProgram,
    /// When it was asked.
    pub asked: Millis,
    /// When it ends without an answer.
    pub ends: Millis,
}

/// What somebody at the local door wants that the person has not answered yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum DoorWants {
    /// A host wants to call an application's tools. The answer is remembered as a pair.
    Pair {
        /// What it calls itself. Nobody has checked it.
        host: Label,
        /// Whose tools; none for those of all applications.
        application: Option<ClientId>,
    },
    /// Somebody wants a token. The answer is for this once.
    Token {
        /// For which application.
        application: ClientId,
        /// Of which role.
        role: Role,
        /// What the agent is to be called.
        label: Option<Label>,
        /// Seconds until it ends; none for never.
        #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
        seconds: Option<u64>,
    },
}

/// A process as the system tells it, its texts made harmless and cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DoorProgram {
    /// Its process, where the system tells.
    pub pid: Option<u32>,
    /// The program's path, where the system tells.
    pub path: Option<String>,
    /// The path of the program that started it: of a host's command, the host.
    pub parent: Option<String>,
}

/// Entries left out of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Cut {
    /// Of `applications`.
    pub applications: Count,
    /// Of `questions`.
    pub questions: Count,
    /// Of `calls`.
    pub calls: Count,
    /// Of `rules`.
    pub rules: Count,
    /// Of `modes`.
    pub modes: Count,
    /// Of `blocked`.
    pub blocked: Count,
}

/// Requests that failed a check at the door. Counted only: nothing of them is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RefusedCounts {
    /// A foreign `Host`.
    pub host: Count,
    /// A foreign `Origin` at the agents' endpoint.
    pub origin: Count,
    /// A token that is none of ours, or none any more.
    pub token: Count,
    /// An application from an origin that is not pinned.
    pub client_origin: Count,
}

/// A connected application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ApplicationHead {
    /// Its client ID.
    pub id: ClientId,
    /// Counts up with each connection: another number is another connection.
    pub connection: Count,
    /// The label of the token that it connected with.
    #[serde(default)]
    pub label: Option<Label>,
    /// Where it came from: an origin, or `native`.
    pub origin: String,
    /// Since when it is connected.
    pub since: Millis,
    /// Whether it has registered.
    pub registered: bool,
    /// How many tools it declares.
    pub tools: Count,
    /// Bytes of its tools' definitions together.
    pub tools_bytes: Count,
    /// Bytes of its instructions.
    pub instructions_bytes: Count,
    /// SHA-256 over its tools and instructions: another one is another declaration.
    pub declaration: Option<Fingerprint>,
    /// Calls sent and not answered.
    pub in_flight: Count,
    /// It sent nothing after a call, after a long silence.
    pub unresponsive: bool,
}

/// One open question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QuestionHead {
    /// To be named in `decide`.
    pub id: QuestionId,
    /// Of its call.
    pub number: Count,
    /// Whose tool.
    pub application: ClientId,
    /// Where the application came from.
    pub origin: String,
    /// Which tool.
    pub tool: ToolName,
    /// Its definition's fingerprint, to be named in `decide`.
    pub fingerprint: Fingerprint,
    /// What it calls itself, made harmless and cut.
    pub title: Option<String>,
    /// What it says it does, made harmless and cut.
    pub description: Option<String>,
    /// Who asks.
    pub agent: Option<Label>,
    /// How it came.
    pub via: Via,
    /// What the agent calls itself, made harmless and cut. Nobody has checked it.
    pub reported: Option<String>,
    /// Bytes of the arguments.
    pub arguments_bytes: Count,
    /// Bytes of the definition.
    pub tool_bytes: Count,
    /// The application's own claims.
    pub hints: Hints,
    /// The application's own word for how much it matters, made harmless and cut.
    pub risk: Option<String>,
    /// Whether this definition was never seen, or another one was.
    pub definition: Definition,
    /// When it was asked.
    pub asked: Millis,
    /// When nobody will have answered.
    pub ends: Millis,
}

/// How an agent came, and so who gave it its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Via {
    /// With a token: the person named the agent when they made it.
    Token,
    /// By the local door, under its own word, which nobody has checked.
    Door,
}

/// What is known of a tool's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Definition {
    /// A call of this one was allowed before, from this origin.
    Seen,
    /// No call of this tool was allowed before, from this origin.
    New,
    /// A call of another one was allowed before, from this origin.
    Changed,
}

/// A tool's annotations: claims of the application, checked by nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Hints {
    /// `readOnlyHint`
    pub read_only: Option<bool>,
    /// `destructiveHint`
    pub destructive: Option<bool>,
    /// `idempotentHint`
    pub idempotent: Option<bool>,
    /// `openWorldHint`
    pub open_world: Option<bool>,
}

/// A call under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallHead {
    /// Counts up with each call of this bridge.
    pub number: Count,
    /// Whose tool.
    pub application: ClientId,
    /// Which tool, made harmless: it is the agent's word where there is no such tool.
    pub tool: String,
    /// Who called.
    pub agent: Option<Label>,
    /// How it came; none for the person's own call.
    pub via: Option<Via>,
    /// The person's own call.
    pub own: bool,
    /// Waiting until it was sent.
    pub sent: Option<Millis>,
    /// When it came.
    pub began: Millis,
    /// Bytes of the arguments.
    pub arguments_bytes: Count,
}

/// A call that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FinishedCall {
    /// What it was.
    pub call: CallHead,
    /// How it ended.
    pub outcome: Ending,
    /// When.
    pub ended: Millis,
    /// Bytes of the result; 0 without one.
    pub result_bytes: Count,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Ending {
    /// The application answered.
    Answered,
    /// The application answered that its tool failed.
    Failed,
    /// The application did not answer.
    Code(OutcomeCode),
    /// The application did not declare the tool.
    UnknownTool,
}
