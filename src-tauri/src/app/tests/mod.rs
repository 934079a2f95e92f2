//! The app with a desktop, a keychain and a bridge that a test plays, and a clock that stands until it is waited for.

#![allow(clippy::wildcard_enum_match_arm, reason = "a test waits for one thing and passes over the others")]

mod asked;
mod door;
mod folder;
mod heads;
mod life;
mod opening;
mod questions;
mod quitting;
mod real;
mod secrets;
mod waits;
mod world;
