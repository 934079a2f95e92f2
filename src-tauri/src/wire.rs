//! What the windows ask of the app, and what they are told: everything that crosses between Rust and the web views.
//!
//! No token, secret or path token is ever in it: whatever is copied is copied on this side. Texts of other programs stand
//! in strings, and a window shows them through its own `shown`. Numbers of other programs' JSON stay text.
//!
//! The same types for TypeScript stand in `ui/src/desktop.ts`, written by `cargo xtask bindings`.

mod answer;
mod ask;
mod view;

pub use self::{answer::*, ask::*, view::*};

/// The event that carries a [`View`] to the main window, whenever it changed.
pub const VIEW_EVENT: &str = "view";

/// The event that carries [`FinishedCalls`] to the main window.
pub const FINISHED_EVENT: &str = "finished";

/// The event that carries a [`QuestionView`] to the small window of that question.
pub const QUESTION_EVENT: &str = "question";

/// The event that carries a [`DoorQuestionView`] to the small window of that question.
pub const DOOR_QUESTION_EVENT: &str = "door_question";
