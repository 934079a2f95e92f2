//! Pairs at the local door, and what is given to them: `docs/protocol.md`, "Pairs".

use std::sync::Arc;

use serde_json::{Value, json};

use super::support::{
    agent::Agent,
    desktop::{DONE, Desktop, calling, door_questions, fingerprint, list, nothing_done, result, starting, unanswered},
    host::{Door, assert_refused, legacy, wants_mcp},
    scene::{CLIENT, TOOLS, answered},
    serve::run_in,
    stream::cancelled,
    tokens,
};

// holds: door-pair-question, door-pair-remembered
#[tokio::test]
async fn an_unknown_host_is_asked_about_once() {
    let mut desktop = Desktop::door().await;
    let runtime = Arc::clone(&desktop.runtime);
    let mut first = Door::hello(runtime.path(), wants_mcp("Editor")).await;
    assert_eq!(first.value().await["say"], "asking");
    let asked = desktop.door_question().await;
    assert_eq!(asked["wants"], json!({"pair": {"host": "Editor", "application": CLIENT}}));
    assert_eq!(asked["program"]["pid"], std::process::id());
    let myself = std::env::current_exe().unwrap();
    assert_eq!(asked["program"]["path"], myself.to_str().unwrap());
    assert!(asked["program"]["parent"].is_string() && asked["ends"].as_u64() > asked["asked"].as_u64(), "{asked}");
    // A second instance joins the same question.
    let mut second = Door::hello(runtime.path(), wants_mcp("Editor")).await;
    assert_eq!(second.value().await["say"], "asking");
    desktop.decide_door(&asked, "allow").await;
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
    assert_eq!(door_questions(&desktop.newest), 0);
}

// holds: door-pair-declined, door-pair-commands
#[tokio::test]
async fn a_host_that_was_turned_away_stays_out_until_the_person_lets_it_in() {
    let mut desktop = Desktop::door().await;
    let runtime = Arc::clone(&desktop.runtime);
    let mut door = Door::hello(runtime.path(), wants_mcp("Editor")).await;
    assert_eq!(door.value().await["say"], "asking");
    let asked = desktop.door_question().await;
    desktop.decide_door(&asked, "deny").await;
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
    let asked = desktop.door_question().await;
    desktop.decide_door(&asked, "deny").await;
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
    desktop.door_question().await;
    drop(door);
    desktop.snapshot(|snapshot| door_questions(snapshot) == 0).await;
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
    nothing_done(&result, "paused");
    // A call that waits when the bridge ends is answered.
    desktop.done(json!({"type": "resume"})).await;
    let ruled = desktop.snapshot(|snapshot| snapshot["rules"].as_array().is_some_and(|rules| !rules.is_empty())).await;
    desktop.done(json!({"type": "set_rules", "revision": ruled["rules_revision"], "rules": []})).await;
    door.send(&legacy(9, "tools/call", &json!({"name": "getBalance"}))).await;
    desktop.question().await;
    desktop.close();
    nothing_done(&door.result().await, "unattended");
    assert_eq!(door.next().await, None);
}

// holds: approval-via
#[tokio::test]
async fn it_is_told_whether_an_agent_came_with_a_token_or_by_the_door() {
    let mut desktop = Desktop::door_allowing(&["Editor"]).await;
    desktop.done(json!({"type": "set_mode", "application": CLIENT, "mode": "ask", "until": "always"})).await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    // The same name, by both ways.
    let mut door = Door::mcp(desktop.runtime.path(), "Editor", CLIENT).await;
    door.send(&legacy(1, "tools/call", &json!({"name": "getBalance"}))).await;
    let by_door = desktop.question().await;
    let called = calling(&desktop.labelled(CLIENT, "Editor"));
    let by_token = desktop.question().await;
    for (question, via) in [(&by_door, "door"), (&by_token, "token")] {
        assert_eq!((&question["agent"], &question["via"]), (&json!("Editor"), &json!(via)));
        let calls = list(&desktop.newest, "calls");
        let call = calls.iter().find(|call| call["number"] == question["number"]).expect("it is under way");
        assert_eq!(call["via"], via);
    }
    for (question, via) in [(&by_door, "door"), (&by_token, "token")] {
        desktop.decide(question, "deny", json!("nothing")).await;
        assert_eq!(desktop.ended_call(&question["number"]).await["call"]["via"], via);
    }
    nothing_done(&result(called).await, "declined");
    // The person's own call came by neither.
    let tools = desktop.text(json!({"of": "application", "id": CLIENT, "part": "tools"})).await.0;
    let own = json!({"type": "try_tool", "application": CLIENT, "tool": "getBalance",
        "fingerprint": fingerprint(&tools[1..tools.len() - 1]), "arguments": "{}"});
    let request = desktop.send(own).await;
    let call = application.call().await;
    application.answer(&call, DONE).await;
    let number = desktop.reply(request).await["tried"]["number"].clone();
    let ended = desktop.ended_call(&number).await;
    assert_eq!((&ended["call"]["via"], &ended["call"]["own"]), (&Value::Null, &json!(true)));
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
    desktop.snapshot(|snapshot| door_questions(snapshot) == 16).await;
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
        desktop.refused(starting(memory), "value").await;
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
    let claims = tokens::payload(token);
    assert_eq!(
        (&claims["sub"], &claims["role"], &claims["label"]),
        (&json!(CLIENT), &json!("agent"), &json!("Editor"))
    );
    let end = (claims["iat"].as_f64().unwrap() + 3_600.0).floor();
    assert_eq!(claims["exp"].to_string(), end.to_string());
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let agent = Agent::new(desktop.port, token);
    let (call, response) = answered(&agent.call("getBalance", "{}"), &mut application, DONE).await;
    assert_eq!((call.name.as_str(), response.status), ("getBalance", 200));
    // Not for another port, and not for who was not let in.
    let other = run_in(runtime.path(), &["headers", "--host", "Editor", "--app", CLIENT, "--port", "9"]).await;
    assert_eq!((other.code, other.stdout.as_str()), (Some(1), ""));
    assert!(other.stderr.contains("another port"), "{}", other.stderr);
    let asking = tokio::spawn({
        let runtime = Arc::clone(&runtime);
        async move { run_in(runtime.path(), &["headers", "--host", "Other", "--app", CLIENT]).await }
    });
    let asked = desktop.door_question().await;
    assert_eq!(asked["wants"], json!({"pair": {"host": "Other", "application": CLIENT}}));
    desktop.decide_door(&asked, "deny").await;
    let refused = asking.await.unwrap();
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    assert!(refused.stderr.contains("does not let this program in"), "{}", refused.stderr);
}

// holds: door-headers-pair
#[tokio::test]
async fn a_token_of_headers_ends_with_its_pair_and_does_not_come_back() {
    async fn headers(desktop: &Desktop) -> Agent {
        let ended = run_in(desktop.runtime.path(), &["headers", "--host", "Editor", "--app", CLIENT]).await;
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let headers: Value = serde_json::from_str(&ended.stdout).unwrap();
        Agent::new(desktop.port, headers["Authorization"].as_str().unwrap().strip_prefix("Bearer ").unwrap())
    }
    let mut desktop = Desktop::door().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let pair = |kind: &str| json!({"type": kind, "host": "Editor", "application": CLIENT});
    desktop.done(pair("allow_pair")).await;
    let mine = Agent::new(desktop.port, &desktop.mint(CLIENT, "agent", Some("Editor")).await);
    let given = headers(&desktop).await;
    // A call under way of each, a waiting one and a sent one.
    let sent = given.sent(&given.call("getBalance", "{}")).await;
    let question = desktop.question().await;
    desktop.decide(&question, "allow", json!("nothing")).await;
    let call = application.call().await;
    let waiting = given.sent(&given.legacy_call("getBalance", "{}")).await;
    let question = desktop.question().await;
    let other = mine.sent(&mine.call("getBalance", "{}")).await;
    let kept = desktop.question().await;
    let mut listening = given.listening().await;
    desktop.done(pair("forget_pair")).await;
    cancelled(&mut application, &call).await;
    unanswered(sent).await;
    unanswered(waiting).await;
    listening.ended().await;
    desktop.closed(&question).await;
    given.list().send().await.refused_early(401);
    // What the person made by hand goes on.
    desktop.decide(&kept, "deny", json!("nothing")).await;
    assert!(other.answer().await.expect("an answer").rest().await.contains("declined"));
    assert_eq!(mine.list().send().await.status, 200);
    // Let in anew it is another matter, also after a restart.
    desktop.done(pair("allow_pair")).await;
    given.list().send().await.refused_early(401);
    let newer = headers(&desktop).await;
    assert_eq!(newer.list().send().await.status, 200);
    desktop.until(|desktop| !desktop.memory["pairs"].as_array().unwrap().is_empty()).await;
    let (memory, runtime) = (desktop.memory.clone(), Arc::clone(&desktop.runtime));
    desktop.close();
    desktop.ended().await;
    let mut desktop = Desktop::with_in(&runtime, json!({"memory": memory})).await;
    let (newer, given) = (Agent::new(desktop.port, newer.token()), Agent::new(desktop.port, given.token()));
    assert_eq!(newer.list().send().await.status, 200);
    given.list().send().await.refused_early(401);
    desktop.done(pair("forget_pair")).await;
    newer.list().send().await.refused_early(401);
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
        let asked = desktop.door_question().await;
        let wanted = json!({"application": CLIENT, "role": "agent", "label": "Editor", "seconds": 3600});
        assert_eq!(asked["wants"], json!({"token": wanted}));
        desktop.decide_door(&asked, verdict).await;
        let printed = asking.await.unwrap();
        assert_eq!((printed.code, printed.stdout.is_empty()), (Some(code), verdict == "deny"), "{}", printed.stderr);
        assert!(printed.stderr.contains("answer the question in the ClientMCP app"), "{}", printed.stderr);
        if verdict == "allow" {
            assert!(printed.stderr.contains("valid until"), "{}", printed.stderr);
            let agent = Agent::new(desktop.port, printed.stdout.trim_end());
            assert_eq!(agent.legacy_list().send().await.status, 200);
        }
        desktop.snapshot(|snapshot| door_questions(snapshot) == 0).await;
    }
    let generation = run_in(runtime.path(), &["token", CLIENT, "--role=agent", "--gen=1"]).await;
    assert_eq!((generation.code, generation.stdout.as_str()), (Some(2), ""));
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
    let asked = desktop.door_question().await;
    assert_eq!(asked["wants"], json!({"pair": {"host": "Unknown", "application": null}}));
}
