//! The command's own tools, and the calls inside them: `docs/protocol.md`, "Tools of the command".

use serde_json::{Value, json};

use super::support::{
    desktop::{self, DONE, Desktop},
    host::{Host, legacy, modern},
    scene::{CLIENT, TOOLS},
};

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}

fn static_tools(desktop: &Desktop) -> Host {
    Host::start(desktop.runtime.path(), &["--host", "Editor", "--app", CLIENT, "--static-tools"])
}

fn all(desktop: &Desktop) -> Host {
    Host::start(desktop.runtime.path(), &["--host", "Editor"])
}

const STATIC: [&str; 3] = ["clientmcp_status", "clientmcp_list_tools", "clientmcp_call_tool"];
const ALL: [&str; 3] = ["clientmcp_apps", "clientmcp_tools", "clientmcp_call"];

// holds: stdio-static
#[tokio::test]
async fn a_host_that_reads_the_list_once_can_call_what_comes_later() {
    let mut desktop = Desktop::door_allowing(&["Editor"]).await;
    let mut host = static_tools(&desktop);
    host.talk.initialize("2025-11-25").await;
    assert_eq!(host.talk.names().await, STATIC);
    let status = host.talk.legacy("tools/call", json!({"name": "clientmcp_status"})).await;
    assert!(text(&status).contains("offers no tools now"), "{status}");
    // One of them is named as a tool of ours, and another as the tool of the other mode.
    let tools = r#"[{"name":"clientmcp_status","inputSchema":{"type":"object"}},{"name":"clientmcp_call","inputSchema":{"type":"object"}}]"#;
    let mut application = desktop.application(CLIENT, tools).await;
    assert_eq!(host.talk.names().await, ["clientmcp_call", STATIC[0], STATIC[1], STATIC[2]]);
    let listed = host.talk.modern("tools/list", "").await;
    assert_eq!((listed["tools"].as_array().unwrap().len(), &listed["ttlMs"]), (4, &json!(0)));
    let status = host.talk.modern("tools/call", r#""name":"clientmcp_status""#).await;
    assert!(text(&status).contains("offers 2 tools") && status["resultType"] == "complete", "{status}");
    let listed = host.talk.legacy("tools/call", json!({"name": "clientmcp_list_tools", "arguments": {}})).await;
    assert_eq!(text(&listed), format!(r#"{{"tools":{tools}}}"#));

    // Both of the same names can be called inside; the person sees the real tool.
    desktop.done(json!({"type": "set_mode", "application": CLIENT, "mode": "ask", "until": "always"})).await;
    for (id, name) in [(3, "clientmcp_status"), (4, "clientmcp_call")] {
        let arguments = r#"{"z":1e400,"a":-0,"a":"\u0061"}"#;
        let inner = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
        host.talk.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"clientmcp_call_tool","arguments":{inner}}}}}"#
        ))
        .await;
        let question = desktop.question().await;
        assert_eq!((&question["application"], &question["tool"]), (&json!(CLIENT), &json!(name)));
        desktop.decide(&question, "allow", json!("nothing")).await;
        let call = application.call().await;
        assert_eq!((call.name.as_str(), call.arguments.as_str()), (name, arguments));
        application.answer(&call, DONE).await;
        assert_eq!(host.talk.response().await, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
        let ended = desktop.ended_call(&question["number"]).await;
        assert_eq!((&ended["call"]["tool"], &ended["outcome"]), (&json!(name), &json!("answered")));
    }
}

// holds: stdio-static, stdio-inner-faults
#[tokio::test]
async fn a_call_inside_that_is_none_is_a_tool_error() {
    let desktop = Desktop::door_allowing(&["Editor"]).await;
    let _application = desktop.application(CLIENT, TOOLS).await;
    let mut host = static_tools(&desktop);
    for arguments in [
        json!({}),
        json!({"name": 1}),
        json!({"name": "getBalance", "arguments": "{}"}),
        json!({"name": "getBalance", "arguments": null}),
    ] {
        let result = host.talk.legacy("tools/call", json!({"name": STATIC[2], "arguments": arguments})).await;
        assert_eq!(result["isError"], true, "{result}");
        assert!(text(&result).contains("Nothing was done"), "{result}");
    }
    host.talk.send(&legacy(1, "tools/call", &json!({"name": STATIC[2], "arguments": {"name": "none"}}))).await;
    assert_eq!(host.talk.error().await["message"], "Unknown tool: none");
    host.talk.send(&legacy(1, "tools/call", &json!({"name": STATIC[2], "arguments": []}))).await;
    assert_eq!(host.talk.error().await["code"], -32602);
    // Without --static-tools they are the application's, or nobody's.
    let mut host = Host::of(desktop.runtime.path(), CLIENT);
    host.talk.send(&legacy(1, "tools/call", &json!({"name": STATIC[0]}))).await;
    assert_eq!(host.talk.error().await["message"], format!("Unknown tool: {}", STATIC[0]));
}

// holds: stdio-static
#[tokio::test]
async fn without_a_bridge_the_commands_own_tools_are_there_and_say_so() {
    let runtime = super::support::serve::Folder::new();
    let mut host = Host::start(runtime.path(), &["--host", "Editor", "--app", CLIENT, "--static-tools"]);
    assert_eq!(host.talk.names().await, STATIC);
    let status = host.talk.legacy("tools/call", json!({"name": STATIC[0]})).await;
    assert!(text(&status).contains("not running"), "{status}");
    for arguments in [json!({"name": STATIC[1]}), json!({"name": STATIC[2], "arguments": {"name": "getBalance"}})] {
        desktop::nothing_done(&host.talk.legacy("tools/call", arguments).await, "offline");
    }
    let mut host = Host::start(runtime.path(), &["--host", "Editor"]);
    assert_eq!(host.talk.names().await, ALL);
    for arguments in [
        json!({"name": ALL[0]}),
        json!({"name": ALL[1], "arguments": {"app": CLIENT}}),
        json!({"name": ALL[2], "arguments": {"app": CLIENT, "tool": "getBalance"}}),
    ] {
        desktop::nothing_done(&host.talk.legacy("tools/call", arguments).await, "offline");
    }
}

// holds: stdio-all
#[tokio::test]
async fn all_applications_stand_behind_three_tools() {
    let mut desktop = Desktop::door().await;
    desktop.done(json!({"type": "allow_pair", "host": "Editor", "application": CLIENT})).await;
    let tools = r#"[{"name":"clientmcp_call","inputSchema":{"type":"object"}}]"#;
    let mut application = desktop.application(CLIENT, tools).await;
    let _other = desktop.application("notes", "[]").await;
    let mut host = all(&desktop);
    let result = host.talk.initialize("2025-11-25").await;
    assert!(result["instructions"].as_str().unwrap().contains("clientmcp_apps"), "{result}");
    assert_eq!(host.talk.names().await, ALL);
    let apps = host.talk.legacy("tools/call", json!({"name": ALL[0]})).await;
    assert_eq!(text(&apps), format!(r#"{{"apps":[{{"app":"{CLIENT}","connected":true,"tools":1}}]}}"#));
    let listed =
        host.talk.modern("tools/call", &format!(r#""name":"{}","arguments":{{"app":"{CLIENT}"}}"#, ALL[1])).await;
    assert_eq!(
        (text(&listed), &listed["resultType"]),
        (format!(r#"{{"tools":{tools}}}"#).as_str(), &json!("complete"))
    );

    // An application's tool of that name is called inside, once and not taken apart again.
    let arguments = r#"{"app":"notes","tool":"x","n":0.10}"#;
    let inner = format!(r#"{{"app":"{CLIENT}","tool":"clientmcp_call","arguments":{arguments}}}"#);
    host.talk.send(&modern(7, "tools/call", &format!(r#""name":"clientmcp_call","arguments":{inner}"#))).await;
    let question = desktop.question().await;
    assert_eq!(
        (&question["application"], &question["tool"], &question["agent"]),
        (&json!(CLIENT), &json!("clientmcp_call"), &json!("Editor"))
    );
    desktop.decide(&question, "allow", json!("nothing")).await;
    let call = application.call().await;
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("clientmcp_call", arguments));
    application.answer(&call, DONE).await;
    assert_eq!(host.talk.result().await["content"], json!([]));
    let ended = desktop.ended_call(&question["number"]).await;
    assert_eq!((&ended["call"]["tool"], &ended["call"]["application"]), (&json!("clientmcp_call"), &json!(CLIENT)));

    // What is taken back is taken back at the application.
    desktop.done(json!({"type": "set_mode", "application": CLIENT, "mode": "allow_all", "until": "quit"})).await;
    host.talk
        .send(&legacy(
            8,
            "tools/call",
            &json!({"name": ALL[2], "arguments": {"app": CLIENT, "tool": "clientmcp_call"}}),
        ))
        .await;
    let call = application.call().await;
    host.talk.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}"#).await;
    assert_eq!(application.text().await, format!(r#"{{"type":"cancel","id":"{}"}}"#, call.id));

    // Another application is another question, which the call waits for.
    host.talk.send(&legacy(9, "tools/call", &json!({"name": ALL[1], "arguments": {"app": "notes"}}))).await;
    let asked = desktop.door_question().await;
    assert_eq!(asked["wants"]["pair"], json!({"host": "Editor", "application": "notes"}));
    desktop.decide_door(&asked, "deny").await;
    let result = host.talk.result().await;
    desktop::nothing_done(&result, "offline");
    assert!(text(&result).contains("does not let this program in"), "{result}");
}

// holds: stdio-all, stdio-inner-faults
#[tokio::test]
async fn an_unknown_host_is_asked_about_all_applications_when_it_starts() {
    let mut desktop = Desktop::door().await;
    let mut host = all(&desktop);
    let asked = desktop.door_question().await;
    assert_eq!(asked["wants"]["pair"], json!({"host": "Editor", "application": null}));
    host.talk.send(&legacy(1, "tools/call", &json!({"name": ALL[0]}))).await;
    desktop.decide_door(&asked, "allow").await;
    assert_eq!(text(&host.talk.result().await), r#"{"apps":[]}"#);
    for arguments in [
        json!({}),
        json!({"app": "a/b", "tool": "x"}),
        json!({"app": CLIENT}),
        json!({"app": CLIENT, "tool": "x", "arguments": 1}),
    ] {
        let result = host.talk.legacy("tools/call", json!({"name": ALL[2], "arguments": arguments})).await;
        assert_eq!(result["isError"], true, "{result}");
        assert!(text(&result).contains("Nothing was done"), "{result}");
    }
    host.talk.send(&legacy(1, "tools/call", &json!({"name": "none"}))).await;
    assert_eq!(host.talk.error().await["message"], "Unknown tool: none");
    let result =
        host.talk.legacy("tools/call", json!({"name": ALL[2], "arguments": {"app": CLIENT, "tool": "x"}})).await;
    desktop::nothing_done(&result, "offline");
}
