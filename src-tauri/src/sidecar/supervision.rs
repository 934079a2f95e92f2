//! When a bridge that ended is started again, and when not. A value without a clock.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

/// The pause after the first failure; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// So many failures within [`SPAN`] are too many.
const TOO_MANY: usize = 5;

/// The time in which failures are counted.
const SPAN: Duration = Duration::from_secs(60);

/// How long a bridge of ours that is ending may hold the port.
const PORT_TIME: Duration = Duration::from_secs(3);

/// How a bridge failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It ended by itself, or never served.
    Ended,
    /// Another program holds the port, which may be a bridge of ours that is ending.
    PortTaken,
    /// Starting it again would change nothing.
    ForGood,
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is started again after this time.
    After(Duration),
    /// It is not, before the person says so.
    GiveUp,
}

/// What is known of earlier failures.
#[derive(Debug, Default)]
pub struct Supervision {
    failures: VecDeque<Instant>,
    in_a_row: u32,
    serves: Option<Instant>,
    taken: Option<Instant>,
}

impl Supervision {
    /// A bridge serves.
    pub fn serves(&mut self, now: Instant) {
        self.serves = Some(now);
        self.taken = None;
    }

    /// A bridge ended although nobody asked it to.
    pub fn failed(&mut self, failure: Failure, now: Instant) -> Next {
        let served = self.serves.take();
        match failure {
            Failure::ForGood => Next::GiveUp,
            Failure::PortTaken => self.port_taken(now),
            Failure::Ended => {
                if served.is_some_and(|since| now.duration_since(since) >= SPAN) {
                    self.forget();
                }
                self.ended(now)
            }
        }
    }

    /// The person wants to see it tried, whatever was before.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    fn ended(&mut self, now: Instant) -> Next {
        self.failures.retain(|at| now.duration_since(*at) < SPAN);
        self.failures.push_back(now);
        if self.failures.len() >= TOO_MANY {
            return Next::GiveUp;
        }
        let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(self.in_a_row)).min(LONGEST_PAUSE);
        self.in_a_row = self.in_a_row.saturating_add(1);
        Next::After(pause)
    }

    fn port_taken(&mut self, now: Instant) -> Next {
        let since = *self.taken.get_or_insert(now);
        if now.duration_since(since) < PORT_TIME { Next::After(FIRST_PAUSE) } else { Next::GiveUp }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(millis: u64) -> Next {
        Next::After(Duration::from_millis(millis))
    }

    // holds: desktop-bridge-backoff
    #[test]
    fn the_pause_doubles_and_the_fifth_failure_within_a_minute_is_the_last() {
        let (mut supervision, mut now) = (Supervision::default(), Instant::now());
        for expected in [after(200), after(400), after(800), after(1600), Next::GiveUp] {
            assert_eq!(supervision.failed(Failure::Ended, now), expected);
            now += Duration::from_secs(2);
        }
        supervision.forget();
        assert_eq!(supervision.failed(Failure::Ended, now), after(200));
    }

    // holds: desktop-bridge-backoff
    #[test]
    fn failures_that_are_far_apart_never_add_up_and_pause_for_10_seconds_at_most() {
        let (mut supervision, mut now) = (Supervision::default(), Instant::now());
        let mut last = after(0);
        for _ in 0..50 {
            supervision.serves(now);
            now += Duration::from_secs(20);
            last = supervision.failed(Failure::Ended, now);
            assert_ne!(last, Next::GiveUp);
        }
        assert_eq!(last, after(10_000));
        supervision.serves(now);
        assert_eq!(supervision.failed(Failure::Ended, now + SPAN), after(200));
    }

    // holds: desktop-port-taken
    #[test]
    fn a_taken_port_is_waited_for_3_seconds_and_no_longer() {
        let (mut supervision, start) = (Supervision::default(), Instant::now());
        assert_eq!(supervision.failed(Failure::PortTaken, start), after(200));
        assert_eq!(supervision.failed(Failure::PortTaken, start + Duration::from_millis(2_999)), after(200));
        assert_eq!(supervision.failed(Failure::PortTaken, start + PORT_TIME), Next::GiveUp);
        supervision.serves(start + PORT_TIME);
        assert_eq!(supervision.failed(Failure::PortTaken, start + PORT_TIME * 2), after(200));
    }

    // holds: desktop-bridge-for-good
    #[test]
    fn what_would_fail_again_is_not_tried_again() {
        assert_eq!(Supervision::default().failed(Failure::ForGood, Instant::now()), Next::GiveUp);
    }
}
