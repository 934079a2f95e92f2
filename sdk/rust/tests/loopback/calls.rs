//! Tools: declared, called, cancelled.

use std::sync::Arc;

use clientmcp::{Answer, Call, Tool};
use serde_json::json;
use tokio::sync::{Barrier, mpsc, oneshot};

use crate::bridge::{Bridge, within};

fn text(text: &str) -> serde_json::Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

// holds: sdk-subprotocols
#[tokio::test]
async fn the_handshake_offers_the_protocol_and_the_token_and_nothing_else() {
    let bridge = Bridge::new().await;
    let _application = bridge.application().connect();
    let peer = bridge.accept().await;
    let offers: Vec<_> = peer.headers.get_all("sec-websocket-protocol").iter().collect();
    assert_eq!(offers, ["clientmcp.v1, token-1"]);
    assert!(!peer.headers.contains_key("origin"));
    assert!(!peer.headers.contains_key("authorization"));
}

// holds: sdk-registers
#[tokio::test]
async fn register_says_what_was_declared_in_order() {
    let bridge = Bridge::new().await;
    let tools = ["b", "a"].map(|name| Tool::new(name).handler(|_| async {}));
    let application = bridge.application().instructions("Be kind.").tools(tools).connect();
    let mut peer = bridge.accept().await;
    let expected = ["b", "a"].map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
    assert_eq!(peer.register().await, json!({ "type": "register", "instructions": "Be kind.", "tools": expected }));

    application.set_instructions(None);
    peer.send(crate::bridge::REGISTERED).await;
    assert_eq!(peer.register().await, json!({ "type": "register", "tools": expected }));
}

// holds: sdk-exact-text
#[tokio::test]
async fn texts_pass_both_ways_to_the_byte() {
    let odd = r#"{ "z":1e400, "a":0.10,"a":-0,"u":"\u00e9\/","n":12345678901234567890 }"#;
    let definition = format!(r#"{{ "inputSchema":{{"type":"object"}},"name":"echo", "_meta":{odd} }}"#);
    let echo = Tool::from_json(definition.clone()).unwrap().handler(|call: Call| async move {
        Answer::raw(format!(r#"{{ "content":[ ] ,"structuredContent":{} }}"#, call.arguments_text()))
    });
    let bridge = Bridge::new().await;
    let _application = bridge.application().tool(echo).connect();
    let mut peer = bridge.accept().await;
    assert!(peer.text().await.contains(&definition));
    peer.send(crate::bridge::REGISTERED).await;
    peer.call("1", "echo", odd).await;
    let expected = format!(r#"{{"type":"result","id":"1","result":{{ "content":[ ] ,"structuredContent":{odd} }}}}"#);
    assert_eq!(peer.text().await, expected);
}

// holds: sdk-concurrent
#[tokio::test]
async fn calls_run_at_the_same_time_and_answer_in_any_order() {
    let both = Arc::new(Barrier::new(2));
    let meet = Tool::new("meet").handler(move |call: Call| {
        let both = Arc::clone(&both);
        async move {
            both.wait().await;
            call.arguments_text().to_owned()
        }
    });
    let bridge = Bridge::new().await;
    let _application = bridge.application().tool(meet).connect();
    let mut peer = bridge.online().await;
    peer.call("1", "meet", r#"{"n":1}"#).await;
    peer.call("2", "meet", r#"{"n":2}"#).await;
    let mut results = [peer.result().await, peer.result().await];
    results.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(results, [("1".into(), text(r#"{"n":1}"#)), ("2".into(), text(r#"{"n":2}"#))]);
}

/// A tool that never answers. It tells when it has started; what it holds is dropped with its future.
fn endless(started: mpsc::UnboundedSender<(clientmcp::Cancellation, oneshot::Receiver<()>)>) -> Tool {
    Tool::new("endless").handler(move |call: Call| {
        let started = started.clone();
        async move {
            let (_held, dropped) = oneshot::channel();
            started.send((call.cancellation(), dropped)).ok();
            std::future::pending::<()>().await;
        }
    })
}

// holds: sdk-cancel
#[tokio::test]
async fn cancel_drops_the_handler_and_gives_the_signal() {
    let (started, mut starts) = mpsc::unbounded_channel();
    let quick = Tool::new("quick").handler(|_| async { "done" });
    let bridge = Bridge::new().await;
    let _application = bridge.application().tool(endless(started)).tool(quick).connect();
    let mut peer = bridge.online().await;
    peer.call("1", "endless", "{}").await;
    let (signal, dropped) = within("the handler to start", starts.recv()).await.unwrap();
    assert!(!signal.is_cancelled());

    peer.cancel("unknown").await;
    peer.cancel("1").await;
    within("the signal", signal.cancelled()).await;
    assert!(within("the future to be dropped", dropped).await.is_err(), "the future was dropped");
    // Nothing is said about the cancelled call, and its id is free again.
    peer.call("1", "quick", "{}").await;
    assert_eq!(peer.result().await, ("1".into(), text("done")));
}

// holds: sdk-cancel
#[tokio::test]
async fn the_end_of_the_connection_ends_its_calls() {
    let (started, mut starts) = mpsc::unbounded_channel();
    let bridge = Bridge::new().await;
    let _application = bridge.application().tool(endless(started)).connect();
    let mut peer = bridge.online().await;
    peer.call("1", "endless", "{}").await;
    let (signal, dropped) = within("the handler to start", starts.recv()).await.unwrap();
    drop(peer);
    within("the signal", signal.cancelled()).await;
    assert!(within("the future to be dropped", dropped).await.is_err(), "the future was dropped");
}

// holds: sdk-handler-panic
#[tokio::test]
async fn a_panic_is_a_tool_error_that_tells_nothing() {
    let early = Tool::new("early").handler(|call: Call| {
        assert!(call.name() != "early", "secret-1");
        async {}
    });
    let late = Tool::new("late").handler(|call: Call| async move {
        tokio::task::yield_now().await;
        assert!(call.name() != "late", "secret-2");
    });
    let bridge = Bridge::new().await;
    let _application = bridge.application().tool(early).tool(late).connect();
    let mut peer = bridge.online().await;
    for name in ["early", "late", "early"] {
        peer.call(name, name, "{}").await;
        let (id, result) = peer.result().await;
        assert_eq!((id.as_str(), &result["isError"]), (name, &json!(true)));
        assert!(!result.to_string().contains("secret"), "{result}");
    }
}

// holds: sdk-oversize
#[tokio::test]
async fn a_result_that_no_message_can_hold_is_a_tool_error() {
    let large = Tool::new("large").handler(|_| async { "x".repeat(4 * 1024 * 1024) });
    let bridge = Bridge::new().await;
    let _application = bridge.application().tool(large).connect();
    let mut peer = bridge.online().await;
    peer.call("1", "large", "{}").await;
    let (_, result) = peer.result().await;
    assert_eq!(result["isError"], true);
    assert!(result["content"][0]["text"].as_str().unwrap().contains("too large"));
}

// holds: sdk-bad-arguments
#[tokio::test]
async fn bad_arguments_and_unknown_tools_are_tool_errors() {
    async fn double(call: Call) -> Result<String, clientmcp::ToolError> {
        #[derive(serde::Deserialize)]
        struct Double {
            n: u32,
        }
        let Double { n } = call.arguments()?;
        Ok((n * 2).to_string())
    }
    let bridge = Bridge::new().await;
    let _application = bridge.application().tool(Tool::new("double").handler(double)).connect();
    let mut peer = bridge.online().await;
    peer.call("1", "double", r#"{"n":21}"#).await;
    assert_eq!(peer.result().await.1, text("42"));
    for (name, arguments) in [("double", r#"{"n":"x"}"#), ("other", "{}")] {
        peer.call("2", name, arguments).await;
        assert_eq!(peer.result().await.1["isError"], true);
    }
}
