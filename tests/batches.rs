//! Batches of the revision 2025-03-26 (`docs/protocol.md`, "Batches").

use serde_json::{Value, json};

use crate::support::{
    agent::Agent,
    application::{Application, Call},
    http::{Request, Response},
    scene::{Scene, TOOLS, heard_nothing},
    stream::{Clock, Piece, Sent, cancelled},
};

const DONE: &str = r#"{"content":[]}"#;
const NOTIFICATION: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const RESPONSE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

fn ping(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

fn call(id: &str) -> String {
    let params = r#"{"name":"getBalance","arguments":{}}"#;
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
}

fn batch<T: AsRef<str>>(agent: &Agent, entries: &[T]) -> Request {
    let entries: Vec<_> = entries.iter().map(AsRef::as_ref).collect();
    agent.ping().header("MCP-Protocol-Version", "2025-03-26").body(format!("[{}]", entries.join(",")))
}

/// The responses of an answer, in the order of their texts, for theirs is not promised. Errors lose their message.
#[track_caller]
fn responses(response: &Response) -> Vec<Value> {
    assert_eq!((response.status, response.header("Content-Type")), (200, Some("application/json")));
    assert!(!response.text().contains(['\r', '\n']), "more than one line");
    let Value::Array(values) = serde_json::from_str(response.text()).unwrap() else { panic!("{}", response.text()) };
    without_messages(values)
}

fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by_key(Value::to_string);
    values
}

/// Takes the sentences out of the errors among these responses.
fn without_messages(mut values: Vec<Value>) -> Vec<Value> {
    for error in values.iter_mut().filter_map(|value| value.get_mut("error")) {
        assert!(error.as_object_mut().unwrap().remove("message").is_some_and(|message| message.is_string()));
    }
    sorted(values)
}

fn done(id: impl Into<Value>) -> Value {
    let id: Value = id.into();
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

fn refused(id: Option<Value>, code: i32) -> Value {
    let mut response = json!({"jsonrpc": "2.0", "error": {"code": code}});
    if let Some(id) = id {
        response["id"] = id;
    }
    response
}

// holds: batch-answer
#[tokio::test]
async fn every_request_of_a_batch_has_one_response() {
    let (Scene { agent, .. }, _application) = &Scene::online(TOOLS).await;
    let entries = [ping("1"), ping(r#""a""#), ping("1"), NOTIFICATION.into(), RESPONSE.into()];
    let expected = sorted(vec![done(1), done("a"), done(1)]);
    for request in [batch(agent, &entries), batch(agent, &entries).without("MCP-Protocol-Version")] {
        assert_eq!(responses(&request.send().await), expected);
    }
    let one = batch(agent, &[ping("12345678901234567890")]).send().await;
    assert_eq!(one.text(), r#"[{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}]"#);
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let listed = responses(&batch(agent, &[list]).send().await);
    assert_eq!(listed[0]["result"]["tools"][0]["name"], "getBalance");
}

// holds: batch-mixed, batch-initialize
#[tokio::test]
async fn what_is_wrong_in_a_batch_is_refused_by_itself() {
    let Scene { agent, .. } = &Scene::offline().await;
    let nested = format!("[{}]", ping("9"));
    let initialize = r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#;
    let id = |value: i32| Some(json!(value));
    for (entry, answer) in [
        ("1", refused(None, -32600)),
        ("null", refused(None, -32600)),
        (r#""ping""#, refused(None, -32600)),
        ("{}", refused(None, -32600)),
        ("[]", refused(None, -32600)),
        (&nested, refused(None, -32600)),
        (r#"{"jsonrpc":"2.0","id":3}"#, refused(id(3), -32600)),
        (r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#, refused(id(3), -32600)),
        (r#"{"jsonrpc":"2.0","id":3,"method":5}"#, refused(id(3), -32600)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}"#, refused(id(3), -32600)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, refused(None, -32600)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, refused(None, -32600)),
        (r#"{"jsonrpc":"2.0","id":3,"id":3,"method":"ping"}"#, refused(None, -32600)),
        (initialize, refused(id(5), -32600)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen"}"#, refused(id(3), -32601)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"server/discover"}"#, refused(id(3), -32601)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"x"}}"#, refused(id(3), -32602)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":5}}"#, refused(id(3), -32602)),
    ] {
        let alone = batch(agent, &[entry]).send().await;
        assert_eq!(responses(&alone), std::slice::from_ref(&answer), "{entry}");
        assert_eq!(alone.header("Mcp-Session-Id"), None);
        let among = batch(agent, &[&ping("1"), NOTIFICATION, entry, RESPONSE, &ping("2")]).send().await;
        assert_eq!(responses(&among), sorted(vec![done(1), answer, done(2)]), "{entry}");
    }
}

// holds: batch-size, ladder-array
#[tokio::test]
async fn a_batch_has_1_to_64_entries() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    for count in [1, 63, 64] {
        let entries: Vec<_> = (0..count).map(|n| ping(&n.to_string())).collect();
        assert_eq!(responses(&batch(agent, &entries).send().await).len(), count);
    }
    batch(agent, &[NOTIFICATION; 64]).send().await.accepted();
    let mut calls: Vec<_> = (0..65).map(|n| call(&n.to_string())).collect();
    batch(agent, &calls).send().await.refused(400, -32600, None);
    batch(agent, &[NOTIFICATION; 65]).send().await.refused(400, -32600, None);
    batch::<&str>(agent, &[]).send().await.refused(400, -32600, None);
    heard_nothing(application).await;
    // As many calls as one application may have.
    calls.truncate(64);
    let sent = agent.sent(&batch(agent, &calls)).await;
    for _ in 0..64 {
        let call = application.call().await;
        application.answer(&call, DONE).await;
    }
    assert_eq!(sent.answer().await.unwrap().head.status, 200);
}

// holds: batch-revision, ladder-array
#[tokio::test]
async fn other_revisions_know_no_batch() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    for version in ["2025-06-18", "2025-11-25", "2026-07-28", "1900-01-01", ""] {
        for entries in [&[call("1")][..], &[NOTIFICATION.into()], &[]] {
            let request = batch(agent, entries).header("MCP-Protocol-Version", version);
            request.send().await.refused(400, -32600, None);
        }
    }
    heard_nothing(application).await;
}

// holds: batch-notifications
#[tokio::test]
async fn where_nothing_is_to_be_answered_nothing_is() {
    let Scene { agent, .. } = &Scene::offline().await;
    let called = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"getBalance"}}"#;
    for entries in [&[NOTIFICATION][..], &[RESPONSE], &[NOTIFICATION, RESPONSE, called, NOTIFICATION]] {
        batch(agent, entries).send().await.accepted();
        batch(agent, entries).header("Accept", "text/event-stream").send().await.accepted();
    }
}

// holds: batch-size, limit-nesting-agent
#[tokio::test]
async fn nesting_counts_over_the_whole_batch() {
    let Scene { agent, .. } = &Scene::offline().await;
    let nested = |depth: usize| {
        let value = "[".repeat(depth - 3) + &"]".repeat(depth - 3);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{value}}}}}"#)
    };
    assert_eq!(responses(&batch(agent, &[nested(128)]).send().await), [done(1)]);
    batch(agent, &[nested(129)]).send().await.refused(400, -32600, None);
}

// holds: batch-side-by-side, batch-answer
#[tokio::test]
async fn the_calls_of_a_batch_run_side_by_side() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let entries = [call("1"), call(r#""two""#), ping("3")];
    let sent = agent.sent(&batch(agent, &entries).header("Accept", "application/json")).await;
    let (one, two) = (application.call().await, application.call().await);
    Clock::start(&scene.serve).await.wait().await;
    application.answer(&two, DONE).await;
    application.answer(&one, DONE).await;
    let mut answer = sent.answer().await.unwrap();
    assert_eq!((answer.head.status, answer.head.header("content-type")), (200, Some("application/json")));
    let values = serde_json::from_str(&answer.rest().await).unwrap();
    let result = |id: Value| json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}});
    assert_eq!(sorted(values), sorted(vec![result(json!(1)), result(json!("two")), done(3)]));
}

// holds: batch-stream, stream-headers
#[tokio::test]
async fn a_slow_batch_is_a_stream_of_its_responses() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let entries = [call(r#""slow""#), ping("3"), NOTIFICATION.into(), "5".into(), call(r#""quick""#)];
    for accept in ["application/json, text/event-stream", "text/event-stream"] {
        let sent = agent.sent(&batch(agent, &entries).header("Accept", accept)).await;
        let (first, second) = (application.call().await, application.call().await);
        application.answer(&first, r#"{"content":[],"x":"early"}"#).await;
        let mut stream = sent.stream().await;
        let mut events = Vec::new();
        for _ in 0..3 {
            events.push(stream.value().await);
        }
        assert!(events.contains(&done(3)), "{events:?}");
        assert!(events.iter().any(|event| event["error"]["code"] == -32600), "{events:?}");
        assert!(events.iter().any(|event| event["result"]["x"] == json!("early")), "{events:?}");
        while stream.next().await != Some(Piece::Comment) {}
        application.answer(&second, r#"{"content":[],"x":"late"}"#).await;
        assert_eq!(stream.value().await["result"]["x"], json!("late"));
        stream.ended().await;
    }
}

// holds: batch-stream, sse-only
#[tokio::test]
async fn who_takes_streams_alone_gets_a_batch_as_one() {
    let Scene { agent, .. } = &Scene::offline().await;
    let request = batch(agent, &[ping("1"), ping("2"), "{}".into()]).header("Accept", "text/event-stream");
    let events = agent.stream(&request).await.events().await;
    let expected = vec![done(1), done(2), refused(None, -32600)];
    assert_eq!(without_messages(events), sorted(expected));
}

/// Sends a batch of these calls under a session, and waits until the application has them.
async fn called(agent: &Agent, application: &mut Application, accept: &str, ids: &[&str]) -> (Sent, Vec<Call>) {
    let entries: Vec<_> = ids.iter().map(|id| call(id)).collect();
    let request = batch(agent, &entries).header("Accept", accept).header("Mcp-Session-Id", "s");
    let sent = agent.sent(&request).await;
    let mut calls = Vec::new();
    for _ in ids {
        calls.push(application.call().await);
    }
    (sent, calls)
}

// holds: batch-cancelled
#[tokio::test]
async fn a_cancelled_call_of_a_batch_has_no_response() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let cancel = async |id: &str| {
        let params = format!(r#"{{"requestId":{id}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
        agent.ping().body(body).header("Mcp-Session-Id", "s").send().await.accepted();
    };
    let (sent, calls) = called(agent, application, "application/json", &["1", "2"]).await;
    cancel("2").await;
    let value: Value = serde_json::from_str(&application.text().await).unwrap();
    let left = calls.iter().find(|call| value["id"] != call.id).unwrap();
    application.answer(left, DONE).await;
    let mut answer = sent.answer().await.unwrap();
    assert_eq!(answer.rest().await, r#"[{"jsonrpc":"2.0","id":1,"result":{"content":[]}}]"#);
    let (sent, calls) = called(agent, application, "application/json", &["1"]).await;
    cancel("1").await;
    cancelled(application, &calls[0]).await;
    let mut answer = sent.answer().await.unwrap();
    assert_eq!((answer.head.status, answer.rest().await), (202, String::new()));
    // A stream that has begun ends.
    let (sent, calls) = called(agent, application, "application/json, text/event-stream", &["1"]).await;
    let mut stream = sent.stream().await;
    assert_eq!(stream.next().await, Some(Piece::Comment));
    cancel("1").await;
    cancelled(application, &calls[0]).await;
    stream.ended().await;
}

// holds: cancel-legacy-disconnect
#[tokio::test]
async fn an_agent_that_leaves_its_batch_cancels_nothing() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let (sent, calls) = called(&scene.agent, &mut application, "application/json", &["1", "2"]).await;
    drop(sent);
    Clock::start(&scene.serve).await.wait().await;
    heard_nothing(&mut application).await;
    for call in &calls {
        application.answer(call, DONE).await;
    }
    heard_nothing(&mut application).await;
}
