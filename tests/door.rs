//! The local door: who comes in, who is asked about, who is not served. `docs/protocol.md`, "Local door".

use std::{
    fs,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    sync::Arc,
};

use serde_json::{Value, json};
use tokio::{net::UnixListener, process::Command};

use super::support::{
    agent::Agent,
    desktop::{DONE, Desktop},
    host::{Door, legacy, socket},
    scene::{CLIENT, TOOLS},
    serve::{Folder, run_in},
    within,
};

/// The one open question at the door.
async fn question(desktop: &mut Desktop) -> Value {
    let snapshot = desktop.snapshot(|snapshot| questions(snapshot) == 1).await;
    snapshot["door_questions"][0].clone()
}

fn questions(snapshot: &Value) -> usize {
    snapshot["door_questions"].as_array().map_or(0, Vec::len)
}

async fn decide(desktop: &mut Desktop, question: &Value, verdict: &str) {
    desktop.done(json!({"type": "decide_door", "question": question["id"], "verdict": verdict})).await;
}

fn wants_mcp(host: &str) -> Value {
    json!({"want": "mcp", "host": host, "application": CLIENT})
}

#[track_caller]
fn assert_refused(said: &Value, code: &str) {
    assert_eq!((&said["say"], &said["code"]), (&json!("refused"), &json!(code)), "{said}");
    assert!(said["sentence"].as_str().is_some_and(|sentence| !sentence.is_empty()), "{said}");
}

// holds: door-control-only
#[tokio::test]
async fn without_a_desktop_there_is_no_door() {
    let runtime = Folder::new();
    let secret = runtime.file("secret", super::support::tokens::SECRET.as_bytes(), 0o600);
    let mut command = Command::new(env!("CARGO_BIN_EXE_clientmcp"));
    command.args(["serve", "--port", "0", "--secret-file", &secret]).env("XDG_RUNTIME_DIR", runtime.path());
    // It says when it serves.
    let mut serve = super::support::host::Host::spawn(command, runtime.path());
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

// holds: door-pair-question, door-pair-remembered
#[tokio::test]
async fn an_unknown_host_is_asked_about_once() {
    let mut desktop = Desktop::door().await;
    let runtime = Arc::clone(&desktop.runtime);
    let mut first = Door::hello(runtime.path(), wants_mcp("Editor")).await;
    assert_eq!(first.value().await["say"], "asking");
    let asked = question(&mut desktop).await;
    assert_eq!(asked["wants"], json!({"pair": {"host": "Editor", "application": CLIENT}}));
    assert_eq!(asked["program"]["pid"], std::process::id());
    let myself = std::env::current_exe().unwrap();
    assert_eq!(asked["program"]["path"], myself.to_str().unwrap());
    assert!(asked["program"]["parent"].is_string() && asked["ends"].as_u64() > asked["asked"].as_u64(), "{asked}");
    // A second instance joins the same question.
    let mut second = Door::hello(runtime.path(), wants_mcp("Editor")).await;
    assert_eq!(second.value().await["say"], "asking");
    decide(&mut desktop, &asked, "allow").await;
    for door in [&mut first, &mut second] {
        assert_eq!(door.value().await["say"], "open");
    }
    desktop.until(|desktop| desktop.memory["pairs"][0]["verdict"] == "allow").await;
    assert_eq!(desktop.memory["pairs"][0]["host"], "Editor");
    // From now on nobody is asked, and neither is anybody after a restart.
    Door::mcp(runtime.path(), "Editor", CLIENT).await;
    let memory = desktop.memory.clone();
    desktop.close();
    desktop.ended().await;
    let mut desktop = Desktop::with_in(&runtime, json!({"memory": memory})).await;
    desktop.door_open().await;
    Door::mcp(runtime.path(), "Editor", CLIENT).await;
    assert_eq!(questions(&desktop.newest), 0);
}

// holds: door-pair-declined, door-pair-commands
#[tokio::test]
async fn a_host_that_was_turned_away_stays_out_until_the_person_lets_it_in() {
    let mut desktop = Desktop::door().await;
    let runtime = Arc::clone(&desktop.runtime);
    let mut door = Door::hello(runtime.path(), wants_mcp("Editor")).await;
    assert_eq!(door.value().await["say"], "asking");
    let asked = question(&mut desktop).await;
    decide(&mut desktop, &asked, "deny").await;
    assert_refused(&door.value().await, "declined");
    assert_eq!(door.next().await, None);
    // Without a question.
    assert_refused(&Door::hello(runtime.path(), wants_mcp("Editor")).await.value().await, "declined");
    desktop
        .refused(json!({"type": "decide_door", "question": asked["id"], "verdict": "allow"}), "no_such_question")
        .await;
    desktop.done(json!({"type": "allow_pair", "host": "Editor", "application": CLIENT})).await;
    Door::mcp(runtime.path(), "Editor", CLIENT).await;
    // Forgotten, it is asked about anew.
    desktop.done(json!({"type": "forget_pair", "host": "Editor", "application": CLIENT})).await;
    desktop.refused(json!({"type": "forget_pair", "host": "Editor", "application": CLIENT}), "not_found").await;
    assert_eq!(Door::hello(runtime.path(), wants_mcp("Editor")).await.value().await["say"], "asking");
}

// holds: door-pair-all
#[tokio::test]
async fn what_was_said_of_one_application_counts_before_what_was_said_of_all() {
    let mut desktop = Desktop::door().await;
    let runtime = Arc::clone(&desktop.runtime);
    desktop.done(json!({"type": "allow_pair", "host": "Editor", "application": null})).await;
    Door::mcp(runtime.path(), "Editor", "anything").await;
    let mut other = Door::hello(runtime.path(), wants_mcp("Other")).await;
    assert_eq!(other.value().await["say"], "asking");
    let asked = question(&mut desktop).await;
    decide(&mut desktop, &asked, "deny").await;
    desktop.done(json!({"type": "allow_pair", "host": "Other", "application": null})).await;
    assert_refused(&Door::hello(runtime.path(), wants_mcp("Other")).await.value().await, "declined");
    Door::mcp(runtime.path(), "Other", "anything").await;
    // A question is answered by what holds for all, too.
    let mut third = Door::hello(runtime.path(), wants_mcp("Third")).await;
    assert_eq!(third.value().await["say"], "asking");
    desktop.done(json!({"type": "allow_pair", "host": "Third", "application": null})).await;
    assert_eq!(third.value().await["say"], "open");
}

// holds: door-question-withdrawn
#[tokio::test]
async fn a_question_goes_with_whoever_asked() {
    let mut desktop = Desktop::door().await;
    let mut door = Door::hello(desktop.runtime.path(), wants_mcp("Editor")).await;
    assert_eq!(door.value().await["say"], "asking");
    question(&mut desktop).await;
    drop(door);
    desktop.snapshot(|snapshot| questions(snapshot) == 0).await;
}

// holds: door-cut-off
#[tokio::test]
async fn a_host_whose_pair_is_forgotten_or_revoked_is_cut_off_with_its_calls() {
    let cuts = [
        json!({"type": "forget_pair", "host": "Editor", "application": CLIENT}),
        json!({"type": "revoke", "application": CLIENT, "role": "agent", "which": {"label": "Editor"}}),
        json!({"type": "revoke", "application": CLIENT, "role": "agent", "which": "all"}),
    ];
    for cut in cuts {
        let mut desktop = Desktop::door_allowing(&["Editor", "Other"]).await;
        let runtime = Arc::clone(&desktop.runtime);
        let mut application = desktop.application(CLIENT, TOOLS).await;
        let mut editor = Door::mcp(runtime.path(), "Editor", CLIENT).await;
        let mut other = Door::mcp(runtime.path(), "Other", CLIENT).await;
        editor.send(&legacy(1, "tools/call", &json!({"name": "getBalance"}))).await;
        let call = application.call().await;
        let all = cut["which"] == "all";
        desktop.done(cut).await;
        assert_eq!(editor.next().await, None, "an answer after the end");
        assert_eq!(application.text().await, format!(r#"{{"type":"cancel","id":"{}"}}"#, call.id));
        if all {
            assert_eq!(other.next().await, None);
        } else {
            other.legacy("ping", json!({})).await;
        }
        assert_eq!(Door::hello(runtime.path(), wants_mcp("Editor")).await.value().await["say"], "asking");
    }
}

// holds: door-agent
#[tokio::test]
async fn a_host_is_an_agent_like_any_other() {
    let mut desktop = Desktop::door_allowing(&["Editor"]).await;
    desktop.done(json!({"type": "set_mode", "application": CLIENT, "mode": "ask", "until": "always"})).await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let mut door = Door::mcp(desktop.runtime.path(), "Editor", CLIENT).await;
    door.send(&legacy(7, "tools/call", &json!({"name": "getBalance", "arguments": {"x": 1}}))).await;
    let asked = desktop.question().await;
    assert_eq!((&asked["agent"], &asked["application"]), (&json!("Editor"), &json!(CLIENT)));
    desktop.decide(&asked, "allow", json!({"remember": {"any_agent": false, "until": "always"}})).await;
    let call = application.call().await;
    application.answer(&call, DONE).await;
    assert_eq!(door.response().await, r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#);
    let ended = desktop.ended_call(&asked["number"]).await;
    assert_eq!(
        (&ended["outcome"], &ended["call"]["agent"], &ended["call"]["own"]),
        (&json!("answered"), &json!("Editor"), &json!(false))
    );
    // The rule is for this agent, by whichever way it comes.
    door.send(&legacy(8, "tools/call", &json!({"name": "getBalance"}))).await;
    let call = application.call().await;
    application.answer(&call, DONE).await;
    door.response().await;
    desktop.done(json!({"type": "pause"})).await;
    let result = door.legacy("tools/call", json!({"name": "getBalance"})).await;
    super::support::desktop::nothing_done(&result, "paused");
    // A call that waits when the bridge ends is answered.
    desktop.done(json!({"type": "resume"})).await;
    let ruled = desktop.snapshot(|snapshot| snapshot["rules"].as_array().is_some_and(|rules| !rules.is_empty())).await;
    desktop.done(json!({"type": "set_rules", "revision": ruled["rules_revision"], "rules": []})).await;
    door.send(&legacy(9, "tools/call", &json!({"name": "getBalance"}))).await;
    desktop.question().await;
    desktop.close();
    super::support::desktop::nothing_done(&door.result().await, "unattended");
    assert_eq!(door.next().await, None);
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
    within(async {
        loop {
            let said = Door::hello(desktop.runtime.path(), wants_mcp("Editor")).await.value().await;
            if said["say"] == "open" {
                return;
            }
            assert_refused(&said, "busy");
        }
    })
    .await;
}

// holds: door-questions-limit
#[tokio::test]
async fn more_questions_than_a_person_can_look_through_are_not_asked() {
    let mut desktop = Desktop::door().await;
    let mut doors = Vec::new();
    for number in 0..16 {
        let mut door = Door::hello(desktop.runtime.path(), wants_mcp(&format!("Host {number}"))).await;
        assert_eq!(door.value().await["say"], "asking");
        doors.push(door);
    }
    assert_refused(&Door::hello(desktop.runtime.path(), wants_mcp("Host 17")).await.value().await, "busy");
    assert_eq!(Door::hello(desktop.runtime.path(), wants_mcp("Host 3")).await.value().await["say"], "asking");
    desktop.snapshot(|snapshot| questions(snapshot) == 16).await;
}

// holds: door-pairs-limit
#[tokio::test]
async fn there_are_only_so_many_pairs() {
    let pair =
        |number: usize| json!({"host": format!("Host {number}"), "application": null, "verdict": "allow", "made": 1});
    let pairs = |count: usize| json!({"memory": {"pairs": (0..count).map(pair).collect::<Vec<_>>()}});
    let mut desktop = Desktop::with(pairs(256)).await;
    desktop.refused(json!({"type": "allow_pair", "host": "Editor", "application": null}), "value").await;
    desktop.done(json!({"type": "allow_pair", "host": "Host 3", "application": null})).await;
    let mut desktop = Desktop::greeted().await;
    for memory in [pairs(257), json!({"memory": {"pairs": [pair(1), pair(1)]}})] {
        let mut start = json!({"type": "start", "port": 0, "secrets": ["x".repeat(32)]});
        start.as_object_mut().unwrap().extend(memory.as_object().unwrap().clone());
        desktop.refused(start, "value").await;
    }
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

// holds: door-headers
#[tokio::test]
async fn headers_hold_a_token_of_an_hour_for_who_was_let_in() {
    let mut desktop = Desktop::door_allowing(&["Editor"]).await;
    let runtime = Arc::clone(&desktop.runtime);
    let port = desktop.port.to_string();
    let printed = run_in(runtime.path(), &["headers", "--host", "Editor", "--app", CLIENT, "--port", &port]).await;
    assert_eq!((printed.code, printed.stderr.as_str()), (Some(0), ""));
    let headers: Value = serde_json::from_str(&printed.stdout).unwrap();
    let token = headers["Authorization"].as_str().unwrap().strip_prefix("Bearer ").unwrap();
    let claims = super::support::tokens::payload(token);
    assert_eq!(
        (&claims["sub"], &claims["role"], &claims["label"]),
        (&json!(CLIENT), &json!("agent"), &json!("Editor"))
    );
    let end = (claims["iat"].as_f64().unwrap() + 3_600.0).floor();
    assert_eq!(claims["exp"].to_string(), end.to_string());
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let agent = Agent::new(desktop.port, token);
    let (call, response) =
        super::support::scene::answered(&agent.call("getBalance", "{}"), &mut application, DONE).await;
    assert_eq!((call.name.as_str(), response.status), ("getBalance", 200));
    // Not for another port, and not for who was not let in.
    let other = run_in(runtime.path(), &["headers", "--host", "Editor", "--app", CLIENT, "--port", "9"]).await;
    assert_eq!((other.code, other.stdout.as_str()), (Some(1), ""));
    assert!(other.stderr.contains("another port"), "{}", other.stderr);
    let asking = tokio::spawn({
        let runtime = Arc::clone(&runtime);
        async move { run_in(runtime.path(), &["headers", "--host", "Other", "--app", CLIENT]).await }
    });
    let asked = question(&mut desktop).await;
    assert_eq!(asked["wants"], json!({"pair": {"host": "Other", "application": CLIENT}}));
    decide(&mut desktop, &asked, "deny").await;
    let refused = asking.await.unwrap();
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    assert!(refused.stderr.contains("does not let this program in"), "{}", refused.stderr);
}

// holds: door-token
#[tokio::test]
async fn a_token_is_a_question_each_time() {
    let mut desktop = Desktop::door_allowing(&["Editor"]).await;
    let runtime = Arc::clone(&desktop.runtime);
    for (verdict, code) in [("allow", 0), ("deny", 1), ("allow", 0)] {
        let asking = tokio::spawn({
            let runtime = Arc::clone(&runtime);
            let words = ["token", CLIENT, "--role=agent", "--label=Editor", "--ttl=1h"];
            async move { run_in(runtime.path(), &words).await }
        });
        let asked = question(&mut desktop).await;
        let wanted = json!({"application": CLIENT, "role": "agent", "label": "Editor", "seconds": 3600});
        assert_eq!(asked["wants"], json!({"token": wanted}));
        decide(&mut desktop, &asked, verdict).await;
        let printed = asking.await.unwrap();
        assert_eq!((printed.code, printed.stdout.is_empty()), (Some(code), verdict == "deny"), "{}", printed.stderr);
        assert!(printed.stderr.contains("answer the question in the ClientMCP app"), "{}", printed.stderr);
        if verdict == "allow" {
            assert!(printed.stderr.contains("valid until"), "{}", printed.stderr);
            let agent = Agent::new(desktop.port, printed.stdout.trim_end());
            assert_eq!(agent.legacy_list().send().await.status, 200);
        }
        desktop.snapshot(|snapshot| questions(snapshot) == 0).await;
    }
    let generation = run_in(runtime.path(), &["token", CLIENT, "--role=agent", "--gen=1"]).await;
    assert_eq!((generation.code, generation.stdout.as_str()), (Some(2), ""));
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

// holds: door-apps
#[tokio::test]
async fn a_host_sees_the_applications_it_may_call_and_no_other() {
    let mut desktop = Desktop::door().await;
    let _wallet = desktop.application(CLIENT, TOOLS).await;
    let _notes = desktop.application("notes", "[]").await;
    desktop.done(json!({"type": "allow_pair", "host": "Editor", "application": CLIENT})).await;
    desktop.done(json!({"type": "allow_pair", "host": "Editor", "application": "absent"})).await;
    let apps = async |host: &str| {
        let mut said = Door::hello(desktop.runtime.path(), json!({"want": "apps", "host": host})).await.value().await;
        said["apps"].take()
    };
    let (wallet, notes) =
        (json!({"app": CLIENT, "connected": true, "tools": 1}), json!({"app": "notes", "connected": true, "tools": 0}));
    let absent = json!({"app": "absent", "connected": false, "tools": 0});
    assert_eq!(apps("Editor").await, json!([absent, wallet]));
    desktop.done(json!({"type": "allow_pair", "host": "All", "application": null})).await;
    let apps = async |host: &str| {
        let mut said = Door::hello(desktop.runtime.path(), json!({"want": "apps", "host": host})).await.value().await;
        said["apps"].take()
    };
    assert_eq!(apps("All").await, json!([wallet, notes]));
    let mut door = Door::hello(desktop.runtime.path(), json!({"want": "apps", "host": "Unknown"})).await;
    assert_eq!(door.value().await["say"], "asking");
    let asked = question(&mut desktop).await;
    assert_eq!(asked["wants"], json!({"pair": {"host": "Unknown", "application": null}}));
}
