//! What ClientMCP Desktop remembers, and the file it is in.
//!
//! [`open`] reads the file or falls back to the strictest state and says so; [`SettingsFile::save`] replaces it in one
//! step. It holds no secret, decides nothing about calls, and never overwrites a file that it could not read.
//!
//! Only one process may use a file at a time: the desktop makes sure of that, as it runs once per user.

mod file;
mod id;
pub mod private;
mod remembered;
mod settings;
mod trouble;

pub use self::{
    file::{Opened, SETTINGS_BYTES, SettingsFile, default_path, kept_in, open},
    id::{BadId, NoRandomness, SettingsId},
    remembered::{KnownApplication, KnownLabel, Remembered, VERSION},
    settings::{SecretStore, Settings, Theme},
    trouble::{SaveError, Trouble},
};
