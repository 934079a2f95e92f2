//! Black-box tests: a real `clientmcp serve`, real sockets; and the tree's checks of itself.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends by panicking")]

mod approvals;
mod approvals_limits;
mod approvals_random;
mod approvals_rules;
mod batches;
mod bodies;
mod calls;
mod cancellation;
mod channel;
mod channel_limits;
mod cli_tokens;
mod conformance;
mod control;
mod control_texts;
mod credentials;
mod demo;
mod door;
mod door_lines;
mod door_pairs;
mod envelope;
mod eras;
mod frames;
mod handshake;
mod ladder;
mod leaving;
mod leaving_commands;
mod leaving_lines;
mod limits;
mod memory;
mod mirrored;
mod names;
mod origin;
mod outcomes;
mod pins;
mod register;
mod results;
mod revocation;
mod schema;
mod serve;
mod sse;
mod stdio;
mod stdio_tools;
mod streams;
mod support;
mod texts;
mod tidy;
#[cfg(target_os = "linux")]
mod wiped;
