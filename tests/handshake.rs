//! The upgrade of `/connect`: who is let in, what the others are told, and in which order that is decided.

use crate::support::{
    application::{Application, Upgrade},
    post::Agent,
    serve::Serve,
    tokens::{self, HEADER, SECRET},
    until,
};

const TOOLS: &str = r#"[{"name":"t","inputSchema":{"type":"object"}}]"#;

fn offers(sub: &str) -> String {
    format!("clientmcp.v1, {}", tokens::client(sub))
}

async fn refused(upgrade: Upgrade, status: u16, case: &str) {
    let answer = upgrade.send().await;
    assert_eq!(answer.head.status, status, "{case}: {:?}", answer.head);
    assert_eq!(answer.head.header("content-type"), Some("text/plain; charset=utf-8"), "{case}");
    if status == 426 {
        assert_eq!(answer.head.header("upgrade"), Some("websocket"), "{case}");
        assert_eq!(answer.head.header("sec-websocket-version"), Some("13"), "{case}");
    }
    let body = answer.body().await;
    assert!(!body.trim().is_empty() && !body.trim().contains('\n'), "{case}: no sentence: {body:?}");
}

// holds: handshake-accept
#[tokio::test]
async fn a_right_offer_is_accepted_in_every_order_and_spelling() {
    let serve = Serve::start().await;
    let token = tokens::client("app");
    let port = serve.port;
    let plain = || Upgrade::offering(port, &offers("app"));
    let host = format!("HOST: LocalHost:{port}");
    let absolute = format!("GET http://127.0.0.1:{port}/connect HTTP/1.1");
    let offer = format!("Sec-WebSocket-Protocol: {token}");
    let cases = [
        plain(),
        Upgrade::offering(port, &format!("{token}, clientmcp.v1")),
        Upgrade::offering(port, &format!("{token},clientmcp.v1")),
        plain().instead("Sec-WebSocket-Protocol", &["Sec-WebSocket-Protocol: clientmcp.v1", &offer]),
        plain().instead("Sec-WebSocket-Protocol", &[&offer, "sec-websocket-protocol: clientmcp.v1"]),
        plain().instead("Host", &[&host]),
        plain().instead("GET", &["GET /connect?x=1 HTTP/1.1"]),
        plain().instead("GET", &[&absolute]),
        plain().instead("Connection", &["Connection: keep-alive, upgrade"]),
        plain().instead("Upgrade", &["Upgrade: WebSocket"]),
        plain().instead("Upgrade", &["Upgrade: websocket", "Sec-WebSocket-Extensions: permessage-deflate"]),
    ];
    for upgrade in cases {
        let case = upgrade.lines.join("\n");
        let answer = upgrade.send().await;
        assert_eq!(answer.head.status, 101, "{case}: {:?}", answer.head);
        assert_eq!(answer.head.header("sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{case}");
        assert_eq!(answer.head.header("sec-websocket-extensions"), None, "{case}");
        assert!(!format!("{:?}", answer.head).contains(&token), "{case}: the token is repeated");
        answer.accepted().await.register(TOOLS).await;
    }
}

// holds: handshake-host
#[tokio::test]
async fn a_host_that_is_not_ours_is_refused() {
    let serve = Serve::start().await;
    let ours = format!("Host: 127.0.0.1:{}", serve.port);
    let foreign = format!("Host: evil.example:{}", serve.port);
    let wrong_port = format!("Host: 127.0.0.1:{}", serve.port.wrapping_add(1));
    let cases: [&[&str]; 7] = [
        &[],
        &[&foreign],
        &["Host: localhost"],
        &["Host: 127.0.0.1"],
        &[&wrong_port],
        &[&ours, &ours],
        &[&ours, &foreign],
    ];
    for hosts in cases {
        let upgrade = Upgrade::offering(serve.port, &offers("app")).instead("Host", hosts);
        refused(upgrade, 403, &format!("{hosts:?}")).await;
    }
    let absolute = format!("GET http://evil.example:{}/connect HTTP/1.1", serve.port);
    refused(Upgrade::offering(serve.port, &offers("app")).instead("GET", &[&absolute]), 403, &absolute).await;
}

// holds: handshake-no-upgrade
#[tokio::test]
async fn a_request_that_is_no_upgrade_is_told_to_upgrade() {
    let serve = Serve::start().await;
    let cases: [(&str, &[&str]); 9] = [
        ("GET", &["POST /connect HTTP/1.1"]),
        ("GET", &["DELETE /connect HTTP/1.1"]),
        ("GET", &["OPTIONS /connect HTTP/1.1"]),
        ("Connection", &[]),
        ("Connection", &["Connection: keep-alive"]),
        ("Upgrade", &[]),
        ("Upgrade", &["Upgrade: h2c"]),
        ("Sec-WebSocket-Version", &[]),
        ("Sec-WebSocket-Version", &["Sec-WebSocket-Version: 8"]),
    ];
    for (begins, others) in cases {
        let upgrade = Upgrade::offering(serve.port, &offers("app")).instead(begins, others);
        refused(upgrade, 426, &format!("{begins} -> {others:?}")).await;
    }
}

// holds: handshake-no-protocol
#[tokio::test]
async fn a_wrong_key_and_a_missing_protocol_are_bad_requests() {
    let serve = Serve::start().await;
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    let keys: [&[&str]; 6] = [
        &[],
        &[key, key],
        &["Sec-WebSocket-Key:"],
        &["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j"],
        &["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ"],
        &["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j!Q=="],
    ];
    for keys in keys {
        let upgrade = Upgrade::offering(serve.port, &offers("app")).instead("Sec-WebSocket-Key", keys);
        refused(upgrade, 400, &format!("{keys:?}")).await;
    }
    refused(Upgrade::without_offers(serve.port), 400, "no offer").await;
    let token = tokens::client("app");
    for protocol in ["", "ClientMCP.v1, ", "clientmcp.v2, ", "clientmcp.v1x, ", "xclientmcp.v1, "] {
        refused(Upgrade::offering(serve.port, &format!("{protocol}{token}")), 400, protocol).await;
    }
}

// holds: handshake-host, handshake-no-upgrade, handshake-no-protocol, handshake-exactly-two
#[tokio::test]
async fn the_first_check_that_fails_decides() {
    let serve = Serve::start().await;
    let nothing_right = || {
        Upgrade::without_offers(serve.port)
            .instead("Sec-WebSocket-Key", &["Sec-WebSocket-Key: short"])
            .instead("Upgrade", &[])
            .instead("Host", &["Host: evil.example"])
    };
    let host = format!("Host: 127.0.0.1:{}", serve.port);
    refused(nothing_right(), 403, "the host comes first").await;
    refused(nothing_right().instead("Host", &[&host]), 426, "then the upgrade").await;
    // Without a key and without a protocol both checks answer 400; a lone wrong key shows that it is looked at
    // although the token would be refused with 101.
    let key = Upgrade::offering(serve.port, "clientmcp.v1, no.valid.token");
    refused(key.instead("Sec-WebSocket-Key", &["Sec-WebSocket-Key: short"]), 400, "then the key").await;
    refused(Upgrade::offering(serve.port, "a, b, c, no.valid.token"), 400, "then the protocol").await;
    // A wrong token stands beside a third value: both close alike.
    let mut application = Application::offering(&serve, "clientmcp.v1, other, no.valid.token").await;
    assert_eq!(application.closed().await.0, 4401);
}

// holds: handshake-exactly-two
#[tokio::test]
async fn an_offer_of_other_than_two_values_is_closed_as_unauthorized() {
    let serve = Serve::start().await;
    let token = tokens::client("app");
    let cases = [
        "clientmcp.v1".to_owned(),
        "clientmcp.v1, clientmcp.v1".to_owned(),
        "clientmcp.v1, clientmcp.v2".to_owned(),
        format!("clientmcp.v1, {token}, {token}"),
        format!("clientmcp.v1, {token}, other"),
        format!("clientmcp.v1, clientmcp.v2, {token}"),
        format!("clientmcp.v1, clientmcp.v1, {token}"),
    ];
    for offers in cases {
        let (code, reason) = Application::offering(&serve, &offers).await.closed().await;
        assert_eq!(code, 4401, "{offers}: {reason}");
        assert!(!reason.contains(&token), "{offers}: the token is repeated");
    }
}

// holds: handshake-bad-token, token-role, token-gen, token-hs256-only, token-signature
// holds: token-sub, token-exp, token-mistyped-claim, token-label
#[tokio::test]
async fn a_token_that_is_no_client_token_is_closed_with_4401_and_one_reason() {
    let serve = Serve::start().await;
    let right = r#"{"sub":"app","role":"client"}"#;
    let with = |more: &str| tokens::claiming(&format!(r#"{{"sub":"app","role":"client",{more}}}"#));
    let cut = tokens::client("app");
    let cases = [
        "nonsense".to_owned(),
        "a.b.c".to_owned(),
        cut[..cut.len() - 1].to_owned(),
        format!("{cut}.x"),
        tokens::agent("app"),
        tokens::signed(HEADER, right, "another secret, which is no shorter either"),
        tokens::signed(r#"{"alg":"none"}"#, right, SECRET),
        tokens::signed(r#"{"alg":"hs256"}"#, right, SECRET),
        tokens::signed(r#"{"alg":"HS512"}"#, right, SECRET),
        tokens::signed(r#"{"alg":"HS256","crit":[]}"#, right, SECRET),
        tokens::signed(r#"{"alg":"HS256","alg":"HS256"}"#, right, SECRET),
        tokens::signed("[]", right, SECRET),
        tokens::claiming("[]"),
        tokens::claiming(r#"{"role":"client"}"#),
        tokens::claiming(r#"{"sub":"app"}"#),
        tokens::claiming(r#"{"sub":"","role":"client"}"#),
        tokens::claiming(r#"{"sub":"a/b","role":"client"}"#),
        tokens::claiming(r#"{"sub":"app","role":"Client"}"#),
        tokens::claiming(r#"{"sub":"app","role":null}"#),
        with(r#""sub":"app""#),
        with(r#""gen":1"#),
        with(r#""gen":0.0"#),
        with(r#""gen":null"#),
        with(r#""exp":1"#),
        with(r#""exp":"9999999999""#),
        with(r#""nbf":9999999999"#),
        with(r#""iat":null"#),
        with(r#""label":"""#),
        with(r#""label":"a\nb""#),
    ];
    let mut reasons = Vec::new();
    for token in &cases {
        let (code, reason) = Application::offering(&serve, &format!("clientmcp.v1, {token}")).await.closed().await;
        assert_eq!(code, 4401, "{token}: {reason}");
        reasons.push(reason);
    }
    reasons.dedup();
    assert_eq!(reasons.len(), 1, "the reason says which check failed: {reasons:?}");
}

// holds: token-exp, token-gen, token-label, token-other-claims, token-mistyped-claim
#[tokio::test]
async fn a_token_with_right_claims_is_accepted() {
    let serve = Serve::start().await;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let cases = [
        format!(r#""exp":{}"#, now + 3600),
        format!(r#""exp":{}.5"#, now - 20),
        format!(r#""nbf":{}.5,"iat":1.5"#, now + 20),
        r#""gen":0"#.to_owned(),
        format!(r#""label":"{}""#, "ü".repeat(64)),
        r#""aud":null,"admin":true"#.to_owned(),
    ];
    for claims in cases {
        let token = tokens::claiming(&format!(r#"{{"sub":"app","role":"client",{claims}}}"#));
        Application::offering(&serve, &format!("clientmcp.v1, {token}")).await.register(TOOLS).await;
    }
}

// holds: limit-token
#[tokio::test]
async fn a_token_of_exactly_the_limit_is_accepted() {
    let serve = Serve::start().await;
    let long = |length| {
        let token = |pad| tokens::claiming(&format!(r#"{{"sub":"app","role":"client","x":"{}"}}"#, "x".repeat(pad)));
        let token = (0..length).rev().map(token).find(|token| token.len() <= length).unwrap();
        assert_eq!(token.len(), length);
        token
    };
    let mut served = Application::offering(&serve, &format!("clientmcp.v1, {}", long(8192))).await;
    served.register(TOOLS).await;
    let mut refused = Application::offering(&serve, &format!("clientmcp.v1, {}", long(8193))).await;
    assert_eq!(refused.closed().await.0, 4401);
}

// holds: handshake-any-origin
#[tokio::test]
async fn every_origin_is_served() {
    let serve = Serve::start().await;
    for origins in [&["Origin: https://shop.example"][..], &["Origin: null"], &["Origin: a", "Origin: b"]] {
        let mut lines = vec!["Upgrade: websocket"];
        lines.extend(origins);
        let upgrade = Upgrade::offering(serve.port, &offers("app")).instead("Upgrade", &lines);
        upgrade.send().await.accepted().await.register(TOOLS).await;
    }
}

// holds: handshake-refused-evicts-nobody
#[tokio::test]
async fn a_refused_connection_evicts_nobody() {
    let serve = Serve::start().await;
    let mut application = Application::serving(&serve, "app", TOOLS).await;
    let upgrade = || Upgrade::offering(serve.port, &offers("app"));
    refused(upgrade().instead("Host", &["Host: evil.example"]), 403, "host").await;
    refused(upgrade().instead("Upgrade", &[]), 426, "upgrade").await;
    refused(upgrade().instead("Sec-WebSocket-Key", &[]), 400, "key").await;
    refused(Upgrade::offering(serve.port, &tokens::client("app")), 400, "protocol").await;
    let wrong_generation = tokens::claiming(r#"{"sub":"app","role":"client","gen":1}"#);
    for token in [format!("{}, x", tokens::client("app")), tokens::agent("app"), wrong_generation] {
        let mut other = Application::offering(&serve, &format!("clientmcp.v1, {token}")).await;
        assert_eq!(other.closed().await.0, 4401);
    }
    let agent = Agent::of(&serve, "app");
    let called = tokio::spawn(async move { agent.call("t", "{}").await });
    let call = application.call().await;
    application.answer(&call, r#"{"content":[]}"#).await;
    assert_eq!(called.await.unwrap().result(), r#"{"content":[]}"#);
}

// holds: token-expiry-standing
#[tokio::test]
async fn a_connection_that_stands_outlives_its_token() {
    let serve = Serve::start().await;
    // Of the leeway of 60 s these many are left: enough to connect.
    let left = 30;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let expiring = |sub| {
        let claims = format!(r#"{{"sub":"{sub}","role":"client","exp":{}}}"#, now - 60 + left);
        format!("clientmcp.v1, {}", tokens::claiming(&claims))
    };
    let mut application = Application::offering(&serve, &expiring("app")).await;
    application.register(TOOLS).await;
    // Another application is the clock: its token ends at the same moment.
    until("the token to be refused", async || {
        let mut other = Application::offering(&serve, &expiring("other")).await;
        other.send(r#"{"type":"ping"}"#).await;
        let answer = other.recv().await;
        if answer.is_close() { Ok(()) } else { Err(format!("{answer:?}")) }
    })
    .await;
    application.send(r#"{"type":"ping"}"#).await;
    assert_eq!(application.text().await, r#"{"type":"pong"}"#);
}
