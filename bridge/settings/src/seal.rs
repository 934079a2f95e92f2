//! The seal on the settings file: a MAC over its bytes, so that nobody changes them unseen who has not the key.
//!
//! It is the last member of the file, and counts for every byte before it. Another way to write the same JSON is another
//! file: what is sealed are bytes, not what some version of the app understands of them.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::secret::{self, SecretFault};

/// What the key is for. Its source may be a secret that signs tokens: no token is ever signed over these bytes, as they
/// hold no full stop.
const PURPOSE: &[u8] = b"clientmcp settings seal 1";

/// Before the seal, where the object would end.
const MEMBER: &[u8] = b",\n  \"seal\": \"";

/// Behind the seal.
const END: &[u8] = b"\"\n}\n";

/// How our JSON ends without one.
const UNSEALED_END: &[u8] = b"\n}";

/// Characters of a seal: 32 bytes in base64url without padding.
const CHARS: usize = 43;

/// What settings are sealed with. It is never printed.
#[derive(Clone)]
pub struct SealKey(Hmac<Sha256>);

impl SealKey {
    /// The key that is derived from a text of at least 32 bytes, which is kept where the settings are not.
    pub fn of(kept: &str) -> Result<Self, SecretFault> {
        secret::check(kept)?;
        let derived = keyed(kept.as_bytes())?.chain_update(PURPOSE).finalize().into_bytes();
        keyed(&derived).map(Self)
    }

    fn over(&self, bytes: &[u8]) -> Hmac<Sha256> {
        self.0.clone().chain_update(bytes)
    }

    fn sealed(&self, bytes: &[u8], seal: &[u8]) -> bool {
        // Compared in a time that tells nothing.
        URL_SAFE_NO_PAD.decode(seal).is_ok_and(|seal| self.over(bytes).verify_slice(&seal).is_ok())
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(..)")
    }
}

/// HMAC takes a key of any length, so this never fails.
fn keyed(key: &[u8]) -> Result<Hmac<Sha256>, SecretFault> {
    Hmac::new_from_slice(key).map_err(|_| SecretFault::Short)
}

/// What stands in a file: the object without its seal, and the seal if it has one.
pub(crate) struct Parts<'a> {
    bytes: &'a [u8],
    seal: Option<&'a [u8]>,
}

impl<'a> Parts<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self::sealed(bytes).unwrap_or(Self { bytes, seal: None })
    }

    fn sealed(bytes: &'a [u8]) -> Option<Self> {
        let (rest, seal) = bytes.strip_suffix(END)?.split_last_chunk::<CHARS>()?;
        Some(Self { bytes: rest.strip_suffix(MEMBER)?, seal: Some(seal) })
    }

    /// The object as JSON.
    pub(crate) fn object(&self) -> Vec<u8> {
        let end = if self.seal.is_some() { UNSEALED_END } else { &[] };
        [self.bytes, end].concat()
    }

    /// Which of these keys it was sealed with.
    pub(crate) fn sealed_with(&self, keys: &[SealKey]) -> Option<usize> {
        let seal = self.seal?;
        keys.iter().position(|key| key.sealed(self.bytes, seal))
    }
}

/// An object as `serde_json` prints it for people, sealed; nothing for what is none.
pub(crate) fn sealed(object: &[u8], key: &SealKey) -> Option<Vec<u8>> {
    let bytes = object.strip_suffix(UNSEALED_END)?;
    let seal = URL_SAFE_NO_PAD.encode(key.over(bytes).finalize().into_bytes());
    Some([bytes, MEMBER, seal.as_bytes(), END].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: &str = "0123456789abcdef0123456789abcdef";

    fn key(kept: &str) -> SealKey {
        SealKey::of(kept).unwrap()
    }

    // holds: settings-seal
    #[test]
    fn the_seal_is_the_last_member_and_what_is_sealed_is_read_without_it() {
        let object = b"{\n  \"version\": 1\n}";
        let text = sealed(object, &key(KEPT)).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(value["seal"].as_str().unwrap().len(), CHARS);
        let parts = Parts::of(&text);
        assert_eq!((parts.object(), parts.sealed_with(&[key(KEPT)])), (object.to_vec(), Some(0)));
        assert_eq!(Parts::of(object).object(), object);
        assert_eq!(sealed(b"[]", &key(KEPT)), None);
    }

    // holds: settings-seal
    #[test]
    fn a_seal_of_another_key_is_none() {
        let (text, other) = (sealed(b"{\n  \"a\": 1\n}", &key(KEPT)).unwrap(), key(&KEPT.replace('0', "x")));
        assert_eq!(Parts::of(&text).sealed_with(std::slice::from_ref(&other)), None);
        assert_eq!(Parts::of(&text).sealed_with(&[other, key(KEPT)]), Some(1));
        assert_eq!(Parts::of(&text).sealed_with(&[]), None);
    }

    // holds: settings-seal
    #[test]
    fn the_key_is_derived_and_never_what_it_is_derived_from() {
        let text = sealed(b"{\n  \"a\": 1\n}", &key(KEPT)).unwrap();
        let raw = SealKey(Hmac::new_from_slice(KEPT.as_bytes()).unwrap());
        assert_eq!(Parts::of(&text).sealed_with(&[raw]), None);
        assert_eq!(SealKey::of("hunter2").err(), Some(SecretFault::Short));
        assert!(!format!("{:?}", key(KEPT)).contains("0123"));
    }
}
