//! What the operating systems do differently: one file each, with the same functions.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use self::linux::{moves, question_windows, shut_inspector, tray_missing, watch_tray};
#[cfg(target_os = "macos")]
pub use self::macos::{moves, question_windows, shut_inspector, tray_missing, watch_tray};
#[cfg(windows)]
pub use self::windows::{moves, question_windows, shut_inspector, tray_missing, watch_tray};

/// Why there is no tray icon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTray {
    /// None can be made: trying to would end the process. The sentence says what is missing and what to do.
    Impossible(String),
    /// Nobody shows one now; one that is made appears when somebody does. The sentence says what is missing and what to
    /// do.
    Unseen(String),
}

impl NoTray {
    /// What is missing, and what to do.
    pub fn sentence(&self) -> &str {
        match self {
            Self::Impossible(sentence) | Self::Unseen(sentence) => sentence,
        }
    }
}
