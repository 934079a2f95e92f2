//! Who is let in: the secrets and what was revoked, as one value.

use std::time::SystemTime;

use clientmcp_protocol::{
    control::{Floor, Generation},
    ids::Role,
};

use super::{Claims, NumericDate, Secrets, Standing, TokenFault, verify};

/// What tokens are checked against.
#[derive(Clone, Debug)]
pub struct Access {
    secrets: Secrets,
    standing: Standing,
}

impl Access {
    /// These secrets, and nothing of theirs revoked.
    pub fn new(secrets: Secrets) -> Self {
        Self { secrets, standing: Standing::default() }
    }

    /// The same with other secrets.
    #[must_use]
    pub fn with_secrets(&self, secrets: Secrets) -> Self {
        Self { secrets, standing: self.standing.clone() }
    }

    /// The same with these revocations besides.
    #[must_use]
    pub fn with_revoked(&self, generations: &[Generation], floors: &[Floor]) -> Self {
        let mut standing = self.standing.clone();
        for Generation { application, role, generation } in generations {
            standing.raise_generation(application.clone(), *role, *generation);
        }
        for Floor { application, role, label, issued_before } in floors {
            #[expect(clippy::cast_precision_loss, reason = "exact until the year 287396")]
            let floor = NumericDate::new(issued_before.0 as f64 / 1_000.0);
            if let Some(floor) = floor {
                standing.raise_floor(application.clone(), *role, label.clone(), floor);
            }
        }
        Self { secrets: self.secrets.clone(), standing }
    }

    /// Accepts a token for a role, as of now.
    pub fn admit(&self, token: &str, role: Role) -> Result<Claims, TokenFault> {
        verify(token, role, &self.secrets, &self.standing, SystemTime::now())
    }

    /// Whether what was let in before still would be. Its end counts only when a token is presented.
    pub fn stands(&self, claims: &Claims) -> bool {
        claims.signed_with(&self.secrets) && claims.still_stands(&self.standing).is_ok()
    }

    /// The secrets: the first signs.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// What was revoked.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }
}
