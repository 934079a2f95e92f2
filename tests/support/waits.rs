//! How the tests wait: for what they name, and so long that no busy machine is too slow. A limit ends what hangs; it
//! decides no test that passes.

use std::{fmt::Display, panic::Location, time::Duration};

use tokio::time::{Instant, sleep, timeout};

/// How long anything may take before the test gives up.
pub(crate) const OUTER_LIMIT: Duration = Duration::from_secs(120);

/// Between two looks at what tells nobody that it changed.
const PAUSE: Duration = Duration::from_millis(10);

/// The future's value, or the end of the test when it hangs, which says where it waited.
#[track_caller]
pub(crate) fn within<F: Future>(future: F) -> impl Future<Output = F::Output> {
    limited(OUTER_LIMIT, "what comes next", future)
}

/// The future's value, or the end of the test, which says what it waited for.
#[track_caller]
pub(crate) fn expecting<F: Future>(what: impl Display, future: F) -> impl Future<Output = F::Output> {
    limited(OUTER_LIMIT, what, future)
}

/// The same with another limit, for what the product itself lets take long.
#[track_caller]
pub(crate) fn limited<F: Future>(limit: Duration, what: impl Display, future: F) -> impl Future<Output = F::Output> {
    let caller = Location::caller();
    async move {
        let value = timeout(limit, future).await;
        value.unwrap_or_else(|_| panic!("waited {limit:?} in vain for {what}, at {caller}"))
    }
}

/// Looks again and again until there is what is waited for. The end of the test says what was seen last instead.
pub(crate) async fn until<T>(what: impl Display, mut look: impl AsyncFnMut() -> Result<T, String>) -> T {
    let start = Instant::now();
    loop {
        match look().await {
            Ok(found) => return found,
            Err(seen) => {
                assert!(start.elapsed() < OUTER_LIMIT, "waited {OUTER_LIMIT:?} in vain for {what}; last: {seen}");
            }
        }
        sleep(PAUSE).await;
    }
}
