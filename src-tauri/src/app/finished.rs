//! Calls that ended: the newest of the bridge that runs.

use std::collections::VecDeque;

use clientmcp_protocol::{
    control::{Count, FinishedCall},
    limits::HISTORY,
};

use crate::wire::FinishedCalls;

/// The newest finished calls.
#[derive(Debug, Default)]
pub(super) struct Finished {
    run: Count,
    calls: VecDeque<FinishedCall>,
    missed: u64,
}

impl Finished {
    /// A bridge serves: its numbers begin anew, and the texts of earlier calls are gone.
    pub(super) fn begin(&mut self, run: Count) {
        *self = Self { run, ..Self::default() };
    }

    /// More calls ended, after so many that were missed. Gives what is new.
    pub(super) fn add(&mut self, calls: Vec<FinishedCall>, missed: Count) -> FinishedCalls {
        self.missed = self.missed.saturating_add(missed.0);
        self.calls.extend(calls.iter().cloned());
        let over = self.calls.len().saturating_sub(HISTORY);
        self.calls.drain(..over);
        FinishedCalls { run: self.run, calls, missed }
    }

    /// All that are kept.
    pub(super) fn all(&self) -> FinishedCalls {
        FinishedCalls { run: self.run, calls: self.calls.iter().cloned().collect(), missed: Count(self.missed) }
    }

    /// The newest, in the order of their numbers.
    pub(super) fn newest(&self, most: usize) -> Vec<FinishedCall> {
        self.calls.range(self.calls.len().saturating_sub(most)..).cloned().collect()
    }
}
