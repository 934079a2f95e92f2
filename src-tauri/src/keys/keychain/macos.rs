//! The keychain of macOS: the person's login keychain.

use apple_native_keyring_store::keychain::Store;
use keyring_core::{Entry, Error, api::CredentialStoreApi as _};
use security_framework::base::Error as SecurityError;

use super::{ACCOUNT, Cause, SERVICE, System};

/// The person closed the prompt: `userCanceledErr`.
const CANCELLED: i32 = -128;

/// There is nowhere to ask the person: `errSecInteractionNotAllowed`.
const NO_INTERACTION: i32 = -25308;

/// The person refused, or the password was wrong: `errSecAuthFailed`.
const NOT_AUTHORISED: i32 = -25293;

/// This system's keychain.
#[derive(Debug)]
pub(in crate::keys) struct ThisSystem;

impl System for ThisSystem {
    fn open(&self) -> keyring_core::Result<Entry> {
        Store::new()?.build(SERVICE, ACCOUNT, None)
    }

    /// A locked keychain here shows its entries.
    fn reveal(&self) -> keyring_core::Result<bool> {
        Ok(false)
    }

    fn cause(&self, error: &Error) -> Option<Cause> {
        let Error::PlatformFailure(cause) = error else { return None };
        match cause.downcast_ref::<SecurityError>()?.code() {
            CANCELLED | NO_INTERACTION => Some(Cause::Locked),
            NOT_AUTHORISED => Some(Cause::Refused),
            _ => None,
        }
    }
}
