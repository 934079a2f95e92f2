//! How many peers there is room for: the documented limits, or less where the system gives fewer open files.

use clientmcp_protocol::limits::{APPLICATIONS, HTTP_CONNECTIONS};

/// Files that are open beside connections: listener, log, secret file, runtime, and some spare ones.
const OTHER_FILES: usize = 64;

/// How many peers may be connected at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// HTTP connections, streams among them.
    pub connections: usize,
    /// Applications.
    pub applications: usize,
}

impl Room {
    /// The documented limits.
    pub const FULL: Self = Self { connections: HTTP_CONNECTIONS, applications: APPLICATIONS };

    /// Asks the system for as many open files as the full room takes, and makes do with what it gives. Says so in the log
    /// where that is less.
    pub fn make() -> Self {
        let needed = OTHER_FILES + HTTP_CONNECTIONS + APPLICATIONS;
        let room = Self::within(raise(needed));
        if room != Self::FULL {
            tracing::warn!(
                connections = room.connections,
                applications = room.applications,
                "the system allows fewer open files than {needed}, so fewer peers are served; raise it with `ulimit -n`"
            );
        }
        room
    }

    /// Shares so many files in the proportion of the documented limits; at least one of each.
    fn within(files: usize) -> Self {
        let all = HTTP_CONNECTIONS + APPLICATIONS;
        let peers = files.saturating_sub(OTHER_FILES).min(all);
        let connections = (peers * HTTP_CONNECTIONS / all).max(1);
        Self { connections, applications: peers.saturating_sub(connections).max(1) }
    }
}

/// Raises the soft limit towards the hard one, and says how far it went.
#[cfg(unix)]
fn raise(needed: usize) -> usize {
    let raised = rlimit::increase_nofile_limit(needed as u64).unwrap_or_default();
    usize::try_from(raised).unwrap_or(usize::MAX)
}

/// Windows has no such limit on sockets.
#[cfg(not(unix))]
fn raise(needed: usize) -> usize {
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enough_files_make_the_full_room_and_fewer_are_shared() {
        assert_eq!(Room::within(OTHER_FILES + HTTP_CONNECTIONS + APPLICATIONS), Room::FULL);
        assert_eq!(Room::within(usize::MAX), Room::FULL);
        assert_eq!(Room::within(256), Room { connections: 65, applications: 127 });
        assert_eq!(Room::within(0), Room { connections: 1, applications: 1 });
    }
}
