//! What the windows show.

use std::path::PathBuf;

use clientmcp_protocol::{
    control::{ClientOrigins, Count, DoorQuestion, ErrorCode, FinishedCall, Millis, Pin, QuestionHead, Snapshot},
    ids::{ClientId, Label, Role},
};
use serde::{Deserialize, Serialize};

use super::{Keep, Page};

/// Calls that ended, in the order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FinishedCalls {
    /// Counts up with each bridge that was started: another number is another sequence of call numbers, and texts of
    /// calls of an earlier one are gone.
    pub run: Count,
    /// Calls.
    pub calls: Vec<FinishedCall>,
    /// How many before them were missed.
    pub missed: Count,
}

/// All that the main window shows, but for finished calls and whole texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct View {
    /// The app's own version.
    pub version: String,
    /// The bridge.
    pub bridge: BridgeState,
    /// Where secrets are kept.
    pub keys: KeysState,
    /// What the bridge tells; none before it told anything.
    pub snapshot: Option<Box<Snapshot>>,
    /// Applications that have connected.
    pub known: Vec<Known>,
    /// From where applications may connect.
    pub pins: Vec<Pin>,
    /// What the person set.
    pub preferences: Preferences,
    /// Secrets beside the newest that still verify tokens.
    pub old_secrets: Count,
    /// What happened that the person should know, the newest first, at most 50.
    pub notices: Vec<Notice>,
    /// Why there is no tray icon, where there is none. One sentence.
    pub no_tray: Option<String>,
    /// Whether questions come in a small window of their own; otherwise as notifications that open this one.
    pub question_windows: bool,
    /// The person wants to quit while this many calls are under way.
    pub quitting: Option<Count>,
    /// Opened by the tray or a notification: the page to show, and a number that counts up with each such wish.
    pub wanted: (Page, Count),
}

/// What became of the bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum BridgeState {
    /// It waits for the secrets.
    #[default]
    Held,
    /// It is being started.
    Starting,
    /// It serves.
    Running {
        /// Where agents call.
        mcp: String,
        /// Where applications connect.
        connect: String,
    },
    /// It ended by itself, and is started again soon.
    Waiting {
        /// What happened. One sentence.
        sentence: String,
    },
    /// It is not started again before the person says so.
    Failed {
        /// A stable code, where the bridge said one.
        code: Option<ErrorCode>,
        /// What happened, what it means, what to do.
        sentence: String,
    },
}

/// Where secrets are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum KeysState {
    /// They are being read. The system may be asking the person.
    #[default]
    Reading,
    /// In the keychain.
    Keychain,
    /// In memory, until the app quits.
    Session,
    /// In this file.
    File {
        /// Its name.
        path: PathBuf,
    },
    /// Nowhere yet: the person chooses.
    Trouble {
        /// A stable code.
        code: KeysCode,
        /// What happened, what it means, what to do.
        sentence: String,
        /// What can be chosen, the best first.
        choices: Vec<Keep>,
    },
}

/// Why the secrets cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum KeysCode {
    /// There is no session bus, so no keychain can be reached. (Linux.)
    NoBus,
    /// No keychain program is installed or running. (Linux.)
    NoProvider,
    /// It is locked, or the person closed its prompt.
    Locked,
    /// The system does not let this app use the entry.
    Refused,
    /// The entry is not ours to read: it does not say what ours say.
    Damaged,
    /// Anything else.
    Failed,
    /// The secret file cannot be used.
    File,
}

/// An application that has connected, or that a token was made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Known {
    /// Which.
    pub application: ClientId,
    /// When it connected last; none when it never did.
    pub last_seen: Option<Millis>,
    /// Labels that tokens were made for.
    pub labels: Vec<KnownLabel>,
}

/// A label that tokens were made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct KnownLabel {
    /// Of which role.
    pub role: Role,
    /// The label; none for tokens without one.
    pub label: Option<Label>,
    /// When a token with it was used last.
    pub last_use: Option<Millis>,
    /// When the last of its tokens ends; none when one never does.
    pub end: Option<Millis>,
}

/// What the person set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Preferences {
    /// The port on 127.0.0.1 that is remembered; `--port` may have named another one for this run. Another one starts the
    /// bridge anew.
    pub port: u16,
    /// From where applications may connect.
    pub client_origins: ClientOrigins,
    /// Origins of web pages that may send agent requests, beside the bridge's own.
    pub allow_origins: Vec<String>,
    /// Seconds that an application has for a call: 1 to 3600.
    pub call_seconds: u32,
    /// Seconds that the person has for a question: 10 to 600.
    pub question_seconds: u32,
    /// Light or dark.
    pub theme: Theme,
    /// Whether the app starts when the person logs in.
    pub start_at_login: bool,
}

/// How windows look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Theme {
    /// As the system does.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Something that happened, for the person to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Notice {
    /// Counts up.
    pub number: Count,
    /// When.
    pub at: Millis,
    /// What.
    pub kind: NoticeKind,
    /// Whom it is about.
    pub application: Option<ClientId>,
    /// Whatever else there is to say, made harmless: an origin, a sentence.
    pub detail: Option<String>,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum NoticeKind {
    /// An application connected for the first time. `detail` is its origin.
    FirstConnection,
    /// A newer connection took an application's place. `detail` is its origin.
    Replaced,
    /// Applications were refused, as they came from an origin that is not pinned. `detail` is how many.
    OriginRefused,
    /// The settings file could not be used. `detail` says why and what it means.
    SettingsLost,
    /// Something could not be written down. `detail` says why.
    Unsaved,
    /// The bridge ended by itself. `detail` says why.
    BridgeEnded,
    /// A token ends within 7 days. `detail` is its label.
    TokenEnds,
    /// The bridge said that something went wrong. `detail` is its sentence.
    Trouble,
}

/// One question, with what its window needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QuestionView {
    /// The question.
    pub question: QuestionHead,
    /// Until something can be allowed, in milliseconds from now: 0 when it can, none while the clock stands.
    pub armed_in: Option<Count>,
    /// Until a no counts, in the same way; none while there is nothing to refuse yet. Never later than a yes.
    pub deny_in: Option<Count>,
    /// Whether all of the arguments were in view: only then is anything allowed that stands longer than 15 minutes.
    pub all_seen: bool,
    /// Whether "always" can be offered at all: not for a tool marked destructive, and only once all was in view.
    pub always: Always,
    /// How many other questions wait.
    pub others: Count,
    /// Light or dark.
    pub theme: Theme,
}

/// One question at the local door, with what its card needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DoorQuestionView {
    /// The question.
    pub question: DoorQuestion,
    /// Until it can be allowed, in milliseconds from now: 0 when it can, none while the clock stands.
    pub armed_in: Option<Count>,
    /// Until a no counts, in the same way; none while there is nothing to refuse yet. Never later than a yes.
    pub deny_in: Option<Count>,
    /// How many other questions wait.
    pub others: Count,
    /// Light or dark.
    pub theme: Theme,
}

/// Whether an answer can be remembered for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Always {
    /// It can.
    Offered,
    /// Not before all arguments were in view.
    NotAllShown,
    /// Never: the tool is marked destructive.
    Destructive,
}

/// How a host reaches the bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum SnippetBy {
    /// It starts a command, which comes in at the local door: no token.
    Command,
    /// It calls the agents' URL with a token.
    Url,
}

/// What to paste into one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Snippet {
    /// A stable name: `claude-code`, `cursor`, ...
    pub host: String,
    /// The host's own name.
    pub name: String,
    /// How the host reaches the bridge. One host may have both.
    pub by: SnippetBy,
    /// Where it goes: a file's path, as people write it, or a terminal.
    pub place: String,
    /// `json`, `toml`, `yaml` or `shell`.
    pub language: String,
    /// The text. By a URL, with `<token>` where the token will be.
    pub text: String,
    /// What to mind.
    pub note: Option<String>,
}
