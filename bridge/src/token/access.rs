//! Who is let in: the secrets and what was revoked, as one value.

use std::time::SystemTime;

use clientmcp_protocol::ids::Role;

use super::{Claims, Secrets, Standing, TokenFault, verify};

/// What tokens are checked against.
#[derive(Debug)]
pub struct Access {
    secrets: Secrets,
    standing: Standing,
}

impl Access {
    /// These secrets, and nothing of theirs revoked.
    pub fn new(secrets: Secrets) -> Self {
        Self { secrets, standing: Standing::default() }
    }

    /// Accepts a token for a role, as of now.
    pub fn admit(&self, token: &str, role: Role) -> Result<Claims, TokenFault> {
        verify(token, role, &self.secrets, &self.standing, SystemTime::now())
    }
}
