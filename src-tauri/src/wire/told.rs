//! What the windows are told without asking.

use serde::{Deserialize, Serialize};

use super::{DoorQuestionView, FinishedCalls, QuestionView, View};

/// What the main window is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum TellMain {
    /// What there is to see, whenever it changed.
    View(Box<View>),
    /// Calls that ended.
    Finished(FinishedCalls),
}

/// What the small window of a question is told: how that question stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum TellQuestion {
    /// One about a call.
    Question(Box<QuestionView>),
    /// One at the local door.
    DoorQuestion(Box<DoorQuestionView>),
}
