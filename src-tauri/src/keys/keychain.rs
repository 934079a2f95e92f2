//! Secrets in the operating system's keychain: one entry, service `ClientMCP`, account `bridge`.
//!
//! It is opened when it is needed, and anew after a failure: a keychain that was restarted answers nobody who came before.
//! What it says goes into the log only as far as it can hold no secret.

mod cause;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

use std::fmt;

use keyring_core::{Entry, Error};

pub(super) use self::cause::Cause;
use self::cause::told;
#[cfg(target_os = "linux")]
pub(super) use self::linux::ThisSystem;
#[cfg(target_os = "macos")]
pub(super) use self::macos::ThisSystem;
#[cfg(windows)]
pub(super) use self::windows::ThisSystem;
use super::{Item, Trouble, item};

/// The entry's service.
const SERVICE: &str = "ClientMCP";

/// The entry's account.
const ACCOUNT: &str = "bridge";

/// A system's keychain.
pub(super) trait System: Send + 'static {
    /// Opens the keychain, never one that was opened before, and names our entry in it. Nothing is read or written yet.
    fn open(&self) -> keyring_core::Result<Entry>;

    /// Unlocks what may hide the entry, for a keychain that shows nothing while it is locked. Whether there is more to see
    /// now.
    fn reveal(&self) -> keyring_core::Result<bool>;

    /// What such a failure means here, where more can be told than the error itself tells.
    fn cause(&self, error: &Error) -> Option<Cause>;
}

/// Our entry in the keychain.
pub(super) struct Keychain {
    system: Box<dyn System>,
    /// From the last time, if all went well.
    entry: Option<Entry>,
}

impl fmt::Debug for Keychain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An entry of a store may show what it holds.
        f.debug_struct("Keychain").field("open", &self.entry.is_some()).finish_non_exhaustive()
    }
}

impl Keychain {
    pub(super) fn new(system: impl System) -> Self {
        Self { system: Box::new(system), entry: None }
    }

    pub(super) fn read(&mut self) -> Result<Option<Item>, Trouble> {
        let text = self.text().map_err(Cause::trouble)?;
        text.map(|text| item::read(&text)).transpose().map_err(|unlike| Cause::from(unlike).trouble())
    }

    pub(super) fn write(&mut self, item: Item) -> Result<(), Trouble> {
        let text = item::written(item).map_err(|unlike| Cause::from(unlike).trouble())?;
        self.with(|entry| entry.set_secret(&text)).map_err(Cause::trouble)
    }

    /// Of several entries under our name, all go: the person wants nothing of ours to stay.
    pub(super) fn forget(&mut self) -> Result<(), Trouble> {
        let deleted = self.with(|entry| match entry.delete_credential() {
            Err(Error::Ambiguous(entries)) => entries.iter().try_for_each(Entry::delete_credential),
            done => done,
        });
        match deleted {
            Ok(()) | Err(Cause::Missing) => Ok(()),
            Err(cause) => Err(cause.trouble()),
        }
    }

    fn text(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        match self.with(Entry::get_secret) {
            Err(Cause::Missing) if self.reveal()? => match self.with(Entry::get_secret) {
                Err(Cause::Missing) => Ok(None),
                found => found.map(Some),
            },
            Err(Cause::Missing) => Ok(None),
            found => found.map(Some),
        }
    }

    fn reveal(&self) -> Result<bool, Cause> {
        self.system.reveal().map_err(|error| self.cause(&error))
    }

    /// Does something with the entry. One from the last time may be of a keychain that has gone since: then it is opened
    /// once more.
    fn with<T>(&mut self, deed: impl Fn(&Entry) -> keyring_core::Result<T>) -> Result<T, Cause> {
        let held = self.entry.take();
        if let Some(entry) = held {
            match self.done(entry, &deed) {
                Err(cause) if cause.may_be_stale() => tracing::info!("the keychain is opened anew"),
                done => return done,
            }
        }
        let entry = self.system.open().map_err(|error| self.cause(&error))?;
        self.done(entry, &deed)
    }

    /// The entry is kept for the next time, unless something went wrong.
    fn done<T>(&mut self, entry: Entry, deed: impl Fn(&Entry) -> keyring_core::Result<T>) -> Result<T, Cause> {
        let done = deed(&entry).map_err(|error| self.cause(&error));
        if matches!(done, Ok(_) | Err(Cause::Missing)) {
            self.entry = Some(entry);
        }
        done
    }

    fn cause(&self, error: &Error) -> Cause {
        let cause = self.system.cause(error).unwrap_or_else(|| Cause::of(error));
        if cause != Cause::Missing {
            tracing::warn!("keychain: {}", told(error));
        }
        cause
    }
}

#[cfg(test)]
mod tests;
