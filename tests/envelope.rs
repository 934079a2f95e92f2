//! One JSON-RPC message a body: requests, notifications, responses, and what is none (`docs/protocol.md`, "The ladder", rung 13).

use crate::support::{
    agent::{Agent, LEGACY, META, MODERN},
    http::Request,
    scene::{Scene, TOOLS, answered, heard_nothing},
};

/// A message of these members, from a legacy agent.
fn message(agent: &Agent, members: &str) -> Request {
    agent.post(&format!("{{{members}}}")).header("MCP-Protocol-Version", LEGACY)
}

// holds: ladder-envelope
#[tokio::test]
async fn a_bad_envelope_is_refused_with_its_id() {
    let Scene { agent, .. } = &Scene::offline().await;
    for members in [
        r#""id":1,"method":"ping""#,
        r#""jsonrpc":"1.0","id":1,"method":"ping""#,
        r#""jsonrpc":"2.0 ","id":1,"method":"ping""#,
        r#""jsonrpc":2.0,"id":1,"method":"ping""#,
        r#""jsonrpc":null,"id":1,"method":"ping""#,
        r#""jsonrpc":"2.0","id":1,"method":null"#,
        r#""jsonrpc":"2.0","id":1,"method":5"#,
        r#""jsonrpc":"2.0","id":1,"method":["ping"]"#,
        r#""jsonrpc":"2.0","id":1,"method":"ping","params":null"#,
        r#""jsonrpc":"2.0","id":1,"method":"ping","params":[]"#,
        r#""jsonrpc":"2.0","id":1,"method":"ping","params":"x""#,
        r#""jsonrpc":"2.0","id":1,"method":"ping","params":0"#,
        r#""jsonrpc":"2.0","id":1,"method":"ping","result":{}"#,
        r#""jsonrpc":"2.0","id":1,"method":"ping","result":null"#,
        r#""jsonrpc":"2.0","id":1,"method":"ping","error":{}"#,
        r#""jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping""#,
        r#""jsonrpc":"2.0","id":1,"method":"ping","method":"ping""#,
        r#""jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"ping""#,
        r#""jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}"#,
        r#""jsonrpc":"2.0","id":1,"method":"ping","x":1,"x":1"#,
    ] {
        message(agent, members).send().await.refused(400, -32600, Some("1"));
    }
    let unknown_members = r#""x":null,"jsonrpc":"2.0","id":1,"y":[{}],"method":"ping""#;
    message(agent, unknown_members).send().await.result();
    let escaped = r#""jsonrp\u0063":"2\u002e0","\u0069d":1,"m\u0065thod":"p\u0069ng""#;
    message(agent, escaped).send().await.result();
    message(agent, r#""jsonrpc":"1.0","\u0069d":1,"method":"ping""#).send().await.refused(400, -32600, Some("1"));
}

// holds: ladder-envelope
#[tokio::test]
async fn a_message_that_is_neither_request_nor_response_keeps_its_id() {
    let Scene { agent, .. } = &Scene::offline().await;
    for members in [r#""jsonrpc":"2.0","id":1"#, r#""jsonrpc":"2.0","id":1,"params":{}"#, r#""id":1,"x":"y""#] {
        message(agent, members).send().await.refused(400, -32600, Some("1"));
    }
}

// holds: text-id
#[tokio::test]
async fn an_id_comes_back_as_it_was_written() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let digits = "9".repeat(300);
    for id in [
        "0",
        "-0",
        "-5",
        "12345678901234567890",
        &digits,
        r#""""#,
        r#""1""#,
        r#"" a ""#,
        r#""\u0061""#,
        r#""\/\ud83d\ude00\u0000""#,
        r#""ä""#,
    ] {
        let renamed = |request: Request| request.swap(r#""id":1"#, &format!(r#""id":{id}"#));
        for request in [agent.ping(), agent.legacy_list(), agent.list(), agent.discover(), agent.initialize(LEGACY)] {
            assert_eq!(renamed(request).send().await.message().id.as_deref(), Some(id));
        }
        renamed(agent.legacy("nope", "")).send().await.refused(200, -32601, Some(id));
        renamed(agent.modern("nope", "")).send().await.refused(404, -32601, Some(id));
        renamed(agent.call("nope", "{}")).send().await.refused(200, -32602, Some(id));
        renamed(agent.ping().swap("2.0", "1.0")).send().await.refused(400, -32600, Some(id));
        for call in [agent.call("getBalance", "{}"), agent.legacy_call("getBalance", "{}")] {
            let (_, response) = answered(&renamed(call), &mut application, r#"{"content":[]}"#).await;
            assert_eq!(response.message().id.as_deref(), Some(id));
        }
    }
}

// holds: ladder-id
#[tokio::test]
async fn an_id_of_another_kind_is_refused_and_not_repeated() {
    let Scene { agent, .. } = &Scene::offline().await;
    for id in ["null", "true", "false", "1.0", "1e3", "1E3", "-0.0", "1.5", "[]", "[1]", "{}", r#"{"id":1}"#] {
        for request in [agent.ping(), agent.list(), agent.initialize(LEGACY), agent.ping().swap("2.0", "1.0")] {
            let request = request.swap(r#""id":1"#, &format!(r#""id":{id}"#));
            request.send().await.refused(400, -32600, None);
        }
    }
    for twice in [r#""id":1,"id":1"#, r#""id":1,"id":2"#, r#""id":1,"\u0069d":1"#, r#""id":null,"id":1"#] {
        agent.ping().swap(r#""id":1"#, twice).send().await.refused(400, -32600, None);
    }
}

// holds: ladder-repeated-params
#[tokio::test]
async fn parameters_that_two_parsers_would_read_differently_are_refused() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    for members in [
        r#""x":1,"x":1"#,
        r#""x":1,"\u0078":2"#,
        r#""name":"getBalance","name":"getBalance""#,
        r#""arguments":{},"arguments":{}"#,
        r#""_meta":{"a":1,"a":1}"#,
        r#""_meta":{"a":1,"\u0061":1}"#,
        r#""_meta":{},"_meta":{}"#,
    ] {
        let members = format!(r#""name":"getBalance",{members}"#);
        agent.legacy("tools/call", &members).send().await.refused(400, -32600, Some("1"));
        agent.legacy("ping", &members).send().await.refused(400, -32600, Some("1"));
    }
    let twice = format!("{META},{META}");
    agent.call("getBalance", "{}").swap(META, &twice).send().await.refused(400, -32600, Some("1"));
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#;
    agent.list().swap(version, &version.repeat(2)).send().await.refused(400, -32600, Some("1"));
    agent.list().swap(META, &format!(r#""x":1,"x":1,{META}"#)).send().await.refused(400, -32600, Some("1"));
    heard_nothing(&mut application).await;

    let twice = r#"{"a":1,"a":2,"b":{"c":1,"c":1}}"#;
    for call in [agent.call("getBalance", twice), agent.legacy_call("getBalance", twice)] {
        let (call, _) = answered(&call, &mut application, r#"{"content":[]}"#).await;
        assert_eq!(call.arguments, twice);
    }
    let deeper = r#""_meta":{"a":{"b":1,"b":2}},"other":{"c":1,"c":2}"#;
    agent.legacy("ping", deeper).send().await.result();
    agent.list().swap(META, &META.replace("{}", r#"{"a":1,"a":1}"#)).send().await.result();
}

// holds: ladder-array
#[tokio::test]
async fn what_is_no_object_is_refused() {
    let Scene { agent, .. } = &Scene::offline().await;
    for body in ["1", "null", "true", r#""ping""#] {
        for request in [agent.ping(), agent.ping().header("MCP-Protocol-Version", "2025-03-26"), agent.list()] {
            request.clone().body(body).send().await.refused(400, -32600, None);
            request.without("MCP-Protocol-Version").body(body).send().await.refused(400, -32600, None);
        }
    }
    let ping = agent.ping().text().to_owned();
    let batch = format!("[{ping}]");
    for body in ["[]", "[1]", &batch] {
        for version in ["2026-07-28", "2025-11-25", "2025-06-18", "1900-01-01"] {
            let request = agent.ping().header("MCP-Protocol-Version", version);
            request.body(body).send().await.refused(400, -32600, None);
        }
    }
    agent.ping().body("{}").send().await.refused(400, -32600, None);
}

// holds: ladder-response
#[tokio::test]
async fn a_response_is_taken_and_ignored_in_the_legacy_era() {
    let Scene { agent, .. } = &Scene::offline().await;
    for members in [
        r#""id":1,"result":{}"#,
        r#""id":"a","error":{"code":-1,"message":"x"}"#,
        r#""result":{}"#,
        r#""id":null,"error":{}"#,
        r#""id":1.5,"result":null"#,
        r#""id":[],"result":5,"error":null"#,
        r#""id":1,"result":{},"params":null"#,
        r#""id":1,"result":{"a":1,"a":2}"#,
    ] {
        let response = agent.post(&format!(r#"{{"jsonrpc":"2.0",{members}}}"#));
        let under = |version: &str| response.clone().header("MCP-Protocol-Version", version);
        for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
            under(version).send().await.accepted();
        }
        response.send().await.accepted();
        under(MODERN).send().await.refused(400, -32600, None);
        under("1900-01-01").send().await.refused(400, -32022, None);
        under(LEGACY).also("MCP-Protocol-Version", LEGACY).send().await.refused(400, -32020, None);
    }
    for members in [
        r#""id":1,"result":{}"#,
        r#""jsonrpc":"1.0","id":1,"result":{}"#,
        r#""jsonrpc":null,"id":1,"error":{}"#,
        r#""jsonrpc":"2.0","id":1,"result":{},"result":{}"#,
        r#""jsonrpc":"2.0","id":1,"result":{},"r\u0065sult":{}"#,
        r#""jsonrpc":"2.0","id":1,"id":1,"result":{}"#,
        r#""jsonrpc":"2.0","id":1,"error":{},"x":1,"x":1"#,
    ] {
        message(agent, members).send().await.refused(400, -32600, None);
    }
}

// holds: ladder-notification
#[tokio::test]
async fn a_notification_is_taken_and_ignored_in_every_revision() {
    let Scene { agent, .. } = &Scene::offline().await;
    let notify =
        |method: &str, params: &str| agent.post(&format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#));
    let named = r#","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    for method in ["notifications/initialized", "notifications/cancelled", "nope", "ping", "tools/list", "initialize"] {
        for params in ["", r#","params":{}"#, r#","params":{"requestId":1}"#, r#","params":{"_meta":5}"#] {
            let notification = notify(method, params);
            notification.send().await.accepted();
            for version in [MODERN, "2025-11-25", "2025-06-18", "2025-03-26"] {
                notification.clone().header("MCP-Protocol-Version", version).send().await.accepted();
            }
            for version in ["1900-01-01", ""] {
                let unknown = notification.clone().header("MCP-Protocol-Version", version);
                unknown.send().await.refused(400, -32022, None);
            }
            let twice = notification.header("MCP-Protocol-Version", LEGACY).also("MCP-Protocol-Version", LEGACY);
            twice.send().await.refused(400, -32020, None);
        }
        let notification = notify(method, named);
        notification.clone().header("MCP-Protocol-Version", MODERN).send().await.accepted();
        notification.send().await.refused(400, -32020, None);
        notification.header("MCP-Protocol-Version", LEGACY).send().await.refused(400, -32020, None);
        let number = notify(method, &named.replace(r#""2026-07-28""#, "5"));
        number.send().await.accepted();
        number.header("MCP-Protocol-Version", "1900-01-01").send().await.refused(400, -32022, None);
        let unknown = notify(method, &named.replace(MODERN, "1900-01-01"));
        unknown.header("MCP-Protocol-Version", "1900-01-01").send().await.refused(400, -32022, None);
        notify(method, r#","params":null"#).send().await.refused(400, -32600, None);
        notify(method, r#","params":{"a":1,"a":1}"#).send().await.refused(400, -32600, None);
    }
}

// holds: ladder-notification-calls-nothing
#[tokio::test]
async fn a_notification_named_like_a_call_calls_nothing() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    for call in [agent.call("getBalance", "{}"), agent.legacy_call("getBalance", "{}")] {
        call.swap(r#""id":1,"#, "").send().await.accepted();
    }
    heard_nothing(&mut application).await;
}

// holds: ladder-refused-not-sent
#[tokio::test]
async fn a_refused_call_reaches_no_application() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    for call in [agent.call("getBalance", "{}"), agent.legacy_call("getBalance", "{}")] {
        for (request, status) in [
            (call.clone().header("Host", "evil.example"), 403),
            (call.clone().header("Origin", "https://evil.example"), 403),
            (call.clone().target("/mcp/"), 404),
            (call.clone().without("Authorization"), 401),
            (call.clone().method("PUT"), 405),
            (call.clone().header("Content-Type", "text/plain"), 415),
            (call.clone().header("Accept", "text/html"), 406),
            (call.clone().swap("2.0", "1.0"), 400),
            (call.clone().swap(r#""id":1"#, r#""id":null"#), 400),
            (call.clone().header("MCP-Protocol-Version", "1900-01-01"), 400),
            (call.clone().header("MCP-Protocol-Version", "2025-11-25").body(format!("[{}]", call.text())), 400),
            (call.clone().body(format!("{}}}", call.text())), 400),
        ] {
            assert_eq!(request.send().await.status, status);
        }
    }
    agent.call("getBalance", "{}").header("Mcp-Name", "other").send().await.refused(400, -32020, Some("1"));
    agent.call("getBalance", "null").send().await.refused(400, -32602, Some("1"));
    agent.legacy_call("getBalance", "[]").send().await.refused(200, -32602, Some("1"));
    heard_nothing(&mut application).await;
}
