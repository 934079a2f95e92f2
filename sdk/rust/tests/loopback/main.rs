//! The SDK against a bridge that the test plays, over real sockets.

mod bridge;
mod calls;
mod life;
