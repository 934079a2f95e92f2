//! Whoever started this process, waited for: where the system can wake us when they go, no yes comes between two looks.

use std::{io, os::fd::AsFd, sync::Arc};

use clientmcp_protocol::limits::LOOK_TIME;
use rustix::{event::PollFlags, process::getppid};
use tokio::time::sleep;

use super::unix::{INPUT, OUTPUT, has_ended};

/// Resolves when nobody can write to stdin any more, however much of it is unread. A file never tells.
pub async fn stdin_ended() {
    closed(io::stdin(), INPUT).await;
}

/// Resolves when nobody can read what is written to stdout any more. A file never tells.
pub async fn stdout_unread() {
    closed(io::stdout(), OUTPUT).await;
}

/// Resolves when the process that started this one is gone, whoever holds the other ends of its pipes.
pub async fn parent_gone() {
    let parent = getppid();
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(process) = parent.and_then(event::process)
        // One that was gone before it was watched has left this process to another.
        && getppid() == parent
        && event::told(process, PollFlags::IN).await
    {
        return;
    }
    while getppid() == parent {
        sleep(LOOK_TIME).await;
    }
}

/// Resolves when the other end of this is closed. Nothing is read from it or written to it.
async fn closed(end: impl AsFd + Send + Sync + 'static, asked: PollFlags) {
    let end = Arc::new(end);
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if event::told(Arc::clone(&end), asked).await {
        return;
    }
    while !has_ended(&end, asked) {
        sleep(LOOK_TIME).await;
    }
}

/// Elsewhere the system wakes nobody for an end that lies behind unread bytes, or for a process alone.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod event {
    use std::{
        os::fd::{AsFd, OwnedFd},
        thread,
    };

    use rustix::{
        event::PollFlags,
        process::{Pid, PidfdFlags, pidfd_open},
    };
    use tokio::sync::oneshot;

    use crate::presence::unix::tells;

    /// What becomes readable when this process ends.
    pub(super) fn process(process: Pid) -> Option<OwnedFd> {
        pidfd_open(process, PidfdFlags::empty()).ok()
    }

    /// Waits until the system tells one of these, or an end; false when that cannot be waited for. The thread that does
    /// ends with that, or with this process.
    pub(super) async fn told(what: impl AsFd + Send + 'static, asked: PollFlags) -> bool {
        let (tell, told) = oneshot::channel();
        let waiting = thread::Builder::new().spawn(move || {
            if tells(what, asked, None).is_some() {
                let _ = tell.send(());
            }
        });
        waiting.is_ok() && told.await.is_ok()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        io::Write as _,
        os::unix::net::UnixStream,
        process::{Command, Stdio},
    };

    use futures_util::FutureExt as _;
    use tokio::time::Instant;

    use super::*;

    /// Waits for this without that a clock goes on meanwhile: it is an event, and no look.
    async fn at_once(event: impl Future<Output = ()>) {
        let before = Instant::now();
        event.await;
        assert_eq!(before.elapsed().as_nanos(), 0);
    }

    // holds: leaving-stdio
    #[tokio::test(start_paused = true)]
    async fn an_end_behind_unread_bytes_is_an_event() {
        for (bytes, socket) in [(0, false), (1, false), (60_000, false), (0, true), (60_000, true)] {
            let bytes = vec![b'x'; bytes];
            let (ours, mut peer): (std::os::fd::OwnedFd, Box<dyn io::Write>) = if socket {
                let (ours, peer) = UnixStream::pair().unwrap();
                (ours.into(), Box::new(peer))
            } else {
                let (ours, peer) = io::pipe().unwrap();
                (ours.into(), Box::new(peer))
            };
            let mut ended = std::pin::pin!(closed(ours, INPUT));
            assert!(ended.as_mut().now_or_never().is_none());
            peer.write_all(&bytes).unwrap();
            tokio::task::yield_now().await;
            assert!(ended.as_mut().now_or_never().is_none());
            drop(peer);
            at_once(ended).await;
        }
    }

    // holds: leaving-commands
    #[tokio::test(start_paused = true)]
    async fn that_nobody_reads_is_an_event_also_behind_a_full_pipe() {
        for full in [false, true] {
            let (peer, ours) = io::pipe().unwrap();
            if full {
                rustix::io::ioctl_fionbio(&ours, true).unwrap();
                while (&ours).write(&[b'x'; 4_096]).is_ok() {}
            }
            let mut unread = std::pin::pin!(closed(ours, OUTPUT));
            assert!(unread.as_mut().now_or_never().is_none());
            drop(peer);
            at_once(unread).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_has_no_end() {
        for (path, asked) in [("/dev/null", INPUT), ("/dev/null", OUTPUT), ("/proc/self/exe", INPUT)] {
            assert!(!has_ended(std::fs::File::open(path).unwrap(), asked), "{path}");
        }
    }

    // holds: leaving-stdio, stdio-orphan
    #[tokio::test(start_paused = true)]
    async fn a_process_that_ends_is_an_event() {
        let mut child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let process = event::process(rustix::process::Pid::from_child(&child)).unwrap();
        let mut ended = std::pin::pin!(event::told(process, PollFlags::IN));
        assert!(ended.as_mut().now_or_never().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        at_once(async { assert!(ended.await) }).await;
    }
}
