//! A Unix socket in two halves, whose end the system tells however much lies before it: nothing of what is written waits
//! at the other end.

use std::{
    io,
    net::Shutdown,
    os::fd::AsFd,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll, ready},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::UnixStream,
};

use super::{Caller, Presence};

/// One of two halves. When both are dropped the connection is closed.
#[derive(Debug)]
pub struct Half(Arc<UnixStream>);

/// What is read, what is written, and whoever is at the other end. Asking keeps no connection open.
pub fn halves(stream: UnixStream) -> (Half, Half, Caller) {
    let stream = Arc::new(stream);
    let caller = Caller::at(Arc::downgrade(&stream));
    (Half(Arc::clone(&stream)), Half(stream), caller)
}

impl Presence for Weak<UnixStream> {
    fn has_left(&self) -> bool {
        self.upgrade().is_none_or(|stream| has_ended(stream.as_fd(), INPUT))
    }
}

/// Asks for the end of what is read. Linux tells of a peer that closed its sending side alone only when asked for it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) const INPUT: PollFlags = PollFlags::RDHUP;
/// Asks for the end of what is read.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) const INPUT: PollFlags = PollFlags::IN;

/// Asks for the end of what is written, which Linux tells unasked.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) const OUTPUT: PollFlags = PollFlags::empty();
/// Asks for the end of what is written.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) const OUTPUT: PollFlags = PollFlags::OUT;

/// Whether nothing more can come than what lies there already, or nobody is there to read.
pub(super) fn has_ended(other: impl AsFd, asked: PollFlags) -> bool {
    let ended = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL | asked.difference(PollFlags::IN | PollFlags::OUT);
    // What the system does not tell is not known to be there.
    tells(other, asked, Some(&Timespec::default())).is_none_or(|told| told.intersects(ended))
}

/// What the system tells of this within the time, or without one as soon as it tells something.
pub(super) fn tells(other: impl AsFd, asked: PollFlags, within: Option<&Timespec>) -> Option<PollFlags> {
    let mut looked_at = [PollFd::new(&other, asked)];
    while let Err(error) = poll(&mut looked_at, within) {
        if error != Errno::INTR {
            return None;
        }
    }
    looked_at.first().map(PollFd::revents)
}

impl AsyncRead for Half {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            match self.0.try_read_buf(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(drop)),
            }
            ready!(self.0.poll_read_ready(context))?;
        }
    }
}

impl AsyncWrite for Half {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            match self.0.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
            ready!(self.0.poll_write_ready(context))?;
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&*self.0).shutdown(Shutdown::Write))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn an_end_is_seen_at_once_whatever_lies_before_it() {
        for (bytes, half) in [(0, false), (0, true), (100_000, false), (100_000, true)] {
            let (mut peer, ours) = UnixStream::pair().unwrap();
            let (mut input, _output, caller) = halves(ours);
            let mut sent = vec![b'x'; bytes];
            peer.write_all(&sent).await.unwrap();
            assert!(!caller.has_left());
            if half {
                peer.shutdown().await.unwrap();
                assert!(caller.has_left(), "{bytes}");
            } else {
                drop(peer);
                assert!(caller.has_left(), "{bytes}");
            }
            sent.clear();
            input.read_to_end(&mut sent).await.unwrap();
            assert_eq!(sent.len(), bytes);
        }
    }

    #[tokio::test]
    async fn who_reads_nothing_is_there() {
        let (peer, ours) = UnixStream::pair().unwrap();
        let (_input, mut output, caller) = halves(ours);
        output.write_all(&[b'x'; 1_000]).await.unwrap();
        assert!(!caller.has_left());
        drop(peer);
        assert!(caller.has_left());
    }

    #[test]
    fn a_pipe_tells_that_nobody_can_write_to_it_any_more() {
        let (read, write) = io::pipe().unwrap();
        io::Write::write_all(&mut &write, b"unread").unwrap();
        assert!(!has_ended(&read, INPUT));
        drop(write);
        assert!(has_ended(&read, INPUT));
    }
}
