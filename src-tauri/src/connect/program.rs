//! The bridge's program, as a host is told to start it.

use std::path::Path;

use crate::platform;

/// What to mind where the program will be somewhere else soon.
pub(super) const MOVES: &str = "This app runs from a place that is another one at each start, so this holds until the app \
                                quits: install it, and copy this again.";

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Where it is: an absolute path.
    pub(super) path: String,
    /// It is somewhere else after the next start.
    pub(super) moves: bool,
}

impl Program {
    /// The one at this place; none where the place's name is no text, as no host's file could hold it.
    pub fn at(path: &Path) -> Option<Self> {
        Some(Self { path: path.to_str()?.to_owned(), moves: platform::moves(path) })
    }
}
