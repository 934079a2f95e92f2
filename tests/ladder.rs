//! The ladder, rung by rung and in its order (`docs/protocol.md`, "The ladder").

use crate::support::{
    agent::LEGACY,
    http::Request,
    scene::{Scene, ping_deep},
};

// holds: ladder-host, ladder-early-refusal-body
#[tokio::test]
async fn exactly_one_host_of_ours_is_served_on_every_route() {
    let Scene { agent, .. } = &Scene::offline().await;
    let port = agent.port();
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "LocalHost"] {
        agent.list().header("Host", format!("{host}:{port}")).send().await.result();
    }
    let foreign = [
        String::new(),
        "localhost".into(),
        "127.0.0.1".into(),
        format!("localhost:{}", port ^ 1),
        format!("localhost:0{port}"),
        format!("localhost.:{port}"),
        format!("127.0.0.2:{port}"),
        format!("[::1]:{port}"),
        format!("evil.example:{port}"),
        format!("localhost:{port}, localhost:{port}"),
    ];
    let right = format!("127.0.0.1:{port}");
    let in_path = format!("/mcp/{}", agent.token());
    let others = ["/connect", "/", "/.well-known/x", "/mcp/.well-known", "/mcp/", "/mcp/a/b"];
    let targets = [("/mcp", true), (&in_path, true), ("/mcp?x=1", true)];
    for (target, is_endpoint) in targets.into_iter().chain(others.map(|other| (other, false))) {
        let request = agent.list().target(target);
        let mut bad: Vec<_> = foreign.iter().map(|host| request.clone().header("Host", host)).collect();
        bad.push(request.clone().without("Host"));
        bad.push(request.clone().also("Host", &right));
        for request in bad {
            let response = request.send().await;
            if is_endpoint {
                response.refused_early(403);
                continue;
            }
            assert_eq!(response.status, 403, "{target}");
            let kind = response.header("Content-Type").unwrap_or_default();
            assert!(kind.starts_with("text/plain") && !response.body.is_empty(), "{target}: {kind}");
        }
    }
}

// holds: ladder-absolute-target
#[tokio::test]
async fn an_absolute_target_names_the_authority_of_host() {
    let Scene { agent, .. } = &Scene::offline().await;
    let port = agent.port();
    for (target, host, served) in [
        ("http://127.0.0.1:PORT/mcp", "127.0.0.1:PORT", true),
        ("http://localhost:PORT/mcp", "localhost:PORT", true),
        ("http://LOCALHOST:PORT/mcp", "localhost:PORT", true),
        ("http://localhost:PORT/mcp?x=1", "localhost:PORT", true),
        ("http://localhost:PORT/mcp", "127.0.0.1:PORT", false),
        ("http://evil.example/mcp", "127.0.0.1:PORT", false),
        ("http://evil.example:PORT/mcp", "evil.example:PORT", false),
        ("http://127.0.0.1/mcp", "127.0.0.1:PORT", false),
        ("http://user@127.0.0.1:PORT/mcp", "127.0.0.1:PORT", false),
        ("https://127.0.0.1:PORT/mcp", "127.0.0.1:PORT", false),
        ("ws://127.0.0.1:PORT/mcp", "127.0.0.1:PORT", false),
    ] {
        let ours = |text: &str| text.replace("PORT", &port.to_string());
        let response = agent.list().target(&ours(target)).header("Host", ours(host)).send().await;
        if served {
            response.result();
        } else {
            assert_eq!(response.status, 403, "{target} with {host}");
        }
    }
    let alone = agent.list().target(&format!("http://127.0.0.1:{port}/mcp")).without("Host");
    assert_eq!(alone.send().await.status, 403);
}

// holds: ladder-unknown-path
#[tokio::test]
async fn an_unknown_path_is_an_empty_404() {
    let Scene { agent, .. } = &Scene::offline().await;
    for path in [
        "/",
        "//mcp",
        "/MCP",
        "/mcp/",
        "/mcp/?x=1",
        "/mcp//",
        "/mcp/a/",
        "/mcp/a/b",
        "/mcp/../mcp",
        "/mcpx",
        "/mcp;x=1",
        "/mc%70",
        "/mcp%2Fa",
        "/connect/",
        "/connect/x",
        "/Connect",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/mcp/.well-known",
        "/mcp/.well-known/openid-configuration",
        "/favicon.ico",
    ] {
        for method in ["POST", "GET", "OPTIONS", "DELETE"] {
            let response = agent.list().method(method).target(path).send().await;
            assert_eq!((response.status, response.text()), (404, ""), "{method} {path}");
        }
    }
    for target in ["/mcp?x=1", "/mcp?", "/mcp?/mcp/x"] {
        agent.list().target(target).send().await.result();
    }
    let in_path = agent.list().without("Authorization");
    in_path.target(&format!("/mcp/{}?x=1", agent.token())).send().await.result();
}

// holds: ladder-method
#[tokio::test]
async fn other_methods_are_refused_with_a_token_only() {
    let Scene { agent, .. } = &Scene::offline().await;
    for method in ["DELETE", "HEAD", "PUT", "PATCH", "OPTIONS", "post", "BREW"] {
        let with = agent.list().method(method).send().await;
        assert_eq!((with.status, with.header("Allow")), (405, Some("GET, POST")), "{method}");
        if method != "HEAD" {
            with.refused_early(405);
        }
        let without = agent.list().method(method).without("Authorization").send().await;
        assert_eq!(without.status, 401, "{method}");
    }
}

// holds: ladder-content-type, ladder-early-refusal-body
#[tokio::test]
async fn the_content_type_is_json_once() {
    let Scene { agent, .. } = &Scene::offline().await;
    for kind in [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=latin1",
        "application/json ; x=y",
    ] {
        agent.list().header("Content-Type", kind).send().await.result();
    }
    for kind in [
        "",
        "text/plain",
        "application/jsonp",
        "application/json-rpc",
        "application/ld+json",
        "application",
        "json",
        "application/json, application/json",
        "text/plain; application/json",
        "application/x-www-form-urlencoded",
    ] {
        agent.list().header("Content-Type", kind).send().await.refused_early(415);
    }
    agent.list().without("Content-Type").send().await.refused_early(415);
    agent.list().also("Content-Type", "application/json").send().await.refused_early(415);
}

// holds: ladder-accept, ladder-early-refusal-body
#[tokio::test]
async fn accept_admits_json_by_its_most_specific_range() {
    let Scene { agent, .. } = &Scene::offline().await;
    for accept in [
        "",
        "*/*",
        "application/*",
        "application/json",
        "APPLICATION/JSON",
        "application/json;q=0.001",
        "text/event-stream, application/json",
        "text/html,application/json;q=0.1",
        "*/*;q=0, application/json",
        "application/*;q=0, application/json",
        "text/html;q=0, */*",
    ] {
        agent.list().header("Accept", accept).send().await.result();
    }
    agent.list().without("Accept").send().await.result();
    agent.list().header("Accept", "text/html").also("Accept", "application/json").send().await.result();
    for accept in [
        "text/html",
        "application/xml",
        "application/jsonp",
        "application/json;q=0",
        "application/json; q=0.000",
        "application/json;Q=0",
        "application/json;q=0, */*",
        "application/*;q=0, */*",
        "*/*;q=0",
        "text/html;x=\"a, application/json\"",
    ] {
        agent.list().header("Accept", accept).send().await.refused_early(406);
    }
    let lines = agent.list().header("Accept", "application/json;q=0").also("Accept", "*/*");
    lines.send().await.refused_early(406);
}

// holds: ladder-order
#[tokio::test]
async fn of_two_faults_the_earlier_rung_answers() {
    let Scene { agent, .. } = &Scene::offline().await;
    let list = agent.list();
    let foreign = list.clone().header("Origin", "https://evil.example");
    let own = list.clone().header("Origin", format!("http://localhost:{}", agent.port()));
    let large = |request: Request| request.header("Content-Length", "4194305").body("");
    let (meta_legacy, unknown) = (r#""2026-07-28""#, r#""1900-01-01""#);
    let no_capabilities = |request: Request| request.swap("clientCapabilities\":{}", "clientCapabilities\":1");

    let status = |name: &'static str, request: Request, status: u16| (name, request, status);
    for (name, request, status) in [
        status("host, path", list.clone().header("Host", "x").target("/x"), 403),
        status("path, origin", foreign.clone().target("/x"), 404),
        status("origin, preflight", foreign.clone().method("OPTIONS"), 403),
        status("preflight, no credential", own.clone().method("OPTIONS").without("Authorization"), 204),
        status("preflight, bad credential", own.clone().method("OPTIONS").header("Authorization", "Bearer x"), 204),
        status("origin, credential", foreign.clone().without("Authorization"), 403),
        status("credential, method", list.clone().without("Authorization").method("GET"), 401),
        status("method, content type", list.clone().method("PUT").without("Content-Type"), 405),
        status("content type, accept", list.clone().without("Content-Type").header("Accept", "text/html"), 415),
        status("accept, size", large(list.clone().header("Accept", "text/html")), 406),
    ] {
        assert_eq!(request.send().await.status, status, "{name}");
    }

    let code = |name: &'static str, request: Request, status: u16, code: i32, id| (name, request, status, code, id);
    for (name, request, status, code, id) in [
        code("size, arrival", large(list.clone()), 413, -32600, None),
        code("nesting, envelope", ping_deep(agent, 129).swap("2.0", "1.0"), 400, -32600, None),
        code(
            "envelope, header",
            list.clone().swap("2.0", "1.0").also("MCP-Protocol-Version", "x"),
            400,
            -32600,
            Some("1"),
        ),
        code("header, revision", list.clone().swap(meta_legacy, unknown), 400, -32020, Some("1")),
        code(
            "repeated, revision",
            list.clone().header("MCP-Protocol-Version", "x").also("MCP-Protocol-Version", "x"),
            400,
            -32020,
            Some("1"),
        ),
        code(
            "revision, mirrored",
            list.clone().swap(meta_legacy, unknown).header("MCP-Protocol-Version", "1900-01-01").without("Mcp-Method"),
            400,
            -32022,
            Some("1"),
        ),
        code("mirrored, meta", no_capabilities(list.clone().without("Mcp-Method")), 400, -32020, Some("1")),
        code("mirrored, method", agent.modern("nope", "").without("Mcp-Method"), 400, -32020, Some("1")),
        code("meta, method", no_capabilities(agent.modern("nope", "")), 400, -32602, Some("1")),
        code("mirrored, parameters", agent.modern("tools/call", ""), 400, -32020, Some("1")),
        code("method, parameters", agent.modern("nope", r#""cursor":1"#), 404, -32601, Some("1")),
        code(
            "era, legacy",
            agent.legacy("nope", r#""cursor":1"#).header("MCP-Protocol-Version", LEGACY),
            200,
            -32601,
            Some("1"),
        ),
    ] {
        println!("{name}");
        request.send().await.refused(status, code, id);
    }
}
