//! macOS.

use std::{io, path::Path};

use super::NoTray;

/// Shuts a door for developer tools that the environment opened. Here the web view's own setting is all.
pub fn shut_inspector() -> io::Result<()> {
    Ok(())
}

/// Whether a window can stay on top, where we put it, and without the keyboard.
pub fn question_windows() -> bool {
    true
}

/// Why there is no tray icon. The menu bar is always there.
pub fn tray_missing() -> Option<NoTray> {
    None
}

/// Tells when somebody who shows tray icons comes or goes: here, never.
pub fn watch_tray(_: impl FnMut(bool) + Send + 'static) {}

/// Whether a program is somewhere else after the next start: the system starts an app that was not moved out of where it
/// was loaded from a copy of its own.
pub fn moves(program: &Path) -> bool {
    program.components().any(|part| part.as_os_str() == "AppTranslocation")
}
