//! How an agent takes a call back, in both eras, and what it cannot take back (`docs/protocol.md`, "Cancellation").

use serde_json::{Value, json};

use crate::support::{
    agent::Agent,
    application::{Application, Call},
    desktop::unanswered,
    http::Request,
    scene::{CLIENT, Scene, TOOLS, heard_nothing},
    stream::{Clock, Piece, Sent, cancelled},
    tokens,
};

const DONE: &str = r#"{"content":[]}"#;

/// A legacy call under a session, whose `id` is this text.
fn call_under(agent: &Agent, session: &str, id: &str) -> Request {
    let request = agent.legacy_call("getBalance", "{}").swap(r#""id":1"#, &format!(r#""id":{id}"#));
    request.header("Mcp-Session-Id", session)
}

/// The notification that takes back the call of this `id`.
fn cancel(agent: &Agent, session: &str, id: &str) -> Request {
    cancel_with(agent, &format!(r#""requestId":{id}"#)).header("Mcp-Session-Id", session)
}

fn cancel_with(agent: &Agent, members: &str) -> Request {
    agent.ping().body(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{{members}}}}}"#))
}

/// Sends a call and waits until the application has it.
async fn pending(agent: &Agent, request: &Request, application: &mut Application) -> (Sent, Call) {
    let sent = agent.sent(request).await;
    let call = application.call().await;
    (sent, call)
}

/// Answers a call that nobody took back.
async fn completes(sent: Sent, call: &Call, application: &mut Application) {
    heard_nothing(application).await;
    application.answer(call, DONE).await;
    let mut answer = sent.answer().await.expect("an answer");
    assert_eq!(answer.head.status, 200);
    assert!(answer.rest().await.contains(r#""content":[]"#));
}

// holds: cancel-modern, cancel-late-result
#[tokio::test]
async fn a_modern_agent_cancels_by_closing_before_the_answer() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    for accept in ["application/json", "application/json, text/event-stream", "text/event-stream"] {
        let request = agent.call("getBalance", "{}").header("Accept", accept);
        let (sent, call) = pending(agent, &request, application).await;
        drop(sent);
        cancelled(application, &call).await;
        application.answer(&call, DONE).await;
        heard_nothing(application).await;
    }
    let (sent, call) = pending(agent, &agent.call("getBalance", "{}"), application).await;
    completes(sent, &call, application).await;
}

// holds: cancel-modern
#[tokio::test]
async fn closing_the_sending_side_is_closing() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let (mut sent, call) = pending(agent, &agent.call("getBalance", "{}"), application).await;
    sent.shut().await;
    cancelled(application, &call).await;
    unanswered(sent).await;
}

// holds: cancel-modern, cancel-late-result
#[tokio::test]
async fn a_modern_agent_cancels_by_closing_the_stream() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let (sent, call) = pending(agent, &agent.call("getBalance", "{}"), application).await;
    let mut stream = sent.stream().await;
    assert_eq!(stream.next().await, Some(Piece::Comment));
    drop(stream);
    cancelled(application, &call).await;
    application.answer(&call, DONE).await;
    heard_nothing(application).await;
}

// holds: cancel-modern
#[tokio::test]
async fn only_the_call_that_was_closed_is_cancelled() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    // One id, one token: what tells the calls apart is their connections.
    let request = agent.call("getBalance", "{}");
    let (first, one) = pending(agent, &request, application).await;
    let (second, two) = pending(agent, &request, application).await;
    let listening = agent.listening().await;
    drop(first);
    cancelled(application, &one).await;
    drop(listening);
    completes(second, &two, application).await;
}

// holds: cancel-leaves-count
#[tokio::test]
async fn a_cancelled_call_leaves_its_place_to_another() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let mut calls = Vec::new();
    for _ in 0..64 {
        calls.push(pending(agent, &agent.call("getBalance", "{}"), application).await);
    }
    let busy = agent.call("getBalance", "{}").send().await.result_value();
    assert_eq!(busy["structuredContent"]["reason"]["code"], "busy");
    let (sent, call) = calls.swap_remove(30);
    drop(sent);
    cancelled(application, &call).await;
    let (sent, call) = pending(agent, &agent.legacy_call("getBalance", "{}"), application).await;
    completes(sent, &call, application).await;
    for (sent, call) in calls {
        completes(sent, &call, application).await;
    }
}

// holds: cancel-modern-notification
#[tokio::test]
async fn a_modern_notification_cancels_nothing() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let modern = agent.call("getBalance", "{}").header("Mcp-Session-Id", "s");
    let (one, first) = pending(agent, &modern, application).await;
    let (two, second) = pending(agent, &call_under(agent, "s", "1"), application).await;
    let named = r#""requestId":1,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    for members in [named, r#""requestId":1"#] {
        let request = cancel_with(agent, members).header("MCP-Protocol-Version", "2026-07-28");
        request.header("Mcp-Session-Id", "s").send().await.accepted();
    }
    completes(two, &second, application).await;
    // Nor does a legacy one cancel a call of the modern era.
    cancel(agent, "s", "1").send().await.accepted();
    completes(one, &first, application).await;
}

// holds: cancel-legacy, cancel-legacy-response
#[tokio::test]
async fn a_legacy_notification_ends_the_call_and_its_response() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let session = agent.initialize("2025-11-25").send().await;
    let session = session.header("Mcp-Session-Id").unwrap();
    let reason = |request: Request| request.swap(r#""requestId":1"#, r#""requestId":1,"reason":"stop","x":[]"#);
    // Before a stream began, where streams are welcome. On a loaded machine it has begun, and ends as it must then.
    for accept in ["application/json, text/event-stream", "text/event-stream"] {
        let request = call_under(agent, session, "1").header("Accept", accept);
        let (sent, call) = pending(agent, &request, application).await;
        reason(cancel(agent, session, "1")).send().await.accepted();
        cancelled(application, &call).await;
        sent.stream().await.ended().await;
        application.answer(&call, DONE).await;
        heard_nothing(application).await;
    }
    // Where they are not.
    for accept in ["application/json", "*/*"] {
        let request = call_under(agent, session, "1").header("Accept", accept);
        let (sent, call) = pending(agent, &request, application).await;
        cancel(agent, session, "1").send().await.accepted();
        cancelled(application, &call).await;
        let mut answer = sent.answer().await.expect("an answer");
        assert_eq!((answer.head.status, answer.rest().await), (202, String::new()));
    }
    // After it began.
    let (sent, call) = pending(agent, &call_under(agent, session, "1"), application).await;
    let mut stream = sent.stream().await;
    assert_eq!(stream.next().await, Some(Piece::Comment));
    cancel(agent, session, "1").send().await.accepted();
    cancelled(application, &call).await;
    stream.ended().await;
}

// holds: cancel-legacy-session
#[tokio::test]
async fn of_two_agents_with_one_id_only_the_right_call_stops() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let (first, one) = pending(agent, &call_under(agent, "a", "1"), application).await;
    let (second, two) = pending(agent, &call_under(agent, "b", "1"), application).await;
    let (third, three) = pending(agent, &agent.legacy_call("getBalance", "{}"), application).await;
    cancel(agent, "b", "1").send().await.accepted();
    cancelled(application, &two).await;
    second.stream().await.ended().await;
    completes(first, &one, application).await;
    completes(third, &three, application).await;
}

// holds: cancel-legacy-session, cancel-legacy-id
#[tokio::test]
async fn what_matches_no_call_is_ignored() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let labelled = |label: &str| {
        let claims = format!(r#"{{"sub":"{CLIENT}","role":"agent","label":"{label}"}}"#);
        Agent::new(agent.port(), &tokens::claiming(&claims))
    };
    let other = Agent::new(agent.port(), &tokens::agent("other"));
    let (sent, call) = pending(agent, &call_under(agent, "s", "1"), &mut application).await;
    let (bare, unnamed) = pending(agent, &agent.legacy_call("getBalance", "{}"), &mut application).await;
    for request in [
        cancel(agent, "s", r#""1""#),
        cancel(agent, "s", "2"),
        cancel(agent, "t", "1"),
        cancel(agent, "S", "1"),
        cancel(agent, "s", "1").without("Mcp-Session-Id"),
        cancel(&other, "s", "1"),
        cancel(&labelled("editor"), "s", "1"),
        cancel(agent, "s", "null"),
        cancel(agent, "s", "true"),
        cancel(agent, "s", "1.5"),
        cancel(agent, "s", "[1]"),
        cancel(agent, "s", r#"{"id":1}"#),
        cancel_with(agent, "").header("Mcp-Session-Id", "s"),
        cancel_with(agent, r#""id":1"#).header("Mcp-Session-Id", "s"),
        cancel(agent, "s", "1").swap(r#","params":{"requestId":1}"#, ""),
        cancel(agent, "s", "1").swap("cancelled", "Cancelled"),
    ] {
        request.send().await.accepted();
    }
    completes(bare, &unnamed, &mut application).await;
    completes(sent, &call, &mut application).await;
    // Of agents with a label, the one that called.
    let editor = labelled("editor");
    let (sent, call) = pending(agent, &call_under(&editor, "s", "1"), &mut application).await;
    cancel(agent, "s", "1").send().await.accepted();
    cancel(&labelled("other"), "s", "1").send().await.accepted();
    heard_nothing(&mut application).await;
    cancel(&labelled("editor"), "s", "1").send().await.accepted();
    cancelled(&mut application, &call).await;
    sent.stream().await.ended().await;
}

// holds: cancel-legacy, cancel-legacy-id
#[tokio::test]
async fn ids_match_with_their_type_in_every_legacy_revision() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    for id in ["7", r#""7""#, "-3", "12345678901234567890", r#""""#, r#""ä \" b""#] {
        for version in ["2025-06-18", "2025-03-26"] {
            let (sent, call) = pending(agent, &call_under(agent, "s", id), application).await;
            cancel(agent, "s", id).header("MCP-Protocol-Version", version).send().await.accepted();
            cancelled(application, &call).await;
            sent.stream().await.ended().await;
        }
        let (sent, call) = pending(agent, &call_under(agent, "s", id), application).await;
        cancel(agent, "s", id).without("MCP-Protocol-Version").send().await.accepted();
        cancelled(application, &call).await;
        sent.stream().await.ended().await;
    }
}

// holds: cancel-legacy-newest
#[tokio::test]
async fn of_equal_ids_the_newest_call_is_meant() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let (first, one) = pending(agent, &call_under(agent, "s", "1"), application).await;
    let (second, two) = pending(agent, &call_under(agent, "s", "1"), application).await;
    let (third, three) = pending(agent, &call_under(agent, "s", "1"), application).await;
    cancel(agent, "s", "1").send().await.accepted();
    cancelled(application, &three).await;
    third.stream().await.ended().await;
    completes(second, &two, application).await;
    cancel(agent, "s", "1").send().await.accepted();
    cancelled(application, &one).await;
    first.stream().await.ended().await;
}

// holds: cancel-too-late
#[tokio::test]
async fn what_was_answered_cannot_be_cancelled() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let (sent, call) = pending(agent, &call_under(agent, "s", "1"), application).await;
    completes(sent, &call, application).await;
    cancel(agent, "s", "1").send().await.accepted();
    cancel(agent, "s", "1").send().await.accepted();
    heard_nothing(application).await;
    // Both at once: whoever is first wins, and the other is ignored.
    for round in 0..50 {
        let (sent, call) = pending(agent, &call_under(agent, "s", "1"), application).await;
        let request = cancel(agent, "s", "1");
        tokio::join!(application.answer(&call, DONE), async { request.send().await.accepted() });
        let mut answer = sent.answer().await.expect("an answer");
        let body = answer.rest().await;
        let answered = body.contains(r#""content":[]"#);
        application.send(r#"{"type":"ping"}"#).await;
        let mut message = application.text().await;
        if message == r#"{"type":"pong"}"# {
            assert!(answered, "neither answered nor cancelled in round {round}: {body}");
        } else {
            let value: Value = serde_json::from_str(&message).unwrap();
            assert_eq!(value, json!({"type": "cancel", "id": call.id}));
            assert!(!answered, "answered and cancelled in round {round}");
            message = application.text().await;
        }
        assert_eq!(message, r#"{"type":"pong"}"#);
    }
}

// holds: cancel-legacy-disconnect
#[tokio::test]
async fn a_legacy_agent_that_goes_away_cancels_nothing() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let (before, one) = pending(agent, &call_under(agent, "s", "1"), &mut application).await;
    let (during, two) = pending(agent, &call_under(agent, "s", "2"), &mut application).await;
    let mut stream = during.stream().await;
    assert_eq!(stream.next().await, Some(Piece::Comment));
    drop(before);
    drop(stream);
    Clock::start(&scene.serve).await.wait().await;
    heard_nothing(&mut application).await;
    for call in [&one, &two] {
        application.answer(call, DONE).await;
    }
    let (sent, call) = pending(agent, &agent.legacy_call("getBalance", "{}"), &mut application).await;
    completes(sent, &call, &mut application).await;
}
