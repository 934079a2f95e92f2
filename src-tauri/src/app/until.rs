//! Ends in time, of what a person grants or refuses for a while.

use std::time::{SystemTime, UNIX_EPOCH};

use clientmcp_protocol::control::{Millis, Until};

use crate::wire::Lasts;

const MINUTES_15: u64 = 15 * 60 * 1_000;

/// A day.
pub(super) const DAY: u64 = 24 * 60 * 60 * 1_000;

/// When what lasts so long ends.
pub(super) fn until(lasts: Lasts, now: Millis) -> Until {
    match lasts {
        Lasts::Minutes15 => Until::At(Millis(now.0.saturating_add(MINUTES_15))),
        Lasts::Quit => Until::Quit,
        Lasts::Always => Until::Always,
    }
}

/// The wall clock.
pub(super) fn wall() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
