//! How far a text was read on one surface. Only what was delivered from its beginning, without a gap, counts; and only what
//! the page says was in view, while the app knows of nothing that lay on it.

/// Whether all of it was in view, which is more than that it was delivered: a page may have folded it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InView {
    all: bool,
    /// Something lay on the surface since the page began to count.
    covered: bool,
}

impl InView {
    /// Something lies on the surface: what the page counts meanwhile, nobody saw.
    pub(crate) fn covered(&mut self) {
        self.covered = true;
    }

    /// The page says that all of it was in view. Where something lay on it meanwhile, the page has to count anew.
    pub(crate) fn claimed(&mut self, is_in_plain_view: bool) {
        self.all |= is_in_plain_view && !self.covered;
        self.covered = !is_in_plain_view;
    }

    /// Whether it was.
    pub(crate) fn is_all(self) -> bool {
        self.all
    }
}

/// How far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    to: u64,
    done: bool,
    in_vain: bool,
}

impl Reading {
    /// A piece was delivered: its offset, its length, and the length of the whole text.
    pub(crate) fn piece(&mut self, offset: u64, length: u64, whole: u64) {
        if offset <= self.to {
            self.to = self.to.max(offset.saturating_add(length));
        }
        self.done |= self.to >= whole;
    }

    /// A piece could not be had.
    pub(crate) fn in_vain(&mut self) {
        self.in_vain = true;
    }

    /// Whether a piece could not be had.
    pub(crate) fn is_in_vain(self) -> bool {
        self.in_vain
    }

    /// Whether all of it was.
    pub(crate) fn is_done(self) -> bool {
        self.done
    }
}
