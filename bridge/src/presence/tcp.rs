//! A TCP connection that is looked at while nobody reads it. What lies before its end is read ahead, within a bound:
//! no system tells of an end that stands behind more bytes than it takes in.

use std::{
    collections::VecDeque,
    io::{self, IoSlice, Read as _},
    net::Shutdown,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, ready},
};

use clientmcp_protocol::limits::BEHIND_BYTES;
use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::{Caller, Presence};

/// One connection.
#[derive(Debug)]
pub struct Tcp {
    stream: TcpStream,
    ahead: Mutex<Ahead>,
}

/// What was read before anybody asked for it.
#[derive(Debug, Default)]
struct Ahead {
    bytes: VecDeque<u8>,
    /// The peer says no more, or is gone.
    ended: bool,
}

/// The connection as its server reads and writes it. Dropped, the connection is closed.
#[derive(Debug)]
pub struct Io(Arc<Tcp>);

impl Tcp {
    /// Takes the connection over.
    pub fn new(stream: TcpStream) -> Arc<Self> {
        Arc::new(Self { stream, ahead: Mutex::default() })
    }

    /// For whoever serves it.
    pub fn io(self: &Arc<Self>) -> Io {
        Io(Arc::clone(self))
    }

    /// Whoever is at the other end. Asking keeps no connection open.
    pub fn caller(self: &Arc<Self>) -> Caller {
        Caller::at(Arc::downgrade(self))
    }

    /// Resolves when there is something to read, or the end.
    pub async fn stirred(&self) {
        // A fault of the socket is found by whoever looks at it next.
        let _ = self.stream.readable().await;
    }

    /// Reads ahead and says whether the peer is gone. To be called only while nothing has to be read: a peer that sends
    /// more than the bound meanwhile counts as gone.
    pub fn look(&self) -> bool {
        self.ahead().fill(|part| self.stream.try_read(part))
    }

    fn ahead(&self) -> MutexGuard<'_, Ahead> {
        // Nothing that holds the lock can panic halfway.
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Presence for Weak<Tcp> {
    fn has_left(&self) -> bool {
        let Some(tcp) = self.upgrade() else { return true };
        // Past the runtime, which knows only what the system told it when it looked last.
        let mut socket = &*SockRef::from(&tcp.stream);
        tcp.ahead().fill(|part| socket.read(part))
    }
}

impl Ahead {
    /// Reads what is there; true when the end was reached, or more came than may.
    fn fill(&mut self, mut read: impl FnMut(&mut [u8]) -> io::Result<usize>) -> bool {
        let mut part = [0; 4096];
        while !self.ended && self.bytes.len() <= BEHIND_BYTES {
            match read(&mut part) {
                Ok(0) => self.ended = true,
                Ok(length) => self.bytes.extend(part.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A reset is an end, too.
                Err(_) => self.ended = true,
            }
        }
        true
    }

    /// Gives back what was read ahead; false when there is nothing, and no end.
    fn give(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let (part, _) = self.bytes.as_slices();
        let length = part.len().min(buffer.remaining());
        buffer.put_slice(part.get(..length).unwrap_or_default());
        self.bytes.drain(..length);
        length > 0 || self.ended
    }
}

impl AsyncRead for Io {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            // Held while reading: nobody reads on ahead in between.
            let mut ahead = self.0.ahead();
            if ahead.give(buffer) {
                return Poll::Ready(Ok(()));
            }
            match self.0.stream.try_read_buf(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(drop)),
            }
            drop(ahead);
            ready!(self.0.stream.poll_read_ready(context))?;
        }
    }
}

impl AsyncWrite for Io {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(context, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |stream| stream.try_write_vectored(parts))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&self.0.stream).shutdown(Shutdown::Write))
    }
}

impl Io {
    fn write(
        &self,
        context: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            match write(&self.0.stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
            ready!(self.0.stream.poll_write_ready(context))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    async fn pair() -> (TcpStream, Arc<Tcp>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (peer, Tcp::new(listener.accept().await.unwrap().0))
    }

    /// Waits until the system has taken this many bytes in, or the end.
    async fn arrived(tcp: &Tcp, bytes: usize, ended: bool) {
        loop {
            let mut seen = vec![0; bytes + 1];
            let held = tcp.ahead().bytes.len();
            let wanted = bytes - held;
            let there = tcp.stream.peek(&mut seen[..=wanted]);
            let there = if wanted == 0 && !ended { break } else { there.await.unwrap_or(0) };
            if there >= wanted {
                break;
            }
        }
    }

    #[tokio::test]
    async fn bytes_that_nobody_read_hide_no_end_and_are_not_lost() {
        for bytes in [0, 1, 5_000, BEHIND_BYTES] {
            let (mut peer, tcp) = pair().await;
            let (caller, mut io) = (tcp.caller(), tcp.io());
            let sent: Vec<_> = (0..=u8::MAX).cycle().take(bytes).collect();
            peer.write_all(&sent).await.unwrap();
            assert!(!caller.has_left(), "{bytes}");
            arrived(&tcp, bytes, false).await;
            assert!(!caller.has_left(), "{bytes}");
            peer.shutdown().await.unwrap();
            tcp.stirred().await;
            while !caller.has_left() {
                tokio::task::yield_now().await;
            }
            let mut read = Vec::new();
            io.read_to_end(&mut read).await.unwrap();
            assert_eq!(read, sent);
        }
    }

    #[tokio::test]
    async fn a_peer_that_sends_on_counts_as_gone_and_is_read_to_its_end() {
        let (mut peer, tcp) = pair().await;
        let (caller, mut io) = (tcp.caller(), tcp.io());
        let sent: Vec<_> = (0..=u8::MAX).cycle().take(BEHIND_BYTES + 1).collect();
        peer.write_all(&sent).await.unwrap();
        while !caller.has_left() {
            tokio::task::yield_now().await;
        }
        drop(peer);
        let mut read = Vec::new();
        io.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, sent);
    }

    #[tokio::test]
    async fn a_connection_that_was_closed_has_nobody_at_its_end() {
        let (mut peer, tcp) = pair().await;
        let (caller, io) = (tcp.caller(), tcp.io());
        drop(tcp);
        assert!(!caller.has_left());
        drop(io);
        assert!(caller.has_left());
        assert_eq!(peer.read(&mut [0]).await.unwrap(), 0);
    }
}
