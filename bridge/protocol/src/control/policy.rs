//! What is in force and what is remembered: modes, rules, pins, revocations, settings.

use serde::{Deserialize, Serialize};

use super::Millis;
use crate::ids::{ClientId, Fingerprint, Label, Role, ToolName};

/// Whether an application's calls need the person's answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Mode {
    /// Each call is asked for, unless a rule answers.
    #[default]
    Ask,
    /// Calls of tools that claim to be read-only, with a definition seen before, are not asked for.
    AskExceptReadOnly,
    /// No call is asked for, until an end.
    AllowAll,
    /// No call is sent.
    Block,
}

/// The mode of one application; those without one are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModeOf {
    /// Which application.
    pub application: ClientId,
    /// Its mode.
    pub mode: Mode,
    /// When it goes back to `ask`. `allow_all` always has an end.
    pub until: Until,
    /// For `allow_all` until the app quits: when it ends at the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub ends: Option<Millis>,
}

/// When a grant or a refusal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Until {
    /// Not by itself. Written down by the desktop.
    Always,
    /// When the desktop app quits. Handed over again after a restart of the bridge.
    Quit,
    /// At this time, or after as long as it was away when it was set, whichever is first.
    At(Millis),
}

/// Whether a rule lets calls through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Verdict {
    /// The call is sent.
    Allow,
    /// The call is answered `declined`.
    Deny,
}

/// Whose calls a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum RuleAgent {
    /// Every agent of the application.
    Any,
    /// The agent with this label; without one, the unlabelled one.
    One(Option<Label>),
}

/// A remembered answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Rule {
    /// Given by the bridge; unique among rules.
    pub id: String,
    /// Whose tool.
    pub application: ClientId,
    /// Which tool.
    pub tool: ToolName,
    /// Whose calls.
    pub agent: RuleAgent,
    /// Allow or deny.
    pub verdict: Verdict,
    /// The definition it was given for. An allow rule without one, or for another one, allows nothing.
    pub fingerprint: Option<Fingerprint>,
    /// The origin it was given for. An allow rule without one, or for another one, allows nothing.
    pub origin: Option<String>,
    /// Its end.
    pub until: Until,
    /// When it was made.
    pub made: Millis,
}

/// Origins from which an application may connect. `native` stands for no origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Pin {
    /// Which application.
    pub application: ClientId,
    /// Its origins, the first seen first.
    pub origins: Vec<String>,
}

/// The generation that tokens of an application and role must have; 0 where none is named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Generation {
    /// Whose tokens.
    pub application: ClientId,
    /// Of which role.
    pub role: Role,
    /// What their `gen` must equal.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub generation: u64,
}

/// Tokens of one label issued before a moment are refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Floor {
    /// Whose tokens.
    pub application: ClientId,
    /// Of which role.
    pub role: Role,
    /// Of which label; none for unlabelled ones.
    pub label: Option<Label>,
    /// The moment.
    pub issued_before: Millis,
}

/// When the newest token of a label says that it was issued: the clock may have been ahead then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Issued {
    /// Whose tokens.
    pub application: ClientId,
    /// Of which role.
    pub role: Role,
    /// Of which label; none for unlabelled ones.
    pub label: Option<Label>,
    /// The latest moment that one of them names.
    pub newest: Millis,
}

/// An agent whose calls are answered `blocked`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BlockedAgent {
    /// Whose agent.
    pub application: ClientId,
    /// Its label.
    pub label: Option<Label>,
    /// Until when.
    pub until: Until,
}

/// From where applications may connect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum ClientOrigins {
    /// From any origin: the token decides.
    Any,
    /// From the origin that was seen first, and those that the person added.
    #[default]
    Pinned,
}

/// What the person set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Settings {
    /// From where applications may connect.
    pub client_origins: ClientOrigins,
    /// Origins of web pages that may send agent requests, beside the bridge's own.
    pub allow_origins: Vec<String>,
    /// Seconds that an application has for a call: 1 to 3600.
    pub call_seconds: u32,
    /// Seconds that the person has for a question: 10 to 600.
    pub question_seconds: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            client_origins: ClientOrigins::Pinned,
            allow_origins: Vec::new(),
            call_seconds: 120,
            question_seconds: 120,
        }
    }
}

/// All that outlives the bridge and is not a secret. The desktop writes it down whole, and hands it over whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Memory {
    /// Modes other than `ask`.
    pub modes: Vec<ModeOf>,
    /// Rules.
    pub rules: Vec<Rule>,
    /// Agents that are blocked.
    pub blocked: Vec<BlockedAgent>,
    /// Pinned origins.
    pub pins: Vec<Pin>,
    /// Generations other than 0.
    pub generations: Vec<Generation>,
    /// Floors.
    pub floors: Vec<Floor>,
    /// When the newest tokens say that they were issued.
    pub issued: Vec<Issued>,
    /// Definitions that the person has seen: a read-only claim counts only for these.
    pub seen: Vec<Seen>,
    /// Hosts that were let in at the local door, or turned away.
    pub pairs: Vec<Pair>,
}

/// A host that starts a command, and an application whose tools it may call through the local door. The host's name is
/// its own word: nobody has checked it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Pair {
    /// What the host calls itself. Its calls have this label.
    pub host: Label,
    /// Which application; none for all of them. A pair with one counts before a pair with none.
    pub application: Option<ClientId>,
    /// Whether it is let in. Without a pair the person is asked.
    pub verdict: Verdict,
    /// When it was made.
    pub made: Millis,
}

/// A definition that was shown to the person, or used under a rule, when the application came from one origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Seen {
    /// Whose tool.
    pub application: ClientId,
    /// Which tool.
    pub tool: ToolName,
    /// Where the application came from: the same words from elsewhere were not seen.
    pub origin: String,
    /// Its newest definition that was seen.
    pub fingerprint: Fingerprint,
}
