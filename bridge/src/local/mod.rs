//! Where the local door is, and who is at its other end (`docs/protocol.md`, "Local door"). Both ends look here.
//!
//! Nothing is trusted for its name: the folder must be ours alone, and the process at the other end must be ours.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::{io, path::PathBuf};

use clientmcp_protocol::{control::DoorProgram, shown::shown};

#[cfg(unix)]
pub use self::unix::{Input, Opened, Output, Stream, halves, open, reach};
#[cfg(windows)]
pub use self::windows::{Input, Opened, Output, Stream, halves, open, reach};

/// Why the door cannot be opened or reached.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Nobody has opened it.
    #[error("the ClientMCP app is not running")]
    Closed,
    /// Another bridge holds it.
    #[error("another ClientMCP bridge of yours has the local door open: quit the other one, or use it")]
    Held,
    /// The folder is not for us alone.
    #[error("the local door's folder {} is not for you alone ({why}): remove it, then start the app again", shown(&folder.to_string_lossy()))]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Something else stands where the socket belongs.
    #[error("something that is no socket of yours stands at {}, where the local door belongs: remove it", shown(&path.to_string_lossy()))]
    Squatted {
        /// Where.
        path: PathBuf,
    },
    /// Another user's program is at the other end.
    #[error("another user's program holds the local door, and is told nothing")]
    Foreign,
    /// Anything else.
    #[error("the local door cannot be used: {0}")]
    Failed(#[from] io::Error),
}

/// What the system tells of a process, made safe to be shown.
pub fn program(pid: Option<u32>) -> DoorProgram {
    let path = |pid: u32| path(pid).map(|path| shown(&path.to_string_lossy()));
    DoorProgram { pid, path: pid.and_then(path), parent: pid.and_then(parent_of).and_then(path) }
}

#[cfg(target_os = "linux")]
fn path(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The fourth field; the second, the name, stands in parentheses and may hold anything.
#[cfg(target_os = "linux")]
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// Other systems tell it only to code that the project does without.
#[cfg(not(target_os = "linux"))]
fn path(_: u32) -> Option<PathBuf> {
    None
}

#[cfg(not(target_os = "linux"))]
fn parent_of(_: u32) -> Option<u32> {
    None
}
