//! Open notification streams, counted.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use clientmcp_protocol::{
    ids::ClientId,
    limits::{STREAMS, STREAMS_PER_APPLICATION},
};

use crate::refusal::Refusal;

/// How many streams each application's agents have open.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams(Arc<Mutex<HashMap<ClientId, usize>>>);

/// One open stream. Dropping it ends the count.
#[derive(Debug)]
pub(super) struct Place {
    streams: Streams,
    application: ClientId,
}

impl Streams {
    /// Counts one more, within the limits.
    pub(super) fn enter(&self, application: &ClientId) -> Result<Place, Refusal> {
        let mut open = self.open();
        let of_application = open.get(application).copied().unwrap_or_default();
        if of_application >= STREAMS_PER_APPLICATION || open.values().sum::<usize>() >= STREAMS {
            return Err(Refusal::TooManyStreams);
        }
        open.insert(application.clone(), of_application + 1);
        Ok(Place { streams: self.clone(), application: application.clone() })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<ClientId, usize>> {
        // Nothing that holds the lock can panic halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.streams.open();
        match open.get_mut(&self.application) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => drop(open.remove(&self.application)),
        }
    }
}
