//! Whether somebody is still at the other end of a connection (`docs/protocol.md`, "Leaving").
//!
//! The system is asked, at that very moment, and not what was read so far: bytes that nobody has read yet hide nobody's
//! going. It never waits.

#[cfg(unix)]
mod starter;
mod tcp;
#[cfg(unix)]
mod unix;

use std::{fmt, sync::Arc};

#[cfg(unix)]
pub use self::unix::{Half, halves};
pub use self::{
    starter::{parent_gone, stdin_ended, stdout_unread},
    stdin::stdin_has_ended,
    tcp::{Io, Tcp},
};

/// Somebody who may leave.
pub trait Presence: fmt::Debug + Send + Sync {
    /// Whether whoever was there is gone, or says no more.
    fn has_left(&self) -> bool;
}

/// Who waits for an answer. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Caller(Arc<dyn Presence>);

impl Caller {
    /// Whoever is at the other end of this.
    pub fn at(presence: impl Presence + 'static) -> Self {
        Self(Arc::new(presence))
    }

    /// Somebody who ends with the bridge, or whose end the system tells by itself alone.
    pub fn resident() -> Self {
        Self::at(Always(false))
    }

    /// Nobody: what is not known to be there counts as gone.
    pub fn nobody() -> Self {
        Self::at(Always(true))
    }

    /// Whether whoever waited is gone.
    pub fn has_left(&self) -> bool {
        self.0.has_left()
    }
}

#[derive(Debug)]
struct Always(bool);

impl Presence for Always {
    fn has_left(&self) -> bool {
        self.0
    }
}

#[cfg(unix)]
mod stdin {
    /// Whether nobody can write to stdin any more, whatever was written before. A file or a terminal never tells.
    pub fn stdin_has_ended() -> bool {
        super::unix::has_ended(std::io::stdin(), super::unix::INPUT)
    }
}

#[cfg(not(unix))]
mod stdin {
    /// The system tells it only to whoever reads.
    pub fn stdin_has_ended() -> bool {
        false
    }
}

/// The system tells it only to whoever reads, writes or asks for it with code that the project does without.
#[cfg(not(unix))]
mod starter {
    use std::future::pending;

    /// Never resolves: whoever reads stdin finds its end.
    pub async fn stdin_ended() {
        pending().await;
    }

    /// Never resolves: whoever writes to stdout finds that nobody reads it.
    pub async fn stdout_unread() {
        pending().await;
    }

    /// Never resolves.
    pub async fn parent_gone() {
        pending().await;
    }
}
