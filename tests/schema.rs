//! Each message of the bridge is what the JSON Schema of its revision demands. The peers of all tests check that of every
//! answer they read; here is that the check finds what it should, and one message of each kind.

use serde_json::json;

use crate::support::{
    agent::{LEGACY, MODERN},
    scene::{Scene, TOOLS, answered},
    schema::{Asked, check, check_answer, faults},
};

const LEGACY_REVISIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

#[test]
fn the_examples_of_the_specification_pass() {
    for (method, message) in [
        (Some("server/discover"), include_str!("fixtures/mcp-examples/discover-result-response.json")),
        (Some("tools/list"), include_str!("fixtures/mcp-examples/list-tools-result-response.json")),
        (Some("tools/call"), include_str!("fixtures/mcp-examples/call-tool-result-response.json")),
        (Some("subscriptions/listen"), include_str!("fixtures/mcp-examples/listen-closed-response.json")),
        (Some("tools/call"), include_str!("fixtures/mcp-examples/header-mismatch.json")),
        (None, include_str!("fixtures/mcp-examples/unsupported-version.json")),
        (None, include_str!("fixtures/mcp-examples/listen-acknowledged.json")),
        (None, include_str!("fixtures/mcp-examples/tools-list-changed.json")),
    ] {
        check(MODERN, method, message);
    }
}

#[test]
fn what_a_schema_demands_is_missed() {
    for (revision, method, message) in [
        (MODERN, "tools/list", r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"ttlMs":0,"cacheScope":"private"}}"#),
        (MODERN, "tools/list", r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[]}}"#),
        (MODERN, "tools/call", r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#),
        (MODERN, "server/discover", r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}"#),
        (MODERN, "subscriptions/listen", r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}"#),
        (MODERN, "", r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"unsupported"}}"#),
        (MODERN, "", r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}"#),
        (LEGACY, "initialize", r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}"#),
        (LEGACY, "tools/call", r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":[]}}"#),
        (LEGACY, "tools/call", r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"smell"}]}}"#),
        (LEGACY, "tools/list", r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}"#),
        (LEGACY, "tools/list", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        (LEGACY, "server/discover", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        (LEGACY, "ping", r#"{"jsonrpc":"2.0","id":null,"result":{}}"#),
        (LEGACY, "ping", r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#),
        (LEGACY, "ping", r#"{"jsonrpc":"2.0","result":{}}"#),
        (LEGACY, "ping", r#"{"id":1,"result":{}}"#),
        (LEGACY, "ping", r#"{"jsonrpc":"2.0","id":1}"#),
        (LEGACY, "ping", r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#),
        (LEGACY, "", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":""}}"#),
        (LEGACY, "", r#"{"jsonrpc":"2.0","error":{"code":-32600}}"#),
        (LEGACY, "", r#"{"jsonrpc":"2.0","error":{"code":1.5,"message":""}}"#),
        (LEGACY, "", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
        (LEGACY, "", r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#),
        (LEGACY, "", "{"),
    ] {
        assert!(!faults(revision, Some(method), message).is_empty(), "{revision} {method} {message}");
    }
}

#[test]
fn an_error_without_an_id_is_one_of_a_revision_that_has_it() {
    let message = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"not JSON"}}"#;
    for revision in LEGACY_REVISIONS.into_iter().chain([MODERN]) {
        check(revision, None, message);
    }
}

#[test]
fn what_a_parsed_value_cannot_hold_is_no_fault() {
    let result = r#"{"content":[],"x":[1e400,-1.5E+999,0.10],"x":"1e400 \" \\ud800 \uD800 \udead"}"#;
    check(LEGACY, Some("tools/call"), &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    let deep = format!("{}{}", r#"{"a":["#.repeat(300), "]}".repeat(300));
    let message = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[],"x":{deep}}}}}"#);
    check(LEGACY, Some("tools/call"), &message);
    let cut = r#"{"jsonrpc":"2.0","id":1,"result":{"content":["1e400"#;
    assert_eq!(faults(LEGACY, Some("tools/call"), cut), ["not JSON"]);
}

#[test]
#[should_panic(expected = "not as MCP 2026-07-28 has it")]
fn an_event_of_a_stream_is_checked_by_its_request() {
    let body = json!({"id": 1, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN
    }}});
    let asked = Asked { body: body.to_string().into(), ..Asked::default() };
    check_answer(&asked, Some("text/event-stream"), ": \n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n");
}

#[test]
#[should_panic(expected = "has no DiscoverResult")]
fn each_answer_of_a_batch_is_checked_by_its_request() {
    let body = r#"[{"id":1,"method":"ping"},{"id":"1","method":"server/discover"}]"#;
    let asked = Asked { body: body.into(), ..Asked::default() };
    let answer = r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"1","result":{}}]"#;
    check_answer(&asked, Some("application/json"), answer);
}

// holds: schema-every-message
#[tokio::test]
async fn every_kind_of_answer_is_as_its_revision_has_it() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    agent.discover().send().await.result();
    agent.list().send().await.result();
    answered(&agent.call("getBalance", "{}"), &mut application, r#"{"content":[]}"#).await.1.result();
    for revision in LEGACY_REVISIONS {
        let under = |request: crate::support::http::Request| request.header("MCP-Protocol-Version", revision);
        agent.initialize(revision).send().await.result();
        under(agent.ping()).send().await.result();
        under(agent.legacy_list()).send().await.result();
        let call = under(agent.legacy_call("getBalance", "{}"));
        answered(&call, &mut application, r#"{"content":[{"type":"text","text":"1"}]}"#).await.1.result();
        under(agent.legacy_call("getBalanse", "{}")).send().await.refused(200, -32602, Some("1"));
        under(agent.post("{")).send().await.refused(400, -32700, None);
    }
    drop(application);
    agent.list().send().await.result();
    agent.call("getBalance", "{}").send().await.result();
    agent.list().header("Mcp-Method", "ping").send().await.refused(400, -32020, Some("1"));
    agent.ping().header("MCP-Protocol-Version", "1900-01-01").send().await.refused(400, -32022, Some("1"));
}
