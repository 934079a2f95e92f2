//! What the windows ask.

use clientmcp_protocol::{
    control::{Count, Mode, QuestionPart, TextRef, Verdict, Which},
    ids::{ClientId, Fingerprint, Label, QuestionId, Role, ToolName},
};
use serde::{Deserialize, Serialize};

use super::{Preferences, SnippetBy};

/// What the main window asks. Each is answered by one `Answer`.
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
    /// About a question at the local door, which the Approvals view shows.
    DoorQuestion {
        /// Which.
        id: QuestionId,
        /// What.
        about: AboutDoorQuestion,
    },
    /// Lets a host in at the local door, without a question.
    AllowPair {
        /// What it calls itself.
        host: Label,
        /// To which application's tools; none for all of them.
        application: Option<ClientId>,
    },
    /// Forgets what was said of a host at the local door: it is cut off, and asked about the next time.
    ForgetPair {
        /// What it calls itself.
        host: Label,
        /// Which application; none for what was said of all of them.
        application: Option<ClientId>,
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
    /// Copies a host's snippet: by a URL, with a token that is made for it; by a command, and lets the host in at the local
    /// door.
    CopySnippet {
        /// For which application.
        application: ClientId,
        /// A `Snippet::host`.
        host: String,
        /// A `Snippet::by`.
        by: SnippetBy,
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
    /// A page begins to show it, and has painted nothing of it: what was reported before is over. Answered like `Look`.
    Begin,
    /// What is to be shown: answered by `Answer::Question`, or `Answer::DoorQuestion` where it is one at the local door.
    Look,
    /// The second animation frame with the content in it: from now on the question can be read.
    Painted,
    /// What of the arguments is in view on the page. Without it nothing can be allowed; by itself it allows nothing.
    InView {
        /// The definition that is shown.
        fingerprint: Fingerprint,
        /// Their first line is, whole.
        first: bool,
        /// All of them were, since the page began: nothing was folded and nothing cut.
        all: bool,
    },
    /// Whether what is asked for at the local door is in view in its window. As `InView`.
    DoorInView {
        /// Its first line is, and all of it was.
        all: bool,
    },
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
    /// The answer to a question at the local door. To a pair it is remembered, to a token it is for this once.
    DecideDoor {
        /// Yes or no.
        verdict: Verdict,
    },
}

/// What the Approvals view asks about a question at the local door.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum AboutDoorQuestion {
    /// A card begins to show it: what another card had painted counts no more. Answered as `look`.
    Begin,
    /// What is to be shown: answered by `Answer::DoorQuestion`.
    Look,
    /// The second animation frame with the content in it: from now on the question can be read.
    Painted,
    /// Whether what is asked for is in view on the page. Without it nothing can be allowed; by itself it allows nothing.
    InView {
        /// Its first line is, and all of it was.
        all: bool,
    },
    /// The buttons are at another place than before: what is clicked now was aimed at something else.
    Moved,
    /// The answer. To a pair it is remembered, to a token it is for this once.
    Decide {
        /// Yes or no.
        verdict: Verdict,
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
