//! Lines of bounded length. A longer one is dropped, and said to be.
//!
//! Tokens come this way, so what was read is overwritten where it came in.

use tokio::io::{AsyncRead, AsyncReadExt as _};
use zeroize::Zeroize as _;

/// Bytes that are read at a time, at most.
const PIECE: usize = 16 * 1024;

/// What came in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its end.
    Text(Vec<u8>),
    /// One that was longer than it may be.
    TooLong,
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    piece: Box<[u8]>,
    /// The part of the piece that was not looked at yet.
    begin: usize,
    end: usize,
    line: Vec<u8>,
    too_long: bool,
    most: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Lines of at most so many bytes.
    pub(super) fn new(input: R, most: usize) -> Self {
        let piece = vec![0; PIECE].into_boxed_slice();
        Self { input, piece, begin: 0, end: 0, line: Vec::new(), too_long: false, most }
    }

    /// The next line; nothing at the end. What stands behind the last line end is no message. Nothing is lost when the
    /// future is dropped.
    pub(super) async fn next(&mut self) -> Option<Line> {
        loop {
            if self.begin == self.end {
                let read = self.input.read(&mut self.piece).await.ok().filter(|read| *read > 0)?;
                (self.begin, self.end) = (0, read);
            }
            if let Some(line) = self.take() {
                return Some(line);
            }
        }
    }

    /// Takes what was read, up to the end of a line.
    fn take(&mut self) -> Option<Line> {
        let bytes = self.piece.get_mut(self.begin..self.end)?;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (part, taken) = end.map_or((bytes.len(), bytes.len()), |end| (end, end + 1));
        self.too_long |= self.line.len() + part > self.most;
        let bytes = bytes.get_mut(..taken)?;
        if !self.too_long {
            self.line.extend_from_slice(bytes.get(..part)?);
        }
        bytes.zeroize();
        self.begin += taken;
        end.is_some().then(|| {
            let line = std::mem::take(&mut self.line);
            if std::mem::take(&mut self.too_long) { Line::TooLong } else { Line::Text(line) }
        })
    }
}
