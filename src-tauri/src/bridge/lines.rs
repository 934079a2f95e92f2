//! Lines of bounded length. A longer one is dropped, and said to be.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

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
    line: Vec<u8>,
    too_long: bool,
    most: usize,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// Lines of at most so many bytes.
    pub(super) fn new(input: R, most: usize) -> Self {
        Self { input, line: Vec::new(), too_long: false, most }
    }

    /// The next line; nothing at the end. What stands behind the last line end is no message. Nothing is lost when the
    /// future is dropped.
    pub(super) async fn next(&mut self) -> Option<Line> {
        loop {
            let bytes = self.input.fill_buf().await.ok().filter(|bytes| !bytes.is_empty())?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            let taken = part.len() + usize::from(end.is_some());
            self.too_long |= self.line.len() + part.len() > self.most;
            if !self.too_long {
                self.line.extend_from_slice(part);
            }
            self.input.consume(taken);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                return Some(if std::mem::take(&mut self.too_long) { Line::TooLong } else { Line::Text(line) });
            }
        }
    }
}
