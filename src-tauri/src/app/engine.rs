//! The life of the bridge, from one start to the next. Without process or clock: what happens is told to it.

use clientmcp_protocol::control::Count;
use tokio::time::Instant;

use super::words;
use crate::{
    bridge::{Bridge, End, Why},
    sidecar::supervision::{Next, Supervision},
    wire::BridgeState,
};

/// The bridge, as far as there is one.
#[derive(Debug, Default)]
pub(super) struct Engine {
    /// What the person is shown of it.
    pub(super) state: BridgeState,
    /// Counts bridges.
    pub(super) run: u64,
    /// Its program's version, once it said so.
    pub(super) version: Option<String>,
    bridge: Option<Bridge>,
    /// Its process has not ended.
    alive: bool,
    /// Another one is to be started when this one has ended.
    again: bool,
    supervision: Supervision,
    due: Option<Instant>,
}

/// What follows from a bridge's end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum After {
    /// Nothing: it was asked to end.
    Nothing,
    /// Another one is started now.
    Start,
    /// Another one is started soon. `told`: the person is to know.
    Soon {
        /// Whether the person is to know.
        told: bool,
    },
    /// None is, before the person says so.
    GaveUp,
}

impl Engine {
    /// The bridge that takes commands.
    pub(super) fn bridge(&self) -> Option<&Bridge> {
        self.bridge.as_ref()
    }

    /// Where agents call, while it serves.
    pub(super) fn mcp_url(&self) -> Option<&str> {
        match &self.state {
            BridgeState::Running { mcp, .. } => Some(mcp),
            BridgeState::Held | BridgeState::Starting | BridgeState::Waiting { .. } | BridgeState::Failed { .. } => {
                None
            }
        }
    }

    /// Whether a process has not ended yet.
    pub(super) fn is_alive(&self) -> bool {
        self.alive
    }

    /// Asks it to end. Nothing is started before something else says so.
    pub(super) fn hold(&mut self) {
        (self.bridge, self.again, self.due) = (None, false, None);
        self.state = BridgeState::Held;
    }

    /// One is to run from now on. Whether it is to be started now: one that is ending is waited for.
    pub(super) fn wish(&mut self) -> bool {
        (self.bridge, self.due) = (None, None);
        self.state = BridgeState::Starting;
        self.again = self.alive;
        !self.alive
    }

    /// Counts the bridge that is started now. Its number.
    pub(super) fn begin(&mut self) -> u64 {
        self.run += 1;
        (self.due, self.again, self.version) = (None, false, None);
        self.state = BridgeState::Starting;
        self.run
    }

    /// It runs.
    pub(super) fn runs(&mut self, bridge: Bridge) {
        (self.bridge, self.alive) = (Some(bridge), true);
    }

    /// It serves.
    pub(super) fn serves(&mut self, mcp: String, connect: String, now: Instant) {
        if self.bridge.is_some() {
            self.supervision.serves(now);
            self.state = BridgeState::Running { mcp, connect };
        }
    }

    /// It ended.
    pub(super) fn ended(&mut self, end: &End, port: u16, now: Instant) -> After {
        self.alive = false;
        let asked = self.bridge.take().is_none() && !matches!(end.why, Why::Unspawned(_));
        if self.again {
            return After::Start;
        }
        if asked {
            return After::Nothing;
        }
        let failure = words::failure(&end.why);
        match self.supervision.failed(failure, now) {
            Next::After(pause) => {
                self.due = Some(now + pause);
                // Our own one that is ending holds the port for a moment, which is no news.
                let told = failure == crate::sidecar::supervision::Failure::Ended;
                if told {
                    self.state = BridgeState::Waiting { sentence: words::waiting(end, port) };
                }
                After::Soon { told }
            }
            Next::GiveUp => {
                let (code, sentence) = (words::code(&end.why), words::failed(end, port));
                self.state = BridgeState::Failed { code, sentence };
                After::GaveUp
            }
        }
    }

    /// The person wants it tried again.
    pub(super) fn forgive(&mut self) {
        self.supervision.forget();
    }

    /// When one is to be started.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Its number, as windows are told.
    pub(super) fn number(&self) -> Count {
        Count(self.run)
    }
}
