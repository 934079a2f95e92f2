//! The control channel itself: its beginning, its commands, its end (`docs/protocol.md`, "Control channel").

use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::{
    agent::Agent,
    application::Application,
    desktop::{DONE, Desktop, calling, fingerprint, list, nothing_done, perhaps_done, result, sending, starting},
    http::Request,
    scene::{CLIENT, TOOLS, heard_nothing},
    serve::run,
    tokens::{self, SECRET},
};

const TOOL: &str = r#"{"name":"getBalance","inputSchema":{"type":"object"}}"#;

fn settings(members: Value) -> Value {
    let Value::Object(members) = members else { panic!("no members: {members}") };
    let mut settings =
        json!({"client_origins": "any", "allow_origins": [], "call_seconds": 120, "question_seconds": 120});
    settings.as_object_mut().unwrap().extend(members);
    settings
}

fn kinds(desktop: &Desktop) -> Vec<String> {
    let kind = |line: &String| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned();
    desktop.lines.iter().map(kind).collect()
}

// holds: control-hello, control-start, control-paused-start
#[tokio::test]
async fn the_channel_begins_with_a_hello_of_each_end() {
    let mut desktop = Desktop::silent();
    let hello = desktop.read().await;
    assert_eq!(hello, json!({"type": "hello", "control": 1, "version": env!("CARGO_PKG_VERSION")}));
    desktop.line(r#"{"type":"hello","control":1,"version":"9","more":[]}"#).await;
    desktop.refused(json!({"type": "pause"}), "start").await;
    let start = starting(json!({"paused": true}));
    desktop.done(start.clone()).await;
    desktop.until(|desktop| desktop.newest.is_object() && desktop.memory.is_object()).await;
    let mut kinds = kinds(&desktop);
    kinds[4..].sort();
    assert_eq!(kinds, ["hello", "reply", "listening", "reply", "remember", "snapshot"]);
    assert_eq!(
        (&desktop.newest["paused"], &desktop.newest["settings"]["client_origins"]),
        (&json!(true), &json!("pinned"))
    );
    let _application = desktop.application(CLIENT, TOOLS).await;
    nothing_done(&result(calling(&desktop.agent(CLIENT))).await, "paused");
    desktop.refused(start, "start").await;
    desktop.done(json!({"type": "shutdown"})).await;
    assert_eq!(desktop.ended().await.code, Some(0));
}

// holds: control-version
#[tokio::test]
async fn another_version_is_not_served() {
    for first in [r#"{"type":"hello","control":2,"version":"test"}"#, r#"{"type":"pause","request":1}"#, "x"] {
        let mut desktop = Desktop::silent();
        desktop.line(first).await;
        desktop.until(|desktop| desktop.errors == ["version"]).await;
        assert_eq!(desktop.ended().await.code, Some(2), "{first}");
    }
    // It may be told to go before it started.
    let mut desktop = Desktop::greeted().await;
    desktop.done(json!({"type": "shutdown"})).await;
    assert_eq!(desktop.ended().await.code, Some(0));
}

// holds: control-options
#[tokio::test]
async fn beside_the_channel_there_are_no_options() {
    let all = [
        ["--port", "0"],
        ["--secret-file", "secret"],
        ["--confirm", "ask"],
        ["--allow-origin", "https://a.example"],
        ["--call-timeout", "5"],
    ];
    for [option, value] in all {
        let ended = run(&["serve", "--control", option, value]).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{option}");
        assert!(!ended.stderr.is_empty());
    }
}

// holds: control-start-refused
#[tokio::test]
async fn a_start_that_cannot_be_done_ends_the_bridge() {
    let holder = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let taken = holder.local_addr().unwrap().port();
    let short = "x".repeat(31);
    for (start, code, exit) in [
        (json!({"port": taken, "secrets": [SECRET]}), "port_taken", 3),
        (json!({"port": 0, "secrets": []}), "secret", 4),
        (json!({"port": 0, "secrets": [SECRET, short]}), "secret", 4),
    ] {
        let mut desktop = Desktop::greeted().await;
        desktop.refused(starting(start), code).await;
        let ended = desktop.ended().await;
        assert_eq!(ended.code, Some(exit), "{code}: {ended:?}");
        assert!(!ended.stderr.contains(SECRET) && !ended.stderr.contains(&short), "{}", ended.stderr);
    }
    // What is merely out of its bounds may be said again.
    let mut desktop = Desktop::greeted().await;
    let start = |members: Value| starting(json!({"settings": settings(members)}));
    for members in [json!({"call_seconds": 0}), json!({"question_seconds": 9}), json!({"question_seconds": 601})] {
        desktop.refused(start(members), "value").await;
    }
    let rule = json!({"id": "r", "application": CLIENT, "tool": "go", "agent": "any", "verdict": "deny",
        "fingerprint": null, "origin": null, "until": "always", "made": 1});
    let mut twice = start(json!({}));
    twice["memory"]["rules"] = json!([rule, rule]);
    desktop.refused(twice, "value").await;
    desktop.done(start(json!({"call_seconds": 1}))).await;
}

// holds: control-unread-gone
#[tokio::test]
async fn a_desktop_that_talks_and_never_reads_counts_as_gone() {
    let mut desktop = Desktop::start().await;
    let mut lines = 0;
    while desktop.try_line(r#"{"type":"resume","request":1000000}"#).await {
        lines += 1;
        assert!(lines < 100_000, "it takes in commands without an end");
    }
    assert_eq!(desktop.ended().await.code, Some(0));
}

// holds: control-not-a-command
#[tokio::test]
async fn a_line_that_is_no_command_does_nothing() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let long = |bytes: usize| format!(r#"{{"type":"pause","request":1{}}}"#, " ".repeat(bytes - 28));
    assert_eq!(long(100).len(), 100);
    let lines = [
        "",
        "nonsense",
        "[]",
        "5",
        "{}",
        r#"{"type":"pause"}"#,
        r#"{"request":5}"#,
        r#"{"type":"nonsense","request":5}"#,
        r#"{"type":"pause","request":-1}"#,
        r#"{"type":"set_mode","request":5,"application":"a b","mode":"ask","until":"quit"}"#,
        r#"{"type":"set_mode","request":5,"application":"a","mode":"allow"}"#,
        r#"{"type":"decide","request":5,"question":"x","fingerprint":"y","verdict":"allow"}"#,
        r#"{"type":"pause","request":5}}"#,
        "{\"type\":\"pause\",\"request\":5\r,\"x\":",
        &long(1_048_577),
        &long(5_000_000),
    ];
    for (at, line) in lines.into_iter().enumerate() {
        desktop.line(line).await;
        desktop.until(|desktop| desktop.errors.len() > at).await;
        assert_eq!(desktop.errors[at], "not_a_command", "{}", &line[..line.len().min(90)]);
    }
    let call = calling(&agent);
    let question = desktop.question().await;
    desktop.decide(&question, "allow", json!("nothing")).await;
    let sent = application.call().await;
    application.answer(&sent, DONE).await;
    assert_eq!(result(call).await["content"], json!([]));
    // A line as long as it may be is a command.
    desktop.line(&long(1_048_576).replace(r#""request":1"#, r#""request":0"#)).await;
    assert_eq!(desktop.reply(0).await, "done");
    assert_eq!(desktop.errors.len(), lines.len());
}

// holds: control-whole
#[tokio::test]
async fn what_is_left_out_or_misspelt_grants_nothing() {
    let mut desktop = Desktop::greeted().await;
    let mut errors = 0;
    for (member, wrong) in
        [("/memory/floors", None), ("/memory", None), ("/paused", Some("pausd")), ("/settings", None)]
    {
        let mut start = starting(json!({}));
        let (of, name) = member.rsplit_once('/').unwrap();
        let value = start.pointer_mut(of).unwrap().as_object_mut().unwrap().remove(name).unwrap();
        if let Some(wrong) = wrong {
            start[wrong] = value;
        }
        desktop.send(start).await;
        errors += 1;
        desktop.until(|desktop| desktop.errors.len() == errors).await;
    }
    desktop.done(starting(json!({}))).await;
    for command in [
        json!({"type": "allow_pair", "host": "H", "aplication": "notes"}),
        json!({"type": "allow_pair", "host": "H"}),
        json!({"type": "allow_pair", "host": "H", "application": "notes", "more": null}),
        json!({"type": "mint", "application": "a", "role": "agent", "label": "E", "secnds": 60}),
        json!({"type": "mint", "application": "a", "role": "agent", "label": "E"}),
        json!({"type": "mint", "application": "a", "role": "agent", "seconds": 60}),
        json!({"type": "unblock", "application": "a"}),
        json!({"type": "forget_pair", "host": "H"}),
        json!({"type": "decide", "question": "0".repeat(32), "fingerprint": "0".repeat(64), "verdict": "deny"}),
        json!({"type": "decide", "question": "0".repeat(32), "fingerprint": "0".repeat(64), "verdict": "deny",
            "also": {"remember": {"any_agent": false, "until": "always", "origin": "native"}}}),
        json!({"type": "pause", "now": true}),
    ] {
        desktop.send(command).await;
        errors += 1;
        desktop.until(|desktop| desktop.errors.len() == errors).await;
    }
    assert!(desktop.errors.iter().all(|code| code == "not_a_command"));
    let shown = desktop.snapshot(Value::is_object).await;
    assert_eq!((list(&shown, "pairs").len(), &shown["paused"]), (0, &json!(false)));
}

// holds: control-end
#[tokio::test]
async fn a_bridge_that_lost_its_desktop_ends_even_when_nothing_was_said() {
    for greeted in [false, true] {
        let mut desktop = if greeted { Desktop::greeted().await } else { Desktop::silent() };
        desktop.read().await;
        desktop.close();
        assert_eq!(desktop.ended().await.code, Some(0));
    }
}

// holds: control-try-tool, control-replies
#[tokio::test]
async fn the_persons_own_call_needs_no_question() {
    let desktop = &mut Desktop::start().await;
    let mine = |tool: &str, fingerprint: String, arguments: &str| json!({"type": "try_tool", "application": CLIENT, "tool": tool, "fingerprint": fingerprint, "arguments": arguments});
    let right = mine("getBalance", fingerprint(TOOL), r#"{"a":1e400}"#);
    let ends = async |desktop: &mut Desktop, command: &Value, outcome: Value| {
        let reply = desktop.ask(command.clone()).await;
        assert_eq!(reply["tried"]["outcome"], outcome, "{reply}");
        let entry = desktop.ended_call(&reply["tried"]["number"]).await;
        assert_eq!((&entry["outcome"], &entry["call"]["own"]), (&outcome, &json!(true)));
    };
    ends(desktop, &right, json!({"code": "offline"})).await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    desktop.refused(mine("getBalance", fingerprint("{}"), "{}"), "stale").await;
    for arguments in ["", "[]", "null", "{", "{}{}"] {
        desktop.refused(mine("getBalance", fingerprint(TOOL), arguments), "value").await;
    }
    ends(desktop, &mine("other", fingerprint(TOOL), "{}"), json!("unknown_tool")).await;
    desktop.done(json!({"type": "pause"})).await;
    ends(desktop, &right, json!({"code": "paused"})).await;
    desktop.done(json!({"type": "resume"})).await;
    let mode = |mode: &str| json!({"type": "set_mode", "application": CLIENT, "mode": mode, "until": "quit"});
    desktop.done(mode("block")).await;
    ends(desktop, &right, json!({"code": "blocked"})).await;
    desktop.done(mode("ask")).await;
    heard_nothing(&mut application).await;
    for (answer, outcome) in [(DONE, "answered"), (r#"{"content":[],"isError":true}"#, "failed")] {
        let request = desktop.send(right.clone()).await;
        let call = application.call().await;
        assert_eq!((call.name.as_str(), call.arguments.as_str()), ("getBalance", r#"{"a":1e400}"#));
        // Other commands are answered meanwhile.
        desktop.done(json!({"type": "resume"})).await;
        application.answer(&call, answer).await;
        let reply = desktop.reply(request).await;
        assert_eq!(reply["tried"]["outcome"], outcome, "{reply}");
        let text = json!({"of": "call", "number": reply["tried"]["number"], "part": "result"});
        assert_eq!(desktop.text(text).await.0, answer);
    }
    let request = desktop.send(right).await;
    application.call().await;
    drop(application);
    assert_eq!(desktop.reply(request).await["tried"]["outcome"], json!({"code": "disconnected"}));
}

// holds: control-settings
#[tokio::test]
async fn settings_take_effect_at_once() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let mut set =
        async |members: Value| desktop.ask(json!({"type": "set_settings", "settings": settings(members)})).await;
    for wrong in [
        json!({"call_seconds": 0}),
        json!({"call_seconds": 3_601}),
        json!({"question_seconds": 9}),
        json!({"question_seconds": 601}),
        json!({"allow_origins": ["null"]}),
        json!({"allow_origins": ["https://a.example/"]}),
    ] {
        assert_eq!(set(wrong.clone()).await["refused"]["code"], "value", "{wrong}");
    }
    let origin = "https://agent.example";
    agent.list().header("Origin", origin).send().await.refused_early(403);
    let right = json!({"allow_origins": [origin], "call_seconds": 1, "question_seconds": 600});
    assert_eq!(set(right.clone()).await, "done");
    assert_eq!(agent.list().header("Origin", origin).send().await.status, 200);
    let call = calling(&agent);
    let question = desktop.question().await;
    assert_eq!(question["ends"].as_u64().unwrap() - question["asked"].as_u64().unwrap(), 600_000);
    let snapshot = desktop.snapshot(|snapshot| snapshot["settings"]["call_seconds"] == 1).await;
    assert_eq!(snapshot["settings"], settings(right));
    desktop.decide(&question, "allow", json!("nothing")).await;
    application.call().await;
    perhaps_done(&result(call).await);
    assert_eq!(desktop.ended_call(&question["number"]).await["outcome"], json!({"code": "timeout"}));
}

// holds: control-snapshot, control-refused, control-disconnect
#[tokio::test]
async fn a_snapshot_shows_who_is_there_and_who_was_refused() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let snapshot = desktop.snapshot(|snapshot| snapshot["applications"][0]["registered"] == true).await;
    let head = &snapshot["applications"][0];
    for (name, expected) in [
        ("id", json!(CLIENT)),
        ("label", json!(null)),
        ("origin", json!("native")),
        ("tools", json!(1)),
        ("instructions_bytes", json!(0)),
        ("in_flight", json!(0)),
        ("unresponsive", json!(false)),
    ] {
        assert_eq!(head[name], expected, "{name} of {head}");
    }
    application.register(&TOOLS.replace("getBalance", "other")).await;
    let another = |snapshot: &Value| snapshot["applications"][0]["declaration"] != head["declaration"];
    desktop.snapshot(another).await;
    agent.list().header("Host", "evil.example").send().await.refused_early(403);
    agent.list().header("Origin", "https://evil.example").send().await.refused_early(403);
    Agent::new(desktop.port, "nonsense").list().send().await.refused_early(401);
    let mut refused = desktop.connect_as(&tokens::agent(CLIENT), &[]).await;
    assert_eq!(refused.closed().await.0, 4401);
    let refused = json!({"host": 1, "origin": 1, "token": 2, "client_origin": 0});
    desktop.snapshot(|snapshot| snapshot["refused"] == refused).await;
    desktop.refused(json!({"type": "disconnect", "application": "nobody"}), "not_found").await;
    desktop.done(json!({"type": "disconnect", "application": CLIENT})).await;
    assert_eq!(application.closed().await.0, 1001);
    desktop.snapshot(|snapshot| list(snapshot, "applications").is_empty()).await;
    let labelled = tokens::claiming(&format!(r#"{{"sub":"{CLIENT}","role":"client","label":"Browser"}}"#));
    let _again = desktop.connect_as(&labelled, &[]).await;
    let again = desktop.snapshot(|snapshot| !list(snapshot, "applications").is_empty()).await;
    assert_ne!(again["applications"][0]["connection"], head["connection"]);
    assert_eq!(again["applications"][0]["label"], json!("Browser"));
}

// holds: control-mint, control-sample
#[tokio::test]
async fn tokens_are_made_and_the_sample_runs() {
    let mut desktop = Desktop::start().await;
    let client = desktop.mint(CLIENT, "client", None).await;
    let mut application: Application = desktop.connect_as(&client, &[]).await;
    application.register(TOOLS).await;
    for label in [None, Some("Editor")] {
        let agent = Agent::new(desktop.port, &desktop.mint(CLIENT, "agent", label).await);
        let call = sending(agent.call("getBalance", "{}"));
        let question = desktop.question().await;
        assert_eq!(question["agent"], json!(label));
        desktop.decide(&question, "deny", json!("nothing")).await;
        nothing_done(&result(call).await, "declined");
    }
    let endless = json!({"type": "mint", "application": "a", "role": "agent", "label": null, "seconds": null});
    assert_eq!(desktop.ask(endless.clone()).await["token"]["ends"], Value::Null);
    let mut none = endless;
    none["seconds"] = json!(0);
    desktop.refused(none, "value").await;
    desktop.done(json!({"type": "sample_start"})).await;
    // It connects first, and declares its tools then.
    let sample = |head: &Value| head["id"] != CLIENT && head["tools"].as_u64() > Some(0);
    desktop.snapshot(|snapshot| list(snapshot, "applications").iter().any(sample)).await;
    desktop.done(json!({"type": "sample_stop"})).await;
    desktop.snapshot(|snapshot| list(snapshot, "applications").len() == 1).await;
}

// holds: control-unread, control-ring
#[tokio::test]
async fn a_desktop_that_does_not_read_slows_nobody() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let all = json!({"type": "set_mode", "application": CLIENT, "mode": "allow_all", "until": "quit"});
    desktop.done(all).await;
    let answering = tokio::spawn(async move {
        for _ in 0..2_000 {
            let call = application.call().await;
            application.answer(&call, DONE).await;
        }
        application
    });
    let mut connection = crate::support::http::Connection::open(agent.port()).await;
    for n in 0..2_000 {
        let request: Request = agent.call("getBalance", &format!(r#"{{"n":{n},"x":"{}"}}"#, "x".repeat(500)));
        assert_eq!(connection.send(&request).await.status, 200);
    }
    let _application = answering.await.unwrap();
    desktop
        .until(|desktop| desktop.finished.last().is_some_and(|entry| entry["call"]["number"].as_u64() >= Some(2_000)))
        .await;
    assert_eq!(desktop.finished.len() as u64 + desktop.missed, 2_000);
    assert!(desktop.missed > 0, "all was read");
    let numbers: Vec<_> = desktop.finished.iter().map(|entry| entry["call"]["number"].as_u64().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    // Of the last thousand the texts are there.
    let text = |number: u64| json!({"of": "call", "number": number, "part": "arguments"});
    let (last, _) = desktop.text(text(numbers[numbers.len() - 1])).await;
    assert!(last.starts_with(r#"{"n":1999,"#), "{last}");
    let oldest = numbers[numbers.len() - 1] - 999;
    assert!(desktop.text(text(oldest)).await.0.starts_with(r#"{"n":1000,"#));
    desktop.refused(json!({"type": "get", "text": text(oldest - 1), "offset": 0}), "not_found").await;
}

// holds: control-end, control-unread
#[tokio::test]
async fn a_desktop_that_does_not_read_cannot_keep_the_bridge() {
    let (mut desktop, _application, agent) = Desktop::scene().await;
    let rule = |n: usize| {
        json!({"id": n.to_string(), "application": "other", "tool": "t".repeat(100), "agent": "any", "verdict": "deny",
            "fingerprint": null, "origin": null, "until": "always", "made": 0})
    };
    let revision = desktop.snapshot(Value::is_object).await["rules_revision"].clone();
    let rules: Vec<_> = (0..1_000).map(rule).collect();
    // A snapshot of these is more than a pipe takes.
    desktop.send(json!({"type": "set_rules", "revision": revision, "rules": rules})).await;
    let mut waiting = agent.stream(&agent.call("getBalance", "{}")).await;
    desktop.close();
    nothing_done(&waiting.value().await["result"], "unattended");
    assert_eq!(desktop.ended().await.code, Some(0));
}
