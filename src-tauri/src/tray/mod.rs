//! The tray: its menu and icon as a value, and the adapter that shows it.

pub mod menu;
pub(crate) mod native;
mod words;
