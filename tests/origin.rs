//! Origins of browsers, and CORS (`docs/protocol.md`, "Origin and CORS").

use crate::support::{http::Response, scene::Scene};

const ALLOW_HEADERS: &str = "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, \
                             mcp-session-id, last-event-id";

/// A bridge that allows two origins besides its own.
async fn scene() -> Scene {
    let allow = ["--allow-origin", "https://app.example", "--allow-origin", "http://dev.example:8080"];
    Scene::with(&[&allow[..], &["--confirm", "off"]].concat()).await
}

fn own_origins(port: u16) -> Vec<String> {
    let own = [format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}")];
    own.into_iter().chain(["https://app.example".into(), "http://dev.example:8080".into()]).collect()
}

fn foreign_origins(port: u16) -> Vec<String> {
    let foreign = [
        "",
        "null",
        "*",
        "https://evil.example",
        "https://app.example/",
        "https://app.example:443",
        "https://APP.example",
        "HTTPS://app.example",
        "http://app.example",
        "https://app.example.evil.example",
        "https://sub.app.example",
        "https://app.example, https://app.example",
        "http://dev.example",
        "http://127.0.0.1",
        "http://localhost",
    ];
    let near =
        [format!("https://localhost:{port}"), format!("http://LOCALHOST:{port}"), format!("http://[::1]:{port}")];
    foreign.map(str::to_owned).into_iter().chain(near).collect()
}

#[track_caller]
fn shared_with(response: &Response, origin: &str) {
    assert_eq!(response.header("Access-Control-Allow-Origin"), Some(origin));
    assert_eq!(
        response.header("Access-Control-Expose-Headers"),
        Some("Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate")
    );
    assert_eq!(response.header("Vary"), Some("Origin"));
}

#[track_caller]
fn refused(response: &Response) {
    response.refused_early(403);
    let names = response.header_names();
    assert!(!names.iter().any(|name| name.starts_with("access-control-") || name == "vary"), "{names:?}");
}

// holds: ladder-own-origin
#[tokio::test]
async fn every_answer_to_an_allowed_origin_is_shared_with_it() {
    let Scene { agent, .. } = &scene().await;
    for origin in own_origins(agent.port()) {
        let list = agent.list().header("Origin", &origin);
        for (request, status) in [
            (list.clone(), 200),
            (list.clone().without("Authorization"), 401),
            (list.clone().method("GET"), 405),
            (list.clone().method("DELETE"), 405),
            (list.clone().without("Content-Type"), 415),
            (list.clone().header("Accept", "text/html"), 406),
            (list.clone().header("Content-Length", "4194305").body(""), 413),
            (list.clone().body("{"), 400),
            (agent.modern("nope", "").header("Origin", &origin), 404),
            (agent.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).header("Origin", &origin), 202),
        ] {
            let response = request.send().await;
            assert_eq!(response.status, status);
            shared_with(&response, &origin);
        }
        let in_path = list.without("Authorization").target(&format!("/mcp/{}", agent.token()));
        shared_with(&in_path.send().await, &origin);
    }
}

// holds: ladder-origin
#[tokio::test]
async fn a_foreign_origin_is_refused_with_nothing_shared() {
    let Scene { agent, .. } = &scene().await;
    let list = agent.list();
    for origin in foreign_origins(agent.port()) {
        refused(&list.clone().header("Origin", &origin).send().await);
        let in_path = list.clone().without("Authorization").target(&format!("/mcp/{}", agent.token()));
        refused(&in_path.header("Origin", &origin).send().await);
        let preflight = list.clone().method("OPTIONS").header("Origin", &origin);
        refused(&preflight.header("Access-Control-Request-Method", "POST").send().await);
    }
    for origin in own_origins(agent.port()) {
        refused(&list.clone().header("Origin", &origin).also("Origin", &origin).send().await);
        refused(&list.clone().header("Origin", &origin).also("Origin", "null").send().await);
    }
}

// holds: ladder-preflight
#[tokio::test]
async fn a_preflight_needs_no_token() {
    let Scene { agent, .. } = &scene().await;
    let bare = agent.post("").without("Authorization").without("Content-Type").without("Accept").method("OPTIONS");
    for origin in own_origins(agent.port()) {
        let preflight = bare.clone().header("Origin", &origin);
        for request in [
            preflight.clone(),
            preflight.clone().header("Access-Control-Request-Method", "POST"),
            preflight.clone().header("Access-Control-Request-Headers", "authorization,content-type,x-other"),
            preflight.clone().target("/mcp/not-a-token"),
            preflight.clone().target("/mcp?x=1"),
        ] {
            let response = request.send().await;
            assert_eq!((response.status, response.text()), (204, ""));
            assert_eq!(response.header("Access-Control-Allow-Origin"), Some(origin.as_str()));
            assert_eq!(response.header("Access-Control-Allow-Methods"), Some("GET, POST"));
            assert_eq!(response.header("Access-Control-Allow-Headers"), Some(ALLOW_HEADERS));
            assert_eq!(response.header("Vary"), Some("Origin"));
            assert_eq!(response.header("Access-Control-Allow-Credentials"), None);
        }
    }
}

// holds: ladder-preflight
#[tokio::test]
async fn a_preflight_may_ask_for_mirrored_parameters() {
    let Scene { agent, .. } = &scene().await;
    let preflight = agent.post("").without("Authorization").method("OPTIONS").header("Origin", "https://app.example");
    let asks = |names: &str| preflight.clone().header("Access-Control-Request-Headers", names);
    for (request, appended) in [
        (asks("mcp-param-region"), ", mcp-param-region"),
        (asks("content-type,mcp-param-b, mcp-param-a,x-mcp-param-c"), ", mcp-param-b, mcp-param-a"),
        (asks("Mcp-Param-Region"), ", mcp-param-region"),
        (asks("mcp-param-a").also("Access-Control-Request-Headers", "mcp-param-b"), ", mcp-param-a, mcp-param-b"),
        (asks("mcp-param"), ""),
    ] {
        let response = request.send().await;
        assert_eq!(response.status, 204);
        let allowed = response.header("Access-Control-Allow-Headers").unwrap().to_ascii_lowercase();
        assert_eq!(allowed, format!("{ALLOW_HEADERS}{appended}"));
    }
}
