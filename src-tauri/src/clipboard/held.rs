//! What of ours the clipboard holds, and until when.

use std::time::{Duration, Instant};

use super::board::{Board, Holds};
use crate::shell::{CONCEALED_SECONDS, Copied, ToCopy};

/// A clipboard and what we put there last, if that is to be cleared.
pub(super) struct Held<B> {
    board: B,
    concealed: Option<Concealed>,
}

/// A concealed text in the clipboard.
struct Concealed {
    text: String,
    /// When it is cleared; never when it cannot be told whether it would still be ours.
    due: Option<Instant>,
}

impl<B: Board> Held<B> {
    pub(super) fn new(board: B) -> Self {
        Self { board, concealed: None }
    }

    /// Puts a text there. What was to be cleared before is not any more: it has gone.
    pub(super) fn copy(&mut self, text: ToCopy, now: Instant) -> Result<Copied, String> {
        self.board.put(&text.text, text.concealed)?;
        self.concealed = None;
        if !text.concealed {
            return Ok(Copied::Plainly);
        }
        // What cannot be read back now could not be told from somebody else's text later.
        let passing = self.board.holds(&text.text) == Holds::This;
        let due = passing.then(|| now + Duration::from_secs(CONCEALED_SECONDS));
        self.concealed = Some(Concealed { text: text.text, due });
        Ok(if passing { Copied::Passing } else { Copied::Staying })
    }

    /// When there is something to clear.
    pub(super) fn due(&self) -> Option<Instant> {
        self.concealed.as_ref()?.due
    }

    pub(super) fn clear_if_due(&mut self, now: Instant) {
        if self.due().is_some_and(|due| due <= now) {
            self.clear_if_ours();
        }
    }

    /// Clears what is to be cleared, and leaves the clipboard: a plain text to a clipboard history that takes it over, a
    /// concealed one that may still be there to nobody.
    pub(super) fn stop(mut self) {
        self.clear_if_ours();
        self.board.leave(self.concealed.is_none());
    }

    /// What we put there is forgotten once it is known not to be there.
    fn clear_if_ours(&mut self) {
        let Some(Concealed { text, .. }) = self.concealed.take() else { return };
        let stays = match self.board.holds(&text) {
            Holds::Another => false,
            Holds::This => self.board.clear().is_err(),
            Holds::Unknown => true,
        };
        if stays {
            tracing::warn!("a token may still be in the clipboard, as it could not be told or cleared");
            self.concealed = Some(Concealed { text, due: None });
        }
    }
}
