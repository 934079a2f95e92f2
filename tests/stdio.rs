//! The stdio command with one application: `docs/protocol.md`, "stdio".

use serde_json::json;

use super::support::{
    desktop::{DONE, Desktop},
    host::Host,
    scene::{CLIENT, TOOLS},
};

/// Memory in which the host `Editor` was let in to all.
fn let_in() -> serde_json::Value {
    json!({"memory": {"pairs": [{"host": "Editor", "application": null, "verdict": "allow", "made": 1}]}})
}

#[tokio::test]
async fn a_host_lists_and_calls_through_the_door() {
    let mut desktop = Desktop::with(let_in()).await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    desktop.snapshot(|snapshot| snapshot["door"]["open"] == true).await;
    let mut host = Host::of(desktop.runtime.path(), CLIENT);
    host.talk.initialize("2025-11-25").await;
    assert_eq!(host.talk.names().await, ["getBalance"]);
    host.talk.send(&super::support::host::legacy(2, "tools/call", &json!({"name": "getBalance", "arguments": {"a": 1}}))).await;
    let question = desktop.question().await;
    assert_eq!((&question["agent"], &question["tool"]), (&json!("Editor"), &json!("getBalance")));
    desktop.decide(&question, "allow", json!("nothing")).await;
    let call = application.call().await;
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("getBalance", r#"{"a":1}"#));
    application.answer(&call, DONE).await;
    assert_eq!(host.talk.response().await, r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#);
    host.talk.close();
    let ended = host.ended().await;
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "", ""));
}
