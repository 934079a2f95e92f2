//! What the windows ask of the app, and what they are told: everything that crosses between Rust and the web views.
//!
//! No token, secret or path token is ever in it: whatever is copied is copied on this side. Texts of other programs stand
//! in strings, and a window shows them through its own `shown`. Numbers of other programs' JSON stay text.
//!
//! The same types for TypeScript stand in `ui/src/desktop.ts`, written by `cargo xtask bindings`.

use std::path::PathBuf;

use clientmcp_protocol::{
    control::{
        ClientOrigins, Count, Ending, ErrorCode, FinishedCall, Millis, Mode, Pin, QuestionHead, QuestionPart, Snapshot,
        TextRef, Verdict, Which,
    },
    ids::{ClientId, Fingerprint, Label, QuestionId, Role, ToolName},
};
use serde::{Deserialize, Serialize};

/// The event that carries a [`View`] to the main window, whenever it changed.
pub const VIEW_EVENT: &str = "view";

/// The event that carries [`FinishedCalls`] to the main window.
pub const FINISHED_EVENT: &str = "finished";

/// The event that carries a [`QuestionView`] to the small window of that question.
pub const QUESTION_EVENT: &str = "question";

/// What the main window asks. Each is answered by one [`Answer`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Ask {
    /// All there is to see, now.
    View,
    /// The newest finished calls, at most 1,000.
    Calls,
    /// A piece of a text.
    Text {
        /// Which text.
        text: TextRef,
        /// Where the piece begins, in bytes.
        offset: Count,
    },
    /// About a question that the Approvals view shows.
    Question {
        /// Which.
        id: QuestionId,
        /// What.
        about: AboutQuestion,
    },
    /// Sets an application's mode.
    SetMode {
        /// Which application.
        application: ClientId,
        /// Its mode.
        mode: Mode,
        /// For how long. `allow_all` is never for always.
        lasts: Lasts,
    },
    /// Takes a rule back.
    RemoveRule {
        /// Which.
        id: String,
    },
    /// Lets an application connect from one more origin.
    AddOrigin {
        /// Which application.
        application: ClientId,
        /// A serialized origin or `native`.
        origin: String,
    },
    /// Answers every call `paused` until `resume`.
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
    /// The person's own call: the click is its approval.
    TryTool {
        /// Whose tool.
        application: ClientId,
        /// Which tool.
        tool: ToolName,
        /// The definition that the person saw.
        fingerprint: Fingerprint,
        /// A JSON object, as it will be sent.
        arguments: String,
    },
    /// Replaces what the person set.
    SetPreferences {
        /// All of it.
        preferences: Preferences,
    },
    /// Copies the agents' URL.
    CopyUrl,
    /// Makes a token and copies it.
    CopyToken {
        /// Whose.
        application: ClientId,
        /// Of which role.
        role: Role,
        /// What it is called.
        label: Option<Label>,
        /// Days until it ends; none for never.
        days: Option<u32>,
    },
    /// What to paste into each host, with a placeholder where the token will be.
    Snippets {
        /// For which application.
        application: ClientId,
    },
    /// Makes a token for a host and copies the host's snippet with it.
    CopySnippet {
        /// For which application.
        application: ClientId,
        /// A [`Snippet::host`].
        host: String,
    },
    /// A new secret signs from now on; tokens that older ones signed stay valid.
    Rotate,
    /// Forgets all secrets but the newest: all tokens that others signed end.
    DropOldSecrets,
    /// A new secret alone: all tokens end.
    RevokeAll,
    /// Back to the first start: secrets, settings, rules and known applications go.
    ForgetEverything,
    /// Where secrets are to be kept, when the place that was meant is in trouble.
    Keep {
        /// The choice.
        choice: Keep,
    },
    /// Starts a bridge again that was given up.
    Retry,
    /// What to send to who helps, without secrets.
    Diagnostics,
    /// Copies it.
    CopyDiagnostics,
    /// The person has read a notice.
    Dismiss {
        /// Its number.
        number: Count,
    },
    /// Which page the window shows.
    Looking {
        /// The page.
        page: Page,
    },
    /// Quits, whatever is under way.
    Quit,
    /// Does not quit after all.
    Stay,
}

/// What a small window asks about the one question that it shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum AboutQuestion {
    /// What is to be shown: answered by [`Answer::Question`].
    Look,
    /// The second animation frame with the content in it: from now on the question can be read.
    Painted,
    /// The buttons are at another place than before: what is clicked now was aimed at something else.
    Moved,
    /// A piece of one of its texts. What was read in order to the end counts as shown.
    Text {
        /// Which text.
        part: QuestionPart,
        /// Where the piece begins, in bytes.
        offset: Count,
    },
    /// The answer.
    Decide {
        /// The definition that was shown.
        fingerprint: Fingerprint,
        /// Yes or no.
        verdict: Verdict,
        /// What else.
        also: AlsoFor,
    },
}

/// What goes with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum AlsoFor {
    /// This call alone.
    Nothing,
    /// This tool: a rule.
    Tool {
        /// For every agent, not only the one that asked.
        any_agent: bool,
        /// For how long.
        lasts: Lasts,
    },
    /// With a no: all calls of this agent, for 15 minutes.
    Agent,
}

/// For how long something is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Lasts {
    /// 15 minutes from now.
    Minutes15,
    /// Until the app quits.
    Quit,
    /// Until it is taken back.
    Always,
}

/// Where secrets are to be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Keep {
    /// Where they were meant to be: try again.
    Again,
    /// In memory: nothing is written, and all tokens end when the app quits.
    Session,
    /// In a file of the app's own folder that only this user can read.
    File,
}

/// A page of the main window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Page {
    /// Who is connected, and who was.
    #[default]
    Applications,
    /// Calls under way and finished ones.
    Calls,
    /// Questions, grants and rules.
    Approvals,
    /// How agents connect.
    Connect,
    /// What the person set.
    Settings,
}

/// What came of an [`Ask`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Answer {
    /// It is done.
    Done,
    /// All there is to see.
    View(Box<View>),
    /// The newest finished calls.
    Calls(FinishedCalls),
    /// One question.
    Question(Box<QuestionView>),
    /// A piece of a text.
    Text {
        /// The piece; empty at the end.
        piece: String,
        /// The whole text's bytes.
        bytes: Count,
    },
    /// The person's own call ended; its texts are read under this number.
    Tried {
        /// How.
        outcome: Ending,
        /// Its number.
        number: Count,
    },
    /// It is in the clipboard.
    Copied {
        /// One sentence: for how long, and when it ends.
        sentence: String,
    },
    /// What to paste into each host.
    Snippets(Vec<Snippet>),
    /// What to send to who helps.
    Diagnostics(String),
    /// Nothing was done.
    Refused {
        /// A stable code.
        code: RefusedCode,
        /// What happened, what it means, what to do.
        sentence: String,
    },
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum RefusedCode {
    /// Too early: the question has not been in view for long enough.
    Early,
    /// Not before all of it was shown, or never for a tool that is marked destructive.
    NotForAlways,
    /// No bridge runs.
    NoBridge,
    /// The clipboard cannot be used.
    Clipboard,
    /// It could not be written down.
    Unsaved,
    /// The keychain or the secret file cannot be used.
    Keys,
    /// The system refused.
    System,
    /// The bridge refused.
    Bridge(ErrorCode),
}

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
    /// The port on 127.0.0.1. Another one starts the bridge anew.
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
    /// Whether "always" can be offered at all: not for a tool marked destructive, and only once all was shown.
    pub always: Always,
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
    /// Not before all arguments were read to their end.
    NotAllShown,
    /// Never: the tool is marked destructive.
    Destructive,
}

/// What to paste into one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Snippet {
    /// A stable name: `claude-code`, `cursor`, ...
    pub host: String,
    /// The host's own name.
    pub name: String,
    /// Where it goes: a file's path, as people write it, or a terminal.
    pub place: String,
    /// `json`, `toml`, `yaml` or `shell`.
    pub language: String,
    /// The text, with `<token>` where the token will be.
    pub text: String,
    /// One sentence about what to mind.
    pub note: Option<String>,
}
