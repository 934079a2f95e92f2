//! Which tokens still count: generations, and floors in time. A plain value; whoever verifies is given it.

use std::{
    collections::HashMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clientmcp_protocol::{
    control::Millis,
    ids::{ClientId, Label, Role},
    limits::LAST_MOMENT,
};

use super::LAST_END;

/// A moment as tokens write it: seconds since 1970-01-01T00:00:00Z, with fractions (RFC 7519, section 2). Always finite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct NumericDate(f64);

impl NumericDate {
    /// Nothing for what is no finite number.
    pub fn new(seconds: f64) -> Option<Self> {
        seconds.is_finite().then_some(Self(seconds))
    }

    /// The moment of a time in milliseconds.
    pub fn at(time: Millis) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "exact until the year 287396")]
        Self(time.0 as f64 / 1_000.0)
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    pub fn seconds(self) -> f64 {
        self.0
    }

    /// The moment in whole milliseconds; one before 1970 is 0.
    pub fn millis(self) -> Millis {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is out of bounds is cut")]
        let millis = Millis((self.0 * 1_000.0) as u64);
        // A product that was rounded down is none of the milliseconds that it stands for.
        let next = Millis(millis.0.saturating_add(1));
        if Self::at(next) <= self { next } else { millis }
    }

    /// Whether it is after the year 9999, and after a floor that may have come to be there. No revocation could get past it.
    pub(super) fn is_beyond(self, floor: Self) -> bool {
        self.0 > floor.0.max(LAST_END)
    }

    /// Whether it is the last moment that can be told. No floor can be raised above it, so it lets nothing through.
    pub(super) fn is_last(self) -> bool {
        self.millis() >= Millis(LAST_MOMENT)
    }

    /// The moment that much later.
    pub(super) fn plus(self, time: Duration) -> Self {
        Self(self.0 + time.as_secs_f64())
    }
}

impl From<SystemTime> for NumericDate {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Self(since.as_secs_f64()),
            Err(before) => Self(-before.duration().as_secs_f64()),
        }
    }
}

/// What revocations left standing (`docs/protocol.md`, "Tokens"). The default: every generation 0 and no floor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    generations: HashMap<(ClientId, Role), u64>,
    floors: HashMap<(ClientId, Role, Option<Label>), NumericDate>,
}

impl Standing {
    /// The generation that tokens of a client ID and role must carry.
    pub fn generation(&self, subject: &ClientId, role: Role) -> u64 {
        self.generations.get(&(subject.clone(), role)).copied().unwrap_or(0)
    }

    /// Revokes every token of a client ID and role with another generation. A generation never falls: a lower value
    /// than the present one would bring revoked tokens back, and changes nothing.
    pub fn raise_generation(&mut self, subject: ClientId, role: Role, generation: u64) {
        let present = self.generations.entry((subject, role)).or_default();
        *present = generation.max(*present);
    }

    /// The moment before which tokens of a label were revoked.
    pub fn floor(&self, subject: &ClientId, role: Role, label: Option<&Label>) -> Option<NumericDate> {
        self.floors.get(&(subject.clone(), role, label.cloned())).copied()
    }

    /// Revokes the tokens of one label, or of all without a label, that were issued before a moment or do not say when.
    /// A floor never falls.
    pub fn raise_floor(&mut self, subject: ClientId, role: Role, label: Option<Label>, floor: NumericDate) {
        let present = self.floors.entry((subject, role, label)).or_insert(floor);
        if floor > *present {
            *present = floor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> ClientId {
        ClientId::new(text).unwrap()
    }

    fn at(seconds: f64) -> NumericDate {
        NumericDate::new(seconds).unwrap()
    }

    #[test]
    fn nothing_was_revoked_at_first() {
        let standing = Standing::default();
        assert_eq!(standing.generation(&id("a"), Role::Agent), 0);
        assert_eq!(standing.floor(&id("a"), Role::Agent, None), None);
    }

    #[test]
    fn generations_and_floors_only_rise() {
        let mut standing = Standing::default();
        for generation in [3, 2] {
            standing.raise_generation(id("a"), Role::Agent, generation);
        }
        for floor in [20.5, 10.0] {
            standing.raise_floor(id("a"), Role::Agent, None, at(floor));
        }
        assert_eq!(standing.generation(&id("a"), Role::Agent), 3);
        assert_eq!(standing.floor(&id("a"), Role::Agent, None), Some(at(20.5)));
    }

    #[test]
    fn they_concern_one_client_id_role_and_label() {
        let (mut standing, label) = (Standing::default(), Label::new("Claude Code").unwrap());
        standing.raise_generation(id("a"), Role::Agent, 1);
        standing.raise_floor(id("a"), Role::Agent, Some(label.clone()), at(1.0));
        assert_eq!(standing.generation(&id("a"), Role::Client), 0);
        assert_eq!(standing.generation(&id("b"), Role::Agent), 0);
        assert_eq!(standing.floor(&id("a"), Role::Agent, None), None);
        assert_eq!(standing.floor(&id("a"), Role::Client, Some(&label)), None);
        assert_eq!(standing.floor(&id("b"), Role::Agent, Some(&label)), None);
    }

    #[test]
    fn a_date_counts_from_1970_and_is_finite() {
        assert_eq!(NumericDate::from(UNIX_EPOCH + Duration::from_millis(1_500)), at(1.5));
        assert_eq!(NumericDate::from(UNIX_EPOCH - Duration::from_millis(1_500)), at(-1.5));
        for seconds in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(NumericDate::new(seconds), None);
        }
    }
}
