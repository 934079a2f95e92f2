//! Answers as event streams: when an answer is one, and what stands in it (`docs/protocol.md`, "Streams").

use serde_json::{Value, json};

use crate::support::{
    application::Application,
    http::Request,
    scene::{Scene, TOOLS, server_info},
    stream::{Clock, Piece, cancelled},
};

const DONE: &str = r#"{"content":[]}"#;

/// A request that wants its answer as an event stream whatever it is.
fn stream_only(request: &Request) -> Request {
    request.clone().header("Accept", "text/event-stream")
}

// holds: stream-headers, sse-slow
#[tokio::test]
async fn a_slow_call_is_answered_with_comments_and_then_its_response() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let meta = json!({"io.modelcontextprotocol/serverInfo": server_info()});
    for (request, result) in [
        (agent.call("getBalance", "{}"), json!({"resultType": "complete", "content": [], "_meta": meta})),
        (agent.legacy_call("getBalance", "{}"), json!({"content": []})),
        (agent.call("getBalance", "{}").header("Accept", "application/json, text/*;q=0.1"), Value::Null),
        (agent.call("getBalance", "{}").header("Accept", "TEXT/EVENT-STREAM").also("Accept", "*/*"), Value::Null),
    ] {
        let sent = agent.sent(&request).await;
        let call = application.call().await;
        let mut stream = sent.stream().await;
        for _ in 0..3 {
            assert_eq!(stream.next().await, Some(Piece::Comment));
        }
        application.answer(&call, DONE).await;
        let event = stream.value().await;
        if !result.is_null() {
            assert_eq!(event, json!({"jsonrpc": "2.0", "id": 1, "result": result}));
        }
        stream.ended().await;
    }
}

// holds: sse-slow, text-id, text-result, text-line-ends
#[tokio::test]
async fn the_event_is_one_line_of_the_texts_as_they_were_written() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let sent = agent.sent(&agent.legacy_call("getBalance", "{}").swap(r#""id":1"#, r#""id":"\u0061\n""#)).await;
    let call = application.call().await;
    let mut stream = sent.stream().await;
    application.answer(&call, "{\"content\":[],\"x\":[\r\n1e400,\n\"\\r\\n\\ndata: x\"],\"y\":-0}").await;
    let text = "{\"content\":[],\"x\":[  1e400, \"\\r\\n\\ndata: x\"],\"y\":-0}";
    let event = stream.event().await;
    assert_eq!(event, format!(r#"{{"jsonrpc":"2.0","id":"\u0061\n","result":{text}}}"#));
    stream.ended().await;
}

// holds: sse-slow, outcome-timeout, outcome-disconnected
#[tokio::test]
async fn a_slow_call_that_fails_says_so_in_its_event() {
    let scene = Scene::with(&["--confirm", "off", "--call-timeout", "15"]).await;
    let mut application = scene.application(TOOLS).await;
    let sent = scene.agent.sent(&scene.agent.legacy_call("getBalance", "{}")).await;
    let call = application.call().await;
    let mut stream = sent.stream().await;
    cancelled(&mut application, &call).await;
    let uncertain = |event: &Value| event["result"]["content"][0]["text"].as_str().unwrap().contains("may or may not");
    assert!(uncertain(&stream.value().await));
    stream.ended().await;
    let sent = scene.agent.sent(&scene.agent.call("getBalance", "{}")).await;
    application.call().await;
    let mut stream = sent.stream().await;
    drop(application);
    assert!(uncertain(&stream.value().await));
    stream.ended().await;
}

// holds: sse-quick
#[tokio::test]
async fn what_completes_at_once_is_json() {
    let (Scene { agent, .. }, _application) = &Scene::online(TOOLS).await;
    for request in [agent.list(), agent.discover(), agent.ping(), agent.legacy_list(), agent.initialize("2025-11-25")] {
        request.send().await.result();
    }
    agent.call("unknown", "{}").send().await.refused(200, -32602, Some("1"));
}

// holds: sse-json-only
#[tokio::test]
async fn who_takes_json_alone_gets_json_whenever_it_is_there() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let mut answers = Vec::new();
    let mut calls = Vec::new();
    for accept in [
        "application/json",
        "*/*",
        "application/*",
        "",
        "application/json, */*",
        "*/*, text/html",
        "application/json, text/event-stream;q=0",
        "application/json, text/event-stream;q=0, text/*",
        "application/json, text/*;q=0",
    ] {
        for request in [agent.call("getBalance", "{}"), agent.legacy_call("getBalance", "{}")] {
            let request = request.header("Accept", accept);
            answers.push(tokio::spawn(async move { request.send().await }));
            calls.push(application.call().await);
        }
    }
    let request = agent.call("getBalance", "{}").without("Accept");
    answers.push(tokio::spawn(async move { request.send().await }));
    calls.push(application.call().await);
    Clock::start(&scene.serve).await.wait().await;
    for call in &calls {
        application.answer(call, DONE).await;
    }
    for answer in answers {
        answer.await.unwrap().result();
    }
}

// holds: sse-only, stream-headers
#[tokio::test]
async fn who_takes_streams_alone_gets_every_200_as_one() {
    let (Scene { agent, .. }, _application) = &Scene::online(TOOLS).await;
    for request in [
        agent.list(),
        agent.discover(),
        agent.ping(),
        agent.legacy_list(),
        agent.initialize("2025-11-25"),
        agent.legacy("unknown", ""),
        agent.legacy("tools/list", r#""cursor":"x""#),
        agent.call("unknown", "{}"),
        agent.legacy_call("unknown", "{}"),
    ] {
        let expected: Value = serde_json::from_slice(&request.send().await.body).unwrap();
        for accept in
            ["text/event-stream", "text/*", "text/event-stream;q=0.5, text/html", "text/event-stream, */*;q=0"]
        {
            let mut stream = agent.stream(&request.clone().header("Accept", accept)).await;
            assert_eq!(stream.value().await, expected, "{accept}");
            stream.ended().await;
        }
    }
    let first = agent.stream(&stream_only(&agent.initialize("2025-03-26"))).await;
    let second = agent.stream(&stream_only(&agent.initialize("2025-03-26"))).await;
    let session = first.head.header("mcp-session-id").expect("a session");
    assert_ne!(Some(session), second.head.header("mcp-session-id"));
}

// holds: sse-only
#[tokio::test]
async fn who_takes_streams_alone_gets_every_other_status_as_json() {
    let Scene { agent, .. } = &Scene::offline().await;
    stream_only(&agent.modern("unknown", "")).send().await.refused(404, -32601, Some("1"));
    stream_only(&agent.modern("tools/list", r#""cursor":"x""#)).send().await.refused(400, -32602, Some("1"));
    stream_only(&agent.list()).header("Mcp-Method", "x").send().await.refused(400, -32020, Some("1"));
    stream_only(&agent.list()).body("{").send().await.refused(400, -32700, None);
    stream_only(&agent.list()).without("Authorization").send().await.refused_early(401);
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    stream_only(&agent.ping()).body(notification).send().await.accepted();
}

// holds: sse-only, sse-slow
#[tokio::test]
async fn a_call_is_a_stream_whether_it_is_quick_or_slow() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let sent = agent.sent(&stream_only(&agent.legacy_call("getBalance", "{}"))).await;
    let call = application.call().await;
    application.answer(&call, DONE).await;
    let mut stream = sent.stream().await;
    assert_eq!(stream.value().await, json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}));
    stream.ended().await;
    let sent = agent.sent(&stream_only(&agent.call("getBalance", "{}"))).await;
    let call = application.call().await;
    let mut stream = sent.stream().await;
    assert_eq!(stream.next().await, Some(Piece::Comment));
    application.answer(&call, DONE).await;
    assert_eq!(stream.value().await["result"]["content"], json!([]));
    stream.ended().await;
}

// holds: cli-graceful-stop
#[tokio::test]
async fn a_stop_ends_the_stream_of_a_sent_call_without_an_event() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let sent = scene.agent.sent(&scene.agent.call("getBalance", "{}")).await;
    application.call().await;
    let mut stream = sent.stream().await;
    assert_eq!(stream.next().await, Some(Piece::Comment));
    scene.serve.signal("TERM").await;
    stream.ended().await;
    assert_eq!(application.closed().await.0, 1001);
    assert_eq!(scene.serve.ended().await.code, Some(0));
}

// holds: sse-slow, ladder-own-origin, ladder-path-token
#[tokio::test]
async fn a_stream_carries_what_every_answer_carries() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let origin = format!("http://localhost:{}", agent.port());
    let request = agent.call("getBalance", "{}").without("Authorization").header("Origin", &origin);
    let sent = agent.sent(&request.target(&format!("/mcp/{}", agent.token()))).await;
    let call = application.call().await;
    let mut stream = sent.stream().await;
    assert_eq!(stream.head.header("access-control-allow-origin"), Some(&*origin));
    assert_eq!(stream.head.header("vary"), Some("Origin"));
    application.answer(&call, DONE).await;
    assert_eq!(stream.value().await["id"], 1);
}

// holds: sse-slow
#[tokio::test]
async fn an_answer_that_nobody_reads_delays_nobody() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let (agent, mut other) = (&scene.agent, Application::serving(&scene.serve, "other", TOOLS).await);
    let mut unread = Vec::new();
    let large = format!(r#"{{"content":[],"x":"{}"}}"#, "x".repeat(4_000_000));
    for _ in 0..8 {
        let sent = agent.sent(&stream_only(&agent.call("getBalance", "{}"))).await;
        let call = application.call().await;
        application.answer(&call, &large).await;
        unread.push(sent);
    }
    assert_eq!(agent.tool_names().await, ["getBalance"]);
    let sent = agent.sent(&agent.legacy_call("getBalance", "{}")).await;
    let call = application.call().await;
    application.answer(&call, DONE).await;
    assert_eq!(sent.answer().await.unwrap().head.status, 200);
    other.register("[]").await;
    for sent in unread {
        assert!(sent.stream().await.event().await.contains(&"x".repeat(4_000_000)), "the result was cut");
    }
}
