//! The control channel: the desktop app at the other end of stdin and stdout (`docs/protocol.md`, "Control channel").
//!
//! When stdin ends, so does the bridge. A desktop that stops reading slows nobody: what it is shown is fetched, not pushed.

mod input;
mod session;
mod writer;

pub use self::{
    input::Input,
    session::{End, Listener, Sample, serve},
};
