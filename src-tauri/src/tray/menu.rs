//! Icon and menu of the tray as a value that can be compared: it is shown again only when it differs.
//!
//! Everything that can be done with the icon stands in the menu: on Linux a tray icon has no click and no tooltip.

use std::collections::HashSet;

use clientmcp_protocol::{
    control::{Count, FinishedCall, Snapshot},
    ids::ClientId,
    shown::shown_again,
};

use super::words;
use crate::{
    shell::Action,
    wire::{BridgeState, KeysState, Page, View},
};

/// Finished calls in the menu.
const RECENT: usize = 5;

/// Applications in one menu: what is longer than a screen cannot be picked from.
const APPLICATIONS: usize = 20;

/// Characters of a name in the menu, which is as wide as its widest line.
const NAME_CHARS: usize = 40;

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

/// What the tray shows of all there is to see. `recent` are finished calls in the order of their numbers.
pub fn tray(view: &View, recent: &[FinishedCall]) -> Tray {
    let mut menu = head(view);
    menu.extend(calls(recent));
    menu.extend(copies(view));
    menu.extend(foot(view));
    Tray { icon: icon(view), menu }
}

/// The most urgent thing there is to say.
fn icon(view: &View) -> Icon {
    let trouble = matches!(view.keys, KeysState::Trouble { .. });
    match (&view.bridge, served(view)) {
        _ if trouble => Icon::Error,
        (BridgeState::Waiting { .. } | BridgeState::Failed { .. }, _) => Icon::Error,
        (_, Some(snapshot)) if questions(snapshot) > 0 => Icon::Waiting,
        (_, Some(snapshot)) if snapshot.paused => Icon::Paused,
        (_, Some(snapshot)) if !snapshot.calls.is_empty() => Icon::Active,
        (BridgeState::Held | BridgeState::Starting | BridgeState::Running { .. }, _) => Icon::Idle,
    }
}

fn head(view: &View) -> Vec<Entry> {
    let mut head = vec![Entry::Line(words::state(view))];
    if matches!(view.bridge, BridgeState::Failed { .. }) {
        head.push(pick("Start again", Action::Retry));
    }
    let approvals = match served(view).map_or(0, questions) {
        0 => "Approvals".to_owned(),
        waiting => format!("Approvals ({waiting})"),
    };
    head.extend([
        Entry::Separator,
        pick("Open ClientMCP", Action::Open(Page::Applications)),
        pick(&approvals, Action::Open(Page::Approvals)),
    ]);
    head
}

/// The last calls, the newest first.
fn calls(recent: &[FinishedCall]) -> Vec<Entry> {
    let lines = recent.iter().rev().take(RECENT).map(|finished| {
        let (application, tool) = (name(finished.call.application.as_str()), name(&finished.call.tool));
        let outcome = words::ending(finished.outcome);
        pick(&format!("{application} \u{b7} {tool} \u{2014} {outcome}"), Action::Open(Page::Calls))
    });
    let mut entries: Vec<_> = lines.collect();
    if !entries.is_empty() {
        entries.insert(0, Entry::Separator);
    }
    entries
}

fn copies(view: &View) -> [Entry; 4] {
    let running = matches!(view.bridge, BridgeState::Running { .. });
    let mut agents = applications(view, running, Action::CopyAgentToken);
    if agents.is_empty() {
        agents.push(Entry::Line("No application yet".into()));
    }
    let mut clients = applications(view, running, Action::CopyClientToken);
    if !clients.is_empty() {
        clients.push(Entry::Separator);
    }
    clients.push(pick("New\u{2026}", Action::NewClientToken));
    [
        Entry::Separator,
        pick_if(running, "Copy MCP URL", Action::CopyUrl),
        Entry::Menu { text: "Copy agent token".into(), entries: agents },
        Entry::Menu { text: "Copy client token".into(), entries: clients },
    ]
}

fn foot(view: &View) -> [Entry; 5] {
    let running = matches!(view.bridge, BridgeState::Running { .. });
    let (text, action) = match served(view) {
        Some(snapshot) if snapshot.paused => ("Resume", Action::Resume),
        Some(_) | None => ("Pause", Action::Pause),
    };
    let at_login = view.preferences.start_at_login;
    let text_at_login = "Start at login".to_owned();
    [
        Entry::Separator,
        pick_if(running, text, action),
        Entry::Pick {
            text: text_at_login,
            action: Action::StartAtLogin(!at_login),
            enabled: true,
            checked: Some(at_login),
        },
        Entry::Separator,
        pick("Quit", Action::Quit),
    ]
}

/// One entry for each application, those that are connected first, then the ones seen last.
fn applications(view: &View, enabled: bool, action: impl Fn(ClientId) -> Action) -> Vec<Entry> {
    let mut known: Vec<_> = view.known.iter().collect();
    known.sort_by(|one, other| {
        other.last_seen.cmp(&one.last_seen).then_with(|| one.application.cmp(&other.application))
    });
    let connected = served(view).into_iter().flat_map(|snapshot| &snapshot.applications).map(|head| &head.id);
    let mut met = HashSet::new();
    let all: Vec<_> =
        connected.chain(known.iter().map(|known| &known.application)).filter(|id| met.insert(*id)).collect();
    let listed = all.iter().take(APPLICATIONS);
    let mut entries: Vec<_> = listed.map(|id| pick_if(enabled, &name(id.as_str()), action((*id).clone()))).collect();
    if let more @ 1.. = all.len().saturating_sub(APPLICATIONS) {
        entries.push(pick(&format!("{more} more in the window"), Action::Open(Page::Connect)));
    }
    entries
}

/// What the bridge tells while it serves: what an ended one told is over.
pub(super) fn served(view: &View) -> Option<&Snapshot> {
    match view.bridge {
        BridgeState::Running { .. } => view.snapshot.as_deref(),
        BridgeState::Held | BridgeState::Starting | BridgeState::Waiting { .. } | BridgeState::Failed { .. } => None,
    }
}

/// Open questions, with those that the snapshot had no room for, and those at the local door.
pub(super) fn questions(snapshot: &Snapshot) -> u64 {
    let listed = Count::from(snapshot.questions.len() + snapshot.door_questions.len());
    listed.0.saturating_add(snapshot.cut.questions.0)
}

/// A name that another program chose, which the bridge made harmless.
fn name(text: &str) -> String {
    shown_again(text, NAME_CHARS).replace('&', "&&")
}

fn pick(text: &str, action: Action) -> Entry {
    pick_if(true, text, action)
}

fn pick_if(enabled: bool, text: &str, action: Action) -> Entry {
    Entry::Pick { text: text.to_owned(), action, enabled, checked: None }
}

#[cfg(test)]
mod tests;
