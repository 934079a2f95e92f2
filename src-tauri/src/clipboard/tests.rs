use std::sync::{Arc, Mutex};

use super::{board::Holds, *};
use crate::shell::CONCEALED_SECONDS;

/// A clipboard in memory. Clones are the same one.
#[derive(Clone, Default)]
struct FakeBoard(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    text: Option<String>,
    concealed: bool,
    broken: bool,
    unreadable: bool,
    left: Option<bool>,
}

impl FakeBoard {
    fn text(&self) -> Option<String> {
        self.0.lock().unwrap().text.clone()
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.lock().unwrap());
    }
}

impl Board for FakeBoard {
    fn put(&mut self, text: &str, concealed: bool) -> Result<(), String> {
        let mut state = self.0.lock().unwrap();
        if state.broken {
            return Err("broken".into());
        }
        (state.text, state.concealed) = (Some(text.into()), concealed);
        Ok(())
    }

    fn holds(&mut self, text: &str) -> Holds {
        let state = self.0.lock().unwrap();
        match &state.text {
            _ if state.unreadable => Holds::Unknown,
            Some(held) if held == text => Holds::This,
            _ => Holds::Another,
        }
    }

    fn clear(&mut self) -> Result<(), String> {
        let mut state = self.0.lock().unwrap();
        if state.broken {
            return Err("broken".into());
        }
        state.text = None;
        Ok(())
    }

    fn leave(&mut self, take_over: bool) {
        self.0.lock().unwrap().left = Some(take_over);
    }
}

fn token(text: &str) -> ToCopy {
    ToCopy { text: text.into(), concealed: true }
}

fn plain(text: &str) -> ToCopy {
    ToCopy { text: text.into(), concealed: false }
}

/// A clipboard, what is held there, the present, and the moment a text copied now has had its time.
fn beginning() -> (FakeBoard, Held<FakeBoard>, Instant, Instant) {
    let board = FakeBoard::default();
    let now = Instant::now();
    (board.clone(), Held::new(board), now, now + Duration::from_secs(CONCEALED_SECONDS))
}

// holds: desktop-clipboard-cleared
#[test]
fn a_token_is_cleared_after_its_time() {
    let (board, mut held, now, end) = beginning();
    assert_eq!(held.copy(token("t"), now), Ok(Copied::Passing));
    assert!(board.0.lock().unwrap().concealed);
    assert_eq!(held.due(), Some(end));
    held.clear_if_due(now + Duration::from_secs(CONCEALED_SECONDS - 1));
    assert_eq!(board.text().as_deref(), Some("t"));
    held.clear_if_due(end);
    assert_eq!((board.text(), held.due()), (None, None));
}

// holds: desktop-clipboard-theirs
#[test]
fn what_somebody_copied_since_is_never_cleared() {
    let (board, mut held, now, end) = beginning();
    held.copy(token("t"), now).unwrap();
    board.set(|state| state.text = Some("theirs".into()));
    held.clear_if_due(end);
    assert_eq!((board.text().as_deref(), held.due()), (Some("theirs"), None));
    held.copy(token("t"), now).unwrap();
    board.set(|state| state.text = Some("theirs".into()));
    held.stop();
    assert_eq!(board.text().as_deref(), Some("theirs"));
    assert_eq!(board.0.lock().unwrap().left, Some(true));
}

// holds: desktop-clipboard-cleared
#[test]
fn a_newer_copy_has_its_own_time() {
    let (board, mut held, now, end) = beginning();
    held.copy(token("first"), now).unwrap();
    let later = now + Duration::from_secs(60);
    held.copy(token("second"), later).unwrap();
    held.clear_if_due(end);
    assert_eq!(board.text().as_deref(), Some("second"));
    held.copy(plain("a URL"), later).unwrap();
    assert_eq!(held.due(), None);
    held.clear_if_due(later + Duration::from_secs(1_000));
    assert_eq!(board.text().as_deref(), Some("a URL"));
}

// holds: desktop-clipboard-cleared
#[test]
fn the_same_token_copied_again_stays_for_its_whole_time() {
    let (board, mut held, now, end) = beginning();
    held.copy(token("t"), now).unwrap();
    held.copy(token("t"), now + Duration::from_secs(60)).unwrap();
    held.clear_if_due(end);
    assert_eq!(board.text().as_deref(), Some("t"));
}

// holds: desktop-clipboard-cleared
#[test]
fn at_quit_a_token_goes_and_a_plain_text_stays() {
    let (board, mut held, now, _) = beginning();
    held.copy(token("t"), now).unwrap();
    held.stop();
    assert_eq!(board.text(), None);
    let (board, mut held, now, _) = beginning();
    assert_eq!(held.copy(plain("a URL"), now), Ok(Copied::Plainly));
    held.stop();
    assert_eq!(board.text().as_deref(), Some("a URL"));
    assert_eq!(board.0.lock().unwrap().left, Some(true));
}

// holds: desktop-clipboard-staying
#[test]
fn where_it_cannot_be_told_it_stays_and_that_is_said() {
    let (board, mut held, now, end) = beginning();
    board.set(|state| state.unreadable = true);
    assert_eq!(held.copy(token("t"), now), Ok(Copied::Staying));
    assert_eq!(held.due(), None);
    held.clear_if_due(end);
    held.stop();
    assert_eq!(board.text().as_deref(), Some("t"));
    // No history is offered it.
    assert_eq!(board.0.lock().unwrap().left, Some(false));
}

// holds: desktop-clipboard-staying
#[test]
fn what_could_not_be_cleared_is_tried_again_at_quit() {
    let (board, mut held, now, end) = beginning();
    held.copy(token("t"), now).unwrap();
    board.set(|state| state.broken = true);
    held.clear_if_due(end);
    assert_eq!(held.due(), None);
    board.set(|state| state.broken = false);
    held.stop();
    assert_eq!(board.text(), None);
}

#[test]
fn a_copy_that_failed_leaves_what_was_to_be_cleared() {
    let (board, mut held, now, end) = beginning();
    held.copy(token("t"), now).unwrap();
    board.set(|state| state.broken = true);
    assert_eq!(held.copy(plain("a URL"), now), Err("broken".into()));
    assert_eq!(held.due(), Some(end));
}

// holds: desktop-clipboard-cleared
#[test]
fn the_thread_copies_and_clears_at_its_end() {
    let board = FakeBoard::default();
    let clipboard = Clipboard::with(board.clone());
    let (copied, answer) = oneshot::channel();
    clipboard.clone().copy(token("t"), copied);
    assert_eq!(answer.blocking_recv().unwrap(), Ok(Copied::Passing));
    assert_eq!(board.text().as_deref(), Some("t"));
    clipboard.clear_if_ours_and_stop();
    assert_eq!(board.text(), None);
    let (copied, answer) = oneshot::channel();
    clipboard.copy(token("t"), copied);
    assert!(answer.blocking_recv().unwrap().unwrap_err().contains("so nothing was copied"));
    clipboard.clear_if_ours_and_stop();
}

// holds: desktop-clipboard-cleared
#[test]
fn when_all_that_copies_has_gone_a_token_goes_too() {
    let board = FakeBoard::default();
    let clipboard = Clipboard::with(board.clone());
    let (copied, answer) = oneshot::channel();
    clipboard.copy(token("t"), copied);
    answer.blocking_recv().unwrap().unwrap();
    drop(clipboard);
    let start = Instant::now();
    while board.0.lock().unwrap().left.is_none() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited 60 s in vain for the clipboard to be left");
        std::thread::yield_now();
    }
    assert_eq!(board.text(), None);
}
