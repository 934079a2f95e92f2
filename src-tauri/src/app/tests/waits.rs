//! Waits for what the clock of a test does not move on.

use std::time::{Duration, Instant};

/// How long a test waits for what no clock of its own moves on, before it says so: it decides no test that passes.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Looks until there is what a disk is to hold, while the clock of the test stands still.
pub(super) async fn looked<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain for {what}");
        tokio::task::yield_now().await;
    }
}
