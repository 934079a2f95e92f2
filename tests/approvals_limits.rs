//! What stands against a call before it is asked for, how many may be asked for, and how grants end
//! (`docs/protocol.md`, "Call outcomes", "Limits" and "Modes and rules").

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::support::{
    agent::Agent,
    application::Application,
    desktop::{DONE, Desktop, calling, fingerprint, list, nothing_done, result, sending},
    scene::{CLIENT, TOOLS, heard_nothing},
};

const TOOL: &str = r#"{"name":"getBalance","inputSchema":{"type":"object"}}"#;

fn mode(mode: &str) -> Value {
    json!({"type": "set_mode", "application": CLIENT, "mode": mode, "until": "quit"})
}

/// A rule for every agent, for the tool as it is and an application without an `Origin`.
fn rule(verdict: &str, until: &Value) -> Value {
    json!({"id": verdict, "application": CLIENT, "tool": "getBalance", "agent": "any", "verdict": verdict,
        "fingerprint": fingerprint(TOOL), "origin": "native", "until": until, "made": 0})
}

/// Replaces all rules, which the newest snapshot shows as they are.
async fn set_rules(desktop: &mut Desktop, rules: &[Value]) {
    let revision = desktop.snapshot(Value::is_object).await["rules_revision"].clone();
    desktop.done(json!({"type": "set_rules", "revision": revision, "rules": rules})).await;
    desktop.snapshot(|snapshot| snapshot["rules_revision"].as_u64() > revision.as_u64()).await;
}

/// The call is sent without a question.
async fn sent(agent: &Agent, application: &mut Application) {
    let called = calling(agent);
    let call = application.call().await;
    application.answer(&call, DONE).await;
    assert_eq!(result(called).await["content"], json!([]));
}

/// The call is asked for. It is declined then.
async fn asked(desktop: &mut Desktop, agent: &Agent) {
    let called = calling(agent);
    let question = desktop.question().await;
    desktop.decide(&question, "deny", json!("nothing")).await;
    nothing_done(&result(called).await, "declined");
}

/// The call ends at once, with this code.
async fn refused(agent: &Agent, code: &str) {
    nothing_done(&result(calling(agent)).await, code);
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis().try_into().unwrap()
}

// holds: approval-order, control-finished
#[tokio::test]
async fn of_all_that_stands_against_a_call_the_first_decides() {
    let (mut desktop, application, agent) = Desktop::scene().await;
    let mut application = Some(application);
    desktop.done(json!({"type": "pause"})).await;
    desktop.done(mode("block")).await;
    set_rules(&mut desktop, &[rule("deny", &json!("always"))]).await;
    drop(application.take());
    desktop.snapshot(|snapshot| list(snapshot, "applications").is_empty()).await;
    refused(&agent, "paused").await;
    desktop.done(json!({"type": "resume"})).await;
    refused(&agent, "blocked").await;
    desktop.done(mode("ask")).await;
    refused(&agent, "offline").await;
    let mut application = desktop.application(CLIENT, "[]").await;
    agent.call("getBalance", "{}").send().await.refused(200, -32602, Some("1"));
    application.register(TOOLS).await;
    refused(&agent, "declined").await;
    set_rules(&mut desktop, &[]).await;
    asked(&mut desktop, &agent).await;
    heard_nothing(&mut application).await;
    // Each has its entry, those too that were never asked for.
    desktop.until(|desktop| desktop.finished.len() == 6).await;
    let outcomes: Vec<_> = desktop.finished.iter().map(|entry| entry["outcome"].clone()).collect();
    let code = |code: &str| json!({"code": code});
    let unknown = json!("unknown_tool");
    let expected = [code("paused"), code("blocked"), code("offline"), unknown, code("declined"), code("declined")];
    assert_eq!(outcomes, expected);
}

// holds: limit-questions
#[tokio::test]
async fn too_many_open_questions_are_busy() {
    let (mut desktop, mut application, _) = Desktop::scene().await;
    let agents: Vec<_> = ["a", "b", "c", "d", "e"].map(|label| desktop.labelled(CLIENT, label)).into();
    let mut calls = Vec::new();
    for agent in &agents[..4] {
        calls.extend((0..8).map(|_| calling(agent)));
        desktop.questions(8).await;
        refused(agent, "busy").await;
    }
    refused(&agents[4], "busy").await;
    // Another application has its own.
    let _other = desktop.application("other", TOOLS).await;
    let stranger = desktop.agent("other");
    asked(&mut desktop, &stranger).await;
    let one = list(&desktop.newest, "questions").iter().find(|question| question["agent"] == "a").cloned().unwrap();
    desktop.decide(&one, "deny", json!("nothing")).await;
    calls.push(calling(&agents[4]));
    desktop.question().await;
    refused(&agents[0], "busy").await;
    desktop.done(json!({"type": "pause"})).await;
    let mut codes: Vec<_> = Vec::new();
    for call in calls {
        codes.push(result(call).await["structuredContent"]["reason"]["code"].as_str().unwrap().to_owned());
    }
    assert_eq!(codes.iter().filter(|code| *code == "declined").count(), 1);
    assert_eq!(codes.iter().filter(|code| *code == "paused").count(), 32);
    heard_nothing(&mut application).await;
}

// holds: approval-rule-ends, approval-modes
#[tokio::test]
async fn what_has_an_end_ends_by_itself() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let end = json!({"at": now() + 20_000});
    let rule = rule("allow", &end);
    set_rules(&mut desktop, &[rule]).await;
    sent(&agent, &mut application).await;
    desktop.snapshot(|snapshot| list(snapshot, "rules").is_empty()).await;
    assert!(now() >= end["at"].as_u64().unwrap(), "too early");
    asked(&mut desktop, &agent).await;
    desktop.until(|desktop| list(&desktop.memory, "rules").is_empty()).await;
    // What has ended is not taken back.
    let at = json!({"at": now() - 1_000});
    let modes = json!([{"application": CLIENT, "mode": "allow_all", "until": at}]);
    let blocked = json!([{"application": CLIENT, "label": null, "until": at}]);
    let memory = json!({"rules": [self::rule("allow", &at)], "modes": modes, "blocked": blocked});
    let mut desktop = Desktop::with(json!({"memory": memory})).await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let agent = desktop.agent(CLIENT);
    asked(&mut desktop, &agent).await;
    heard_nothing(&mut application).await;
}

// holds: control-try-tool, limit-calls
#[tokio::test]
async fn the_persons_own_call_passes_rules_and_no_limit() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let own = json!({"type": "try_tool", "application": CLIENT, "tool": "getBalance",
        "fingerprint": fingerprint(TOOL), "arguments": "{}"});
    set_rules(&mut desktop, &[rule("deny", &json!("always"))]).await;
    refused(&agent, "declined").await;
    let request = desktop.send(own.clone()).await;
    let call = application.call().await;
    application.answer(&call, DONE).await;
    assert_eq!(desktop.reply(request).await["tried"]["outcome"], "answered");
    set_rules(&mut desktop, &[]).await;
    desktop.done(mode("allow_all")).await;
    let mut calls = Vec::new();
    for _ in 0..64 {
        calls.push((calling(&agent), application.call().await));
    }
    assert_eq!(desktop.ask(own).await["tried"]["outcome"], json!({"code": "busy"}));
    heard_nothing(&mut application).await;
    for (called, call) in calls {
        application.answer(&call, DONE).await;
        result(called).await;
    }
}

// holds: approval-exact
#[tokio::test]
async fn calls_of_a_batch_are_asked_for_one_by_one() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let one = |id: u8| {
        agent
            .legacy_call("getBalance", &format!(r#"{{"n":{id}}}"#))
            .text()
            .replace(r#""id":1"#, &format!(r#""id":{id}"#))
    };
    let batch = agent.ping().body(format!("[{},{}]", one(1), one(2))).header("MCP-Protocol-Version", "2025-03-26");
    let called = sending(batch.header("Accept", "application/json"));
    for question in desktop.questions(2).await {
        let text = json!({"of": "question", "id": question["id"], "part": "arguments"});
        let allowed = desktop.text(text).await.0 == r#"{"n":2}"#;
        desktop.decide(&question, if allowed { "allow" } else { "deny" }, json!("nothing")).await;
    }
    let call = application.call().await;
    assert_eq!(call.arguments, r#"{"n":2}"#);
    application.answer(&call, DONE).await;
    let answers: Vec<Value> = serde_json::from_str(called.await.unwrap().text()).unwrap();
    assert_eq!(answers.len(), 2);
    for answer in answers {
        if answer["id"] == 2 {
            assert_eq!(answer["result"]["content"], json!([]));
        } else {
            nothing_done(&answer["result"], "declined");
        }
    }
    heard_nothing(&mut application).await;
}

// holds: approval-rule-decides-waiting
#[tokio::test]
async fn what_the_desktop_sets_decides_waiting_calls_too() {
    for command in ["set_mode", "set_rules"] {
        let (mut desktop, mut application, agent) = Desktop::scene().await;
        let (waiting, foreign) = (calling(&agent), sending(agent.call("getBalance", r#"{"n":2}"#)));
        desktop.questions(2).await;
        if command == "set_mode" {
            desktop.done(mode("allow_all")).await;
        } else {
            set_rules(&mut desktop, &[rule("allow", &json!("always"))]).await;
        }
        for _ in 0..2 {
            let call = application.call().await;
            application.answer(&call, DONE).await;
        }
        for call in [waiting, foreign] {
            assert_eq!(result(call).await["content"], json!([]), "{command}");
        }
    }
}
