//! When to try again, and when never: backoff and the close codes as values. Nothing here waits, connects or reads a
//! clock.

use std::time::Duration;

use clientmcp_protocol::codes::CloseCode;

use crate::error::{Ended, Refusal};

/// The bound of the first wait.
const FIRST: Duration = Duration::from_millis(500);

/// The bound that no wait exceeds.
const LAST: Duration = Duration::from_secs(30);

/// Full jitter: each wait is anything between nothing and a bound that doubles, so that a thousand applications whose
/// bridge restarts do not come back in step.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    tries: u32,
}

impl Backoff {
    /// The next wait; `fraction` is random, in 0..1.
    pub(crate) fn next(&mut self, fraction: f64) -> Duration {
        let bound = FIRST.saturating_mul(2_u32.saturating_pow(self.tries)).min(LAST);
        self.tries = self.tries.saturating_add(1);
        bound.mul_f64(fraction.clamp(0.0, 1.0))
    }

    /// The bridge accepted us: start over.
    pub(crate) fn reset(&mut self) {
        self.tries = 0;
    }
}

/// How a connection ended, or why there was none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// No connection, no answer, no close frame, or no sense in what came.
    Lost,
    /// The bridge closed it.
    Closed { code: u16, reason: String },
    /// Nothing was sent: it could not be right.
    Refused(Refusal),
    /// The application wanted it so.
    Left,
}

/// What follows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Wait, then connect again.
    Retry,
    /// Wait, then connect with a new token, this once.
    Renew,
    /// Stay away.
    End(Ended),
}

/// The application's side of the close codes. `can_renew`: there is a token function, and it was not asked for a new
/// token since the bridge last accepted one.
pub(crate) fn next(ending: Ending, can_renew: bool) -> Next {
    match ending {
        Ending::Lost => Next::Retry,
        Ending::Closed { code, reason } => after_close(CloseCode::from_number(code), reason, can_renew),
        Ending::Refused(refusal) => Next::End(refusal.into()),
        Ending::Left => Next::End(Ended::Closed),
    }
}

fn after_close(code: Option<CloseCode>, reason: String, can_renew: bool) -> Next {
    match code {
        Some(CloseCode::ProtocolError | CloseCode::InvalidUtf8) => Next::End(Refusal::Message { reason }.into()),
        Some(CloseCode::Unauthorized) if can_renew => Next::Renew,
        Some(CloseCode::Unauthorized) => Next::End(Refusal::Token { reason }.into()),
        Some(CloseCode::Replaced) => Next::End(Ended::Replaced),
        // A code without a meaning of its own says no more than a broken line does.
        Some(CloseCode::GoingAway) | None => Next::Retry,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn closed(code: u16, can_renew: bool) -> Next {
        next(Ending::Closed { code, reason: "why".into() }, can_renew)
    }

    // holds: sdk-backoff
    #[test]
    fn what_may_pass_is_tried_again() {
        for code in [1000, 1001, 1002, 1005, 1006, 1011, 1012, 3000, 4000, 4402, 4410] {
            assert_eq!(closed(code, false), Next::Retry, "{code}");
            assert_eq!(closed(code, true), Next::Retry, "{code}");
        }
        assert_eq!(next(Ending::Lost, true), Next::Retry);
    }

    // holds: sdk-protocol-error
    #[test]
    fn a_protocol_error_ends_it_with_the_reason() {
        let ended = Next::End(Refusal::Message { reason: "why".into() }.into());
        assert_eq!(closed(4400, true), ended);
        assert_eq!(closed(4400, false), ended);
        assert_eq!(closed(1007, true), ended);
    }

    // holds: sdk-unauthorized
    #[test]
    fn a_refused_token_is_renewed_only_where_that_can_help() {
        assert_eq!(closed(4401, true), Next::Renew);
        assert_eq!(closed(4401, false), Next::End(Refusal::Token { reason: "why".into() }.into()));
    }

    // holds: sdk-protocol-error
    #[test]
    fn a_replaced_application_stays_away() {
        assert_eq!(closed(4409, true), Next::End(Ended::Replaced));
    }

    // holds: sdk-close-graceful, sdk-token-refused
    #[test]
    fn what_the_application_caused_is_final() {
        assert_eq!(next(Ending::Left, true), Next::End(Ended::Closed));
        assert_eq!(next(Ending::Refused(Refusal::TokenText), true), Next::End(Refusal::TokenText.into()));
    }

    // holds: sdk-backoff
    #[test]
    fn the_bound_doubles_from_half_a_second_to_thirty() {
        let mut backoff = Backoff::default();
        let bounds: Vec<_> = (0..9).map(|_| backoff.next(1.0).as_millis()).collect();
        assert_eq!(bounds, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
        backoff.reset();
        assert_eq!(backoff.next(1.0), FIRST);
    }

    proptest! {
        // holds: sdk-backoff
        #[test]
        fn a_wait_is_its_fraction_of_the_bound(tries in any::<u32>(), fraction in 0.0..1.0_f64) {
            let bound = Backoff { tries }.next(1.0);
            let wait = Backoff { tries }.next(fraction);
            prop_assert!((FIRST..=LAST).contains(&bound));
            prop_assert!(wait <= bound);
            prop_assert_eq!(wait, bound.mul_f64(fraction));
        }
    }
}
