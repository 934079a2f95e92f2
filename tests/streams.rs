//! Streams of list changes, in both eras: how they open, what they announce, how they end
//! (`docs/protocol.md`, "Streams").

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::support::{
    agent::Agent,
    application::Application,
    scene::{CLIENT, Scene, TOOLS, heard_nothing, server_info},
    serve::Serve,
    stream::{CHANGES, Clock, Piece, Stream},
    tokens, until,
};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The declaration of one tool of this name.
fn tool(name: &str) -> String {
    format!(r#"[{{"name":"{name}","inputSchema":{{"type":"object"}}}}]"#)
}

fn acknowledged(id: i32, notifications: &Value) -> Value {
    let params = json!({"_meta": {SUBSCRIPTION: id}, "notifications": notifications});
    json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
}

/// The event of an announcement, to the subscription of this id or to a `GET`.
fn changed(id: Option<Value>) -> Value {
    let mut event = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    if let Some(id) = id {
        event["params"] = json!({"_meta": {SUBSCRIPTION: id}});
    }
    event
}

/// Announcements until the agent has been told of the tool of this name.
async fn until_told(agent: &Agent, stream: &mut Stream, name: &str) -> usize {
    let mut announcements = 0;
    loop {
        assert_eq!(stream.value().await["method"], "notifications/tools/list_changed");
        announcements += 1;
        if agent.tool_names().await == [name] {
            return announcements;
        }
    }
}

// holds: listen-acknowledged, stream-headers
#[tokio::test]
async fn a_stream_begins_with_what_is_honoured() {
    let Scene { agent, .. } = &Scene::offline().await;
    for (filter, honoured) in [
        (r#"{"toolsListChanged":true}"#, json!({"toolsListChanged": true})),
        (r#"{"toolsListChanged":false}"#, json!({})),
        ("{}", json!({})),
        (r#"{"promptsListChanged":true,"resourcesListChanged":5}"#, json!({})),
        (
            r#"{"resourceSubscriptions":["file:///a"],"toolsListChanged":true,"x":null}"#,
            json!({"toolsListChanged": true}),
        ),
    ] {
        let mut stream = agent.stream(&agent.listen(&format!(r#""notifications":{filter}"#))).await;
        let Some(Piece::Event(first)) = stream.next().await else { panic!("no acknowledgement first: {filter}") };
        assert_eq!(serde_json::from_str::<Value>(&first).unwrap(), acknowledged(1, &honoured), "{filter}");
    }
}

// holds: listen-params
#[tokio::test]
async fn a_filter_that_is_none_is_refused() {
    let Scene { agent, .. } = &Scene::offline().await;
    for members in [
        "",
        r#""notifications":null"#,
        r#""notifications":[]"#,
        r#""notifications":true"#,
        r#""notifications":{"toolsListChanged":null}"#,
        r#""notifications":{"toolsListChanged":"true"}"#,
        r#""notifications":{"toolsListChanged":1}"#,
    ] {
        agent.listen(members).send().await.refused(400, -32602, Some("1"));
    }
    agent.listen(CHANGES).without("Mcp-Method").send().await.refused(400, -32020, Some("1"));
    agent.legacy("subscriptions/listen", CHANGES).send().await.refused(200, -32601, Some("1"));
}

// holds: listen-accept
#[tokio::test]
async fn listening_needs_an_accept_that_admits_streams() {
    let Scene { agent, .. } = &Scene::offline().await;
    let request = agent.listen(CHANGES).swap(r#""id":1"#, r#""id":"\u0061""#);
    for accept in ["application/json", "*/*", "", "application/json, text/event-stream;q=0"] {
        let response = request.clone().header("Accept", accept).send().await;
        response.refused(406, -32600, Some(r#""\u0061""#));
    }
    request.clone().without("Accept").send().await.refused(406, -32600, Some(r#""\u0061""#));
    request.header("Accept", "text/html").send().await.refused_early(406);
    for accept in ["text/event-stream", "text/*", "application/json;q=0, text/event-stream;q=0.1"] {
        agent.stream(&agent.listen(CHANGES).header("Accept", accept)).await.event().await;
    }
}

// holds: listen-subscription-id, listen-final, announce-change
#[tokio::test]
async fn every_message_names_its_subscription_until_the_graceful_end() {
    let scene = Scene::offline().await;
    let mut streams = Vec::new();
    let ids = ["1", r#""1""#, "12345678901234567890", r#""\u0061\/""#, "1", "-0"];
    for id in ids {
        let request = scene.agent.listen(CHANGES).swap(r#""id":1"#, &format!(r#""id":{id}"#));
        let mut stream = scene.agent.stream(&request).await;
        assert!(stream.event().await.contains(&format!(r#""{SUBSCRIPTION}":{id}"#)), "{id}");
        streams.push(stream);
    }
    let _application = scene.application(TOOLS).await;
    for (stream, id) in streams.iter_mut().zip(ids) {
        let event = stream.event().await;
        assert!(event.contains(&format!(r#""{SUBSCRIPTION}":{id}"#)), "{event}");
        let id = serde_json::from_str(id).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&event).unwrap(), changed(Some(id)));
    }
    scene.serve.signal("TERM").await;
    for (mut stream, text) in streams.into_iter().zip(ids) {
        let event = loop {
            // The application's end may still be announced.
            let event = stream.event().await;
            if !event.contains("list_changed") {
                break event;
            }
        };
        let id: Value = serde_json::from_str(text).unwrap();
        let meta = json!({SUBSCRIPTION: id, "io.modelcontextprotocol/serverInfo": server_info()});
        let result = json!({"resultType": "complete", "_meta": meta});
        assert_eq!(
            serde_json::from_str::<Value>(&event).unwrap(),
            json!({"jsonrpc": "2.0", "id": id, "result": result})
        );
        assert!(event.contains(&format!(r#""id":{text}"#)) && event.contains(&format!(r#""{SUBSCRIPTION}":{text}"#)));
        stream.ended().await;
    }
    assert_eq!(scene.serve.ended().await.code, Some(0));
}

// holds: get-stream, announce-change
#[tokio::test]
async fn a_legacy_stream_begins_with_a_comment_and_ends_without_an_event() {
    let scene = Scene::offline().await;
    let agent = &scene.agent;
    let mut streams = Vec::new();
    for request in [
        agent.get(),
        agent.get().without("MCP-Protocol-Version"),
        agent.get().header("MCP-Protocol-Version", "2025-03-26").header("Last-Event-ID", "5"),
        agent.get().header("MCP-Protocol-Version", "2025-06-18").header("Mcp-Session-Id", "never given out"),
        agent.get().header("Accept", "application/json, text/*").header("Mcp-Method", "x").also("Mcp-Method", "y"),
        agent.get().without("Authorization").target(&format!("/mcp/{}", agent.token())),
    ] {
        let mut stream = agent.stream(&request).await;
        assert_eq!(stream.next().await, Some(Piece::Comment));
        streams.push(stream);
    }
    let mut application = scene.application(TOOLS).await;
    for stream in &mut streams {
        assert_eq!(stream.value().await, changed(None));
    }
    heard_nothing(&mut application).await;
    scene.serve.signal("INT").await;
    for mut stream in streams {
        for event in stream.events().await {
            // The application's end may still be announced.
            assert_eq!(event, changed(None));
        }
    }
    assert_eq!(scene.serve.ended().await.code, Some(0));
}

// holds: get-refused
#[tokio::test]
async fn a_legacy_stream_is_refused_by_the_first_check_that_fails() {
    let Scene { agent, .. } = &Scene::offline().await;
    agent.get().without("Authorization").header("Accept", "text/html").send().await.refused_early(401);
    for accept in ["text/event-stream;q=0, text/*", "text/html"] {
        let request = agent.get().header("Accept", accept).header("MCP-Protocol-Version", "2026-07-28");
        request.send().await.refused_early(406);
    }
    for accept in ["application/json", "*/*", "", "application/json, text/event-stream;q=0, text/*"] {
        let request = agent.get().header("Accept", accept);
        request.send().await.refused_early(406);
        request.header("MCP-Protocol-Version", "1900-01-01").send().await.refused(400, -32022, None);
    }
    agent.get().without("Accept").send().await.refused_early(406);
    let twice = agent.get().header("MCP-Protocol-Version", "2026-07-28").also("MCP-Protocol-Version", "2026-07-28");
    twice.send().await.refused(400, -32020, None);
    let modern = agent.get().header("MCP-Protocol-Version", "2026-07-28").send().await;
    modern.refused_early(405);
    assert_eq!(modern.header("Allow"), Some("POST"));
    for unknown in ["1900-01-01", "", "2025-11-25x"] {
        let response = agent.get().header("MCP-Protocol-Version", unknown).send().await;
        let data = response.refused(400, -32022, None).data.unwrap();
        let supported = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];
        assert_eq!(data, json!({"supported": supported, "requested": unknown}));
    }
}

// holds: stream-comments
#[tokio::test]
async fn a_quiet_stream_shows_that_it_is_alive() {
    let Scene { agent, .. } = &Scene::offline().await;
    let (mut listening, mut getting) = (agent.listening().await, agent.getting().await);
    let mut silent = agent.stream(&agent.listen(r#""notifications":{}"#)).await;
    silent.event().await;
    for stream in [&mut listening, &mut getting, &mut silent] {
        assert_eq!(stream.next().await, Some(Piece::Comment));
    }
}

// holds: announce-change, announce-same
#[tokio::test]
async fn only_what_changes_the_list_is_announced() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let mut clock = Clock::start(&scene.serve).await;
    let (mut listening, mut getting) = (agent.listening().await, agent.getting().await);
    let mut unasked = agent.stream(&agent.listen(r#""notifications":{"toolsListChanged":false}"#)).await;
    unasked.event().await;
    // Neither the same again, nor instructions, nor another application.
    application.register(TOOLS).await;
    application.send(format!(r#"{{"type":"register","instructions":"new","tools":{TOOLS}}}"#)).await;
    assert_eq!(application.text().await, r#"{"type":"registered"}"#);
    let mut other = Application::serving(&scene.serve, "other", TOOLS).await;
    other.register("[]").await;
    clock.silent([&mut listening, &mut getting, &mut unasked]).await;
    // Another list, another order, an application that goes and one that comes.
    let (one, two) = (r#"{"name":"one","inputSchema":{"type":"object"}}"#, tool("two"));
    application.register(&format!("[{one},{}", &two[1..])).await;
    for stream in [&mut listening, &mut getting] {
        assert_eq!(stream.value().await["method"], "notifications/tools/list_changed");
    }
    application.register(&format!("{},{one}]", &two[..two.len() - 1])).await;
    for stream in [&mut listening, &mut getting] {
        assert_eq!(stream.value().await["method"], "notifications/tools/list_changed");
    }
    assert_eq!(agent.tool_names().await, ["two", "one"]);
    drop(application);
    for stream in [&mut listening, &mut getting] {
        assert_eq!(stream.value().await["method"], "notifications/tools/list_changed");
    }
    assert!(agent.tool_names().await.is_empty());
    // Without tools it comes as it went.
    let mut application = scene.application("[]").await;
    clock.silent([&mut listening, &mut getting, &mut unasked]).await;
    application.register(&tool("three")).await;
    for stream in [&mut listening, &mut getting] {
        assert_eq!(stream.value().await["method"], "notifications/tools/list_changed");
    }
    clock.silent([&mut listening, &mut getting, &mut unasked]).await;
}

// holds: announce-rate
#[tokio::test]
async fn many_identical_reconnects_are_few_announcements() {
    let scene = Scene::offline().await;
    let agent = &scene.agent;
    drop(scene.application(TOOLS).await);
    let mut application = scene.application(TOOLS).await;
    let (mut listening, mut getting) = (agent.listening().await, agent.getting().await);
    let begin = Instant::now();
    for _ in 0..50 {
        drop(application);
        application = scene.application(TOOLS).await;
    }
    application.register(&tool("marker")).await;
    let seconds = usize::try_from(begin.elapsed().as_secs()).unwrap();
    let mut clock = Clock::start(&scene.serve).await;
    let told = [until_told(agent, &mut listening, "marker").await, until_told(agent, &mut getting, "marker").await];
    let later = clock.events([&mut listening, &mut getting]).await;
    for announcements in [told[0] + later[0], told[1] + later[1]] {
        // 3 where all took less than 2 s, as it does on a machine that is not loaded.
        assert!(announcements <= seconds + 2, "{announcements} announcements in {seconds} s");
    }
    clock.silent([&mut listening, &mut getting]).await;
}

// holds: announce-rate
#[tokio::test]
async fn a_change_that_is_taken_back_in_time_is_not_announced() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let mut clock = Clock::start(&scene.serve).await;
    let mut stream = scene.agent.listening().await;
    let begin = Instant::now();
    application.register(&tool("first")).await;
    assert_eq!(stream.value().await, changed(Some(json!(1))));
    application.register(&tool("second")).await;
    application.register(&tool("first")).await;
    if begin.elapsed() < Duration::from_secs(1) {
        clock.silent([&mut stream]).await;
    }
    application.register(&tool("third")).await;
    until_told(&scene.agent, &mut stream, "third").await;
}

// holds: stream-slow-reader
#[tokio::test]
async fn a_stream_that_nobody_reads_delays_nobody() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let mut read = agent.listening().await;
    let mut unread = Vec::new();
    for _ in 0..20 {
        unread.push(agent.sent(&agent.listen(CHANGES)).await);
        unread.push(agent.sent(&agent.get()).await);
    }
    for name in ["a", "b", "c"] {
        application.register(&tool(name)).await;
        until_told(agent, &mut read, name).await;
    }
    for sent in unread {
        sent.stream().await.next().await.expect("the stream's beginning");
    }
}

// holds: stream-expiry
#[tokio::test]
async fn a_stream_outlives_its_token() {
    let serve = Serve::start().await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    // It is refused from 60 s after its end.
    let token = tokens::claiming(&format!(r#"{{"sub":"{CLIENT}","role":"agent","exp":{}}}"#, now - 30));
    let agent = Agent::new(serve.port, &token);
    let (mut listening, mut getting) = (agent.listening().await, agent.getting().await);
    until("the token to be refused", async || match agent.list().send().await.status {
        401 => Ok(()),
        status => Err(format!("status {status}")),
    })
    .await;
    let _application = Application::serving(&serve, CLIENT, TOOLS).await;
    assert_eq!(listening.value().await, changed(Some(json!(1))));
    assert_eq!(getting.value().await, changed(None));
}

// holds: ladder-own-origin, ladder-path-token
#[tokio::test]
async fn a_stream_answers_its_origin() {
    let Scene { agent, .. } = &Scene::offline().await;
    let origin = format!("http://127.0.0.1:{}", agent.port());
    for request in [agent.get(), agent.listen(CHANGES)] {
        let stream = agent.stream(&request.clone().header("Origin", &origin)).await;
        assert_eq!(stream.head.header("access-control-allow-origin"), Some(&*origin));
        request.header("Origin", "http://evil.example").send().await.refused_early(403);
    }
}
