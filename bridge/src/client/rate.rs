//! How fast an application may register: a burst, then a steady rate.

use std::time::Duration;

use clientmcp_protocol::limits::{REGISTER_BURST, REGISTERS_PER_SECOND};
use tokio::time::Instant;

/// A bucket of registers that fills again with time. It never refuses; it says how long to wait.
#[derive(Debug)]
pub(super) struct Rate {
    /// When the bucket would be full again.
    full_at: Instant,
}

impl Rate {
    pub(super) fn new(now: Instant) -> Self {
        Self { full_at: now }
    }

    /// Takes one, and says from when on it may be served.
    pub(super) fn take(&mut self, now: Instant) -> Instant {
        let each = Duration::from_secs(1) / REGISTERS_PER_SECOND;
        self.full_at = self.full_at.max(now) + each;
        // With a burst's worth in stock the wait is over before it begins.
        (self.full_at.checked_sub(each * REGISTER_BURST)).map_or(now, |from| from.max(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_and_then_ten_a_second_are_served() {
        let start = Instant::now() + Duration::from_secs(100);
        let mut rate = Rate::new(start);
        for _ in 0..REGISTER_BURST {
            assert_eq!(rate.take(start), start);
        }
        for late in 1..=30 {
            assert_eq!(rate.take(start), start + Duration::from_millis(100) * late);
        }
        let later = start + Duration::from_secs(60);
        assert_eq!(rate.take(later), later, "it fills again");
    }
}
