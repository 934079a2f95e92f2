//! The limits of the client channel: exactly the limit is served, one more is not.

use clientmcp_protocol::limits::{INSTRUCTIONS_BYTES, JSON_NESTING, MESSAGE_BYTES, TOOLS};
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use crate::support::{application::Application, post::Agent, serve::Serve, until, within};

const TOOL: &str = r#"[{"name":"t","inputSchema":{"type":"object"}}]"#;
const PONG: &str = r#"{"type":"pong"}"#;

/// A ping of exactly so many bytes.
fn ping(length: usize) -> String {
    let frame = r#"{"type":"ping","x":""}"#.len();
    format!(r#"{{"type":"ping","x":"{}"}}"#, "x".repeat(length - frame))
}

/// A value that is nested so deep.
fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

// holds: limit-channel-message
#[test]
fn the_limits_are_those_of_the_statement() {
    assert_eq!((MESSAGE_BYTES, TOOLS, INSTRUCTIONS_BYTES, JSON_NESTING), (4_194_304, 1_000, 65_536, 128));
}

// holds: limit-channel-message
#[tokio::test]
async fn a_message_of_exactly_the_limit_is_served() {
    let serve = Serve::start().await;
    let mut application = Application::connect(&serve, "app").await;
    application.send(ping(MESSAGE_BYTES)).await;
    assert_eq!(application.text().await, PONG);
    let message = ping(MESSAGE_BYTES).into_bytes();
    let (first, last) = message.split_at(MESSAGE_BYTES / 2);
    application.send_frame(first, OpCode::Data(Data::Text), false).await;
    application.send_frame(last, OpCode::Data(Data::Continue), true).await;
    assert_eq!(application.text().await, PONG, "in two frames");
}

// holds: limit-channel-message, channel-fatal-code-arrives
#[tokio::test]
async fn a_message_over_the_limit_closes_and_the_code_arrives() {
    let serve = Serve::start().await;
    for length in [MESSAGE_BYTES + 1, 2 * MESSAGE_BYTES, 3 * MESSAGE_BYTES] {
        let mut application = Application::connect(&serve, "app").await;
        application.send(ping(length)).await;
        assert_eq!(application.closed().await.0, 4400, "{length}");
    }
    let mut application = Application::connect(&serve, "app").await;
    let message = ping(MESSAGE_BYTES + 1).into_bytes();
    let (first, last) = message.split_at(MESSAGE_BYTES);
    application.send_frame(first, OpCode::Data(Data::Text), false).await;
    application.send_frame(last, OpCode::Data(Data::Continue), true).await;
    assert_eq!(application.closed().await.0, 4400, "in two frames");
}

// holds: limit-channel-message
#[tokio::test]
async fn a_result_of_exactly_the_limit_reaches_the_agent() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let mut application = Application::serving(&serve, "app", TOOL).await;
    let called = tokio::spawn(async move { agent.call("t", "{}").await });
    let call = application.call().await;
    let result = |pad| format!(r#"{{"content":[],"x":"{}"}}"#, "x".repeat(pad));
    let message = |pad| format!(r#"{{"type":"result","id":"{}","result":{}}}"#, call.id, result(pad));
    let pad = MESSAGE_BYTES - message(0).len();
    assert_eq!(message(pad).len(), MESSAGE_BYTES);
    application.send(message(pad)).await;
    assert!(called.await.unwrap().result() == result(pad), "the result was changed");
}

// holds: limit-tools
#[tokio::test]
async fn a_register_of_exactly_the_limit_of_tools_is_accepted() {
    let serve = Serve::start().await;
    let tools = |count| {
        let tools = (0..count).map(|n| format!(r#"{{"name":"t{n}","inputSchema":{{"type":"object"}}}}"#));
        format!("[{}]", tools.collect::<Vec<_>>().join(","))
    };
    let mut application = Application::serving(&serve, "app", &tools(TOOLS)).await;
    assert_eq!(Agent::of(&serve, "app").list().await, tools(TOOLS));
    application.send(format!(r#"{{"type":"register","tools":{}}}"#, tools(TOOLS + 1))).await;
    assert_eq!(application.closed().await.0, 4400);
}

// holds: limit-instructions
#[tokio::test]
async fn instructions_of_exactly_the_limit_are_accepted() {
    let serve = Serve::start().await;
    // Bytes of UTF-8 count, after escapes are decoded: each of these characters has two.
    for character in [r"\u00e4", "ä"] {
        let register = |more: &str| {
            let instructions = character.repeat(INSTRUCTIONS_BYTES / 2);
            format!(r#"{{"type":"register","tools":[],"instructions":"{instructions}{more}"}}"#)
        };
        let mut application = Application::connect(&serve, "app").await;
        application.send(register("")).await;
        assert_eq!(application.text().await, r#"{"type":"registered"}"#);
        let instructions = Agent::of(&serve, "app").instructions().await;
        assert!(instructions == Some("ä".repeat(INSTRUCTIONS_BYTES / 2)), "the instructions were changed");
        application.send(register("a")).await;
        assert_eq!(application.closed().await.0, 4400, "{character}");
    }
}

// holds: limit-nesting-agent
#[tokio::test]
async fn a_message_nested_exactly_to_the_limit_is_served() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    // What a message of each type adds around the nested value, the outermost object included.
    let messages = |depth: usize| {
        [
            format!(r#"{{"type":"ping","x":{}}}"#, nested(depth - 1)),
            format!(r#"{{"type":"hello","x":{}}}"#, nested(depth - 1)),
            format!(r#"{{"type":"result","id":"unknown","result":{{"content":{}}}}}"#, nested(depth - 2)),
            format!(
                r#"{{"type":"register","tools":[{{"name":"t","inputSchema":{{"type":"object","x":{}}}}}]}}"#,
                nested(depth - 4)
            ),
        ]
    };
    let mut application = Application::connect(&serve, "app").await;
    for message in messages(JSON_NESTING) {
        application.send(message).await;
    }
    assert_eq!(application.text().await, PONG);
    assert_eq!(application.text().await, r#"{"type":"registered"}"#);
    assert!(agent.list().await.contains(&nested(JSON_NESTING - 4)));
    for message in messages(JSON_NESTING + 1) {
        let mut application = Application::connect(&serve, "app").await;
        application.send(message.as_str()).await;
        assert_eq!(application.closed().await.0, 4400, "{message}");
    }
    // Brackets inside a string nest nothing.
    application = Application::connect(&serve, "app").await;
    application.send(format!(r#"{{"type":"ping","x":"{}\"["}}"#, "[{".repeat(JSON_NESTING))).await;
    assert_eq!(application.text().await, PONG);
}

// holds: limit-unsent
#[tokio::test]
async fn an_application_that_reads_nothing_is_busy_and_delays_nobody() {
    let serve = Serve::start().await;
    let mut application = Application::serving(&serve, "app", TOOL).await;
    let mut other = Application::serving(&serve, "other", TOOL).await;
    // All of them exceed what may stay unsent and what the system buffers on top, and the number of calls is no limit yet.
    let arguments = format!(r#"{{"x":"{}"}}"#, "x".repeat(1_000_000));
    let called: Vec<_> = (0..60)
        .map(|_| {
            let (agent, arguments) = (Agent::of(&serve, "app"), arguments.clone());
            tokio::spawn(async move { agent.call("t", &arguments).await })
        })
        .collect();
    until("the first answer", async || {
        let any = called.iter().any(tokio::task::JoinHandle::is_finished);
        if any { Ok(()) } else { Err("none of 60".to_owned()) }
    })
    .await;
    let agent = Agent::of(&serve, "other");
    let elsewhere = tokio::spawn(async move { agent.call("t", "{}").await });
    let call = other.call().await;
    other.answer(&call, r#"{"content":[]}"#).await;
    assert_eq!(elsewhere.await.unwrap().result(), r#"{"content":[]}"#);
    // Once it reads, every call that was sent is served.
    let answers = tokio::spawn(async move {
        let mut busy = 0;
        for answer in called {
            let result = answer.await.unwrap().value();
            let code = &result["_meta"]["io.github.clientmcp/outcome"]["reason"]["code"];
            assert!(code == "busy" || result["served"] == true, "{result}");
            busy += usize::from(code == "busy");
        }
        busy
    });
    let mut served = 0;
    let mut answers = std::pin::pin!(within(answers));
    let busy = loop {
        tokio::select! {
            busy = &mut answers => break busy.unwrap(),
            call = application.call() => {
                application.answer(&call, r#"{"content":[],"served":true}"#).await;
                served += 1;
            }
        }
    };
    assert!(busy > 0 && served > 0 && busy + served == 60, "{busy} busy, {served} served");
}
