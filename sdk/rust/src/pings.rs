//! When to ping and when a connection counts as dead. A state machine without a clock: it is told the time.

use std::time::Duration;

use tokio::time::Instant;

/// Nothing was sent, or nothing arrived, for so long: ask.
const IDLE: Duration = Duration::from_secs(25);

/// Nothing arrived for so long after asking: dead.
const ANSWER: Duration = Duration::from_secs(10);

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct Pings {
    sent: Instant,
    heard: Instant,
    /// When the oldest ping was sent after which nothing has arrived.
    asked: Option<Instant>,
}

/// What is due at a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing yet.
    Nothing,
    /// A ping; it is noted as sent.
    Ping,
    /// The end of the connection.
    Dead,
}

impl Pings {
    pub(crate) fn new(now: Instant) -> Self {
        Self { sent: now, heard: now, asked: None }
    }

    /// Anything arrived: a message of any type, or a frame of the WebSocket itself.
    pub(crate) fn heard(&mut self, now: Instant) {
        self.heard = now;
        self.asked = None;
    }

    /// A message was sent.
    pub(crate) fn sent(&mut self, now: Instant) {
        self.sent = now;
    }

    /// A ping was sent.
    pub(crate) fn asked(&mut self, now: Instant) {
        self.sent(now);
        self.asked.get_or_insert(now);
    }

    /// When to look again.
    pub(crate) fn deadline(&self) -> Instant {
        self.asked.map_or_else(|| self.sent.min(self.heard) + IDLE, |asked| asked + ANSWER)
    }

    /// What is due now.
    pub(crate) fn due(&mut self, now: Instant) -> Due {
        if now < self.deadline() {
            return Due::Nothing;
        }
        if self.asked.is_some() {
            return Due::Dead;
        }
        self.asked(now);
        Due::Ping
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(1);

    // holds: sdk-ping-idle
    #[test]
    fn a_ping_is_due_after_25_s_in_which_nothing_was_sent_or_nothing_arrived() {
        let start = Instant::now();
        let later = start + IDLE / 2;
        let cases: [fn(&mut Pings, Instant); 3] = [|_, _| (), Pings::sent, Pings::heard];
        for happens in cases {
            let mut pings = Pings::new(start);
            happens(&mut pings, later);
            assert_eq!(pings.due(start + IDLE - TICK), Due::Nothing);
            assert_eq!(pings.due(start + IDLE), Due::Ping);
        }

        let mut pings = Pings::new(start);
        pings.sent(later);
        pings.heard(later);
        assert_eq!(pings.due(start + IDLE), Due::Nothing);
        assert_eq!(pings.due(later + IDLE), Due::Ping);
        pings.heard(later + IDLE + TICK);
        assert_eq!(pings.deadline(), later + IDLE + IDLE);
    }

    // holds: sdk-ping-idle
    #[test]
    fn silence_for_10_s_after_a_ping_is_death() {
        let start = Instant::now();
        let mut pings = Pings::new(start);
        pings.asked(start);
        assert_eq!(pings.due(start + ANSWER - TICK), Due::Nothing);
        assert_eq!(pings.due(start + ANSWER), Due::Dead);
    }

    // holds: sdk-ping-idle
    #[test]
    fn a_second_ping_gives_the_first_no_more_time() {
        let start = Instant::now();
        let mut pings = Pings::new(start);
        pings.asked(start);
        pings.asked(start + ANSWER / 2);
        assert_eq!(pings.due(start + ANSWER), Due::Dead);
    }
}
