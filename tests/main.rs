//! Black-box tests: a real `clientmcp serve`, real sockets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends by panicking")]

mod cli_tokens;
