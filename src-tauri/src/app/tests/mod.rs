//! The app with a desktop, a keychain and a bridge that a test plays, and a clock that stands until it is waited for.

mod asked;
mod life;
mod opening;
mod questions;
mod quitting;
mod real;
mod secrets;
mod world;
