//! The settings id: it stands in the file and beside the secrets, so that neither is taken for the other's.

use std::fmt;

use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};

/// Which settings belong to which secrets. Random, and no secret itself.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SettingsId(String);

/// A text that is no settings id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadId;

/// The operating system gave no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRandomness;

const CHARS: usize = 32;

impl SettingsId {
    /// The id that somewhere else was written down.
    pub fn new(text: &str) -> Result<Self, BadId> {
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == CHARS && text.bytes().all(digit) { Ok(Self(text.into())) } else { Err(BadId) }
    }

    /// What stands for one before any was read: it goes with no secrets.
    pub fn nobodys() -> Self {
        Self("0".repeat(CHARS))
    }

    /// A new one: 128 bits of the operating system's random source, as hexadecimal digits.
    pub fn random() -> Result<Self, NoRandomness> {
        let mut bytes = [0; CHARS / 2];
        SysRng.try_fill_bytes(&mut bytes).map_err(|_| NoRandomness)?;
        Ok(Self(format!("{:032x}", u128::from_be_bytes(bytes))))
    }

    /// The id as it is written down.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SettingsId {
    type Error = BadId;

    fn try_from(text: String) -> Result<Self, BadId> {
        Self::new(&text)
    }
}

impl From<SettingsId> for String {
    fn from(id: SettingsId) -> Self {
        id.0
    }
}

impl fmt::Debug for SettingsId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadId {}

impl fmt::Display for BadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not 32 hexadecimal digits in lower case")
    }
}

impl std::error::Error for NoRandomness {}

impl fmt::Display for NoRandomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the system gave no random bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        let id = SettingsId::random().unwrap();
        assert_eq!(SettingsId::new(id.as_str()), Ok(id.clone()));
        assert_ne!(SettingsId::random().unwrap(), id);
        for bad in ["", "0", &"g".repeat(32), &"A".repeat(32), &"0".repeat(33)] {
            assert_eq!(SettingsId::new(bad), Err(BadId), "{bad}");
        }
    }
}
