//! Icon and menu of the tray as a value that can be compared: it is shown again only when it differs.

use crate::shell::Action;

/// All that the tray shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tray {
    /// The icon.
    pub icon: Icon,
    /// The menu, from above.
    pub menu: Vec<Entry>,
}

/// The icon. Each differs from the others by shape as well as by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Icon {
    /// Nothing is under way.
    Idle,
    /// A call is under way.
    Active,
    /// A question waits for the person.
    Waiting,
    /// The person paused.
    Paused,
    /// The bridge does not serve.
    Error,
}

/// A line of the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A line that only says something.
    Line(String),
    /// Something to pick.
    Pick {
        /// What it says.
        text: String,
        /// What it does.
        action: Action,
        /// Whether it can be picked.
        enabled: bool,
        /// Whether a tick stands before it; none for one that has no tick.
        checked: Option<bool>,
    },
    /// A menu of its own.
    Menu {
        /// What it says.
        text: String,
        /// Its entries.
        entries: Vec<Entry>,
    },
    /// A line between groups.
    Separator,
}
