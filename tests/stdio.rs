//! The stdio command with one application: `docs/protocol.md`, "stdio".

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{process::Command, time::Instant};

use super::support::{
    agent::MODERN,
    desktop::{self, DONE, Desktop},
    host::{Host, legacy, modern},
    scene::{CLIENT, TOOLS},
    serve::Folder,
    tokens::SECRET,
};

/// A bridge whose door is open for `Editor`, and whose calls are sent unasked.
async fn bridge() -> Desktop {
    Desktop::door_allowing(&["Editor"]).await
}

/// The same bridge anew.
async fn again(before: Desktop) -> Desktop {
    let runtime = Arc::clone(&before.runtime);
    drop(before);
    let members = json!({"memory": desktop::allowing(&["Editor"])});
    let mut desktop = Desktop::with_in(&runtime, members).await;
    desktop.door_open().await;
    desktop
}

fn call(id: u64) -> String {
    legacy(id, "tools/call", &json!({"name": "getBalance"}))
}

// holds: stdio-road
#[tokio::test]
async fn a_host_lists_and_calls_through_the_door() {
    let mut desktop = bridge().await;
    desktop.done(json!({"type": "set_mode", "application": CLIENT, "mode": "ask", "until": "always"})).await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let mut host = Host::of(desktop.runtime.path(), CLIENT);
    assert_eq!(host.talk.initialize("2025-11-25").await["serverInfo"]["title"], CLIENT);
    assert_eq!(host.talk.names().await, ["getBalance"]);
    let arguments = r#"{"b":1e400,"a":0.10,"a":-0,"t":"\u0061"}"#;
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":"\u0061","method":"tools/call","params":{{"name":"getBalance","arguments":{arguments}}}}}"#
    );
    host.talk.send(&request).await;
    let question = desktop.question().await;
    assert_eq!((&question["agent"], &question["tool"]), (&json!("Editor"), &json!("getBalance")));
    desktop.decide(&question, "allow", json!("nothing")).await;
    let sent = application.call().await;
    assert_eq!((sent.name.as_str(), sent.arguments.as_str()), ("getBalance", arguments));
    application.answer(&sent, r#"{"content":[],"x":12345678901234567890}"#).await;
    assert_eq!(
        host.talk.response().await,
        r#"{"jsonrpc":"2.0","id":"\u0061","result":{"content":[],"x":12345678901234567890}}"#
    );
    host.talk.close();
    let ended = host.ended().await;
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "", ""));
}

// holds: stdio-alone
#[tokio::test]
async fn without_a_bridge_it_answers_at_once() {
    let runtime = Folder::new();
    let mut host = Host::of(runtime.path(), CLIENT);
    let result = host.talk.initialize("2025-03-26").await;
    assert_eq!(
        (&result["protocolVersion"], &result["capabilities"]["tools"]["listChanged"]),
        (&json!("2025-03-26"), &json!(true))
    );
    assert!(result["instructions"].as_str().unwrap().contains(CLIENT), "{result}");
    assert_eq!(host.talk.names().await, Vec::<String>::new());
    host.talk.legacy("ping", json!({})).await;
    let discovered = host.talk.modern("server/discover", "").await;
    assert_eq!(discovered["supportedVersions"][0], MODERN);
    assert_eq!(host.talk.modern("tools/list", "").await["tools"], json!([]));
    let result = host.talk.legacy("tools/call", json!({"name": "getBalance"})).await;
    desktop::nothing_done(&result, "offline");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("not running"), "{result}");
    let result = host.talk.modern("tools/call", r#""name":"getBalance""#).await;
    desktop::nothing_done(&result, "offline");
    assert_eq!(result["resultType"], "complete");
    host.talk.send(&modern(1, "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#)).await;
    assert_eq!(host.talk.notification().await["method"], "notifications/subscriptions/acknowledged");
    // Wrong is wrong without a bridge too.
    for (line, code) in [
        (legacy(4, "tools/call", &json!({})), -32602),
        (legacy(2, "nothing", &json!({})), -32601),
        (modern(3, "initialize", ""), -32601),
        ("nonsense".to_owned(), -32700),
    ] {
        host.talk.send(&line).await;
        assert_eq!(host.talk.error().await["code"], code, "{line}");
    }
}

// holds: stdio-changes
#[tokio::test]
async fn changes_of_the_list_come_through() {
    let desktop = bridge().await;
    let mut old = Host::of(desktop.runtime.path(), CLIENT);
    old.talk.initialize("2025-11-25").await;
    let mut new = Host::of(desktop.runtime.path(), CLIENT);
    new.talk.send(&modern(9, "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#)).await;
    new.talk.hears("notifications/subscriptions/acknowledged").await;
    assert_eq!(old.talk.names().await, Vec::<String>::new());
    assert_eq!(new.talk.modern("tools/list", "").await["tools"], json!([]));
    let _application = desktop.application(CLIENT, TOOLS).await;
    old.talk.hears("notifications/tools/list_changed").await;
    assert_eq!(old.talk.names().await, ["getBalance"]);
    let change = new.talk.hears("notifications/tools/list_changed").await;
    assert_eq!(change["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 9);
    assert_eq!(new.talk.modern("tools/list", "").await["tools"][0]["name"], "getBalance");
}

// holds: stdio-changes
#[tokio::test]
async fn a_bridge_that_was_there_from_the_first_is_no_change() {
    let desktop = bridge().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    for _ in 0..10 {
        let mut host = Host::of(desktop.runtime.path(), CLIENT);
        // Some hosts open with this.
        host.talk.send(&modern(1, "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#)).await;
        assert_eq!(host.talk.notification().await["method"], "notifications/subscriptions/acknowledged");
        host.talk.send(&legacy(2, "tools/call", &json!({"name": "getBalance"}))).await;
        let sent = application.call().await;
        application.answer(&sent, DONE).await;
        host.talk.response().await;
        assert_eq!(host.talk.heard, Vec::<Value>::new());
    }
}

// holds: stdio-reconnect
#[tokio::test]
async fn it_outlives_the_bridge_and_finds_the_next_one() {
    let desktop = bridge().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let mut host = Host::of(desktop.runtime.path(), CLIENT);
    host.talk.initialize("2025-11-25").await;
    assert_eq!(host.talk.names().await, ["getBalance"]);
    host.talk.send(&call(5)).await;
    application.call().await;
    desktop.signal("KILL").await;
    let lost: Value = serde_json::from_str(&host.talk.response().await).unwrap();
    assert_eq!(lost["id"], 5);
    desktop::perhaps_done(&lost["result"]);
    host.talk.hears("notifications/tools/list_changed").await;
    assert_eq!(host.talk.names().await, Vec::<String>::new());
    desktop::nothing_done(&host.talk.legacy("tools/call", json!({"name": "getBalance"})).await, "offline");

    let desktop = again(desktop).await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    // It may hear of the bridge first, and of the application later.
    while host.talk.names().await.is_empty() {
        host.talk.hears("notifications/tools/list_changed").await;
    }
    host.talk.send(&call(6)).await;
    let sent = application.call().await;
    application.answer(&sent, DONE).await;
    assert_eq!(host.talk.response().await, r#"{"jsonrpc":"2.0","id":6,"result":{"content":[]}}"#);
}

// holds: stdio-reconnect
#[tokio::test]
async fn a_call_finds_a_bridge_that_has_just_begun() {
    let runtime = Arc::new(Folder::new());
    let mut host = Host::of(runtime.path(), CLIENT);
    host.talk.initialize("2025-11-25").await;
    let mut desktop = Desktop::with_in(&runtime, json!({"memory": desktop::allowing(&["Editor"])})).await;
    desktop.door_open().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    host.talk.send(&call(1)).await;
    let sent = application.call().await;
    application.answer(&sent, DONE).await;
    host.talk.result().await;
}

// holds: stdio-asked
#[tokio::test]
async fn while_the_person_is_asked_the_host_is_told_so() {
    let mut desktop = Desktop::door().await;
    let _application = desktop.application(CLIENT, TOOLS).await;
    let mut host = Host::of(desktop.runtime.path(), CLIENT);
    // Starting it is what asks.
    let asked = desktop.door_question().await;
    assert_eq!(asked["wants"]["pair"], json!({"host": "Editor", "application": CLIENT}));
    assert_eq!(asked["program"]["path"], env!("CARGO_BIN_EXE_clientmcp"));
    assert_eq!(asked["program"]["parent"], std::env::current_exe().unwrap().to_str().unwrap());
    host.talk.initialize("2025-11-25").await;
    assert_eq!(host.talk.names().await, Vec::<String>::new());
    let result = host.talk.legacy("tools/call", json!({"name": "getBalance"})).await;
    desktop::nothing_done(&result, "offline");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("being asked"), "{result}");
    desktop.decide_door(&asked, "allow").await;
    host.talk.hears("notifications/tools/list_changed").await;
    assert_eq!(host.talk.names().await, ["getBalance"]);
}

// holds: stdio-asked, door-pair-unanswered
#[tokio::test]
async fn a_person_who_did_not_answer_is_asked_again_by_a_call_alone() {
    let settings =
        json!({"client_origins": "pinned", "allow_origins": [], "call_seconds": 120, "question_seconds": 10});
    let mut desktop = Desktop::with(json!({"settings": settings})).await;
    desktop.door_open().await;
    let mut host = Host::of(desktop.runtime.path(), CLIENT);
    let first = desktop.door_question().await;
    desktop.snapshot(|snapshot| desktop::door_questions(snapshot) == 0).await;
    // Whatever hosts do by themselves asks nobody.
    host.talk.initialize("2025-11-25").await;
    host.talk.names().await;
    let result = host.talk.legacy("tools/call", json!({"name": "getBalance"})).await;
    desktop::nothing_done(&result, "offline");
    let second = desktop.door_question().await;
    assert_ne!(first["id"], second["id"]);
}

// holds: stdio-cancel
#[tokio::test]
async fn cancelling_goes_through() {
    let desktop = bridge().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let mut host = Host::of(desktop.runtime.path(), CLIENT);
    for request in [call(1), modern(1, "tools/call", r#""name":"getBalance""#)] {
        host.talk.send(&request).await;
        let sent = application.call().await;
        host.talk.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
        assert_eq!(application.text().await, format!(r#"{{"type":"cancel","id":"{}"}}"#, sent.id));
        host.talk.legacy("ping", json!({})).await;
    }
}

// holds: stdio-chunks
#[tokio::test]
async fn long_messages_come_through_in_odd_pieces() {
    let desktop = bridge().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let mut host = Host::of(desktop.runtime.path(), CLIENT);
    let (before, after) = (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getBalance","arguments":{"t":""#,
        r#""}}}"#,
    );
    // The frame to the application has its own envelope within the same limit.
    let text = "😀ü€".repeat((4_194_304 - 1_000) / 9);
    let line = format!("{before}{text}{after}\n");
    let bytes = line.as_bytes();
    let reading = async {
        let sent = application.call().await;
        assert!(sent.arguments == format!(r#"{{"t":"{text}"}}"#));
        let result = format!(r#"{{"content":[],"t":"{text}"}}"#);
        application.answer(&sent, &result).await;
        result
    };
    let writing = async {
        // Pieces that end within characters.
        for piece in bytes.chunks(65_537) {
            host.talk.write(piece).await;
        }
        host.talk.response().await
    };
    let (result, response) = tokio::join!(reading, writing);
    assert!(response == format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    // One byte at a time.
    for byte in call(2).as_bytes() {
        host.talk.write(&[*byte]).await;
    }
    host.talk.write(b"\n").await;
    let sent = application.call().await;
    application.answer(&sent, DONE).await;
    host.talk.result().await;
    // Over the limit it says so and goes on.
    host.talk.send(&"x".repeat(4_194_305)).await;
    assert_eq!(host.talk.error().await["code"], -32600);
    host.talk.legacy("ping", json!({})).await;
}

// holds: stdio-ends
#[tokio::test]
async fn it_ends_with_stdin_and_takes_its_calls_with_it() {
    let desktop = bridge().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let mut host = Host::of(desktop.runtime.path(), CLIENT);
    host.talk.send(&call(1)).await;
    let sent = application.call().await;
    host.talk.close();
    let closed = Instant::now();
    let ended = host.ended().await;
    // Exactly within 1 s is held with a clock of its own, in `mcp::session`.
    assert!(closed.elapsed() < Duration::from_secs(30), "{:?}", closed.elapsed());
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "", ""));
    assert_eq!(application.text().await, format!(r#"{{"type":"cancel","id":"{}"}}"#, sent.id));
    // What is answered at once is still written.
    let mut host = Host::of(desktop.runtime.path(), CLIENT);
    assert!(host.talk.names().await.contains(&"getBalance".to_owned()));
    host.talk.send(&legacy(77, "ping", &json!({}))).await;
    host.talk.close();
    assert!(host.ended().await.stdout.contains("\"id\":77"));
}

// holds: stdio-orphan
#[tokio::test]
async fn it_ends_when_its_parent_is_killed_though_stdin_stays_open() {
    let runtime = Folder::new();
    let mut command = Command::new("sh");
    // The test holds the other end of stdin all the time.
    command.args(["-c", r#"exec 3<&0; "$0" stdio --host Editor --app a <&3 & echo $!; wait"#]);
    command.arg(env!("CARGO_BIN_EXE_clientmcp"));
    let mut host = Host::spawn(command, runtime.path());
    let pid = host.talk.line().await;
    host.talk.legacy("ping", json!({})).await;
    host.child.start_kill().unwrap();
    // Its stdout ends with it.
    assert_eq!(host.talk.next().await, None, "process {pid}");
}

// holds: stdio-instances
#[tokio::test]
async fn several_instances_do_not_disturb_each_other() {
    let desktop = bridge().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let mut hosts = Vec::new();
    for _ in 0..5 {
        hosts.push(Host::of(desktop.runtime.path(), CLIENT));
    }
    for host in &mut hosts {
        host.talk.initialize("2025-11-25").await;
        // All use the same ids.
        host.talk.send(&call(1)).await;
    }
    let mut calls = Vec::new();
    for _ in 0..hosts.len() {
        calls.push(application.call().await);
    }
    for sent in &calls {
        application.answer(sent, DONE).await;
    }
    for host in &mut hosts {
        assert_eq!(host.talk.result().await, json!({"content": []}));
    }
    hosts.remove(0).talk.close();
    for host in &mut hosts {
        assert_eq!(host.talk.names().await, ["getBalance"]);
    }
}

// holds: stdio-config
#[tokio::test]
async fn a_config_of_a_command_and_its_arguments_is_enough() {
    let desktop = bridge().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let folder = Folder::new();
    let config = json!({"mcpServers": {"wallet": {
        "command": env!("CARGO_BIN_EXE_clientmcp"),
        "args": ["stdio", "--host", "Editor", "--app", CLIENT],
    }}});
    let path = folder.file("config.json", config.to_string().as_bytes(), 0o600);
    // As a host reads it.
    let text = std::fs::read_to_string(path).unwrap();
    let config: Value = serde_json::from_str(&text).unwrap();
    let entry = &config["mcpServers"]["wallet"];
    let mut command = Command::new(entry["command"].as_str().unwrap());
    command.args(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap())).env_clear();
    let mut host = Host::spawn(command, desktop.runtime.path());
    host.talk.initialize("2025-11-25").await;
    assert_eq!(host.talk.names().await, ["getBalance"]);
    host.talk.send(&call(1)).await;
    let sent = application.call().await;
    application.answer(&sent, DONE).await;
    host.talk.result().await;
    // Nothing that lets anybody in stands in a file or among the words of a command.
    let words = std::fs::read_to_string(format!("/proc/{}/cmdline", host.child.id().unwrap())).unwrap_or_default();
    for text in [text, words].into_iter().chain(files(desktop.runtime.path())) {
        assert!(!text.contains("eyJ") && !text.contains(SECRET), "{text}");
    }
}

/// All that stands in the files below a folder.
fn files(folder: &std::path::Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => texts.extend(files(&entry.path())),
            kind if kind.is_file() => texts.push(std::fs::read_to_string(entry.path()).unwrap()),
            _ => {}
        }
    }
    texts
}

// holds: stdio-usage
#[tokio::test]
async fn its_arguments_are_checked_first() {
    for arguments in [
        &["stdio"][..],
        &["stdio", "--host", ""],
        &["stdio", "--host", "Editor", "--app", "a/b"],
        &["headers", "--host", "Editor"],
        &["headers", "--app", "a"],
    ] {
        let ended = super::support::serve::run(arguments).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}");
    }
}
