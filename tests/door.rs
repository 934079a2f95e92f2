//! The local door: who comes in, who is asked about, who is not served. `docs/protocol.md`, "Local door".

use std::{
    fs,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    sync::Arc,
};

use serde_json::{Value, json};
use tokio::{net::UnixListener, process::Command};

use super::support::{
    desktop::Desktop,
    host::{Door, Host, assert_refused, socket, wants_mcp},
    scene::CLIENT,
    serve::{Folder, run_in},
    tokens::SECRET,
    until, within,
};

// holds: door-control-only
#[tokio::test]
async fn without_a_desktop_there_is_no_door() {
    let runtime = Folder::new();
    let secret = runtime.file("secret", SECRET.as_bytes(), 0o600);
    let mut command = Command::new(env!("CARGO_BIN_EXE_clientmcp"));
    command.args(["serve", "--port", "0", "--secret-file", &secret]).env("XDG_RUNTIME_DIR", runtime.path());
    // It says when it serves.
    let mut serve = Host::spawn(command, runtime.path());
    serve.talk.line().await;
    assert!(!runtime.path().join("clientmcp").exists());
}

// holds: door-folder
#[tokio::test]
async fn the_door_is_in_a_folder_of_the_users_own_and_goes_with_the_bridge() {
    let mut desktop = Desktop::door().await;
    let runtime = Arc::clone(&desktop.runtime);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&runtime.path().join("clientmcp")), 0o700);
    assert_eq!(mode(&socket(runtime.path())), 0o600);
    desktop.close();
    assert_eq!(desktop.ended().await.code, Some(0));
    assert!(!socket(runtime.path()).exists());
}

// holds: door-version
#[tokio::test]
async fn another_version_is_told_what_to_update() {
    let desktop = Desktop::door().await;
    for (version, older) in [(0, "this command is older"), (2, "this command is newer")] {
        let mut door = Door::silent(desktop.runtime.path()).await;
        door.send(&json!({"door": version, "version": "9", "want": "anything"}).to_string()).await;
        let said = door.value().await;
        assert_refused(&said, "version");
        assert!(said["sentence"].as_str().unwrap().starts_with(older), "{said}");
        assert_eq!((door.next().await, &said["door"]), (None, &json!(1)));
    }
}

// holds: door-hello
#[tokio::test]
async fn what_is_no_hello_is_refused() {
    let desktop = Desktop::door().await;
    let long = format!(r#"{{"door":1,"version":"{}","want":"status"}}"#, "x".repeat(16_384));
    let label = format!(r#"{{"door":1,"version":"1","want":"mcp","host":"{}","application":"a"}}"#, "x".repeat(65));
    for line in [
        "GET / HTTP/1.1",
        "[]",
        "{}",
        r#"{"door":"1","version":"1","want":"status"}"#,
        r#"{"door":1,"version":"1"}"#,
        r#"{"door":1,"version":"1","want":"mcp","host":"Editor"}"#,
        r#"{"door":1,"version":"1","want":"mcp","host":"","application":"a"}"#,
        r#"{"door":1,"version":"1","want":"mcp","host":"Editor","application":"a/b"}"#,
        r#"{"door":1,"version":"1","want":"mcp","host":"Editor ","application":"a"}"#,
        r#"{"door":1,"version":"1","want":"apps","host":"Edi\u202etor"}"#,
        r#"{"door":1,"version":"1","want":"token","label":"a\u200bb","application":"a","role":"agent","seconds":null}"#,
        &long,
        &label,
    ] {
        let mut door = Door::silent(desktop.runtime.path()).await;
        door.send(line).await;
        assert_refused(&door.value().await, "hello");
        assert_eq!(door.next().await, None, "{line}");
    }
    // So is silence.
    assert_refused(&Door::silent(desktop.runtime.path()).await.value().await, "hello");
}

// holds: door-connections
#[tokio::test]
async fn one_more_than_the_limit_is_told_so() {
    let desktop = Desktop::door_allowing(&["Editor"]).await;
    let mut doors = Vec::new();
    for _ in 0..128 {
        doors.push(Door::mcp(desktop.runtime.path(), "Editor", CLIENT).await);
    }
    assert_refused(&Door::hello(desktop.runtime.path(), wants_mcp("Editor")).await.value().await, "busy");
    doors.pop();
    // The bridge notices at its own time.
    until("a place at the door", async || {
        let said = Door::hello(desktop.runtime.path(), wants_mcp("Editor")).await.value().await;
        if said["say"] == "open" {
            return Ok(());
        }
        assert_refused(&said, "busy");
        Err(said.to_string())
    })
    .await;
}

// holds: door-stale
#[tokio::test]
async fn a_socket_that_a_killed_bridge_left_is_replaced() {
    let mut desktop = Desktop::door().await;
    let runtime = Arc::clone(&desktop.runtime);
    desktop.signal("KILL").await;
    desktop.close();
    desktop.ended().await;
    assert!(socket(runtime.path()).exists());
    let mut desktop = Desktop::with_in(&runtime, json!({})).await;
    desktop.door_open().await;
    assert_eq!(Door::hello(runtime.path(), json!({"want": "status"})).await.value().await["say"], "status");
}

// holds: door-two-bridges
#[tokio::test]
async fn the_second_of_two_bridges_says_so_and_opens_when_the_first_has_gone() {
    let mut first = Desktop::door().await;
    let runtime = Arc::clone(&first.runtime);
    let mut second = Desktop::with_in(&runtime, json!({})).await;
    let snapshot = second.snapshot(|snapshot| snapshot["door"]["fault"].is_string()).await;
    assert_eq!(snapshot["door"]["open"], false);
    assert!(snapshot["door"]["fault"].as_str().unwrap().contains("another ClientMCP bridge"), "{snapshot}");
    let mine = |said: &Value, desktop: &Desktop| said["mcp"] == format!("http://127.0.0.1:{}/mcp", desktop.port);
    let said = Door::hello(runtime.path(), json!({"want": "status"})).await.value().await;
    assert!(mine(&said, &first), "{said}");
    first.close();
    first.ended().await;
    let snapshot = second.door_open().await;
    assert_eq!(snapshot["door"]["fault"], Value::Null);
    let said = Door::hello(runtime.path(), json!({"want": "status"})).await.value().await;
    assert!(mine(&said, &second), "{said}");
}

// holds: door-squatted
#[tokio::test]
async fn nothing_that_is_not_the_users_own_is_used() {
    // A file where the socket belongs.
    let runtime = Arc::new(Folder::new());
    fs::create_dir(runtime.path().join("clientmcp")).unwrap();
    fs::set_permissions(runtime.path().join("clientmcp"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(socket(runtime.path()), "").unwrap();
    let mut desktop = Desktop::with_in(&runtime, json!({})).await;
    let fault = door_fault(&mut desktop).await;
    assert!(fault.contains("door.sock"), "{fault}");
    fs::remove_file(socket(runtime.path())).unwrap();
    desktop.door_open().await;
    drop(desktop);

    // A folder that others may enter, and one that is none.
    let runtime = Arc::new(Folder::new());
    fs::create_dir(runtime.path().join("clientmcp")).unwrap();
    fs::set_permissions(runtime.path().join("clientmcp"), fs::Permissions::from_mode(0o755)).unwrap();
    // Whoever listens there is told nothing.
    let listener = UnixListener::bind(socket(runtime.path())).unwrap();
    let mut desktop = Desktop::with_in(&runtime, json!({})).await;
    let fault = door_fault(&mut desktop).await;
    assert!(fault.contains("other users may enter it"), "{fault}");
    let headers = run_in(runtime.path(), &["headers", "--host", "Editor", "--app", CLIENT]).await;
    assert_eq!((headers.code, headers.stdout.as_str()), (Some(1), ""));
    assert!(headers.stderr.contains("other users may enter it"), "{}", headers.stderr);
    drop((desktop, listener));

    let runtime = Arc::new(Folder::new());
    std::os::unix::fs::symlink(std::env::temp_dir(), runtime.path().join("clientmcp")).unwrap();
    let mut desktop = Desktop::with_in(&runtime, json!({})).await;
    let fault = door_fault(&mut desktop).await;
    assert!(fault.contains("it is no folder"), "{fault}");
}

async fn door_fault(desktop: &mut Desktop) -> String {
    let snapshot = desktop.snapshot(|snapshot| snapshot["door"]["fault"].is_string()).await;
    assert_eq!(snapshot["door"]["open"], false);
    snapshot["door"]["fault"].as_str().unwrap().to_owned()
}

/// The user that owns nothing.
const NOBODY: &str = "65534";

/// Runs a program as another user; only root can.
fn as_nobody(words: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).args(words);
    command
}

// holds: door-other-user
#[tokio::test]
async fn another_user_is_served_nothing_at_either_end() {
    let root = Command::new("id").arg("-u").output().await.unwrap().stdout == b"0\n";
    if !root {
        eprintln!("left out: only root can be another user");
        return;
    }
    let program = env!("CARGO_BIN_EXE_clientmcp");
    // Another user does not come to the door of this one.
    let desktop = Desktop::door_allowing(&["Editor"]).await;
    let headers = ["headers", "--host", "Editor", "--app", CLIENT];
    let mut command = as_nobody(&[&[program][..], &headers].concat());
    let output = within(command.env("XDG_RUNTIME_DIR", desktop.runtime.path()).output()).await.unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(1), Vec::new()));
    drop(desktop);

    // Root, whom no folder keeps out, is let in no more than anybody else, and tells nothing to the other's bridge.
    let runtime = Arc::new(Folder::new());
    let chown = Command::new("chown").args([NOBODY, runtime.path().to_str().unwrap()]).status().await.unwrap();
    assert!(chown.success());
    let mut command = as_nobody(&[program, "serve", "--control"]);
    command.env("XDG_RUNTIME_DIR", runtime.path()).kill_on_drop(true);
    let mut desktop = Desktop::spawn(command, Arc::clone(&runtime)).started(json!({})).await;
    desktop.door_open().await;
    let mut door = Door::silent(runtime.path()).await;
    assert_eq!(door.next().await, None);

    // Its socket in a folder of root's own, then the whole folder the other's.
    let mine = Folder::new();
    let folder = mine.path().join("clientmcp");
    fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
    fs::hard_link(socket(runtime.path()), socket(mine.path())).unwrap();
    for fault in ["another user's program holds the local door", "another user owns it"] {
        let printed = run_in(mine.path(), &headers).await;
        assert_eq!((printed.code, printed.stdout.as_str()), (Some(1), ""));
        assert!(printed.stderr.contains(fault), "{}", printed.stderr);
        assert!(Command::new("chown").arg(NOBODY).arg(&folder).status().await.unwrap().success());
    }
}

// holds: door-status
#[tokio::test]
async fn the_status_says_which_bridge_it_is() {
    let mut desktop = Desktop::door().await;
    for paused in [false, true] {
        let said = Door::hello(desktop.runtime.path(), json!({"want": "status"})).await.value().await;
        assert_eq!((&said["say"], &said["paused"]), (&json!("status"), &json!(paused)), "{said}");
        assert_eq!(said["mcp"], format!("http://127.0.0.1:{}/mcp", desktop.port));
        assert_eq!(said["connect"], format!("ws://127.0.0.1:{}/connect", desktop.port));
        assert!(said["pid"].is_u64() && said["version"].is_string(), "{said}");
        desktop.done(json!({"type": "pause"})).await;
    }
}
