//! Tokens: JSON Web Tokens signed with HS256 (`docs/protocol.md`, "Tokens"). The only user of `jsonwebtoken`.
//!
//! [`verify`] says who presents a token, [`mint`] makes one. No error here, and no `Debug`, ever holds a token or a secret.

mod access;
mod crypto;
mod secret;
mod standing;

use std::time::{Duration, SystemTime};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use clientmcp_protocol::{
    control::{Millis, Via},
    ids::{ClientId, Label, Role},
    limits::{CLOCK_LEEWAY, GENERATION, TOKEN_BYTES},
};
use serde::Serialize;

pub use self::{
    access::{Access, Minted},
    secret::{NoRandomness, Secret, SecretFault, Secrets},
    standing::{NumericDate, Standing},
};
use crate::text::{self, Object};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long an agent's token lasts when nobody says: it lies in a host's config file, and a new one is a click away.
pub const AGENT_LIFETIME: Duration = Duration::from_secs(90 * DAY.as_secs());

/// How long an application's token lasts when nobody says: it is often built in, and replacing it means a release.
pub const CLIENT_LIFETIME: Duration = Duration::from_secs(365 * DAY.as_secs());

/// 9999-12-31T23:59:59Z: later ends could not be shown as dates, and mean "never" anyway.
pub const LAST_END: f64 = 253_402_300_799.0;

/// Why a token is not accepted. The texts say nothing of the token itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    /// Not three parts of strict base64url, with JSON objects in the first two.
    #[error("not a JSON Web Token")]
    NotAToken,
    /// Over the size limit, and not even looked at.
    #[error("longer than {TOKEN_BYTES} bytes")]
    TooLong,
    /// The header names another algorithm than HS256, or none.
    #[error("not a token for HS256")]
    Algorithm,
    /// The header has `crit`: it names extensions without which a token must not be read, and we know none.
    #[error("has critical extensions, and none is supported")]
    Critical,
    /// Readers of a repeated member disagree about what it says.
    #[error("has a repeated member")]
    Repeated,
    /// None of our secrets signed it.
    #[error("not signed with a secret of this bridge")]
    Signature,
    /// `exp` is past.
    #[error("expired")]
    Expired,
    /// `nbf` is still to come.
    #[error("not valid yet")]
    NotYetValid,
    /// A client token where an agent's is needed, or the other way round.
    #[error("for the other role")]
    WrongRole,
    /// `sub` is absent or no client ID.
    #[error("its `sub` is not a client ID")]
    Subject,
    /// The named claim is needed and absent, or present and not what it has to be.
    #[error("its `{0}` is missing or malformed")]
    Claim(&'static str),
    /// `gen` is not the generation in force.
    #[error("of a revoked generation")]
    Generation,
    /// Issued before the floor of its label, or without saying when.
    #[error("revoked")]
    Revoked,
}

/// What a token says, once its signature and everything else was found right, or what a host that was let in at the local
/// door counts as. Only [`verify`] and [`Access::host`] make it.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// The application that may be connected as, or whose tools may be called.
    pub subject: ClientId,
    /// What the holder may be.
    pub role: Role,
    /// What the agent is called, if the token says so.
    pub label: Option<Label>,
    /// The generation it was minted in.
    pub generation: u64,
    /// When it was minted, if the token says so.
    pub issued_at: Option<NumericDate>,
    /// When it ends, if it does.
    pub expires_at: Option<NumericDate>,
    /// When the pairs were made that let its host in; none for a token that no pair gave out.
    pub pairs: Option<Vec<Millis>>,
    seal: Seal,
}

/// What vouches for claims.
#[derive(Clone, Debug, PartialEq)]
enum Seal {
    /// The secret that signed the token.
    Secret(Secret),
    /// The person let the host in, and may take that back.
    Pair,
}

impl Claims {
    /// Whether a token that was let in before would still be, after a generation or a floor was raised. Its end is not
    /// asked for: that counts when a token is presented.
    pub fn still_stands(&self, standing: &Standing) -> Result<(), TokenFault> {
        if self.generation != standing.generation(&self.subject, self.role) || self.generation >= GENERATION {
            return Err(TokenFault::Generation);
        }
        match (standing.floor(&self.subject, self.role, self.label.as_ref()), self.issued_at) {
            (None, _) => Ok(()),
            (Some(floor), _) if floor.is_last() => Err(TokenFault::Revoked),
            (Some(floor), Some(issued_at)) if issued_at >= floor && !issued_at.is_beyond(floor) => Ok(()),
            (Some(_), _) => Err(TokenFault::Revoked),
        }
    }

    /// How its holder came, and so who gave it its label.
    pub fn via(&self) -> Via {
        match self.seal {
            Seal::Secret(_) if self.pairs.is_none() => Via::Token,
            // What a pair gave out has the host's own word for its label, too.
            Seal::Secret(_) | Seal::Pair => Via::Door,
        }
    }

    /// Whether the secret that verified it is still among these: dropping a secret revokes all that it signed.
    pub fn signed_with(&self, secrets: &Secrets) -> bool {
        match &self.seal {
            Seal::Secret(signed) => secrets.iter().any(|secret| secret == signed),
            Seal::Pair => false,
        }
    }
}

/// Accepts a token for a role, or says why not.
pub fn verify(
    token: &str,
    role: Role,
    secrets: &Secrets,
    standing: &Standing,
    now: SystemTime,
) -> Result<Claims, TokenFault> {
    if token.len() > TOKEN_BYTES {
        return Err(TokenFault::TooLong);
    }
    let (message, signature) = token.rsplit_once('.').ok_or(TokenFault::NotAToken)?;
    let (header, payload) = message.split_once('.').ok_or(TokenFault::NotAToken)?;
    let (header, payload) = (decode(header)?, decode(payload)?);
    check_header(&members(&header)?)?;
    let secret = secrets.iter().find(|secret| secret.signed(message, signature)).ok_or(TokenFault::Signature)?;
    let members = members(&payload)?;
    let claims = read_claims(&members, secret)?;
    check_time(&members, &claims, now.into())?;
    if claims.role != role {
        return Err(TokenFault::WrongRole);
    }
    claims.still_stands(standing)?;
    Ok(claims)
}

/// Strict: no padding, no other alphabet, no spare bits, so that one token has one spelling.
fn decode(part: &str) -> Result<String, TokenFault> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenFault::NotAToken)?;
    String::from_utf8(bytes).map_err(|_| TokenFault::NotAToken)
}

fn members(part: &str) -> Result<Object<'_>, TokenFault> {
    let object = Object::parse(part).map_err(|_| TokenFault::NotAToken)?;
    if object.repeated().is_some() { Err(TokenFault::Repeated) } else { Ok(object) }
}

fn check_header(header: &Object<'_>) -> Result<(), TokenFault> {
    if header.get("alg").and_then(text::string).as_deref() != Some("HS256") {
        return Err(TokenFault::Algorithm);
    }
    if header.get("crit").is_some() { Err(TokenFault::Critical) } else { Ok(()) }
}

fn read_claims(members: &Object<'_>, secret: &Secret) -> Result<Claims, TokenFault> {
    let subject = members.get("sub").and_then(text::string).and_then(|sub| ClientId::new(&sub).ok());
    Ok(Claims {
        subject: subject.ok_or(TokenFault::Subject)?,
        role: role(members)?,
        label: label(members)?,
        generation: generation(members)?,
        issued_at: date(members, "iat")?,
        expires_at: date(members, "exp")?,
        pairs: pairs(members)?,
        seal: Seal::Secret(secret.clone()),
    })
}

fn role(members: &Object<'_>) -> Result<Role, TokenFault> {
    match members.get("role").and_then(text::string).as_deref() {
        Some("client") => Ok(Role::Client),
        Some("agent") => Ok(Role::Agent),
        _ => Err(TokenFault::Claim("role")),
    }
}

fn label(members: &Object<'_>) -> Result<Option<Label>, TokenFault> {
    let Some(value) = members.get("label") else { return Ok(None) };
    let label = text::string(value).and_then(|label| Label::claimed(&label).ok());
    label.map(Some).ok_or(TokenFault::Claim("label"))
}

/// Digits alone: `1.0` and `1e0` are integers to some readers and not to others.
fn generation(members: &Object<'_>) -> Result<u64, TokenFault> {
    let Some(value) = members.get("gen") else { return Ok(0) };
    value.get().parse().map_err(|_| TokenFault::Claim("gen"))
}

fn pairs(members: &Object<'_>) -> Result<Option<Vec<Millis>>, TokenFault> {
    let Some(value) = members.get("pairs") else { return Ok(None) };
    serde_json::from_str(value.get()).map(Some).map_err(|_| TokenFault::Claim("pairs"))
}

fn date(members: &Object<'_>, name: &'static str) -> Result<Option<NumericDate>, TokenFault> {
    let Some(value) = members.get(name) else { return Ok(None) };
    // Every JSON number is one that `f64` reads; other JSON values it does not read.
    let date = value.get().parse().ok().and_then(NumericDate::new);
    date.map(Some).ok_or(TokenFault::Claim(name))
}

fn check_time(members: &Object<'_>, claims: &Claims, now: NumericDate) -> Result<(), TokenFault> {
    if claims.expires_at.is_some_and(|end| now >= end.plus(CLOCK_LEEWAY)) {
        return Err(TokenFault::Expired);
    }
    match date(members, "nbf")? {
        Some(start) if now.plus(CLOCK_LEEWAY) < start => Err(TokenFault::NotYetValid),
        Some(_) | None => Ok(()),
    }
}

/// What a new token is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The application it is for.
    pub subject: ClientId,
    /// What its holder may be.
    pub role: Role,
    /// What the agent is called.
    pub label: Option<Label>,
    /// The generation in force for the application and role.
    pub generation: u64,
    /// How long it lasts; for ever without.
    pub ttl: Option<Duration>,
}

impl Grant {
    /// When a token minted now ends, in whole seconds; nothing when it never does.
    pub fn end(&self, now: SystemTime) -> Option<NumericDate> {
        let end = NumericDate::from(now).plus(self.ttl?);
        NumericDate::new(end.seconds().floor())
    }
}

/// Why a token could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MintError {
    /// It would end after the year 9999.
    #[error("a token cannot last beyond the year 9999")]
    TooFar,
    /// No later generation or floor can be told, so no token of this application, role and label is valid any more.
    #[error("tokens like this one were revoked for good: choose another label or client ID")]
    Spent,
    /// The signature could not be made.
    #[error("the token could not be signed")]
    Signing,
}

#[derive(Serialize)]
struct Payload<'a> {
    sub: &'a ClientId,
    role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a Label>,
    #[serde(rename = "gen", skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    iat: serde_json::Number,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs: Option<&'a [Millis]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<serde_json::Number>,
}

/// Makes a token, signed with the first secret.
pub fn mint(secrets: &Secrets, grant: &Grant, now: SystemTime) -> Result<String, MintError> {
    mint_as(secrets, grant, now, NumericDate::from(now).millis(), None)
}

/// The same, with what it says of when it was issued, and of what let its host in.
///
/// `iat` has milliseconds: with whole seconds, a token made in the second of a revocation could not be told from those
/// it revoked.
fn mint_as(
    secrets: &Secrets,
    grant: &Grant,
    now: SystemTime,
    issued: Millis,
    pairs: Option<&[Millis]>,
) -> Result<String, MintError> {
    let end = grant.end(now);
    if end.is_some_and(|end| end.seconds() > LAST_END) {
        return Err(MintError::TooFar);
    }
    let payload = Payload {
        sub: &grant.subject,
        role: grant.role,
        label: grant.label.as_ref(),
        generation: (grant.generation != 0).then_some(grant.generation),
        iat: number(NumericDate::at(issued).seconds()).ok_or(MintError::Signing)?,
        pairs,
        exp: end.map(|end| number(end.seconds()).ok_or(MintError::Signing)).transpose()?,
    };
    secrets.first().sign(&payload).ok_or(MintError::Signing)
}

/// Whole seconds without `.0`: some readers take nothing else for a date.
fn number(seconds: f64) -> Option<serde_json::Number> {
    // `Display` writes no fraction where there is none, and never an exponent.
    serde_json::from_str(&seconds.to_string()).ok()
}

#[cfg(test)]
mod tests;
