//! A message in pieces, of which long ones are shared: a thousand agents that list the same tools hold one text.

use std::collections::VecDeque;

use bytes::Bytes;

/// The pieces of one message, in order. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Pieces(VecDeque<Bytes>);

impl Pieces {
    /// The same with another piece, or other pieces, behind it.
    #[must_use]
    pub fn and(mut self, more: impl Into<Self>) -> Self {
        self.0.extend(more.into().0);
        self
    }

    /// Bytes of all pieces together.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    /// Whether no piece is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Iterator for Pieces {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        self.0.pop_front()
    }
}

impl From<Bytes> for Pieces {
    fn from(piece: Bytes) -> Self {
        Self(VecDeque::from([piece]))
    }
}

impl From<String> for Pieces {
    fn from(piece: String) -> Self {
        Bytes::from(piece).into()
    }
}
