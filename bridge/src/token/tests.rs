use std::time::UNIX_EPOCH;

use proptest::prelude::*;

use super::*;

const NOW: u64 = 1_800_000_000;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW)
}

fn secret(letter: &str) -> Secret {
    Secret::new(&letter.repeat(32)).unwrap()
}

fn secrets(letters: &[&str]) -> Secrets {
    Secrets::new(letters.iter().map(|letter| secret(letter)).collect()).unwrap()
}

fn id(text: &str) -> ClientId {
    ClientId::new(text).unwrap()
}

fn grant() -> Grant {
    Grant { subject: id("notes"), role: Role::Agent, label: None, generation: 0, ttl: Some(AGENT_LIFETIME) }
}

fn minted(grant: &Grant) -> String {
    mint(&secrets(&["a"]), grant, now()).unwrap()
}

fn check(token: &str) -> Result<Claims, TokenFault> {
    verify(token, Role::Agent, &secrets(&["a"]), &Standing::default(), now())
}

/// Rightly signed, whatever it says.
fn signed(header: &str, payload: &str) -> String {
    crypto::install();
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload));
    let key = jsonwebtoken::EncodingKey::from_secret(secret("a").as_bytes()).unwrap();
    let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &key, jsonwebtoken::Algorithm::HS256).unwrap();
    format!("{message}.{signature}")
}

fn with_header(header: &str) -> Result<Claims, TokenFault> {
    check(&signed(header, r#"{"sub":"notes","role":"agent"}"#))
}

fn with_payload(payload: &str) -> Result<Claims, TokenFault> {
    check(&signed(r#"{"alg":"HS256"}"#, payload))
}

/// `rest` begins with a comma.
fn with_claims(rest: &str) -> Result<Claims, TokenFault> {
    with_payload(&format!(r#"{{"sub":"notes","role":"agent"{rest}}}"#))
}

fn payload_of(token: &str) -> serde_json::Value {
    let payload = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

#[test]
fn what_is_minted_is_verified() {
    let label = Label::new("Größter エージェント 🦀").unwrap();
    let mut standing = Standing::default();
    standing.raise_generation(id("notes"), Role::Agent, 7);
    let token = minted(&Grant { label: Some(label.clone()), generation: 7, ..grant() });
    let claims = verify(&token, Role::Agent, &secrets(&["a"]), &standing, now()).unwrap();
    assert_eq!((claims.subject, claims.role, claims.label), (id("notes"), Role::Agent, Some(label)));
    assert_eq!((claims.generation, claims.issued_at), (7, Some(now().into())));
    assert_eq!(claims.expires_at, Some((now() + AGENT_LIFETIME).into()));
}

#[test]
fn a_minted_token_says_what_it_must_and_no_more() {
    let end = NOW + AGENT_LIFETIME.as_secs();
    let expected = serde_json::json!({"sub": "notes", "role": "agent", "iat": NOW, "exp": end});
    assert_eq!(payload_of(&minted(&grant())), expected);
    let rest = Grant { role: Role::Client, label: Some(Label::new("L").unwrap()), generation: 3, ttl: None, ..grant() };
    let expected = serde_json::json!({"sub": "notes", "role": "client", "label": "L", "gen": 3, "iat": NOW});
    assert_eq!(payload_of(&minted(&rest)), expected);
    let token = mint(&secrets(&["a"]), &grant(), now() + Duration::from_micros(123_987)).unwrap();
    assert_eq!(payload_of(&token)["iat"].to_string(), "1800000000.123");
    assert_eq!(payload_of(&token)["exp"], end);
}

#[test]
fn a_token_ends_within_the_calendar() {
    for ttl in [Duration::from_secs(253_402_300_800 - NOW), Duration::MAX] {
        assert_eq!(mint(&secrets(&["a"]), &Grant { ttl: Some(ttl), ..grant() }, now()), Err(MintError::TooFar));
    }
}

// holds: token-hs256-only
#[test]
fn only_hs256_is_accepted() {
    assert!(with_header(r#"{"typ":"JWT","alg":"HS256","kid":"x"}"#).is_ok());
    for alg in [
        r#""none""#,
        r#""None""#,
        r#""""#,
        r#""HS384""#,
        r#""HS512""#,
        r#""RS256""#,
        r#""ES256""#,
        r#""hs256""#,
        r#""HS256 ""#,
        "null",
        "256",
        r#"["HS256"]"#,
        r#"{"HS256":1}"#,
    ] {
        assert_eq!(with_header(&format!(r#"{{"alg":{alg}}}"#)), Err(TokenFault::Algorithm), "{alg}");
    }
    assert_eq!(with_header(r#"{"typ":"JWT"}"#), Err(TokenFault::Algorithm));
}

// holds: token-hs256-only, token-signature
#[test]
fn no_signature_is_not_a_signature() {
    let token = minted(&grant());
    let (message, signature) = token.rsplit_once('.').unwrap();
    assert_eq!(check(&format!("{message}.")), Err(TokenFault::Signature));
    assert_eq!(check(&format!("{message}.{}", &signature[..40])), Err(TokenFault::Signature));
    let none = format!("{}.{}.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#), token.split('.').nth(1).unwrap());
    assert_eq!(check(&none), Err(TokenFault::Algorithm));
}

// holds: token-hs256-only
#[test]
fn critical_extensions_are_refused() {
    for crit in ["null", "[]", r#"["b64"]"#, r#"["exp"]"#] {
        assert_eq!(with_header(&format!(r#"{{"alg":"HS256","crit":{crit}}}"#)), Err(TokenFault::Critical), "{crit}");
    }
    assert_eq!(with_header(r#"{"alg":"HS256","cr\u0069t":["b64"]}"#), Err(TokenFault::Critical));
}

// holds: token-hs256-only, token-mistyped-claim
#[test]
fn repeated_members_are_refused() {
    for header in
        [r#"{"alg":"none","alg":"HS256"}"#, r#"{"alg":"HS256","al\u0067":"HS256"}"#, r#"{"alg":"HS256","x":1,"x":1}"#]
    {
        assert_eq!(with_header(header), Err(TokenFault::Repeated), "{header}");
    }
    for rest in [r#","sub":"other""#, r#","s\u0075b":"notes""#, r#","role":"client""#, r#","x":1,"x":1"#] {
        assert_eq!(with_claims(rest), Err(TokenFault::Repeated), "{rest}");
    }
}

// holds: token-encoding
#[test]
fn the_encoding_is_strict() {
    // Two spare bits in the signature; a payload of one byte over a multiple of three has four.
    let (mut token, payload) = (minted(&grant()), r#"{"sub":"notes","role":"agent"}"#);
    let last = token.pop().unwrap();
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for spelling in alphabet.chars().filter(|&letter| letter != last) {
        assert_eq!(check(&format!("{token}{spelling}")), Err(TokenFault::Signature), "{spelling}");
    }
    for payload in [payload.to_owned(), format!("{payload} "), format!("{payload}  ")] {
        let token = signed(r#"{"alg":"HS256"}"#, &payload);
        let parts: Vec<_> = token.split('.').collect();
        assert!(check(&token).is_ok());
        for padding in ["=", "=="] {
            assert!(check(&format!("{}{padding}.{}.{}", parts[0], parts[1], parts[2])).is_err());
            assert!(check(&format!("{}.{}{padding}.{}", parts[0], parts[1], parts[2])).is_err());
            assert!(check(&format!("{}.{}.{}{padding}", parts[0], parts[1], parts[2])).is_err());
        }
    }
    // `e31` is `{}` with spare bits that are not zero.
    assert_eq!(decode("e30").as_deref(), Ok("{}"));
    for part in ["e31", "e30=", "e30 ", " e30", "e3", "e30\n", "_/8"] {
        assert_ne!(decode(part).as_deref(), Ok("{}"), "{part:?}");
    }
}

// holds: token-encoding
#[test]
fn what_is_no_token_is_refused() {
    for text in
        ["", ".", "..", "...", "a.b", "a.b.c.d", "e30.e30", "e30.e30.e30.e30", "clientmcp.v1", "\u{0}..", "ä.ö.ü"]
    {
        assert!(check(text).is_err(), "{text:?}");
    }
    assert_eq!(check("a.b"), Err(TokenFault::NotAToken));
    for header in ["", "[]", "null", r#""HS256""#, r#"{"alg":"HS256"} x"#, "{"] {
        assert_eq!(with_header(header), Err(TokenFault::NotAToken), "{header}");
    }
    for payload in ["", "[]", "1", r#"{"sub":"notes","role":"agent"}{}"#, "{"] {
        assert_eq!(with_payload(payload), Err(TokenFault::NotAToken), "{payload}");
    }
    let deep = format!(r#","x":{}1{}"#, "[".repeat(2_000), "]".repeat(2_000));
    assert!(with_claims(&deep).is_ok(), "an unknown claim is not looked into");
}

// holds: limit-token
#[test]
fn a_token_has_at_most_8_kib() {
    let padded =
        |spaces: usize| signed(r#"{"alg":"HS256"}"#, &format!(r#"{{"sub":"notes","role":"agent"}}{:spaces$}"#, ""));
    let longest = (0..TOKEN_BYTES).map(padded).take_while(|token| token.len() <= TOKEN_BYTES).last().unwrap();
    assert!(longest.len() > TOKEN_BYTES - 4);
    assert!(check(&longest).is_ok());
    assert_eq!(check(&padded(TOKEN_BYTES)), Err(TokenFault::TooLong));
    assert_eq!(check(&"a".repeat(1 << 24)), Err(TokenFault::TooLong));
}

// holds: token-sub, token-role
#[test]
fn subject_and_role_are_needed() {
    for payload in [
        r#"{"role":"agent"}"#,
        r#"{"sub":null,"role":"agent"}"#,
        r#"{"sub":"","role":"agent"}"#,
        r#"{"sub":"a b","role":"agent"}"#,
        r#"{"sub":1,"role":"agent"}"#,
        r#"{"sub":"\ud800","role":"agent"}"#,
        r#"{"sub":["notes"],"role":"agent"}"#,
    ] {
        assert_eq!(with_payload(payload), Err(TokenFault::Subject), "{payload}");
    }
    for role in ["null", "1", r#""""#, r#""Agent""#, r#""admin""#, r#"["agent"]"#] {
        let payload = format!(r#"{{"sub":"notes","role":{role}}}"#);
        assert_eq!(with_payload(&payload), Err(TokenFault::Claim("role")), "{role}");
    }
    assert_eq!(with_payload(r#"{"sub":"notes"}"#), Err(TokenFault::Claim("role")));
    assert_eq!(with_payload(r#"{"sub":"notes","role":"client"}"#), Err(TokenFault::WrongRole));
}

// holds: token-mistyped-claim, token-other-claims
#[test]
fn optional_claims_are_right_or_absent() {
    for claim in ["exp", "nbf", "iat"] {
        for value in ["null", r#""1900000000""#, "true", "[1]", "{}", "1e400", "-1e400"] {
            assert_eq!(
                with_claims(&format!(r#","{claim}":{value}"#)),
                Err(TokenFault::Claim(claim)),
                "{claim} {value}"
            );
        }
    }
    for value in ["null", r#""0""#, "0.0", "1.0", "0e0", "-0", "-1", "18446744073709551616", "true", "[]"] {
        assert_eq!(with_claims(&format!(r#","gen":{value}"#)), Err(TokenFault::Claim("gen")), "{value}");
    }
    for value in ["null".into(), "1".into(), r#""""#.into(), r#""a\nb""#.into(), format!(r#""{}""#, "x".repeat(65))] {
        assert_eq!(with_claims(&format!(r#","label":{value}"#)), Err(TokenFault::Claim("label")), "{value}");
    }
    assert!(with_claims(r#","exp":1.9e9,"nbf":-0,"iat":1.5,"gen":0,"label":"\u00fc","aud":null,"iss":1"#).is_ok());
}

// holds: token-exp
#[test]
fn the_clock_may_differ_by_60_seconds() {
    for (rest, outcome) in [
        (format!(r#","exp":{}"#, NOW - 60), Err(TokenFault::Expired)),
        (format!(r#","exp":{}.5"#, NOW - 60), Ok(())),
        (format!(r#","exp":{}"#, NOW - 59), Ok(())),
        (r#","exp":0"#.to_owned(), Err(TokenFault::Expired)),
        (r#","exp":-1e300"#.to_owned(), Err(TokenFault::Expired)),
        (r#","exp":1e300"#.to_owned(), Ok(())),
        (format!(r#","nbf":{}"#, NOW + 60), Ok(())),
        (format!(r#","nbf":{}.5"#, NOW + 60), Err(TokenFault::NotYetValid)),
        (format!(r#","nbf":{}"#, NOW + 61), Err(TokenFault::NotYetValid)),
        (r#","nbf":1e300"#.to_owned(), Err(TokenFault::NotYetValid)),
    ] {
        assert_eq!(with_claims(&rest).map(drop), outcome, "{rest}");
    }
}

// holds: token-rotation
#[test]
fn secrets_rotate() {
    let (token, standing) = (minted(&grant()), Standing::default());
    let check = |letters: &[&str]| verify(&token, Role::Agent, &secrets(letters), &standing, now());
    let claims = check(&["b", "c", "a"]).unwrap();
    assert!(claims.signed_with(&secrets(&["a", "d"])));
    assert!(!claims.signed_with(&secrets(&["b", "c"])));
    assert_eq!(check(&["b", "c"]), Err(TokenFault::Signature));
    let newer = mint(&secrets(&["b", "a"]), &grant(), now()).unwrap();
    assert_eq!(verify(&newer, Role::Agent, &secrets(&["a"]), &standing, now()), Err(TokenFault::Signature));
    assert!(verify(&newer, Role::Agent, &secrets(&["b"]), &standing, now()).is_ok());
}

// holds: token-generation
#[test]
fn a_raised_generation_revokes() {
    let (token, mut standing) = (minted(&grant()), Standing::default());
    let claims = check(&token).unwrap();
    standing.raise_generation(id("notes"), Role::Client, 1);
    standing.raise_generation(id("other"), Role::Agent, 1);
    assert_eq!(claims.still_stands(&standing), Ok(()));
    standing.raise_generation(id("notes"), Role::Agent, 1);
    assert_eq!(claims.still_stands(&standing), Err(TokenFault::Generation));
    for (generation, outcome) in [(0, Err(TokenFault::Generation)), (1, Ok(())), (2, Err(TokenFault::Generation))] {
        let token = minted(&Grant { generation, ..grant() });
        let checked = verify(&token, Role::Agent, &secrets(&["a"]), &standing, now());
        assert_eq!(checked.map(drop), outcome, "{generation}");
    }
}

// holds: token-floor
#[test]
fn a_floor_revokes_what_was_issued_before_it() {
    let (label, mut standing) = (Label::new("Codex").unwrap(), Standing::default());
    let floor = now() + Duration::from_millis(500);
    standing.raise_floor(id("notes"), Role::Agent, Some(label.clone()), floor.into());
    let labelled = Grant { label: Some(label), ..grant() };
    let check = |token: &str| verify(token, Role::Agent, &secrets(&["a"]), &standing, floor).map(drop);
    let at = |millis: u64| mint(&secrets(&["a"]), &labelled, now() + Duration::from_millis(millis)).unwrap();
    assert_eq!(check(&at(499)), Err(TokenFault::Revoked));
    assert_eq!(check(&at(500)), Ok(()));
    assert_eq!(check(&at(501)), Ok(()));
    assert_eq!(check(&minted(&grant())), Ok(()), "another label is not concerned");
    let undated = signed(r#"{"alg":"HS256"}"#, r#"{"sub":"notes","role":"agent","label":"Codex"}"#);
    assert_eq!(check(&undated), Err(TokenFault::Revoked));
}

// holds: token-floor
#[test]
fn a_floor_can_stand_for_tokens_without_a_label() {
    let (token, mut standing) = (minted(&grant()), Standing::default());
    let claims = check(&token).unwrap();
    standing.raise_floor(id("notes"), Role::Agent, None, (now() + Duration::from_millis(1)).into());
    assert_eq!(claims.still_stands(&standing), Err(TokenFault::Revoked));
}

// holds: token-not-logged
#[test]
fn no_fault_and_no_debug_shows_the_token() {
    let token = minted(&grant());
    let claims = format!("{:?}", check(&token).unwrap());
    assert!(token.split('.').all(|part| !claims.contains(part)) && !claims.contains("aaaa"), "{claims}");
}

// holds: token-signature
#[test]
fn every_single_changed_bit_is_refused() {
    let token = minted(&grant());
    for at in 0..token.len() {
        for bit in 0..8 {
            let mut bytes = token.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            // A peer can only present text.
            let Ok(changed) = String::from_utf8(bytes) else { continue };
            assert!(check(&changed).is_err(), "byte {at}, bit {bit}");
        }
    }
}

proptest! {
    // holds: token-signature
    #[test]
    fn every_other_character_is_refused(at in any::<prop::sample::Index>(), other in any::<char>()) {
        let token = minted(&grant());
        let at = at.index(token.len());
        prop_assume!(!token[at..].starts_with(other));
        let (before, from, after) = (&token[..at], &token[at..], &token[at + 1..]);
        let (replaced, inserted) = (format!("{before}{other}{after}"), format!("{before}{other}{from}"));
        for changed in [replaced, inserted, format!("{before}{after}")] {
            prop_assert!(check(&changed).is_err(), "{}", changed);
        }
    }

    #[test]
    fn whatever_is_granted_comes_back(
        subject in "[A-Za-z0-9_.-]{1,128}",
        label in prop::option::of("\\PC{1,64}"),
        generation in 0..clientmcp_protocol::limits::GENERATION,
        ttl in prop::option::of(1_u64..10_000_000_000),
    ) {
        let label = label.and_then(|label| Label::typed(&label).ok());
        let ttl = ttl.map(Duration::from_secs);
        let grant = Grant { subject: id(&subject), role: Role::Client, label, generation, ttl };
        let mut standing = Standing::default();
        standing.raise_generation(grant.subject.clone(), Role::Client, generation);
        let claims = verify(&minted(&grant), Role::Client, &secrets(&["a"]), &standing, now()).unwrap();
        prop_assert_eq!(claims.subject, grant.subject);
        prop_assert_eq!(claims.label, grant.label);
        prop_assert_eq!(claims.generation, generation);
        prop_assert_eq!(claims.expires_at, ttl.map(|ttl| NumericDate::from(now() + ttl)));
    }

    #[test]
    fn no_text_is_too_odd(text in "\\PC*", header in "\\PC*", payload in "\\PC*") {
        prop_assert!(check(&text).is_err());
        prop_assert!(check(&signed(&header, &payload)).is_err());
        prop_assert!(with_payload(&payload).is_err());
    }
}
