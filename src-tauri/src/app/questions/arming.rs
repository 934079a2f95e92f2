//! The clock of one question on one surface: nothing is allowed before the person can have seen what they allow, and
//! nothing is refused that came up under a hand that meant another one.
//!
//! It runs from the moment the content is painted on a surface that nothing covers, and starts anew with whatever puts
//! something else under the pointer. A value without a clock of its own.

use std::time::Duration;

use clientmcp_protocol::control::{Count, Verdict};
use tokio::time::Instant;

use crate::shell::Standing;

/// How long a question must have been in view before anything can be allowed.
pub(crate) const ARMING_TIME: Duration = Duration::from_millis(600);

/// How long one that took another's place, or moved, must have been there before a no of a hand that rests counts.
pub(crate) const NO_TIME: Duration = Duration::from_millis(300);

/// What a hand does within this time after an answer, it does for that answer.
pub(crate) const HAND_TIME: Duration = Duration::from_secs(1);

/// One clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arming {
    painted: bool,
    /// The page says that what must be read first is in view there.
    in_view: bool,
    standing: Standing,
    /// Something lies on the surface, as the display tells.
    covered: bool,
    since: Option<Instant>,
    /// It took another's place, whose answer goes on to this moment.
    after: Option<Instant>,
    /// No no counts before this, and so no yes.
    no_from: Option<Instant>,
    /// Whatever is clicked meanwhile puts a no off no further than to this.
    no_latest: Option<Instant>,
}

impl Arming {
    /// On a surface that stands so, with nothing painted yet.
    pub(crate) fn on(standing: Standing, covered: bool) -> Self {
        let (painted, in_view) = (false, false);
        Self { painted, in_view, standing, covered, since: None, after: None, no_from: None, no_latest: None }
    }

    /// A page begins to show it: what another one painted is not there any more.
    pub(crate) fn begins(&mut self) {
        (self.painted, self.in_view, self.since) = (false, false, None);
    }

    /// It comes up where another one was, whose answer goes on to this moment.
    pub(crate) fn replaces(&mut self, answered: Instant) {
        self.after = Some(answered);
    }

    /// Its content can be read.
    pub(crate) fn painted(&mut self, now: Instant) {
        self.painted = true;
        self.can_be_refused(now);
        self.restart(now);
    }

    /// What must be read first came into view there, or went out of it. It arms nothing by itself.
    pub(crate) fn in_view(&mut self, in_view: bool, now: Instant) {
        if self.in_view != in_view {
            self.in_view = in_view;
            self.restart(now);
        }
    }

    /// It is there, though it may be that no content can be had.
    pub(crate) fn can_be_refused(&mut self, now: Instant) {
        if let Some(after) = self.after {
            self.no_counts_from(after.max(now + NO_TIME));
        }
    }

    /// It is somewhere else than before: what is clicked now was aimed at something else.
    pub(crate) fn moved(&mut self, now: Instant) {
        self.no_counts_from(now + NO_TIME);
        self.restart(now);
    }

    fn no_counts_from(&mut self, from: Instant) {
        self.no_from = self.no_from.max(Some(from));
        self.no_latest = self.no_latest.max(Some(from + HAND_TIME));
    }

    /// Something changed: it came to front, was clicked too early, says something else.
    pub(crate) fn restart(&mut self, now: Instant) {
        let readable = self.in_view && self.is_in_plain_view();
        self.since = readable.then_some(now);
    }

    /// The surface stands differently.
    pub(crate) fn stands(&mut self, standing: Standing, now: Instant) {
        if self.standing == standing {
            return;
        }
        self.standing = standing;
        // What was there is destroyed with its window.
        if standing == Standing::Gone {
            (self.painted, self.in_view) = (false, false);
        }
        self.restart(now);
    }

    /// Something lies on the surface, or not any more.
    pub(crate) fn cover(&mut self, covered: bool, now: Instant) {
        if self.covered != covered {
            self.covered = covered;
            self.restart(now);
        }
    }

    /// Whether it is there to be read, with nothing on it as far as the app can tell.
    pub(crate) fn is_in_plain_view(&self) -> bool {
        self.painted && self.standing == Standing::Clear && !self.covered
    }

    /// Whether it was ever there to be read.
    pub(crate) fn is_painted(&self) -> bool {
        self.painted
    }

    /// Whether an answer counts, where the question can be read. A yes that comes too early does not, and starts its clock
    /// anew. A no that does is of a hand that goes on, and so may the next one be, but not for ever: whoever means it is
    /// believed in the end, and no later than a yes.
    pub(crate) fn takes(&mut self, verdict: Verdict, now: Instant) -> bool {
        match verdict {
            Verdict::Deny if self.no_left(now) == Count(0) => true,
            Verdict::Deny => {
                self.no_from = self.no_from.max(self.no_latest.min(Some(now + HAND_TIME)));
                false
            }
            Verdict::Allow if self.is_armed(now) => true,
            Verdict::Allow => {
                self.restart(now);
                false
            }
        }
    }

    /// When something can be allowed; nothing while the clock stands.
    pub(crate) fn armed_at(&self) -> Option<Instant> {
        self.since.map(|since| self.no_from.map_or(since + ARMING_TIME, |from| from.max(since + ARMING_TIME)))
    }

    /// Milliseconds until then.
    pub(crate) fn left(&self, now: Instant) -> Option<Count> {
        self.armed_at().map(|at| until(at, now))
    }

    /// From when on a no counts that was put off.
    pub(crate) fn no_from(&self) -> Option<Instant> {
        self.no_from
    }

    /// Milliseconds until a no counts, where the question can be read.
    pub(crate) fn no_left(&self, now: Instant) -> Count {
        self.no_from.map_or(Count(0), |from| until(from, now))
    }

    /// Whether something can be allowed now.
    pub(crate) fn is_armed(&self, now: Instant) -> bool {
        self.armed_at().is_some_and(|at| at <= now)
    }
}

fn until(at: Instant, now: Instant) -> Count {
    let millis = at.saturating_duration_since(now).as_micros().div_ceil(1_000);
    Count(u64::try_from(millis).unwrap_or(u64::MAX))
}
