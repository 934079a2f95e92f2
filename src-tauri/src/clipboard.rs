//! The clipboard: what is copied, and that a token does not stay in it.
//!
//! A concealed text is kept out of clipboard histories where the system can do that, and it is cleared after its time and
//! at quit, but only while it is still what the clipboard holds: what somebody copied since is theirs. Where that cannot
//! be told, it stays, and whoever copied is told so. No text is ever logged.

mod board;
mod held;

use std::{
    fmt,
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError},
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use self::{
    board::{Board, SystemBoard},
    held::Held,
};
use crate::shell::{Copied, ToCopy};

/// Copies that wait, at most: a person copies one thing at a time.
const WAITING: usize = 16;

/// How long quitting waits for the clipboard.
const STOP_TIME: Duration = Duration::from_secs(1);

/// The system's clipboard, on a thread of its own. Cheap to clone; all clones are the same one.
#[derive(Clone)]
pub struct Clipboard {
    wishes: SyncSender<Wish>,
}

/// What came of a copy.
pub type CopiedSender = oneshot::Sender<Result<Copied, String>>;

enum Wish {
    Copy(ToCopy, CopiedSender),
    Stop(SyncSender<()>),
}

impl fmt::Debug for Clipboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clipboard").finish_non_exhaustive()
    }
}

impl Clipboard {
    /// Starts the thread. The system's clipboard is opened when something is copied.
    pub fn start() -> Self {
        Self::with(SystemBoard::default())
    }

    fn with(board: impl Board) -> Self {
        let (wishes, queue) = mpsc::sync_channel(WAITING);
        let work = move || serve(Held::new(board), &queue);
        if let Err(error) = std::thread::Builder::new().name("clipboard".into()).spawn(work) {
            tracing::error!("no thread for the clipboard: {error}");
        }
        Self { wishes }
    }

    /// Puts a text into the clipboard, and tells what came of it. Returns at once.
    pub fn copy(&self, text: ToCopy, copied: CopiedSender) {
        let refused = match self.wishes.try_send(Wish::Copy(text, copied)) {
            Ok(()) => return,
            Err(TrySendError::Full(wish)) => (wish, "The clipboard does not answer, so nothing was copied. Try again."),
            Err(TrySendError::Disconnected(wish)) => {
                (wish, "The clipboard cannot be used any more, so nothing was copied. Start the app again.")
            }
        };
        if let (Wish::Copy(_, copied), sentence) = refused {
            drop(copied.send(Err(sentence.into())));
        }
    }

    /// Clears a concealed text that is still in the clipboard, and ends the thread. Waits for that, a second at most.
    pub fn clear_if_ours_and_stop(&self) {
        let (stopped, done) = mpsc::sync_channel(1);
        if self.wishes.try_send(Wish::Stop(stopped)).is_err() || done.recv_timeout(STOP_TIME).is_err() {
            tracing::warn!("the clipboard did not end in time");
        }
    }
}

/// Does what is wished, and clears what has had its time, until it is told to stop.
fn serve(mut held: Held<impl Board>, wishes: &Receiver<Wish>) {
    loop {
        let wait = held.due().map(|due| due.saturating_duration_since(Instant::now()));
        let wish = wait.map_or_else(|| wishes.recv().map_err(Into::into), |wait| wishes.recv_timeout(wait));
        match wish {
            Ok(Wish::Copy(text, copied)) => drop(copied.send(held.copy(text, Instant::now()))),
            Ok(Wish::Stop(stopped)) => {
                held.stop();
                let _ = stopped.send(());
                return;
            }
            Err(RecvTimeoutError::Timeout) => held.clear_if_due(Instant::now()),
            Err(RecvTimeoutError::Disconnected) => return held.stop(),
        }
    }
}

#[cfg(test)]
mod tests;
