//! Tokens and where they come from. A token is never printed: not by `Debug`, not in an error, not in a log.

use std::{fmt, sync::Arc};

use clientmcp_protocol::client::SUBPROTOCOL_PREFIX;
use futures_util::future::BoxFuture;

/// A client token: who holds it can become the application. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Arc<str>);

impl Token {
    /// The text, if a subprotocol value can hold it (RFC 6455, section 4.1: the characters of an RFC 9110 token).
    pub(crate) fn offered(&self) -> Option<&str> {
        let text = &*self.0;
        let usable = !text.is_empty() && !text.starts_with(SUBPROTOCOL_PREFIX) && text.bytes().all(is_token_byte);
        usable.then_some(text)
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(redacted)")
    }
}

impl From<String> for Token {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&str> for Token {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

type Fetch = Arc<dyn Fn() -> BoxFuture<'static, Option<Token>> + Send + Sync>;

/// Where the token of the next connection comes from.
#[derive(Clone)]
pub(crate) enum TokenSource {
    Fixed(Token),
    Fetched(Fetch),
}

impl TokenSource {
    pub(crate) fn fetched<F, Fut, T, E>(fetch: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: Into<Token>,
    {
        let fetch = Arc::new(fetch);
        Self::Fetched(Arc::new(move || {
            let fetch = Arc::clone(&fetch);
            Box::pin(async move { fetch().await.ok().map(Into::into) })
        }))
    }

    /// The token to offer; `None` when the function failed this time.
    pub(crate) async fn token(&self) -> Option<Token> {
        match self {
            Self::Fixed(token) => Some(token.clone()),
            // A task of its own, so that a function that panics is one that failed.
            Self::Fetched(fetch) => tokio::spawn(fetch()).await.unwrap_or_default(),
        }
    }

    /// True when asking again can give another token.
    pub(crate) fn can_renew(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Fetched(_) => true,
        }
    }
}

impl fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.can_renew() { "a function" } else { "a fixed token" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // holds: sdk-secrets
    #[test]
    fn debug_shows_no_token() {
        let token = Token::from("eyJ.secret.sig");
        assert_eq!(format!("{token:?} {:?}", TokenSource::Fixed(token.clone())), "Token(redacted) a fixed token");
    }

    // holds: sdk-token-refused
    #[test]
    fn only_what_a_subprotocol_can_hold_is_offered() {
        for good in ["eyJhbGciOiJIUzI1NiJ9.e30.a-b_c", "x"] {
            assert_eq!(Token::from(good).offered(), Some(good));
        }
        for bad in ["", "a b", "a,b", "a\r\nOrigin: x", "tök", "a\0", "clientmcp.v1", "a\"b", "a\n"] {
            assert_eq!(Token::from(bad).offered(), None, "{bad:?}");
        }
    }
}
