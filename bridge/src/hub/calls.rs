//! Calls that were sent to one application and are not answered yet.

use std::collections::HashMap;

use tokio::{sync::oneshot, time::Instant};

use super::Answer;
use crate::call::RequestKey;

/// One sent call.
#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) answer: oneshot::Sender<Answer>,
    pub(super) sent: Instant,
    /// When it ends, or when its application is looked at, whichever is first.
    pub(super) due: Instant,
    pub(super) deadline: Instant,
    pub(super) key: Option<RequestKey>,
    pub(super) structured: bool,
}

/// The calls of one connection, by number.
#[derive(Debug, Default)]
pub(super) struct Calls {
    in_flight: HashMap<u64, InFlight>,
    last: u64,
}

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.in_flight.len()
    }

    /// The number the next call gets.
    pub(super) fn next_number(&self) -> u64 {
        self.last + 1
    }

    pub(super) fn insert(&mut self, call: InFlight) -> u64 {
        self.last += 1;
        self.in_flight.insert(self.last, call);
        self.last
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut InFlight> {
        self.in_flight.get_mut(&number)
    }

    pub(super) fn take(&mut self, number: u64) -> Option<InFlight> {
        self.in_flight.remove(&number)
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = (u64, InFlight)> {
        self.in_flight.drain()
    }
}
