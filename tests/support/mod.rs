//! What the tests speak with: a bridge as a process, and peers that can break every rule. Nothing here uses the bridge's code.

pub(crate) mod agent;
pub(crate) mod application;
pub(crate) mod desktop;
pub(crate) mod host;
pub(crate) mod http;
pub(crate) mod post;
pub(crate) mod scene;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod stream;
pub(crate) mod tokens;

use std::{future::Future, time::Duration};

/// How long anything may take before the test gives up. It decides no test that passes.
const OUTER_LIMIT: Duration = Duration::from_secs(120);

/// The future's value, or the end of the test when it hangs.
#[track_caller]
pub(crate) fn within<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let caller = std::panic::Location::caller();
    async move {
        let value = tokio::time::timeout(OUTER_LIMIT, future).await;
        value.unwrap_or_else(|_| panic!("nothing happened for {OUTER_LIMIT:?} at {caller}"))
    }
}
