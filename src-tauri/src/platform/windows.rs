//! Windows.

use std::{io, path::Path};

use super::NoTray;

/// Shuts a door for developer tools that the environment opened. Here the web view keeps to its own setting, but for who
/// starts the app with arguments of the browser in its environment.
pub fn shut_inspector() -> io::Result<()> {
    Ok(())
}

/// Whether a window can stay on top, where we put it, and without the keyboard.
pub fn question_windows() -> bool {
    true
}

/// Why there is no tray icon. The notification area is always there.
pub fn tray_missing() -> Option<NoTray> {
    None
}

/// Tells when somebody who shows tray icons comes or goes: here, never.
pub fn watch_tray(_: impl FnMut(bool) + Send + 'static) {}

/// Whether a program is somewhere else after the next start: here, never.
pub fn moves(_: &Path) -> bool {
    false
}
