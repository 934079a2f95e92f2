//! What comes of what was asked.

use clientmcp_protocol::control::{Count, Ending, ErrorCode};
use serde::{Deserialize, Serialize};

use super::{DoorQuestionView, FinishedCalls, QuestionView, Snippet, View};

/// What came of an `Ask`.
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
    /// One question at the local door.
    DoorQuestion(Box<DoorQuestionView>),
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
    /// Something lies on the question.
    Covered,
    /// For longer than 15 minutes: not before all of it was in view. For good: never for a tool that is marked destructive.
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
