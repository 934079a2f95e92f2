//! What of a memory cannot be meant, although it is JSON of the right shape.

use std::{collections::HashSet, time::Duration};

use super::{Memory, Millis, Until};
use crate::{
    limits::{GENERATION, LAST_MOMENT, ORIGINS},
    origin,
};

impl Millis {
    /// The moment that comes right after; the last that can be told comes after itself.
    #[must_use]
    pub fn next(self) -> Self {
        self.after(Duration::from_millis(1))
    }

    /// The moment that much later, as far as moments can be told.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(millis).min(LAST_MOMENT))
    }
}

impl Until {
    /// Whether its end is a moment that can be told as a date.
    pub fn can_be_told(self) -> bool {
        match self {
            Self::Always | Self::Quit => true,
            Self::At(Millis(end)) => end <= LAST_MOMENT,
        }
    }
}

impl Memory {
    /// What is out of bounds, if anything: with it a revocation could not be told any more, or nobody could connect.
    pub fn fault(&self) -> Option<&'static str> {
        if self.generations.iter().any(|row| row.generation > GENERATION) {
            return Some("a generation is higher than it can be, so tokens could not be revoked");
        }
        let floors = self.floors.iter().map(|floor| floor.issued_before);
        let issued = self.issued.iter().map(|row| row.newest);
        let made = self.pairs.iter().map(|pair| pair.made).chain(self.rules.iter().map(|rule| rule.made));
        if floors.chain(issued).chain(made).any(|Millis(moment)| moment > LAST_MOMENT) || !self.ends_can_be_told() {
            return Some("a time is beyond the year 9999");
        }
        self.pins_fault()
    }

    fn ends_can_be_told(&self) -> bool {
        let modes = self.modes.iter().map(|mode| mode.until);
        let rules = self.rules.iter().map(|rule| rule.until);
        modes.chain(rules).chain(self.blocked.iter().map(|agent| agent.until)).all(Until::can_be_told)
    }

    fn pins_fault(&self) -> Option<&'static str> {
        let mut met = HashSet::new();
        self.pins.iter().find_map(|pin| {
            if pin.origins.is_empty() {
                return Some("an application is held to no origin at all, so it could never connect");
            }
            if pin.origins.len() > ORIGINS {
                return Some("there are more origins of an application than there can be");
            }
            if !met.insert(&pin.application) {
                return Some("an application is held to origins twice");
            }
            pin.origins.iter().find_map(|origin| origin::check_pin(origin).err())
        })
    }
}
