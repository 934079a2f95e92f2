//! How a call ends, whatever the application does or leaves undone.

use serde_json::{Value, json};

use crate::support::{
    application::Application,
    post::{Agent, Answer},
    serve::Serve,
    within,
};

const TOOLS: &str = r#"[{"name":"t","inputSchema":{"type":"object"}},{"name":"out","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]"#;
const DONE: &str = r#"{"content":[]}"#;
const OUTCOME: &str = "io.github.clientmcp/outcome";

/// Calls `t` on the side.
fn calling(agent: &Agent) -> tokio::task::JoinHandle<Option<Answer>> {
    let agent = agent.clone();
    tokio::spawn(async move { agent.try_call("t", "{}").await })
}

/// The one text of an error result.
fn error_text(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{result}");
    assert_eq!(result["content"][0]["type"], "text", "{result}");
    result["content"][0]["text"].as_str().unwrap()
}

/// The answer says that nothing was done and why.
fn rejected(answer: &Answer, code: &str, structured: bool) {
    let result = answer.value();
    assert!(error_text(&result).contains("Nothing was done"), "{result}");
    let outcome = &result["_meta"][OUTCOME];
    let detail = outcome["reason"]["detail"].as_str().expect(&answer.body);
    assert!(!detail.is_empty(), "{result}");
    assert_eq!(*outcome, json!({"status": "rejected", "reason": {"code": code, "detail": detail}}));
    assert_eq!(result.get("structuredContent"), structured.then_some(outcome), "{result}");
}

/// The answer says that something may have happened, and nothing more.
fn perhaps(answer: &Answer) {
    let result = answer.value();
    assert!(error_text(&result).contains("may or may not have happened"), "{result}");
    assert!(result.get("structuredContent").is_none() && result["_meta"].get(OUTCOME).is_none(), "{result}");
}

/// The connection stands, and nothing else was sent to it.
async fn quiet(application: &mut Application) {
    application.send(r#"{"type":"ping"}"#).await;
    assert_eq!(application.text().await, r#"{"type":"pong"}"#);
}

// holds: outcome-answered
#[tokio::test]
async fn the_answer_of_the_application_passes_unchanged() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let mut application = Application::serving(&serve, "app", TOOLS).await;
    for result in [
        r#"{"content":[{"type":"text","text":"100.50"}],"x":1e400,"_meta":{"a":1}}"#,
        r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#,
        r#"{"isError":false,"content":[],"structuredContent":{"a":1}}"#,
    ] {
        let called = calling(&agent);
        let call = application.call().await;
        application.answer(&call, result).await;
        assert_eq!(called.await.unwrap().unwrap().result(), result);
    }
}

// holds: outcome-offline, outcome-error-result, outcome-rejected-meta, outcome-structured
#[tokio::test]
async fn a_call_to_nobody_is_offline() {
    let serve = Serve::start().await;
    rejected(&Agent::of(&serve, "app").call("t", "{}").await, "offline", false);
    let asking = Serve::with(&[]).await;
    rejected(&Agent::of(&asking, "app").call("t", "{}").await, "offline", false);
}

// holds: outcome-unknown-tool
#[tokio::test]
async fn an_unknown_tool_is_named() {
    let modern = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: getBalanse\r\n";
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    for confirm in ["off", "ask"] {
        let serve = Serve::with(&["--confirm", confirm]).await;
        let agent = Agent::of(&serve, "app");
        let mut application = Application::serving(&serve, "app", TOOLS).await;
        for (headers, more) in [("", String::new()), (modern, format!(",{meta}"))] {
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"getBalanse"{more}}}}}"#);
            let answer = agent.try_post_with(headers, &body).await.unwrap();
            assert_eq!(answer.head.status, 200);
            let expected =
                json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "Unknown tool: getBalanse"}});
            assert_eq!(serde_json::from_str::<Value>(&answer.body).unwrap(), expected);
        }
        quiet(&mut application).await;
    }
}

// holds: outcome-unattended, outcome-error-result, outcome-rejected-meta, outcome-structured
#[tokio::test]
async fn with_asking_on_a_call_is_unattended_and_never_sent() {
    // Asking is what happens without an option.
    for arguments in [&["--confirm", "ask"][..], &[]] {
        let serve = Serve::with(arguments).await;
        let agent = Agent::of(&serve, "app");
        let mut application = Application::serving(&serve, "app", TOOLS).await;
        rejected(&agent.call("t", "{}").await, "unattended", true);
        rejected(&agent.call("out", "{}").await, "unattended", false);
        quiet(&mut application).await;
    }
}

// holds: outcome-disconnected, outcome-error-result, outcome-rejected-meta, outcome-never-retried
#[tokio::test]
async fn a_call_whose_connection_ends_is_disconnected_and_not_retried() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let mut application = Application::serving(&serve, "app", TOOLS).await;
    let called = calling(&agent);
    application.call().await;
    drop(application);
    perhaps(&called.await.unwrap().unwrap());
    let mut again = Application::serving(&serve, "app", TOOLS).await;
    quiet(&mut again).await;
}

// holds: outcome-timeout, outcome-late-result, channel-unknown-id, outcome-error-result, outcome-rejected-meta
#[tokio::test]
async fn a_call_without_an_answer_times_out_and_is_cancelled() {
    let serve = Serve::with(&["--confirm", "off", "--call-timeout", "15"]).await;
    let agent = Agent::of(&serve, "app");
    let mut application = Application::serving(&serve, "app", TOOLS).await;
    let called = calling(&agent);
    let call = application.call().await;
    let cancel: Value = serde_json::from_str(&application.text().await).unwrap();
    assert_eq!(cancel, json!({"type": "cancel", "id": call.id}));
    perhaps(&called.await.unwrap().unwrap());
    application.answer(&call, r#"{"content":[],"late":1}"#).await;
    quiet(&mut application).await;
    let called = calling(&agent);
    let next = application.call().await;
    application.answer(&call, r#"{"content":[],"late":2}"#).await;
    application.answer(&next, DONE).await;
    application.answer(&next, r#"{"content":[],"late":3}"#).await;
    assert_eq!(called.await.unwrap().unwrap().result(), DONE);
    quiet(&mut application).await;
}

// holds: limit-calls, outcome-structured, outcome-rejected-meta, outcome-error-result
#[tokio::test]
async fn the_call_after_64_unanswered_ones_is_busy() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let mut application = Application::serving(&serve, "app", TOOLS).await;
    let mut other = Application::serving(&serve, "other", TOOLS).await;
    let mut called: Vec<_> = (0..64).map(|_| calling(&agent)).collect();
    let mut calls = Vec::new();
    for _ in 0..64 {
        calls.push(application.call().await);
    }
    rejected(&agent.call("t", "{}").await, "busy", true);
    rejected(&agent.call("out", "{}").await, "busy", false);
    // The limit of one application is none of another's.
    let elsewhere = calling(&Agent::of(&serve, "other"));
    let call = other.call().await;
    other.answer(&call, DONE).await;
    assert_eq!(elsewhere.await.unwrap().unwrap().result(), DONE);
    // A call leaves the count before its answer is written: whoever has read the answer may call again.
    for _ in 0..3 {
        application.answer(&calls.remove(0), DONE).await;
        let (answer, rest) = within(select_all(called)).await;
        assert_eq!(answer.unwrap().result(), DONE);
        called = rest;
        called.push(calling(&agent));
        calls.push(application.call().await);
        rejected(&agent.call("t", "{}").await, "busy", true);
    }
    for call in &calls {
        application.answer(call, DONE).await;
    }
    for answer in called {
        assert_eq!(answer.await.unwrap().unwrap().result(), DONE);
    }
}

/// The value of whichever task ends first, and the others.
async fn select_all<T>(mut tasks: Vec<tokio::task::JoinHandle<T>>) -> (T, Vec<tokio::task::JoinHandle<T>>) {
    let (value, index) = std::future::poll_fn(|context| {
        for (index, task) in tasks.iter_mut().enumerate() {
            if let std::task::Poll::Ready(value) = std::pin::Pin::new(task).poll(context) {
                return std::task::Poll::Ready((value.unwrap(), index));
            }
        }
        std::task::Poll::Pending
    })
    .await;
    drop(tasks.remove(index));
    (value, tasks)
}

// holds: token-isolation
#[tokio::test]
async fn two_applications_see_nothing_of_each_other() {
    let serve = Serve::start().await;
    let mut first = Application::serving(&serve, "first", r#"[{"name":"a","inputSchema":{"type":"object"}}]"#).await;
    let mut second = Application::serving(&serve, "second", TOOLS).await;
    let agent = Agent::of(&serve, "second");
    assert_eq!(agent.list().await, TOOLS);
    let answer = agent.call("a", "{}").await;
    assert!(answer.body.contains("Unknown tool: a"), "{answer:?}");
    // A result that names the other's call is one of an unknown id.
    let called = calling(&agent);
    let call = second.call().await;
    first.answer(&call, r#"{"content":[],"forged":1}"#).await;
    quiet(&mut first).await;
    second.answer(&call, DONE).await;
    assert_eq!(called.await.unwrap().unwrap().result(), DONE);
    // What ends one ends nothing of the other.
    first.send("nonsense").await;
    assert_eq!(first.closed().await.0, 4400);
    quiet(&mut second).await;
    assert_eq!(Agent::of(&serve, "first").list().await, "[]");
    assert_eq!(agent.list().await, TOOLS);
}

// holds: cli-graceful-stop
#[tokio::test]
async fn a_shutdown_closes_applications_and_answers_no_sent_call() {
    for signal in ["TERM", "INT"] {
        let serve = Serve::start().await;
        let agent = Agent::of(&serve, "app");
        let mut application = Application::serving(&serve, "app", TOOLS).await;
        let mut idle = Application::connect(&serve, "idle").await;
        let called = calling(&agent);
        application.call().await;
        serve.signal(signal).await;
        assert_eq!(application.closed().await.0, 1001);
        assert_eq!(idle.closed().await.0, 1001);
        assert!(called.await.unwrap().is_none(), "the call was answered");
        let ended = serve.ended().await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
}
