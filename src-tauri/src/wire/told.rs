//! What the main window is told without asking. The small window of a question is told `QuestionView`s alone.

use serde::{Deserialize, Serialize};

use super::{FinishedCalls, View};

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
