//! What a command does only as long as whoever started it is there (`docs/protocol.md`, "Leaving").

use clientmcp_bridge::presence::{parent_gone, stdout_unread};

/// What comes of this; nothing once whoever started the command is gone, or nobody can read what it prints. Dropped then,
/// its connections are closed, and no yes lets anybody in.
pub(super) async fn while_there<T>(work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = parent_gone() => None,
        () = stdout_unread() => None,
        done = work => Some(done),
    }
}
