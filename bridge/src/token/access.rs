//! Who is let in: the secrets, what was revoked, and which hosts may come through the local door, as one value.

use std::time::{Duration, SystemTime};

use clientmcp_protocol::{
    control::{Floor, Generation, Pair, Verdict},
    ids::{ClientId, Label, Role},
};

use super::{Claims, Grant, MintError, NumericDate, Seal, Secrets, Standing, TokenFault, mint, verify};

/// What tokens are checked against.
#[derive(Clone, Debug)]
pub struct Access {
    secrets: Secrets,
    standing: Standing,
    pairs: Vec<Pair>,
}

impl Access {
    /// These secrets, and nothing of theirs revoked.
    pub fn new(secrets: Secrets) -> Self {
        Self { secrets, standing: Standing::default(), pairs: Vec::new() }
    }

    /// The same with other secrets.
    #[must_use]
    pub fn with_secrets(&self, secrets: Secrets) -> Self {
        Self { secrets, ..self.clone() }
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
        Self { standing, ..self.clone() }
    }

    /// The same with these hosts at the local door instead.
    #[must_use]
    pub fn with_pairs(&self, pairs: Vec<Pair>) -> Self {
        Self { pairs, ..self.clone() }
    }

    /// Accepts a token for a role, as of now.
    pub fn admit(&self, token: &str, role: Role) -> Result<Claims, TokenFault> {
        verify(token, role, &self.secrets, &self.standing, SystemTime::now())
    }

    /// Whether what was let in before still would be. Its end counts only when a token is presented.
    pub fn stands(&self, claims: &Claims) -> bool {
        let sealed = match (&claims.seal, &claims.label) {
            (Seal::Secret(_), _) => claims.signed_with(&self.secrets),
            (Seal::Pair, Some(host)) => self.verdict(host, Some(&claims.subject)) == Some(Verdict::Allow),
            (Seal::Pair, None) => false,
        };
        sealed && claims.still_stands(&self.standing).is_ok()
    }

    /// What was said of a host at the local door; nothing where the person was not asked. What was said of one application
    /// counts before what was said of all.
    pub fn verdict(&self, host: &Label, application: Option<&ClientId>) -> Option<Verdict> {
        let of = |application: Option<&ClientId>| {
            self.pairs.iter().find(|pair| pair.host == *host && pair.application.as_ref() == application)
        };
        of(application).or_else(|| of(None)).map(|pair| pair.verdict)
    }

    /// A host at the local door as an agent of an application, if it is let in.
    pub fn host(&self, host: &Label, application: &ClientId) -> Option<Claims> {
        let claims = Claims {
            subject: application.clone(),
            role: Role::Agent,
            label: Some(host.clone()),
            generation: self.standing.generation(application, Role::Agent),
            issued_at: Some(self.now_for(application, Role::Agent, Some(host)).into()),
            expires_at: None,
            seal: Seal::Pair,
        };
        self.stands(&claims).then_some(claims)
    }

    /// Hosts that were let in at the local door, or turned away.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Makes a token that is valid from now on, and says when it ends.
    pub fn mint(
        &self,
        subject: ClientId,
        role: Role,
        label: Option<Label>,
        ttl: Option<Duration>,
    ) -> Result<(String, Option<NumericDate>), MintError> {
        let now = self.now_for(&subject, role, label.as_ref());
        let generation = self.standing.generation(&subject, role);
        let grant = Grant { subject, role, label, generation, ttl };
        Ok((mint(&self.secrets, &grant, now)?, grant.end(now)))
    }

    /// In the millisecond of a revocation what is made now would be refused as made before.
    fn now_for(&self, subject: &ClientId, role: Role, label: Option<&Label>) -> SystemTime {
        let floor = self.standing.floor(subject, role, label);
        let floor = floor.and_then(|floor| Duration::try_from_secs_f64(floor.seconds()).ok());
        SystemTime::now().max(SystemTime::UNIX_EPOCH + floor.unwrap_or_default())
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
