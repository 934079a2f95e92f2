//! Secrets: what signs tokens and tells ours from others. Never printed, not even by `Debug`.

use std::{fmt, sync::Arc};

use clientmcp_settings::secret;
pub use clientmcp_settings::{NoRandomness, secret::SecretFault};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header};
use serde::Serialize;

use super::crypto;

/// One line of text whose UTF-8 bytes, as they stand, are the HMAC key (`docs/protocol.md`, "Tokens"). Cheap to clone;
/// the bytes are overwritten when the last clone goes.
#[derive(Clone)]
pub struct Secret(Arc<Keys>);

struct Keys {
    signing: EncodingKey,
    checking: DecodingKey,
}

impl Secret {
    /// Takes a text as the secret, spaces included; nothing in it is decoded.
    pub fn new(text: &str) -> Result<Self, SecretFault> {
        secret::check(text)?;
        let keys = (EncodingKey::from_secret(text.as_bytes()), DecodingKey::from_secret(text.as_bytes()));
        // Refused for an empty key alone, which is short as well.
        let (Ok(signing), Ok(checking)) = keys else { return Err(SecretFault::Short) };
        Ok(Self(Arc::new(Keys { signing, checking })))
    }

    /// Makes a new one: 32 bytes of the operating system's random source, in base64url without padding.
    pub fn generate() -> Result<Self, NoRandomness> {
        Self::new(&secret::generate()?).map_err(|_| NoRandomness)
    }

    /// The secret itself, for the one who has to store it.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.signing.as_bytes()
    }

    /// The claims as a signed token; nothing when they cannot be written as JSON.
    pub(super) fn sign(&self, claims: &impl Serialize) -> Option<String> {
        crypto::install();
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &self.0.signing).ok()
    }

    /// True when `signature`, in base64url, is this secret's over `message`.
    pub(super) fn signed(&self, message: &str, signature: &str) -> bool {
        crypto::install();
        jsonwebtoken::crypto::verify(signature, message.as_bytes(), &self.0.checking, Algorithm::HS256).unwrap_or(false)
    }
}

impl PartialEq for Secret {
    // Compares secrets of ours with each other, never with what a peer sent, so the time it takes tells nobody anything.
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The secrets in force, at least one: the first signs, all verify, so that a new one can come before the old one goes.
/// Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secrets {
    first: Secret,
    others: Arc<[Secret]>,
}

impl Secrets {
    /// Nothing for an empty list.
    pub fn new(secrets: Vec<Secret>) -> Option<Self> {
        let mut secrets = secrets.into_iter();
        Some(Self { first: secrets.next()?, others: secrets.collect() })
    }

    /// The one that signs.
    pub fn first(&self) -> &Secret {
        &self.first
    }

    /// All of them, the one that signs first.
    pub fn iter(&self) -> impl Iterator<Item = &Secret> {
        std::iter::once(&self.first).chain(self.others.iter())
    }
}

impl From<Secret> for Secrets {
    fn from(secret: Secret) -> Self {
        Self { first: secret, others: Arc::default() }
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

    use super::*;

    #[test]
    fn a_secret_is_its_bytes_as_they_stand() {
        for text in [
            " spaces before, inside and behind  ",
            "éèàüöäß エージェント 0123456789",
            "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=",
        ] {
            assert_eq!(Secret::new(text).unwrap().as_bytes(), text.as_bytes());
        }
    }

    #[test]
    fn a_secret_has_at_least_32_bytes() {
        assert!(Secret::new(&"x".repeat(32)).is_ok());
        assert!(Secret::new(&"ü".repeat(16)).is_ok());
        for short in ["", "x", &"x".repeat(31), &"ü".repeat(15)] {
            assert_eq!(Secret::new(short), Err(SecretFault::Short), "{short:?}");
        }
    }

    #[test]
    fn a_secret_is_one_line() {
        for end in ["\n", "\r", "\r\n"] {
            assert_eq!(Secret::new(&["x".repeat(40), "y".repeat(40)].join(end)), Err(SecretFault::Lines));
        }
    }

    #[test]
    fn a_new_secret_is_32_random_bytes_in_base64url() {
        let (one, other) = (Secret::generate().unwrap(), Secret::generate().unwrap());
        assert_eq!(URL_SAFE_NO_PAD.decode(one.as_bytes()).unwrap().len(), 32);
        assert_ne!(one, other);
    }

    #[test]
    fn debug_shows_nothing_of_it() {
        let secret = Secret::new(&"tell".repeat(10)).unwrap();
        assert!(!format!("{:?}", Secrets::from(secret)).contains("tell"));
    }

    #[test]
    fn secrets_are_never_none() {
        assert_eq!(Secrets::new(Vec::new()), None);
    }
}
