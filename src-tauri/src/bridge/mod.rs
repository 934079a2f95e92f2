//! The bridge as the app talks to it: commands go in, events come out, and sooner or later it ends
//! (`docs/protocol.md`, "Control channel").
//!
//! It knows the channel and nothing of what its messages mean. Secrets pass through it and are never logged.

mod lines;
mod session;
#[cfg(test)]
mod tests;

use clientmcp_protocol::control::{Command, ErrorCode, Event, Reply, Start};
use tokio::sync::{mpsc, oneshot};

use crate::sidecar::{Process, Unspawned};

/// Commands that may wait to be written: more than a person can give, less than memory notices.
const COMMANDS: usize = 256;

/// What comes from a bridge.
#[derive(Debug)]
pub(crate) enum Told {
    /// It said hello: its program's version.
    Hello(String),
    /// It serves.
    Listening {
        /// Where agents call.
        mcp: String,
        /// Where applications connect.
        connect: String,
    },
    /// Anything else that it says by itself.
    Event(Event),
    /// Its process is gone.
    Ended(End),
}

/// How a bridge ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// Why.
    pub(crate) why: Why,
    /// Its process's exit code, if there was a process and it had one.
    pub(crate) code: Option<i32>,
}

/// Why a bridge ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// It was asked to.
    Stopped,
    /// By itself.
    Itself,
    /// It speaks another version of the channel.
    Version,
    /// It did not say that it serves within its time.
    Silent,
    /// It cannot do what it was started with.
    Refused {
        /// A stable code.
        code: ErrorCode,
        /// Why.
        sentence: String,
    },
    /// It could not even be started.
    Unspawned(Unspawned),
}

/// The bridge is gone, or takes no more commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// A running bridge. Dropping it asks the bridge to end: its stdin is closed.
#[derive(Debug)]
pub(crate) struct Bridge {
    commands: mpsc::Sender<Asked>,
}

/// A command on its way.
#[derive(Debug)]
struct Asked {
    command: Command,
    reply: oneshot::Sender<Reply>,
}

impl Bridge {
    /// Starts the conversation with a process. `tell` is given all that comes, and [`Told::Ended`] last.
    pub(crate) fn talk(process: Process, start: Start, tell: impl Fn(Told) + Send + Sync + 'static) -> Self {
        let (commands, queue) = mpsc::channel(COMMANDS);
        tokio::spawn(session::run(process, start, queue, tell));
        Self { commands }
    }

    /// Gives a command. It is on its way when this returns; the reply comes later.
    pub(crate) fn ask(&self, command: Command) -> impl Future<Output = Result<Reply, Gone>> + Send + use<> {
        let (reply, replied) = oneshot::channel();
        // Without a place in the queue the sender is dropped, and the reply is that it is gone.
        drop(self.commands.try_send(Asked { command, reply }));
        async move { replied.await.map_err(|_| Gone) }
    }
}
