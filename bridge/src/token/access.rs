//! Who is let in: the secrets, what was revoked, and which hosts may come through the local door, as one value.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clientmcp_protocol::{
    control::{Floor, Generation, Millis, Pair, Verdict},
    ids::{ClientId, Label, Role},
    limits::{GENERATION, HEADERS_TIME},
};

use super::{Claims, Grant, MintError, NumericDate, Seal, Secrets, Standing, TokenFault, mint_as, verify};

/// A token that was made. `Debug` never shows it.
pub struct Minted {
    /// The token.
    pub token: String,
    /// When it says that it was issued.
    pub issued: Millis,
    /// When it ends, if it does.
    pub end: Option<NumericDate>,
}

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
            standing.raise_floor(application.clone(), *role, label.clone(), NumericDate::at(*issued_before));
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
        let claims = verify(token, role, &self.secrets, &self.standing, SystemTime::now())?;
        if self.lets_in(&claims) { Ok(claims) } else { Err(TokenFault::Revoked) }
    }

    /// Whether a token's host is let in now, and a pair that let it in when the token was made still says yes.
    fn lets_in(&self, claims: &Claims) -> bool {
        let Some(made) = &claims.pairs else { return true };
        claims.label.as_ref().is_some_and(|host| {
            let mut pairs = self.letting_in(host, &claims.subject);
            pairs.any(|pair| made.contains(&pair.made))
        })
    }

    /// Whether what was let in before still would be. Its end counts only when a token is presented.
    pub fn stands(&self, claims: &Claims) -> bool {
        let sealed = match (&claims.seal, &claims.label) {
            (Seal::Secret(_), _) => claims.signed_with(&self.secrets) && self.lets_in(claims),
            (Seal::Pair, Some(host)) => self.verdict(host, Some(&claims.subject)) == Some(Verdict::Allow),
            (Seal::Pair, None) => false,
        };
        sealed && claims.still_stands(&self.standing).is_ok()
    }

    /// What was said of a host at the local door; nothing where the person was not asked. What was said of one application
    /// counts before what was said of all.
    pub fn verdict(&self, host: &Label, application: Option<&ClientId>) -> Option<Verdict> {
        self.deciding(host, application).map(|pair| pair.verdict)
    }

    fn deciding(&self, host: &Label, application: Option<&ClientId>) -> Option<&Pair> {
        self.pair(host, application).or_else(|| self.pair(host, None))
    }

    /// The pairs that let a host in to an application: none where the one that decides says no.
    fn letting_in(&self, host: &Label, application: &ClientId) -> impl Iterator<Item = &Pair> {
        let is_let_in = self.verdict(host, Some(application)) == Some(Verdict::Allow);
        let pairs = [Some(application), None].into_iter().filter_map(|of| self.pair(host, of));
        pairs.filter(move |pair| is_let_in && pair.verdict == Verdict::Allow)
    }

    /// What was said of exactly this.
    pub fn pair(&self, host: &Label, application: Option<&ClientId>) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.host == *host && pair.application.as_ref() == application)
    }

    /// A host at the local door as an agent of an application, if it is let in.
    pub fn host(&self, host: &Label, application: &ClientId) -> Option<Claims> {
        let now = NumericDate::from(SystemTime::now()).millis();
        let claims = Claims {
            subject: application.clone(),
            role: Role::Agent,
            label: Some(host.clone()),
            generation: self.standing.generation(application, Role::Agent),
            issued_at: Some(NumericDate::at(self.now_for(now, application, Role::Agent, Some(host)))),
            expires_at: None,
            pairs: None,
            seal: Seal::Pair,
        };
        self.stands(&claims).then_some(claims)
    }

    /// Hosts that were let in at the local door, or turned away.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Makes a token that is valid from now on.
    pub fn mint(
        &self,
        now: Millis,
        subject: ClientId,
        role: Role,
        label: Option<Label>,
        ttl: Option<Duration>,
    ) -> Result<Minted, MintError> {
        self.make(now, Grant { subject, role, label, generation: 0, ttl }, None)
    }

    /// Makes a token for a host that was let in at the local door, which ends with that; nothing where it is not let in.
    pub fn mint_for(&self, host: &Label, application: &ClientId) -> Option<Result<Minted, MintError>> {
        let pairs: Vec<_> = self.letting_in(host, application).map(|pair| pair.made).collect();
        if pairs.is_empty() {
            return None;
        }
        let (subject, label, ttl) = (application.clone(), Some(host.clone()), Some(HEADERS_TIME));
        let grant = Grant { subject, role: Role::Agent, label, generation: 0, ttl };
        Some(self.make(NumericDate::from(SystemTime::now()).millis(), grant, Some(&pairs)))
    }

    /// Makes a token of the generation in force.
    fn make(&self, now: Millis, grant: Grant, pairs: Option<&[Millis]>) -> Result<Minted, MintError> {
        let generation = self.standing.generation(&grant.subject, grant.role);
        let floor = self.standing.floor(&grant.subject, grant.role, grant.label.as_ref());
        if generation >= GENERATION || floor.is_some_and(NumericDate::is_last) {
            return Err(MintError::Spent);
        }
        let grant = Grant { generation, ..grant };
        let issued = self.now_for(now, &grant.subject, grant.role, grant.label.as_ref());
        // It ends by the clock as it is, whatever it says of its beginning.
        let now = UNIX_EPOCH + Duration::from_millis(now.0);
        let token = mint_as(&self.secrets, &grant, now, issued, pairs)?;
        Ok(Minted { token, issued, end: grant.end(now) })
    }

    /// What was made before a revocation is refused, and a clock that was set back is before it, too.
    fn now_for(&self, now: Millis, subject: &ClientId, role: Role, label: Option<&Label>) -> Millis {
        let floor = self.standing.floor(subject, role, label).map(NumericDate::millis);
        now.max(floor.unwrap_or_default())
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
