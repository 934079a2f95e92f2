//! Secret files (`docs/protocol.md`, "Tokens"), as the secrets in them.

use std::path::Path;

use clientmcp_settings::secret_file::{self, Problem};
pub use clientmcp_settings::secret_file::{SECRET_FILE_BYTES, SecretFileError, create};

use crate::token::{Secret, Secrets};

/// Reads the secrets of a file.
pub fn read(path: &Path) -> Result<Secrets, SecretFileError> {
    let texts = secret_file::read(path)?;
    // Each is a secret, and there is one: that was looked at when they were read.
    let secrets = texts.iter().map(|text| Secret::new(text)).collect::<Result<_, _>>().ok().and_then(Secrets::new);
    secrets.ok_or_else(|| SecretFileError { path: path.into(), problem: Problem::Empty })
}
