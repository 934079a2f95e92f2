//! JSON Web Tokens by hand, so that a test can write any header and any claims.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The secret of every bridge under test.
pub(crate) const SECRET: &str = "a secret of the tests, which is not short";

/// The header of every valid token.
pub(crate) const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

/// A token that may be the application `sub`.
pub(crate) fn client(sub: &str) -> String {
    claiming(&format!(r#"{{"sub":"{sub}","role":"client"}}"#))
}

/// A token that may call the tools of `sub`.
pub(crate) fn agent(sub: &str) -> String {
    claiming(&format!(r#"{{"sub":"{sub}","role":"agent"}}"#))
}

/// A well-made token with these claims.
pub(crate) fn claiming(claims: &str) -> String {
    signed(HEADER, claims, SECRET)
}

/// What a token says.
pub(crate) fn payload(token: &str) -> serde_json::Value {
    let payload = token.split('.').nth(1).expect("three parts");
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

/// A signed token of any header and claims text.
pub(crate) fn signed(header: &str, claims: &str, secret: &str) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(message.as_bytes());
    let signature = URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
    format!("{message}.{signature}")
}
