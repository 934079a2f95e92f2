//! MCP at the local door, in both eras: `docs/protocol.md`, "MCP on lines".

use serde_json::{Value, json};

use super::support::{
    agent::{META, MODERN},
    desktop::{DONE, Desktop},
    host::{Door, legacy, modern},
    scene::{CLIENT, TOOLS, server_info},
};

/// A bridge, and a host that was let in.
async fn scene() -> (Desktop, Door) {
    let desktop = Desktop::door_allowing(&["Editor"]).await;
    let door = Door::mcp(desktop.runtime.path(), "Editor", CLIENT).await;
    (desktop, door)
}

// holds: lines-legacy
#[tokio::test]
async fn a_legacy_agent_is_served() {
    let (desktop, mut door) = scene().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    for (asked, agreed) in [("2025-03-26", "2025-03-26"), ("2025-11-25", "2025-11-25"), ("1900-01-01", "2025-11-25")] {
        let result = door.initialize(asked).await;
        assert_eq!((&result["protocolVersion"], &result["serverInfo"]), (&json!(agreed), &server_info()));
        assert_eq!(result["capabilities"], json!({"tools": {"listChanged": true}}));
    }
    assert_eq!(door.legacy("ping", json!({})).await, json!({}));
    door.send(&legacy(2, "tools/list", &json!({}))).await;
    assert_eq!(door.response().await, format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":{TOOLS}}}}}"#));
    // Ids and arguments stay as they are written.
    let arguments = r#"{"b":1e400,"a":0.10,"a":-0,"t":"\u0061"}"#;
    door.send(&format!(
        r#"{{"jsonrpc":"2.0","id":"\u0061","method":"tools/call","params":{{"name":"getBalance","arguments":{arguments}}}}}"#
    ))
    .await;
    let call = application.call().await;
    assert_eq!(call.arguments, arguments);
    application.answer(&call, r#"{"content":[],"x":1e400,"resultType":"other"}"#).await;
    assert_eq!(door.response().await, r#"{"jsonrpc":"2.0","id":"\u0061","result":{"content":[],"x":1e400}}"#);
    door.send(&legacy(3, "tools/call", &json!({"name": "getBalanse"}))).await;
    assert_eq!(door.error().await, json!({"code": -32602, "message": "Unknown tool: getBalanse"}));
    door.send(&legacy(4, "server/discover", &json!({}))).await;
    assert_eq!(door.error().await["code"], -32601);
}

// holds: lines-modern
#[tokio::test]
async fn a_modern_agent_needs_no_headers() {
    let (desktop, mut door) = scene().await;
    // An argument that HTTP would want mirrored.
    let tools =
        r#"[{"name":"go","inputSchema":{"type":"object","properties":{"to":{"type":"string","x-mcp-header":"To"}}}}]"#;
    let mut application = desktop.application(CLIENT, tools).await;
    let discovered = door.modern("server/discover", "").await;
    assert_eq!((&discovered["resultType"], &discovered["ttlMs"]), (&json!("complete"), &json!(0)));
    assert_eq!(discovered["supportedVersions"][0], MODERN);
    assert_eq!(door.modern("tools/list", "").await["tools"], serde_json::from_str::<Value>(tools).unwrap());
    door.send(&modern(5, "tools/call", r#""name":"go","arguments":{"to":"Köln"}"#)).await;
    let call = application.call().await;
    application.answer(&call, DONE).await;
    let result = door.result().await;
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"], server_info());
    for (line, code) in [
        (modern(1, "initialize", ""), -32601),
        (modern(1, "ping", ""), -32601),
        (modern(1, "server/discover", "").replace(MODERN, "1900-01-01"), -32022),
        (modern(1, "server/discover", "").replace(r#""2026-07-28""#, "1"), -32602),
        (modern(1, "server/discover", "").replace(r#","io.modelcontextprotocol/clientCapabilities":{}"#, ""), -32602),
        (modern(1, "tools/list", r#""cursor":"x""#), -32602),
    ] {
        door.send(&line).await;
        let error = door.error().await;
        assert_eq!((&error["code"], error["data"].is_object()), (&json!(code), code == -32022), "{line}");
    }
}

// holds: lines-refused
#[tokio::test]
async fn what_is_no_message_is_refused_and_the_connection_goes_on() {
    let (_desktop, mut door) = scene().await;
    let deep = |depth: usize| {
        let arrays = depth - 2;
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{}{}}}}}"#,
            "[".repeat(arrays),
            "]".repeat(arrays)
        )
    };
    let (ping, filled) = (legacy(1, "ping", &json!({})), |bytes: usize| {
        let rest = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""}}"#.len();
        legacy(1, "ping", &json!({"a": "x".repeat(bytes - rest)}))
    });
    for (line, code, id) in [
        ("nonsense".to_owned(), -32700, Value::Null),
        ("[]".to_owned(), -32600, Value::Null),
        ("1".to_owned(), -32600, Value::Null),
        (deep(129), -32600, Value::Null),
        (filled(4_194_305), -32600, Value::Null),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.to_owned(), -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#.to_owned(), -32600, Value::Null),
    ] {
        door.send(&line).await;
        let answer: Value = serde_json::from_str(&door.response().await).unwrap();
        let shown = line.get(..60).unwrap_or(&line);
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{shown}");
        assert!(answer.get("id").is_none_or(|id| !id.is_null()), "{shown}");
    }
    for line in [&deep(128), &filled(4_194_304), &format!(" {ping}\r"), &format!("\n \n{ping}")] {
        door.send(line).await;
        assert_eq!(door.result().await, json!({}), "{}", line.get(..60).unwrap_or(line));
    }
    // Bytes that are no UTF-8.
    door.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n").await;
    assert_eq!(door.error().await["code"], -32700);
    // What wants no answer gets none.
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/anything"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"getBalance"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        door.send(line).await;
    }
    door.legacy("ping", json!({})).await;
}

// holds: lines-id-in-flight
#[tokio::test]
async fn an_id_stands_for_one_request_at_a_time() {
    let (desktop, mut door) = scene().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    door.send(&legacy(1, "tools/call", &json!({"name": "getBalance"}))).await;
    let call = application.call().await;
    door.send(&legacy(1, "ping", &json!({}))).await;
    let refused: Value = serde_json::from_str(&door.response().await).unwrap();
    assert_eq!((&refused["error"]["code"], refused.get("id")), (&json!(-32600), None));
    door.send(r#"{"jsonrpc":"2.0","id":"1","method":"ping"}"#).await;
    assert_eq!(door.response().await, r#"{"jsonrpc":"2.0","id":"1","result":{}}"#);
    application.answer(&call, DONE).await;
    assert_eq!(door.response().await, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
    door.legacy("ping", json!({})).await;
}

// holds: lines-cancel
#[tokio::test]
async fn the_notification_cancels_in_both_eras() {
    let (desktop, mut door) = scene().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let requests =
        [legacy(1, "tools/call", &json!({"name": "getBalance"})), modern(1, "tools/call", r#""name":"getBalance""#)];
    for request in requests {
        door.send(&request).await;
        let call = application.call().await;
        // Another id takes nothing back.
        door.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}"#).await;
        door.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
        assert_eq!(application.text().await, format!(r#"{{"type":"cancel","id":"{}"}}"#, call.id));
        application.answer(&call, DONE).await;
        // No answer, and the id is free again.
        door.legacy("ping", json!({})).await;
    }
}

// holds: lines-gone
#[tokio::test]
async fn a_connection_that_ends_takes_its_calls_with_it() {
    let (mut desktop, mut door) = scene().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    for request in
        [legacy(1, "tools/call", &json!({"name": "getBalance"})), modern(1, "tools/call", r#""name":"getBalance""#)]
    {
        door.send(&request).await;
        let call = application.call().await;
        door.close();
        assert_eq!(application.text().await, format!(r#"{{"type":"cancel","id":"{}"}}"#, call.id));
        door = Door::mcp(desktop.runtime.path(), "Editor", CLIENT).await;
    }
    // So is a call that waits.
    desktop.done(json!({"type": "set_mode", "application": CLIENT, "mode": "ask", "until": "always"})).await;
    door.send(&legacy(1, "tools/call", &json!({"name": "getBalance"}))).await;
    let question = desktop.question().await;
    drop(door);
    desktop.gone(&question).await;
}

// holds: lines-batches
#[tokio::test]
async fn batches_are_for_the_one_revision_that_has_them() {
    let (desktop, mut door) = scene().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let ping = |id: u64| legacy(id, "ping", &json!({}));
    for revision in [None, Some("2025-11-25")] {
        if let Some(revision) = revision {
            door.initialize(revision).await;
        }
        door.send(&format!("[{}]", ping(1))).await;
        assert_eq!(door.error().await["code"], -32600);
    }
    door.initialize("2025-03-26").await;
    let call = legacy(2, "tools/call", &json!({"name": "getBalance"}));
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    door.send(&format!("[{},{call},{notification},5,{}]", ping(1), legacy(3, "initialize", &json!({})))).await;
    let call = application.call().await;
    application.answer(&call, DONE).await;
    let answers: Vec<Value> = serde_json::from_str(&door.line().await).unwrap();
    assert_eq!(answers.len(), 4, "{answers:?}");
    for answer in answers {
        match answer["id"].as_u64() {
            Some(1) => assert_eq!(answer["result"], json!({})),
            Some(2) => assert_eq!(answer["result"], json!({"content": []})),
            Some(3) | None => assert_eq!(answer["error"]["code"], -32600),
            Some(id) => panic!("an answer to {id}"),
        }
    }
    // Nothing is answered where nothing is asked; an entry that was taken back is left out.
    door.send(&format!("[{notification}]")).await;
    door.send(&format!("[{},{}]", ping(1), legacy(2, "tools/call", &json!({"name": "getBalance"})))).await;
    application.call().await;
    door.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#).await;
    assert_eq!(door.line().await, r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#);
    let many = vec![ping(1); 65].join(",");
    door.send(&format!("[{many}]")).await;
    assert_eq!(door.error().await["code"], -32600);
}

// holds: lines-changes-legacy
#[tokio::test]
async fn a_legacy_session_hears_of_changes() {
    let (desktop, mut door) = scene().await;
    // Nothing is said to who has not begun a session.
    let mut application = desktop.application(CLIENT, TOOLS).await;
    door.initialize("2025-06-18").await;
    assert_eq!(door.names().await, ["getBalance"]);
    assert_eq!(door.heard, Vec::<Value>::new());
    application.register("[]").await;
    assert_eq!(door.line().await, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    assert_eq!(door.names().await, Vec::<String>::new());
}

// holds: lines-listen
#[tokio::test]
async fn a_modern_subscription_is_known_by_its_id() {
    let (mut desktop, mut door) = scene().await;
    door.send(&modern(1, "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#)).await;
    door.send(&modern(2, "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#)).await;
    door.send(&modern(3, "subscriptions/listen", r#""notifications":{}"#)).await;
    let id = |message: &Value| message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].as_u64();
    let mut opened = Vec::new();
    for _ in 0..3 {
        let message = door.notification().await;
        assert_eq!(message["method"], "notifications/subscriptions/acknowledged", "{message}");
        opened.extend(id(&message));
    }
    opened.sort_unstable();
    assert_eq!(opened, [1, 2, 3]);
    // Its id is taken as long as it is open; taken back, it says nothing more.
    door.send(&legacy(1, "ping", &json!({}))).await;
    assert_eq!(door.error().await["code"], -32600);
    door.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#).await;
    door.send(&legacy(2, "ping", &json!({}))).await;
    door.result().await;
    let _application = desktop.application(CLIENT, TOOLS).await;
    let message = door.notification().await;
    assert_eq!((&message["method"], id(&message)), (&json!("notifications/tools/list_changed"), Some(1)));
    // The bridge's end is the subscription's.
    desktop.close();
    let mut ended = Vec::new();
    while let Some(line) = door.next().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        if message.get("method").is_none() {
            assert_eq!(message["result"]["resultType"], "complete", "{line}");
            ended.extend(message["id"].as_u64());
        }
    }
    ended.sort_unstable();
    assert_eq!(ended, [1, 3]);
}

// holds: lines-requests-limit
#[tokio::test]
async fn only_so_many_requests_are_under_way() {
    let (_desktop, mut door) = scene().await;
    let listen = |id: usize| {
        let params = format!(r#"{{"notifications":{{}},{META}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{params}}}"#)
    };
    for id in 0..256 {
        door.send(&listen(id)).await;
        door.notification().await;
    }
    door.send(&listen(256)).await;
    assert_eq!(door.error().await["code"], -32600);
    door.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}"#).await;
    door.send(&listen(256)).await;
    door.notification().await;
}

// holds: lines-unread
#[tokio::test]
async fn an_agent_that_does_not_read_loses_nothing_and_delays_nobody() {
    let (desktop, mut door) = scene().await;
    let tool = |number: usize| json!({"name": format!("t{number}"), "description": "x".repeat(10_000), "inputSchema": {"type": "object"}});
    let tools = Value::from((0..100).map(tool).collect::<Vec<_>>());
    let _application = desktop.application(CLIENT, &tools.to_string()).await;
    // Far more than any buffer on the way holds.
    for id in 0..100 {
        door.send(&legacy(id, "tools/list", &json!({}))).await;
    }
    let mut other = Door::mcp(desktop.runtime.path(), "Editor", CLIENT).await;
    assert_eq!(other.names().await.len(), 100);
    let mut answered = Vec::new();
    for _ in 0..100 {
        let answer: Value = serde_json::from_str(&door.response().await).unwrap();
        assert!(answer["result"]["tools"] == tools);
        answered.extend(answer["id"].as_u64());
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..100).collect::<Vec<_>>());
}
