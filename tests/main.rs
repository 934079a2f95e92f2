//! Black-box tests: a real `clientmcp serve`, real sockets. Each test cites the promises that it holds.

// A test says what it expects by failing when it is not so.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod calls;
mod credentials;
mod envelope;
mod eras;
mod ladder;
mod mirrored;
mod origin;
mod results;
mod support;
