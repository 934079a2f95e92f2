//! Which revision a request speaks, and what each era asks of it (`docs/protocol.md`, "Era and revision").

use serde_json::json;

use crate::support::{
    agent::{LEGACY, META, MODERN},
    http::Request,
    scene::{Scene, TOOLS, answered},
};

const LEGACY_REVISIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

/// The member of `_meta` that names the version.
const META_VERSION: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;

fn version(request: Request, version: &str) -> Request {
    request.header("MCP-Protocol-Version", version)
}

/// The request with this text as the version in `_meta`.
fn meta_version(request: Request, value: &str) -> Request {
    request.swap(META_VERSION, &META_VERSION.replace(r#""2026-07-28""#, value))
}

// holds: era-version-repeated
#[tokio::test]
async fn the_version_header_stands_once_and_agrees() {
    let Scene { agent, .. } = &Scene::offline().await;
    for value in [MODERN, LEGACY] {
        for request in [agent.list(), agent.ping(), agent.initialize(LEGACY), agent.modern("nope", "")] {
            let twice = version(request, value).also("MCP-Protocol-Version", value);
            twice.send().await.refused(400, -32020, Some("1"));
        }
    }
    for request in [agent.list(), agent.discover(), agent.modern("ping", ""), agent.modern("initialize", "")] {
        request.clone().without("MCP-Protocol-Version").send().await.refused(400, -32020, Some("1"));
        for value in ["", "1900-01-01", "2025-11-25", "2026-07-28, 2026-07-28", "2026-07-28x"] {
            version(request.clone(), value).send().await.refused(400, -32020, Some("1"));
        }
        meta_version(request.clone(), r#""1900-01-01""#).send().await.refused(400, -32020, Some("1"));
        meta_version(request, r#""2025-11-25""#).send().await.refused(400, -32020, Some("1"));
    }
    version(agent.list(), " 2026-07-28\t").send().await.result();
    meta_version(agent.list(), r#""2026-07-2\u0038""#).send().await.result();
}

// holds: era-unknown-revision
#[tokio::test]
async fn an_unknown_revision_is_told_what_is_supported() {
    let Scene { agent, .. } = &Scene::offline().await;
    for asked in ["1900-01-01", "2024-11-05", "2025-11-25x", "2026-07-29", "latest", "", "2025-11-25, 2025-11-25"] {
        for request in [agent.ping(), agent.legacy_list(), agent.legacy_call("x", "{}"), agent.legacy("nope", "")] {
            let error = version(request, asked).send().await.refused(400, -32022, Some("1"));
            let supported = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];
            assert_eq!(error.data, Some(json!({"supported": supported, "requested": asked})));
        }
    }
    for request in [agent.list(), agent.modern("nope", ""), agent.modern("initialize", "")] {
        let request = meta_version(version(request, "1900-01-01"), r#""1900-01-01""#);
        let error = request.send().await.refused(400, -32022, Some("1"));
        assert_eq!(error.data.unwrap()["requested"], "1900-01-01");
    }
}

// holds: era-meta-is-modern
#[tokio::test]
async fn a_version_in_meta_makes_a_request_modern() {
    let Scene { agent, .. } = &Scene::offline().await;
    for method in ["initialize", "ping"] {
        let request = agent.modern(method, r#""protocolVersion":"2025-11-25""#);
        request.send().await.refused(404, -32601, Some("1"));
    }
}

// holds: era-meta-legacy
#[tokio::test]
async fn a_legacy_version_in_meta_is_served_as_legacy() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    for revision in LEGACY_REVISIONS {
        let named = |request: Request| {
            let value = format!("\"{revision}\"");
            meta_version(version(request.without("Mcp-Method").without("Mcp-Name"), revision), &value)
        };
        let list = named(agent.list()).send().await.result();
        assert_eq!(list, format!(r#"{{"tools":{TOOLS}}}"#));
        assert_eq!(named(agent.modern("ping", "")).send().await.result(), "{}");
        named(agent.discover()).send().await.refused(200, -32601, Some("1"));
        let call = named(agent.call("getBalance", "{}"));
        let (_, response) = answered(&call, &mut application, r#"{"content":[]}"#).await;
        assert_eq!(response.result(), r#"{"content":[]}"#);
    }
}

// holds: era-meta-not-string
#[tokio::test]
async fn a_version_in_meta_that_is_no_string_is_an_incomplete_meta() {
    let Scene { agent, .. } = &Scene::offline().await;
    for value in ["5", "null", "true", "[]", "{}", r#"["2026-07-28"]"#] {
        for request in [agent.list(), agent.modern("ping", ""), agent.modern("initialize", ""), agent.call("x", "{}")] {
            let request = meta_version(request, value);
            for under in [MODERN, LEGACY, "1900-01-01", ""] {
                version(request.clone(), under).send().await.refused(400, -32602, Some("1"));
            }
            let absent = request.clone().without("MCP-Protocol-Version");
            absent.send().await.refused(400, -32602, Some("1"));
            let twice = request.also("MCP-Protocol-Version", MODERN);
            twice.send().await.refused(400, -32020, Some("1"));
        }
    }
}

// holds: era-meta-not-string
#[tokio::test]
async fn a_version_in_meta_that_is_no_string_needs_mirrored_headers_too() {
    let Scene { agent, .. } = &Scene::offline().await;
    for value in ["5", "null"] {
        let list = meta_version(agent.list(), value);
        for request in [list.clone(), list.without("MCP-Protocol-Version")] {
            request.clone().without("Mcp-Method").send().await.refused(400, -32020, Some("1"));
            request.header("Mcp-Method", "other").send().await.refused(400, -32020, Some("1"));
        }
        let call = meta_version(agent.call("x", "{}"), value);
        call.without("Mcp-Name").send().await.refused(400, -32020, Some("1"));
    }
}

// holds: era-initialize-any-version
#[tokio::test]
async fn initialize_is_never_refused_for_a_version() {
    let Scene { agent, .. } = &Scene::offline().await;
    for asked in ["2025-11-25", "2024-11-05", "2026-07-28", "1900-01-01", ""] {
        let request = agent.initialize(asked);
        request.send().await.result();
        for under in [MODERN, LEGACY, "2025-03-26", "1900-01-01", ""] {
            version(request.clone(), under).send().await.result();
        }
    }
}

// holds: era-modern-header-alone
#[tokio::test]
async fn the_modern_header_alone_is_a_malformed_request() {
    let Scene { agent, .. } = &Scene::offline().await;
    let capabilities = r#""_meta":{"io.modelcontextprotocol/clientCapabilities":{}}"#;
    for meta in ["\"x\":1", "\"_meta\":{}", "\"_meta\":5", "\"_meta\":null", capabilities] {
        for method in ["tools/list", "tools/call", "server/discover", "ping", "nope"] {
            let request = agent.modern(method, "").swap(META, meta);
            request.send().await.refused(400, -32602, Some("1"));
            request.clone().without("Mcp-Method").send().await.refused(400, -32602, Some("1"));
            request.header("Mcp-Method", "other").send().await.refused(400, -32602, Some("1"));
        }
    }
    let bare = agent.list().body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    bare.send().await.refused(400, -32602, Some("1"));
}

// holds: era-each-revision
#[tokio::test]
async fn every_revision_lists_and_calls() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let listed = format!(r#""tools":{TOOLS}"#);
    let mut pairs = vec![(agent.list(), agent.call("getBalance", "{}"))];
    let (list, call) = (agent.legacy_list(), agent.legacy_call("getBalance", "{}"));
    pairs.extend(LEGACY_REVISIONS.map(|revision| (version(list.clone(), revision), version(call.clone(), revision))));
    pairs.push((list.without("MCP-Protocol-Version"), call.without("MCP-Protocol-Version")));
    for (list, call) in pairs {
        assert!(list.send().await.result().contains(&listed));
        let (call, response) = answered(&call, &mut application, r#"{"content":[]}"#).await;
        assert_eq!(call.name, "getBalance");
        assert!(response.result().contains(r#""content":[]"#));
    }
}

// holds: modern-meta-complete
#[tokio::test]
async fn a_modern_meta_has_client_capabilities() {
    let Scene { agent, .. } = &Scene::offline().await;
    let member = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
    for request in [agent.list(), agent.discover(), agent.call("x", "{}"), agent.modern("nope", "")] {
        for other in
            ["\"x\":1".to_owned(), member.replace("{}", "null"), member.replace("{}", "[]"), member.replace("{}", "5")]
        {
            request.clone().swap(member, &other).send().await.refused(400, -32602, Some("1"));
        }
    }
    let more = format!(r#"{member},"io.modelcontextprotocol/clientInfo":5,"progressToken":null,"x":{{}}"#);
    agent.list().swap(member, &more).send().await.result();
}

// holds: modern-unknown-method, legacy-unknown-method
#[tokio::test]
async fn a_method_of_no_era_or_of_the_other_is_unknown() {
    let Scene { agent, .. } = &Scene::offline().await;
    for method in ["resources/list", "prompts/list", "logging/setLevel", "Tools/list", "x"] {
        agent.modern(method, "").send().await.refused(404, -32601, Some("1"));
        agent.legacy(method, "").send().await.refused(200, -32601, Some("1"));
    }
    agent.legacy("subscriptions/listen", "").send().await.refused(200, -32601, Some("1"));
    agent.legacy("server/discover", "").send().await.refused(200, -32601, Some("1"));
    agent.legacy("", "").send().await.refused(200, -32601, Some("1"));
}

// holds: modern-invalid-params, legacy-invalid-params, era-call-params
#[tokio::test]
async fn wrong_parameters_are_refused_in_the_way_of_the_era() {
    let (Scene { agent, .. }, _application) = &Scene::online(TOOLS).await;
    for members in [r#""cursor":"x""#, r#""cursor":"""#, r#""cursor":1"#, r#""cursor":{}"#] {
        agent.modern("tools/list", members).send().await.refused(400, -32602, Some("1"));
        agent.legacy("tools/list", members).send().await.refused(200, -32602, Some("1"));
    }
    for members in [r#""cursor":null"#, r#""limit":5,"cursors":"x""#] {
        agent.modern("tools/list", members).send().await.result();
        agent.legacy("tools/list", members).send().await.result();
    }
    for members in [
        "\"x\":1",
        r#""name":null"#,
        r#""name":5"#,
        r#""name":["getBalance"]"#,
        r#""name":"getBalance","arguments":null"#,
        r#""name":"getBalance","arguments":[]"#,
        r#""name":"getBalance","arguments":"{}""#,
        r#""name":"getBalance","arguments":0"#,
    ] {
        let modern = agent.modern("tools/call", members).header("Mcp-Name", "getBalance");
        modern.send().await.refused(400, -32602, Some("1"));
        agent.legacy("tools/call", members).send().await.refused(200, -32602, Some("1"));
    }
    for members in ["", r#""protocolVersion":null"#, r#""protocolVersion":5"#, r#""protocolversion":"2025-11-25""#] {
        agent.legacy("initialize", members).send().await.refused(200, -32602, Some("1"));
    }
    let bare = |method: &str| agent.ping().body(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#));
    for method in ["initialize", "tools/call"] {
        bare(method).send().await.refused(200, -32602, Some("1"));
    }
    for method in ["ping", "tools/list"] {
        bare(method).send().await.result();
    }
}

// holds: legacy-session
#[tokio::test]
async fn initialize_alone_names_a_session_and_every_time_another() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let mut sessions = Vec::new();
    for _ in 0..5 {
        let response = agent.initialize(LEGACY).send().await;
        let session = response.header("Mcp-Session-Id").expect("a session").to_owned();
        assert!(session.len() >= 16 && session.bytes().all(|byte| byte.is_ascii_graphic()), "{session}");
        assert!(!sessions.contains(&session));
        sessions.push(session);
    }
    let mut requests = Vec::new();
    for request in [agent.ping(), agent.legacy_list(), agent.list(), agent.discover(), agent.legacy("nope", "")] {
        requests.push(request.clone().header("Mcp-Session-Id", &sessions[0]));
        requests.push(request.clone().header("Mcp-Session-Id", "unknown"));
        requests.push(request);
    }
    for request in requests {
        let response = request.send().await;
        assert_eq!((response.status, response.header("Mcp-Session-Id")), (200, None));
    }
    let call = agent.legacy_call("getBalance", "{}").header("Mcp-Session-Id", "unknown");
    let (_, response) = answered(&call, &mut application, r#"{"content":[]}"#).await;
    assert_eq!(response.header("Mcp-Session-Id"), None);
    response.result();
}
