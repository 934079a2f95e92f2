//! Lines of bounded length. A longer one is dropped, and said to be.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// What came in.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line, without its end.
    Text(Vec<u8>),
    /// One that was longer than a message may be.
    TooLong,
}

/// Reads lines.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    line: Vec<u8>,
    too_long: bool,
    most: usize,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// Lines of at most so many bytes.
    pub fn new(input: R, most: usize) -> Self {
        Self { input, line: Vec::new(), too_long: false, most }
    }

    /// What comes after the line that was read last.
    pub fn into_inner(self) -> R {
        self.input
    }

    /// From the next line on.
    pub fn take_at_most(&mut self, most: usize) {
        self.most = most;
    }

    /// The next line; nothing at the end, or when the other end is gone. What stands behind the last line end is no
    /// message. Nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Line> {
        loop {
            let bytes = self.input.fill_buf().await.ok().filter(|bytes| !bytes.is_empty())?;
            let end = memchr::memchr(b'\n', bytes);
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

#[cfg(test)]
mod tests {
    use clientmcp_protocol::limits::CONTROL_BYTES;
    use tokio::io::BufReader;

    use super::*;

    // holds: control-line-too-long
    #[tokio::test]
    async fn lines_of_the_limit_are_read_and_longer_ones_are_dropped_whole() {
        let (full, over) = ("x".repeat(CONTROL_BYTES), "y".repeat(CONTROL_BYTES + 1));
        let input = format!("a\n\n{full}\n{over}\nb\r\nno end");
        for capacity in [1, 7, 64 * 1024] {
            let mut lines = Lines::new(BufReader::with_capacity(capacity, input.as_bytes()), CONTROL_BYTES);
            for expected in ["a", "", &full] {
                assert_eq!(lines.next().await, Some(Line::Text(expected.into())));
            }
            assert_eq!(lines.next().await, Some(Line::TooLong));
            assert_eq!(lines.next().await, Some(Line::Text("b\r".into())));
            assert_eq!(lines.next().await, None);
        }
    }
}
