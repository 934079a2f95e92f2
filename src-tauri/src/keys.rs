//! Where the secrets are kept: the keychain, or a file. Never both, and never one instead of the other by itself.
//!
//! Each question is answered on the one thread that may block: a locked keychain asks the person, and that takes as long
//! as it takes.

mod file;
mod item;
mod keychain;
mod thread;

use std::{fmt, path::PathBuf};

use clientmcp_settings::SettingsId;
use tokio::sync::oneshot;

pub use self::thread::KeysThread;
use crate::wire::KeysCode;

/// A place for the secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The operating system's keychain.
    Keychain,
    /// A file with a secret a line, which this user alone can read.
    File(PathBuf),
}

/// What is kept. The first secret signs, all verify. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Item {
    /// Secrets, each of at least 32 bytes.
    pub secrets: Vec<String>,
    /// The settings that go with them; none in a file, which holds secrets alone.
    pub id: Option<SettingsId>,
    /// What the key is derived from that seals those settings: random, and the same for as long as they are. None in a
    /// file, and in an entry from before there were seals.
    pub seal: Option<String>,
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Item").field("secrets", &self.secrets.len()).field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why a place cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Trouble {
    /// A stable code.
    pub code: KeysCode,
    /// What happened, what it means, what to do.
    pub sentence: String,
}

/// What comes back, sooner or later.
pub type Later<T> = oneshot::Receiver<Result<T, Trouble>>;

/// The places, as the app sees them. Nothing here blocks.
pub trait Keys: Send + 'static {
    /// Reads what is kept; nothing when nothing was ever kept there.
    fn read(&self, place: &Place) -> Later<Option<Item>>;

    /// Replaces what is kept.
    fn write(&self, place: &Place, item: Item) -> Later<()>;

    /// Removes it; it is no trouble when there was nothing.
    fn forget(&self, place: &Place) -> Later<()>;
}

/// Waits for what comes back.
pub async fn answered<T>(later: Later<T>) -> Result<T, Trouble> {
    later.await.unwrap_or_else(|_| Err(thread::gone()))
}
