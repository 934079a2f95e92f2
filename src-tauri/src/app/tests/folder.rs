//! Where the app of a test keeps its files.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use clientmcp_settings::{SealKey, Sealed, SecretStore, SettingsId};

use super::world::SEAL;
use crate::keys::Place;

/// A folder that is gone after the test.
#[derive(Clone)]
pub(super) struct Folder(Arc<Gone>);

struct Gone(PathBuf);

impl Drop for Gone {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

impl Folder {
    pub(super) fn new() -> Self {
        let id = SettingsId::random().unwrap();
        Self(Arc::new(Gone(std::env::temp_dir().join(format!("clientmcp-desktop-{}", id.as_str())))))
    }

    pub(super) fn settings(&self) -> PathBuf {
        self.0.0.join("settings.json")
    }

    pub(super) fn secret(&self) -> Place {
        Place::File(self.0.0.join("bridge.secret"))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0.0
    }

    /// Settings as an earlier run left them.
    pub(super) fn with_settings(self, port: u16, store: SecretStore) -> (Self, SettingsId) {
        let id = SettingsId::random().unwrap();
        let mut opened = clientmcp_settings::open(&self.settings(), None, Sealed::NotYet, id.clone());
        (opened.remembered.settings.port, opened.remembered.settings.secret_store) = (port, store);
        opened.file.save(&opened.remembered, &SealKey::of(SEAL).unwrap()).unwrap();
        (self, id)
    }
}
