//! Tokens as agents show them (`docs/protocol.md`, "Tokens" and "The ladder", rung 5).

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::support::{
    agent::Agent,
    application::Application,
    http::{Request, Response},
    scene::{Scene, TOOLS, answered, heard_nothing},
    serve::{Folder, Serve},
    tokens::{self, HEADER, SECRET},
};

const CLAIMS: &str = r#"{"sub":"alice-wallet","role":"agent"}"#;

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Checks a 401, whose challenge tells at most that a credential was given.
#[track_caller]
fn unauthorized(response: &Response, challenge: &str) {
    response.refused_early(401);
    assert_eq!(response.headers("WWW-Authenticate"), [challenge]);
    assert!(!response.text().contains("resource_metadata"));
}

#[track_caller]
fn invalid(response: &Response) {
    unauthorized(response, r#"Bearer error="invalid_token""#);
}

fn list_with(agent: &Agent, token: &str) -> Request {
    agent.list().header("Authorization", format!("Bearer {token}"))
}

/// The token's claims with one member more.
fn claiming(member: &str) -> String {
    tokens::claiming(&format!(r#"{{"sub":"alice-wallet","role":"agent",{member}}}"#))
}

/// A valid token of exactly this many bytes.
fn token_of(bytes: usize) -> String {
    let claims = (bytes - tokens::signed(HEADER, "", SECRET).len()) * 3 / 4;
    let padded = |pad: usize| claiming(&format!(r#""pad":"{}""#, "x".repeat(pad)));
    let pad = claims - r#"{"sub":"alice-wallet","role":"agent","pad":""}"#.len();
    let token = padded(pad);
    assert_eq!(token.len(), bytes);
    token
}

// holds: ladder-no-token
#[tokio::test]
async fn without_a_credential_the_challenge_is_bare() {
    let Scene { agent, .. } = &Scene::offline().await;
    unauthorized(&agent.list().without("Authorization").send().await, "Bearer");
    let token = agent.token();
    for value in ["Basic YTpi", "Bearer", "Bearer ", "bearer", "Digest x", token, &format!("Bearer{token}")] {
        unauthorized(&agent.list().header("Authorization", value).send().await, "Bearer");
    }
}

// holds: ladder-path-token
#[tokio::test]
async fn the_path_and_the_header_serve_the_same() {
    let (Scene { agent, .. }, _application) = &Scene::online(TOOLS).await;
    let (token, by_header) = (agent.token(), agent.list().send().await.result());
    assert!(by_header.contains("getBalance"));
    for scheme in ["bearer", "BEARER", "bEaReR"] {
        let request = agent.list().header("Authorization", format!("{scheme} {token}"));
        assert_eq!(request.send().await.result(), by_header);
    }
    let spaces = agent.list().header("Authorization", format!("Bearer   {token}"));
    assert_eq!(spaces.send().await.result(), by_header);
    let by_path = agent.list().without("Authorization").target(&format!("/mcp/{token}"));
    assert_eq!(by_path.send().await.result(), by_header);
}

// holds: ladder-two-credentials
#[tokio::test]
async fn two_credentials_are_refused_though_each_is_valid() {
    let Scene { agent, .. } = &Scene::offline().await;
    let (token, bearer) = (agent.token(), format!("Bearer {}", agent.token()));
    invalid(&agent.list().also("Authorization", &bearer).send().await);
    invalid(&agent.list().also("Authorization", "Basic YTpi").send().await);
    let path = agent.list().target(&format!("/mcp/{token}"));
    for value in [bearer.as_str(), "Bearer x", "Basic YTpi", "Bearer", ""] {
        invalid(&path.clone().header("Authorization", value).send().await);
    }
    invalid(&path.also("Authorization", &bearer).send().await);
}

// holds: ladder-invalid-token, token-signature
#[tokio::test]
async fn what_is_no_token_of_ours_is_invalid() {
    let Scene { agent, .. } = &Scene::offline().await;
    let good = agent.token().to_owned();
    let parts: Vec<_> = good.split('.').collect();
    let other = tokens::claiming(r#"{"sub":"bob","role":"agent"}"#);
    let bob = other.split('.').nth(1).unwrap();
    for token in [
        "x".to_owned(),
        "..".to_owned(),
        format!("{}.{}", parts[0], parts[1]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{good}."),
        format!("{good}.x"),
        format!("{good}="),
        format!("{}=.{}.{}", parts[0], parts[1], parts[2]),
        format!("{}.{bob}.{}", parts[0], parts[2]),
        good[..good.len() - 1].to_owned(),
        format!("{good} {good}"),
        format!("{good}, Bearer {good}"),
        tokens::signed(HEADER, CLAIMS, "another secret, as long as the right one"),
        tokens::signed(HEADER, CLAIMS, ""),
    ] {
        invalid(&list_with(agent, &token).send().await);
    }
    let in_path = agent.list().without("Authorization");
    for segment in ["x", "%20", &good.replacen('.', "%2E", 1), &good[1..]] {
        invalid(&in_path.clone().target(&format!("/mcp/{segment}")).send().await);
    }
}

// holds: token-hs256-only
#[tokio::test]
async fn the_header_says_hs256_and_has_no_crit() {
    let Scene { agent, .. } = &Scene::offline().await;
    for header in [
        r#"{"alg":"HS256"}"#,
        r#"{"typ":5,"kid":null,"jku":"https://evil.example","alg":"HS256"}"#,
        r#"{"\u0061lg":"HS\u003256"}"#,
        " {\"alg\" :\n\"HS256\"}",
    ] {
        list_with(agent, &tokens::signed(header, CLAIMS, SECRET)).send().await.result();
    }
    for header in [
        r#"{"alg":"none"}"#,
        r#"{"alg":"None"}"#,
        r#"{"alg":"HS384"}"#,
        r#"{"alg":"HS512"}"#,
        r#"{"alg":"RS256"}"#,
        r#"{"alg":"hs256"}"#,
        r#"{"alg":"HS256 "}"#,
        r#"{"alg":["HS256"]}"#,
        r#"{"alg":null}"#,
        r#"{"typ":"JWT"}"#,
        r#"{"alg":"HS256","crit":["exp"],"exp":1}"#,
        r#"{"alg":"HS256","crit":[]}"#,
        r#"{"alg":"HS256","crit":null}"#,
        r#"{"alg":"HS256","alg":"HS256"}"#,
        r#"{"alg":"none","alg":"HS256"}"#,
        r#"{"alg":"HS256","\u0061lg":"HS256"}"#,
        r#"{"alg":"HS256","kid":"a","kid":"a"}"#,
        r#"["HS256"]"#,
        r#""HS256""#,
        "{",
        "",
    ] {
        invalid(&list_with(agent, &tokens::signed(header, CLAIMS, SECRET)).send().await);
    }
    let signed = tokens::signed(r#"{"alg":"none"}"#, CLAIMS, SECRET);
    let unsigned = &signed[..=signed.rfind('.').unwrap()];
    invalid(&list_with(agent, unsigned).send().await);
}

// holds: token-sub, token-role, token-mistyped-claim
#[tokio::test]
async fn the_claims_say_who_and_what() {
    let Scene { agent, .. } = &Scene::offline().await;
    let long = "x".repeat(128);
    for sub in ["a", "-", ".", "Az09_-.", &long] {
        list_with(agent, &tokens::agent(sub)).send().await.result();
    }
    let too_long = format!(r#"{{"sub":"{long}x","role":"agent"}}"#);
    for claims in [
        too_long.as_str(),
        r#"{"role":"agent"}"#,
        r#"{"sub":"","role":"agent"}"#,
        r#"{"sub":"a b","role":"agent"}"#,
        r#"{"sub":"a/b","role":"agent"}"#,
        r#"{"sub":"ä","role":"agent"}"#,
        r#"{"sub":"a\n","role":"agent"}"#,
        r#"{"sub":null,"role":"agent"}"#,
        r#"{"sub":5,"role":"agent"}"#,
        r#"{"sub":["a"],"role":"agent"}"#,
        r#"{"sub":"a"}"#,
        r#"{"sub":"a","role":"client"}"#,
        r#"{"sub":"a","role":"Agent"}"#,
        r#"{"sub":"a","role":"admin"}"#,
        r#"{"sub":"a","role":""}"#,
        r#"{"sub":"a","role":null}"#,
        r#"{"sub":"a","role":["agent"]}"#,
        r#"{"sub":"a","role":"agent","sub":"a"}"#,
        r#"{"sub":"a","role":"client","role":"agent"}"#,
        r#"{"sub":"a","role":"agent","\u0072ole":"agent"}"#,
        r#"{"sub":"a","role":"agent","x":1,"x":1}"#,
        r#"[{"sub":"a","role":"agent"}]"#,
        r#""agent""#,
        "null",
        "{",
        "",
    ] {
        invalid(&list_with(agent, &tokens::claiming(claims)).send().await);
    }
}

// holds: token-exp, token-mistyped-claim, token-other-claims
#[tokio::test]
async fn times_are_numbers_with_a_minute_of_leeway() {
    let Scene { agent, .. } = &Scene::offline().await;
    let now = now();
    for claim in [
        format!(r#""exp":{}"#, now + 3600),
        format!(r#""exp":{}.5"#, now + 3600),
        r#""exp":1e12"#.to_owned(),
        // Half the leeway is left, more than this loop takes.
        format!(r#""exp":{}"#, now - 30),
        format!(r#""nbf":{}"#, now - 3600),
        format!(r#""nbf":{}"#, now + 60),
        r#""nbf":0.25"#.to_owned(),
        r#""nbf":-1"#.to_owned(),
        format!(r#""iat":{}"#, now + 1_000_000),
        r#""iat":-0.5"#.to_owned(),
        r#""aud":null,"iss":5,"jti":{"a":[]},"scope":"x""#.to_owned(),
    ] {
        list_with(agent, &claiming(&claim)).send().await.result();
    }
    for claim in [
        format!(r#""exp":{}"#, now - 60),
        format!(r#""exp":{}.5"#, now - 61),
        r#""exp":0"#.to_owned(),
        r#""exp":-1"#.to_owned(),
        format!(r#""exp":"{}""#, now + 3600),
        r#""exp":null"#.to_owned(),
        r#""exp":true"#.to_owned(),
        r#""exp":[]"#.to_owned(),
        format!(r#""nbf":{}"#, now + 3600),
        r#""nbf":1e12"#.to_owned(),
        r#""nbf":"0""#.to_owned(),
        r#""nbf":null"#.to_owned(),
        r#""iat":"0""#.to_owned(),
        r#""iat":null"#.to_owned(),
        format!(r#""exp":{},"exp":{}"#, now + 3600, now + 3600),
    ] {
        invalid(&list_with(agent, &claiming(&claim)).send().await);
    }
}

// holds: token-gen, token-label, token-mistyped-claim
#[tokio::test]
async fn the_generation_is_0_and_a_label_is_short_text() {
    let Scene { agent, .. } = &Scene::offline().await;
    let long = format!(r#""label":"{}""#, "ü".repeat(64));
    for claim in [r#""gen":0"#, r#""label":"Claude Code""#, r#""label":"エージェント""#, r#""label":" ""#, &long]
    {
        list_with(agent, &claiming(claim)).send().await.result();
    }
    let too_long = format!(r#""label":"{}""#, "ü".repeat(65));
    for claim in [
        r#""gen":1"#,
        r#""gen":-1"#,
        r#""gen":0.0"#,
        r#""gen":0e0"#,
        r#""gen":1e0"#,
        r#""gen":"0""#,
        r#""gen":null"#,
        r#""gen":false"#,
        r#""gen":18446744073709551616"#,
        r#""label":"""#,
        r#""label":"a\nb""#,
        r#""label":"a\u0000""#,
        r#""label":"a\u007f""#,
        r#""label":"a\u0085""#,
        r#""label":null"#,
        r#""label":5"#,
        &too_long,
    ] {
        invalid(&list_with(agent, &claiming(claim)).send().await);
    }
}

// holds: limit-token, token-other-claims
#[tokio::test]
async fn a_token_has_at_most_8192_bytes() {
    let Scene { agent, .. } = &Scene::offline().await;
    let in_path = agent.list().without("Authorization");
    let longest = token_of(8_192);
    list_with(agent, &longest).send().await.result();
    in_path.clone().target(&format!("/mcp/{longest}")).send().await.result();
    let longer = token_of(8_193);
    invalid(&list_with(agent, &longer).send().await);
    invalid(&in_path.target(&format!("/mcp/{longer}")).send().await);
}

// holds: token-rotation
#[tokio::test]
async fn every_secret_of_the_file_verifies() {
    let secrets =
        [SECRET, " a second one, whose spaces at both ends are a part of it  ", "the third secret: ä, not ASCII alone"];
    let file = Folder::new();
    let serve = Serve::using(&file.file("secrets", secrets.join("\n").as_bytes(), 0o600)).await;
    let agent = Agent::new(serve.port, "");
    for secret in secrets {
        list_with(&agent, &tokens::signed(HEADER, CLAIMS, secret)).send().await.result();
        invalid(&list_with(&agent, &tokens::signed(HEADER, CLAIMS, &secret[1..])).send().await);
    }
}

// holds: token-isolation
#[tokio::test]
async fn a_token_sees_and_calls_one_application_alone() {
    let (scene, mut alice) = Scene::online(TOOLS).await;
    let mut bob = Application::serving(&scene.serve, "bob", r#"[{"name":"b","inputSchema":{"type":"object"}}]"#).await;
    let agent_of_bob = Agent::new(scene.serve.port, &tokens::agent("bob"));
    let names = |list: &Response| list.result_value()["tools"].as_array().unwrap().clone();
    assert_eq!(names(&agent_of_bob.list().send().await), [json!({"name":"b","inputSchema":{"type":"object"}})]);
    agent_of_bob.call("getBalance", "{}").send().await.refused(200, -32602, Some("1"));
    let (call, _) = answered(&agent_of_bob.call("b", "{}"), &mut bob, r#"{"content":[]}"#).await;
    assert_eq!(call.name, "b");
    heard_nothing(&mut alice).await;
    // Names differ by letter case.
    let agent_of_none = Agent::new(scene.serve.port, &tokens::agent("Alice-Wallet"));
    assert!(names(&agent_of_none.list().send().await).is_empty());
}

// holds: token-not-logged
#[tokio::test]
async fn no_token_stands_in_an_answer_or_in_the_log() {
    let scene = Scene::offline().await;
    let (agent, token) = (&scene.agent, scene.agent.token().to_owned());
    let wrong = tokens::signed(HEADER, CLAIMS, "another secret, as long as the right one");
    let by_path = |token: &str| agent.list().without("Authorization").target(&format!("/mcp/{token}"));
    for request in [
        agent.list(),
        by_path(&token),
        by_path(&token).method("GET"),
        by_path(&token).body("{"),
        by_path(&wrong),
        by_path(&format!("{token}/x")),
        by_path(&token).header("Host", "evil.example"),
        agent.list().target(&format!("/mcp?token={token}")),
        agent.list().target(&format!("/{token}")),
        list_with(agent, &wrong),
        list_with(agent, &format!("{token} {token}")),
        agent.list().header("Mcp-Method", &token),
    ] {
        let response = request.send().await;
        let answer = format!("{response:?}{}", String::from_utf8_lossy(&response.body));
        assert!(!answer.contains(&token) && !answer.contains(&wrong), "{answer}");
    }
    let ended = scene.serve.stop().await;
    for secret in [token.as_str(), &wrong, SECRET] {
        assert!(!ended.stdout.contains(secret) && !ended.stderr.contains(secret), "{ended:?}");
    }
}
