//! What ClientMCP Desktop remembers, and the file it is in; and, apart from it, files with secrets.
//!
//! [`open`] reads the file or falls back to the strictest state and says so; [`SettingsFile::save`] replaces it in one
//! step. It holds no secret; a [`secret_file`] holds nothing else. Nothing here decides about calls, and a file that
//! could not be read is never overwritten.
//!
//! Only one process may use a file at a time: the desktop makes sure of that, as it runs once per user.

mod file;
mod id;
pub mod private;
mod remembered;
mod seal;
pub mod secret;
pub mod secret_file;
mod settings;
mod trouble;

pub use self::{
    file::{Opened, SETTINGS_BYTES, Sealed, SettingsFile, default_path, kept_in, open},
    id::{BadId, NoRandomness, SettingsId},
    remembered::{KnownApplication, KnownLabel, Remembered, VERSION},
    seal::SealKey,
    settings::{SecretStore, Settings, Theme},
    trouble::{SaveError, Trouble},
};
