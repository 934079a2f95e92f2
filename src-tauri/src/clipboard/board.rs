//! The system's clipboard, in the four things that are done with it.

use std::hint::black_box;

#[cfg(target_os = "macos")]
use arboard::SetExtApple as _;
#[cfg(target_os = "linux")]
use arboard::SetExtLinux as _;
#[cfg(windows)]
use arboard::SetExtWindows as _;
use arboard::{Clipboard, Error};
use clientmcp_protocol::shown::shown;

/// A clipboard.
pub(super) trait Board: Send + 'static {
    /// Puts a text there, out of reach of clipboard histories when it is concealed. An error is a sentence.
    fn put(&mut self, text: &str, concealed: bool) -> Result<(), String>;

    /// Whether it holds this text.
    fn holds(&mut self, text: &str) -> Holds;

    /// Empties it.
    fn clear(&mut self) -> Result<(), String>;

    /// Ends its use. Where what was copied ends with the process, a clipboard history may take it over, or must not.
    fn leave(&mut self, take_over: bool);
}

/// What a clipboard holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// The text that was asked about.
    This,
    /// Another one, or none.
    Another,
    /// That cannot be told.
    Unknown,
}

/// The clipboard of the system, opened when it is first used, and anew after a failure.
#[derive(Default)]
pub(super) struct SystemBoard(Option<Clipboard>);

impl SystemBoard {
    fn with<T>(&mut self, deed: impl FnOnce(&mut Clipboard) -> Result<T, Error>) -> Result<T, Error> {
        let clipboard = match self.0.take() {
            Some(clipboard) => self.0.insert(clipboard),
            None => self.0.insert(Clipboard::new()?),
        };
        deed(clipboard)
    }
}

impl Board for SystemBoard {
    fn put(&mut self, text: &str, concealed: bool) -> Result<(), String> {
        let put = self.with(|clipboard| {
            let set = clipboard.set();
            if concealed { set_concealed(set).text(text) } else { set.text(text) }
        });
        put.map_err(|error| {
            // The next time it may be another one: another display, another session.
            self.0 = None;
            let error = shown(&error.to_string());
            format!("The clipboard cannot be used ({error}), so nothing was copied. Try again.")
        })
    }

    fn holds(&mut self, text: &str) -> Holds {
        match self.with(Clipboard::get_text) {
            Ok(held) if same(&held, text) => Holds::This,
            // Nothing, or nothing that is a text.
            Ok(_) | Err(Error::ContentNotAvailable | Error::ConversionFailure) => Holds::Another,
            Err(_) => Holds::Unknown,
        }
    }

    fn clear(&mut self) -> Result<(), String> {
        self.with(Clipboard::clear).map_err(|error| error.to_string())
    }

    /// On X11 a clipboard history is offered the text when the clipboard is dropped.
    fn leave(&mut self, take_over: bool) {
        let clipboard = self.0.take();
        if take_over {
            drop(clipboard);
        } else {
            std::mem::forget(clipboard);
        }
    }
}

#[cfg(not(windows))]
fn set_concealed(set: arboard::Set<'_>) -> arboard::Set<'_> {
    set.exclude_from_history()
}

/// Out of the history, out of the cloud, and out of what other programs watch.
#[cfg(windows)]
fn set_concealed(set: arboard::Set<'_>) -> arboard::Set<'_> {
    set.exclude_from_monitoring().exclude_from_cloud().exclude_from_history()
}

/// Compares in a time that tells nothing of where two texts differ.
fn same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |found, (a, b)| black_box(found | (a ^ b)));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_the_same_or_not() {
        for (one, other, expected) in [
            ("", "", true),
            ("a", "a", true),
            ("a", "b", false),
            ("a", "ab", false),
            ("", "a", false),
            ("ü", "u", false),
        ] {
            assert_eq!(same(one, other), expected, "{one:?} {other:?}");
        }
    }
}
