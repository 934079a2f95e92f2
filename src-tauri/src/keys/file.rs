//! Secrets in a file, as the bridge reads it: a secret a line, for us alone.

use std::path::Path;

use clientmcp_settings::secret_file::{self, SecretFileError};

use super::{Item, Trouble};
use crate::wire::KeysCode;

pub(super) fn read(path: &Path) -> Result<Option<Item>, Trouble> {
    match secret_file::read(path) {
        Ok(secrets) => Ok(Some(Item { secrets, id: None, seal: None })),
        Err(error) if error.missing() => Ok(None),
        Err(error) => Err(trouble(&error)),
    }
}

/// The file holds secrets alone: neither the settings' id nor what seals them is kept.
pub(super) fn write(path: &Path, item: &Item) -> Result<(), Trouble> {
    secret_file::replace(path, &item.secrets).map_err(|error| trouble(&error))
}

pub(super) fn forget(path: &Path) -> Result<(), Trouble> {
    secret_file::remove(path).map_err(|error| trouble(&error))
}

fn trouble(error: &SecretFileError) -> Trouble {
    Trouble { code: KeysCode::File, sentence: format!("{error}.") }
}
