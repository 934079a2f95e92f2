//! Signs of life of one application, written by its socket and read by the hub.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use tokio::time::{Duration, Instant};

/// When an application was last heard, and whether it pings when a call arrives. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Pulse(Arc<Signs>);

#[derive(Debug)]
struct Signs {
    start: Instant,
    /// Nanoseconds from `start`.
    heard: AtomicU64,
    /// A call was sent, and nothing has come since.
    called: AtomicBool,
    pings_on_call: AtomicBool,
}

impl Pulse {
    pub(super) fn new(now: Instant) -> Self {
        Self(Arc::new(Signs {
            start: now,
            heard: AtomicU64::new(0),
            called: AtomicBool::new(false),
            pings_on_call: AtomicBool::new(false),
        }))
    }

    /// A message has come. A ping as the first one after a call is how SDKs say that they are awake.
    pub fn heard(&self, now: Instant, ping: bool) {
        self.restart(now);
        if self.0.called.swap(false, Ordering::Relaxed) && ping {
            self.0.pings_on_call.store(true, Ordering::Relaxed);
        }
    }

    /// A sign of life that is no message; silence counts from now on.
    pub fn restart(&self, now: Instant) {
        let since = now.saturating_duration_since(self.0.start).as_nanos();
        self.0.heard.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// A call is on its way.
    pub(super) fn called(&self) {
        self.0.called.store(true, Ordering::Relaxed);
    }

    pub(super) fn last_heard(&self) -> Instant {
        self.0.start + Duration::from_nanos(self.0.heard.load(Ordering::Relaxed))
    }

    /// Whether silence after a call means anything: only for an application that has once pinged on one.
    pub(super) fn pings_on_call(&self) -> bool {
        self.0.pings_on_call.load(Ordering::Relaxed)
    }
}
