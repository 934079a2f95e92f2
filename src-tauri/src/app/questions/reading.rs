//! How far a text was read on one surface. Only what was delivered from its beginning, without a gap, counts.

/// How far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    to: u64,
    done: bool,
}

impl Reading {
    /// A piece was delivered: its offset, its length, and the length of the whole text.
    pub(crate) fn piece(&mut self, offset: u64, length: u64, whole: u64) {
        if offset <= self.to {
            self.to = self.to.max(offset.saturating_add(length));
        }
        self.done |= self.to >= whole;
    }

    /// Whether all of it was.
    pub(crate) fn is_done(self) -> bool {
        self.done
    }
}
