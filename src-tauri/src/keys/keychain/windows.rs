//! The keychain of Windows: the Credential Manager.

use std::collections::HashMap;

use keyring_core::{Entry, Error, api::CredentialStoreApi as _};
use windows_native_keyring_store::Store;

use super::{ACCOUNT, Cause, SERVICE, System};

/// This system's keychain.
#[derive(Debug)]
pub(in crate::keys) struct ThisSystem;

impl System for ThisSystem {
    /// The entry stays on this machine, as the settings do that go with it.
    fn open(&self) -> keyring_core::Result<Entry> {
        Store::new()?.build(SERVICE, ACCOUNT, Some(&HashMap::from([("persistence", "Local")])))
    }

    /// There is nothing to unlock here beside the person's session.
    fn reveal(&self) -> keyring_core::Result<bool> {
        Ok(false)
    }

    fn cause(&self, _: &Error) -> Option<Cause> {
        None
    }
}
