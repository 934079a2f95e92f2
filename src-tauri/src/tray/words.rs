//! What the tray says: its state line, and how a call ended.

use clientmcp_protocol::{
    codes::OutcomeCode,
    control::{Count, Ending, ErrorCode, Snapshot},
};

use super::menu::{questions, served};
use crate::wire::{BridgeState, KeysState, View};

/// The first line of the menu: how things stand, in a few words.
pub(super) fn state(view: &View) -> String {
    match (&view.bridge, served(view)) {
        (BridgeState::Held, _) => held(&view.keys).into(),
        (BridgeState::Starting, _) | (BridgeState::Running { .. }, None) => "Starting\u{2026}".into(),
        (BridgeState::Waiting { .. }, _) => "The bridge ended and is started again".into(),
        (BridgeState::Failed { code, .. }, _) => failed(*code).into(),
        (BridgeState::Running { .. }, Some(snapshot)) => serving(snapshot),
    }
}

fn held(keys: &KeysState) -> &'static str {
    match keys {
        KeysState::Trouble { .. } => "Choose where secrets are kept",
        KeysState::Reading => "Reading the keychain\u{2026}",
        KeysState::Keychain | KeysState::Session | KeysState::File { .. } => "Starting\u{2026}",
    }
}

fn failed(code: Option<ErrorCode>) -> &'static str {
    match code {
        Some(ErrorCode::PortTaken) => "Not running: the port is taken",
        Some(ErrorCode::Listen) => "Not running: the port cannot be used",
        Some(ErrorCode::Secret) => "Not running: the secret cannot be used",
        Some(ErrorCode::Version) => "Not running: the bridge is of another version",
        Some(
            ErrorCode::NotACommand
            | ErrorCode::Start
            | ErrorCode::Value
            | ErrorCode::NoSuchQuestion
            | ErrorCode::NotFound
            | ErrorCode::Stale,
        )
        | None => "Not running: the bridge keeps ending",
    }
}

fn serving(snapshot: &Snapshot) -> String {
    let calls = Count::from(snapshot.calls.len()).0.saturating_add(snapshot.cut.calls.0);
    let applications = Count::from(snapshot.applications.len()).0.saturating_add(snapshot.cut.applications.0);
    match (questions(snapshot), calls) {
        (waiting @ 1.., _) => format!("{} for you", counted(waiting, "question waits", "questions wait")),
        (0, _) if snapshot.paused => "Paused: calls are refused".into(),
        (0, 0) => connected(applications),
        (0, calls) => format!("{} \u{b7} {}", connected(applications), counted(calls, "call", "calls")),
    }
}

fn connected(applications: u64) -> String {
    match applications {
        0 => "No application connected".into(),
        some => format!("{} connected", counted(some, "application", "applications")),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// How a call ended, in a few words.
pub(super) fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Answered => "answered",
        Ending::Failed => "its tool failed",
        Ending::UnknownTool => "no such tool",
        Ending::Code(code) => outcome(code),
    }
}

fn outcome(code: OutcomeCode) -> &'static str {
    match code {
        OutcomeCode::Offline => "not connected",
        OutcomeCode::Disconnected => "connection lost",
        OutcomeCode::Timeout => "no answer in time",
        OutcomeCode::Unresponsive => "not responding",
        OutcomeCode::Declined => "declined",
        OutcomeCode::Unanswered => "you did not answer",
        OutcomeCode::Unattended => "nobody to ask",
        OutcomeCode::Changed => "changed meanwhile",
        OutcomeCode::Paused => "paused",
        OutcomeCode::Blocked => "blocked",
        OutcomeCode::Busy => "too many at once",
        OutcomeCode::Cancelled => "cancelled",
    }
}
