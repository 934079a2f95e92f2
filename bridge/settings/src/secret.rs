//! Secrets, as texts: which text is one, and how a new one is made.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use clientmcp_protocol::limits::SECRET_BYTES;
use rand::{TryRng as _, rngs::SysRng};
use zeroize::Zeroizing;

use crate::NoRandomness;

/// Why a text is no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretFault {
    /// It could be guessed.
    Short,
    /// It would be another one when read back from a file.
    Lines,
}

/// Whether a text is a secret: one line, long enough.
pub fn check(text: &str) -> Result<(), SecretFault> {
    if text.contains(['\r', '\n']) {
        Err(SecretFault::Lines)
    } else if text.len() < SECRET_BYTES {
        Err(SecretFault::Short)
    } else {
        Ok(())
    }
}

/// Makes a new one: 32 bytes of the operating system's random source, in base64url without padding.
pub fn generate() -> Result<String, NoRandomness> {
    let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
    SysRng.try_fill_bytes(&mut *bytes).map_err(|_| NoRandomness)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes.as_slice()))
}

impl std::error::Error for SecretFault {}

impl fmt::Display for SecretFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => write!(f, "shorter than {SECRET_BYTES} bytes"),
            Self::Lines => f.write_str("more than one line"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_secret_is_one() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_ne!(one, other);
        assert_eq!(check(&one), Ok(()));
        assert_eq!(URL_SAFE_NO_PAD.decode(one).unwrap().len(), 32);
    }
}
