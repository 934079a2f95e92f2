//! Commands that ask at the local door for a host, which leaves while the person is asked: no yes may let it in then
//! (`docs/protocol.md`, "Leaving"). A new command or way is a new row.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::process::{Child, Command};

use super::support::{
    desktop::{Desktop, door_questions, list},
    host::{Host, legacy},
    scene::{CLIENT, TOOLS},
    within,
};

/// The commands that print what they were given at the door.
const PRINTING: [&[&str]; 2] =
    [&["headers", "--host", "Editor", "--app", CLIENT], &["token", CLIENT, "--role", "agent", "--label", "Editor"]];

/// Fails unless the question is shown no more, and a yes to it is too late and remembered by nobody.
async fn too_late(desktop: &mut Desktop, question: &Value) {
    desktop.snapshot(|snapshot| door_questions(snapshot) == 0).await;
    let yes = json!({"type": "decide_door", "question": question["id"], "verdict": "allow"});
    desktop.refused(yes, "no_such_question").await;
    assert!(list(&desktop.memory, "pairs").is_empty(), "{}", desktop.memory);
}

/// A bridge whose questions stay open for longer than this test waits.
async fn bridge() -> Desktop {
    let settings = json!({"client_origins": "any", "allow_origins": [], "call_seconds": 120, "question_seconds": 600});
    let mut desktop = Desktop::with(json!({"settings": settings})).await;
    desktop.door_open().await;
    desktop
}

fn start(desktop: &Desktop, mut command: Command, stdout: Stdio) -> Child {
    command.env("XDG_RUNTIME_DIR", desktop.runtime.path()).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::null()).spawn().unwrap()
}

// holds: leaving-commands
#[tokio::test]
async fn a_question_goes_when_whoever_started_its_command_is_killed() {
    let mut desktop = bridge().await;
    for arguments in PRINTING {
        let mut command = Command::new("sh");
        // Its stdout goes on being there.
        command.args(["-c", r#""$0" "$@" & wait"#, env!("CARGO_BIN_EXE_clientmcp")]).args(arguments);
        let mut host = start(&desktop, command, Stdio::null());
        let question = desktop.door_question().await;
        within(host.kill()).await.unwrap();
        too_late(&mut desktop, &question).await;
    }
}

// holds: leaving-commands
#[tokio::test]
async fn a_question_goes_when_nobody_reads_what_its_command_would_print() {
    let mut desktop = bridge().await;
    for arguments in PRINTING {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clientmcp"));
        command.args(arguments);
        let mut child = start(&desktop, command, Stdio::piped());
        let question = desktop.door_question().await;
        drop(child.stdout.take());
        too_late(&mut desktop, &question).await;
        assert_eq!(within(child.wait()).await.unwrap().code(), Some(1), "{arguments:?}");
    }
}

// holds: leaving-stdio
#[tokio::test]
async fn a_host_that_leaves_is_let_in_to_no_applications() {
    let mut desktop = bridge().await;
    let _application = desktop.application(CLIENT, TOOLS).await;
    let calls = [
        ("clientmcp_apps", json!({})),
        ("clientmcp_tools", json!({"app": CLIENT})),
        ("clientmcp_call", json!({"app": CLIENT, "tool": "getBalance"})),
    ];
    for (name, arguments) in calls {
        let mut host = Host::start(desktop.runtime.path(), &["--host", "Editor"]);
        host.talk.send(&legacy(7, "tools/call", &json!({"name": name, "arguments": arguments}))).await;
        // One that asks about all applications, and one beside it that asks about this one.
        let count = if name == "clientmcp_apps" { 1 } else { 2 };
        let snapshot = desktop.snapshot(|snapshot| door_questions(snapshot) == count).await;
        host.talk.close();
        // It waits for nobody any more, and so it says so.
        let result = host.talk.result().await;
        assert!(result["content"][0]["text"].as_str().unwrap().contains("the command is ending"), "{result}");
        for question in list(&snapshot, "door_questions") {
            too_late(&mut desktop, question).await;
        }
    }
}

// holds: leaving-stdio
#[tokio::test]
async fn a_host_that_reads_nothing_more_has_left() {
    let mut desktop = bridge().await;
    let mut command = Command::new(env!("CARGO_BIN_EXE_clientmcp"));
    command.args(["stdio", "--host", "Editor", "--app", CLIENT]).env("XDG_RUNTIME_DIR", desktop.runtime.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let question = desktop.door_question().await;
    drop(child.stdout.take());
    too_late(&mut desktop, &question).await;
    assert_eq!(within(child.wait()).await.unwrap().code(), Some(0));
}
