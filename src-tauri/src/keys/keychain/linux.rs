//! The keychain of a Linux desktop: the Secret Service on the session bus.
#![expect(clippy::wildcard_enum_match_arm, reason = "errors of other crates, of which a few mean something to us")]

use std::collections::HashMap;

use keyring_core::{Entry, Error, api::CredentialStoreApi as _};
use secret_service::{EncryptionType, Error as ServiceError, blocking::SecretService};
use zbus::{Error as BusError, fdo};
use zbus_secret_service_keyring_store::{Store, errors::decode_error};

use super::{ACCOUNT, Cause, SERVICE, System};

/// What the keychain's own app shows for the entry.
const LABEL: &str = "ClientMCP: secrets that sign tokens";

/// This system's keychain.
#[derive(Debug)]
pub(in crate::keys) struct ThisSystem;

impl System for ThisSystem {
    fn open(&self) -> keyring_core::Result<Entry> {
        Store::new()?.build(SERVICE, ACCOUNT, Some(&HashMap::from([("label", LABEL)])))
    }

    /// `KeePassXC` shows no entries at all while its database is locked.
    fn reveal(&self) -> keyring_core::Result<bool> {
        reveal().map_err(decode_error)
    }

    fn cause(&self, error: &Error) -> Option<Cause> {
        let (Error::PlatformFailure(cause) | Error::NoStorageAccess(cause)) = error else { return None };
        cause.downcast_ref().map(of_service)
    }
}

/// No secret crosses this connection, so it is not encrypted.
fn reveal() -> Result<bool, ServiceError> {
    let service = SecretService::connect(EncryptionType::Plain)?;
    let keyring = match service.get_default_collection() {
        Err(ServiceError::NoResult) => return Ok(false),
        keyring => keyring?,
    };
    let locked = keyring.is_locked()?;
    if locked {
        keyring.unlock()?;
    }
    Ok(locked)
}

fn of_service(error: &ServiceError) -> Cause {
    match error {
        ServiceError::Unavailable => Cause::NoBus,
        ServiceError::Locked | ServiceError::Prompt => Cause::Locked,
        ServiceError::NoResult => Cause::NoKeyring,
        ServiceError::Zbus(error) => of_bus(error),
        ServiceError::ZbusFdo(error) => of_freedesktop(error),
        _ => Cause::Failed,
    }
}

fn of_bus(error: &BusError) -> Cause {
    match error {
        BusError::Address(_) | BusError::Connection(..) | BusError::Handshake(_) => Cause::NoBus,
        BusError::FDO(error) => of_freedesktop(error),
        BusError::MethodError(name, ..) => of_reply(name.as_str()),
        // With an error of input or output among them: a bus that went away.
        _ => Cause::Failed,
    }
}

fn of_freedesktop(error: &fdo::Error) -> Cause {
    match error {
        fdo::Error::ZBus(error) => of_bus(error),
        fdo::Error::ServiceUnknown(_)
        | fdo::Error::NameHasNoOwner(_)
        | fdo::Error::SpawnChildExited(_)
        | fdo::Error::SpawnExecFailed(_)
        | fdo::Error::SpawnServiceNotFound(_) => Cause::NoProvider,
        _ => Cause::Failed,
    }
}

/// The bus names what is missing, and a program that is registered but does not start.
fn of_reply(name: &str) -> Cause {
    match name.strip_prefix("org.freedesktop.DBus.Error.") {
        Some("ServiceUnknown" | "NameHasNoOwner") => Cause::NoProvider,
        Some(error) if error.starts_with("Spawn.") => Cause::NoProvider,
        _ if name == "org.freedesktop.Secret.Error.IsLocked" => Cause::Locked,
        _ => Cause::Failed,
    }
}
