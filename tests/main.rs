//! Black-box tests: a real `clientmcp serve`, real sockets; and the tree's checks of itself. Each test cites the promises
//! that it holds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends by panicking")]

mod calls;
mod cli_tokens;
mod credentials;
mod envelope;
mod eras;
mod ladder;
mod mirrored;
mod origin;
mod results;
mod support;
mod tidy;
