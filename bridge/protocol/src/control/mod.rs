//! The control channel between the bridge and the desktop app: one JSON message a line, on the stdin and stdout of
//! `clientmcp serve --control` (`docs/protocol.md`, "Control channel").
//!
//! Text that another program wrote travels only inside JSON strings, so it can never be taken for a message. Secrets go
//! in, on stdin, and never come back. Times are Unix times in milliseconds.

mod bounds;
mod command;
mod event;
mod policy;

pub use self::{command::*, event::*, policy::*};

use serde::{Deserialize, Serialize};

/// The version of this channel. Both ends say theirs first; another one is not served.
pub const CONTROL_VERSION: u32 = 1;

/// The first message of either end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Hello {
    /// [`CONTROL_VERSION`].
    pub control: u32,
    /// The program's own version, for people.
    pub version: String,
}

/// A Unix time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "number"))]
pub struct Millis(pub u64);

/// A count, a size in bytes or a number in a sequence: exact in a double.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "number"))]
pub struct Count(pub u64);

impl From<usize> for Count {
    fn from(count: usize) -> Self {
        Self(u64::try_from(count).unwrap_or(u64::MAX))
    }
}
