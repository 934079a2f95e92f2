//! Stdin, for a bridge that a desktop drives. Secrets come in by it, so nothing of it stays where it passed: each piece is
//! given back as soon as it was read, which overwrites it. The readers of the standard crates keep what came last.

use std::{
    io::{self, Read as _},
    pin::Pin,
    task::{Context, Poll, ready},
    thread,
};

use tokio::{
    io::{AsyncBufRead, AsyncRead, ReadBuf},
    sync::mpsc,
};

/// Bytes of a piece, at most. Into less than its own 8 KiB the standard library reads by way of a buffer that it keeps.
const PIECE: usize = 64 * 1024;

/// What comes in by stdin.
#[derive(Debug)]
pub struct Input {
    pieces: mpsc::Receiver<Vec<u8>>,
    piece: Vec<u8>,
    read: usize,
}

impl Input {
    /// Reads stdin from now on. The thread that does ends with stdin or with the process.
    pub fn stdin() -> io::Result<Self> {
        // One is read ahead: the thread then waits until it was taken.
        let (sender, pieces) = mpsc::channel(1);
        thread::Builder::new().name("stdin".to_owned()).spawn(move || read_all(&sender))?;
        Ok(Self { pieces, piece: Vec::new(), read: 0 })
    }
}

/// To the end, or until nobody wants more.
fn read_all(pieces: &mpsc::Sender<Vec<u8>>) {
    let mut stdin = io::stdin().lock();
    loop {
        let mut piece = vec![0; PIECE];
        match stdin.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return,
            Ok(length) => {
                piece.truncate(length);
                if pieces.blocking_send(piece).is_err() {
                    return;
                }
            }
        }
    }
}

impl AsyncBufRead for Input {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let input = self.get_mut();
        if input.read == input.piece.len() {
            input.piece = ready!(input.pieces.poll_recv(context)).unwrap_or_default();
            input.read = 0;
        }
        Poll::Ready(Ok(input.piece.get(input.read..).unwrap_or_default()))
    }

    fn consume(mut self: Pin<&mut Self>, amount: usize) {
        self.read = (self.read + amount).min(self.piece.len());
        if self.read == self.piece.len() {
            (self.piece, self.read) = (Vec::new(), 0);
        }
    }
}

impl AsyncRead for Input {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let bytes = ready!(self.as_mut().poll_fill_buf(context))?;
        let length = bytes.len().min(into.remaining());
        into.put_slice(bytes.get(..length).unwrap_or_default());
        self.consume(length);
        Poll::Ready(Ok(()))
    }
}
