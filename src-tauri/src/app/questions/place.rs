//! A place where questions come up one after the other: a hand that is at one of them is where the next one will be.

use clientmcp_protocol::ids::QuestionId;
use tokio::time::Instant;

use super::arming::HAND_TIME;

/// The small window's place, or the page's.
#[derive(Debug, Default)]
pub(super) struct Place {
    holds: Option<QuestionId>,
    /// When it was emptied.
    left: Option<Instant>,
    /// When a question here was answered.
    answered: Option<Instant>,
}

impl Place {
    /// This question is here from now on. Where it took another's place: until when what is clicked there may be meant for
    /// the other.
    pub(super) fn shows(&mut self, id: QuestionId, now: Instant) -> Option<Instant> {
        let before = self.holds.replace(id);
        let lately = |then: Option<Instant>| then.map(|then| then + HAND_TIME).filter(|until| *until > now);
        let replaced = before.map_or_else(|| lately(self.left).is_some(), |before| before != id);
        replaced.then(|| lately(self.answered).unwrap_or(now))
    }

    /// Nothing is here any more.
    pub(super) fn empties(&mut self, now: Instant) {
        if self.holds.take().is_some() {
            self.left = Some(now);
        }
    }

    /// What is here was answered.
    pub(super) fn is_answered(&mut self, now: Instant) {
        self.answered = Some(now);
    }

    /// Which question is here.
    pub(super) fn holds(&self) -> Option<QuestionId> {
        self.holds
    }
}
