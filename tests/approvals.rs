//! Questions: what is shown and asked, what an answer does, and how a waiting or sent call ends when something happens
//! meanwhile (`docs/protocol.md`, "Approvals").

use serde_json::{Value, json};

use crate::support::{
    agent::Agent,
    application::Application,
    desktop::{DONE, Desktop, calling, fingerprint, list, nothing_done, perhaps_done, result, sending, unanswered},
    scene::{CLIENT, TOOLS, heard_nothing},
    stream::cancelled,
};

const TOOL: &str = r#"{"name":"getBalance","inputSchema":{"type":"object"}}"#;
const OTHER: &str = r#"[{"name":"getBalance","description":"another","inputSchema":{"type":"object"}}]"#;

/// Everything that may happen to a call, by the code that it then ends with while it waits.
const EVENTS: [(&str, &str); 10] = [
    ("gone", "offline"),
    ("replaced", "changed"),
    ("registers another definition", "changed"),
    ("registers without the tool", "changed"),
    ("pause", "paused"),
    ("block", "blocked"),
    ("deny rule", "declined"),
    ("disconnect", "offline"),
    ("client tokens revoked", "offline"),
    ("a no", "declined"),
];

/// Makes one of the events happen.
async fn happens(event: &str, desktop: &mut Desktop, application: &mut Option<Application>, question: &Value) {
    let present = application.as_mut().expect("an application");
    match event {
        "gone" => drop(application.take()),
        "replaced" => *application = Some(desktop.application(CLIENT, TOOLS).await),
        "registers another definition" => present.register(OTHER).await,
        "registers without the tool" => present.register("[]").await,
        "pause" => desktop.done(json!({"type": "pause"})).await,
        "block" => desktop.done(mode("block")).await,
        "deny rule" => {
            let rules = json!([{"id": "no", "application": CLIENT, "tool": "getBalance", "agent": "any",
                "verdict": "deny", "fingerprint": null, "origin": null, "until": "always", "made": 0}]);
            let revision = desktop.snapshot(Value::is_object).await["rules_revision"].clone();
            desktop.done(json!({"type": "set_rules", "revision": revision, "rules": rules})).await;
        }
        "disconnect" => desktop.done(json!({"type": "disconnect", "application": CLIENT})).await,
        "client tokens revoked" => {
            desktop.done(json!({"type": "revoke", "application": CLIENT, "role": "client", "which": "all"})).await;
        }
        "a no" => desktop.decide(question, "deny", json!("nothing")).await,
        _ => unreachable!("{event}"),
    }
}

fn mode(mode: &str) -> Value {
    json!({"type": "set_mode", "application": CLIENT, "mode": mode, "until": "quit"})
}

// holds: approval-question, approval-allow, approval-exact, control-snapshot, control-finished
#[tokio::test]
async fn an_allowed_call_is_sent_as_it_was_shown() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let arguments = r#"{"z":1e400, "a":0.10,"a":"\u0061"}"#;
    for request in [agent.call("getBalance", arguments), agent.legacy_call("getBalance", arguments)] {
        let call = sending(request);
        let question = desktop.question().await;
        for (name, expected) in [
            ("application", json!(CLIENT)),
            ("origin", json!("native")),
            ("tool", json!("getBalance")),
            ("fingerprint", json!(fingerprint(TOOL))),
            ("title", Value::Null),
            ("agent", Value::Null),
            ("arguments_bytes", json!(arguments.len())),
            ("tool_bytes", json!(TOOL.len())),
        ] {
            assert_eq!(question[name], expected, "{name} of {question}");
        }
        let (asked, ends) = (question["asked"].as_u64().unwrap(), question["ends"].as_u64().unwrap());
        assert_eq!(ends - asked, 120_000);
        let calls = list(&desktop.newest, "calls").to_vec();
        let waiting = calls.iter().find(|call| call["number"] == question["number"]).expect("the call");
        assert_eq!((&waiting["sent"], &waiting["own"]), (&Value::Null, &json!(false)));
        heard_nothing(&mut application).await;
        desktop.decide(&question, "allow", json!("nothing")).await;
        let sent = application.call().await;
        assert_eq!((sent.name.as_str(), sent.arguments.as_str()), ("getBalance", arguments));
        application.answer(&sent, DONE).await;
        assert_eq!(result(call).await["content"], json!([]));
        let ended = desktop.ended_call(&question["number"]).await;
        assert_eq!((&ended["outcome"], &ended["result_bytes"]), (&json!("answered"), &json!(DONE.len())));
        assert!(ended["call"]["sent"].is_u64(), "{ended}");
        desktop.gone(&question).await;
    }
}

// holds: approval-declined, outcome-structured
#[tokio::test]
async fn a_no_declines_in_both_eras() {
    let desktop = &mut Desktop::start().await;
    let typed = r#"{"name":"typed","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}"#;
    let mut application = desktop.application(CLIENT, &format!("[{TOOL},{typed}]")).await;
    let agent = desktop.agent(CLIENT);
    for (name, structured) in [("getBalance", true), ("typed", false)] {
        for request in [agent.call(name, "{}"), agent.legacy_call(name, "{}")] {
            let call = sending(request);
            let question = desktop.question().await;
            desktop.decide(&question, "deny", json!("nothing")).await;
            let declined = result(call).await;
            nothing_done(&declined, "declined");
            assert_eq!(declined.get("structuredContent").is_some(), structured, "{declined}");
            let ended = desktop.ended_call(&question["number"]).await;
            assert_eq!((&ended["outcome"], &ended["call"]["sent"]), (&json!({"code": "declined"}), &Value::Null));
        }
    }
    heard_nothing(&mut application).await;
}

// holds: approval-unanswered, approval-used-once
#[tokio::test]
async fn a_question_that_nobody_answers_ends_and_stays_ended() {
    let settings = json!({"client_origins": "any", "allow_origins": [], "call_seconds": 120, "question_seconds": 10});
    let mut desktop = Desktop::with(json!({"settings": settings})).await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let call = calling(&desktop.agent(CLIENT));
    let question = desktop.question().await;
    assert_eq!(question["ends"].as_u64().unwrap() - question["asked"].as_u64().unwrap(), 10_000);
    nothing_done(&result(call).await, "unanswered");
    desktop.closed(&question).await;
    heard_nothing(&mut application).await;
    assert_eq!(desktop.ended_call(&question["number"]).await["outcome"], json!({"code": "unanswered"}));
}

// holds: approval-used-once, approval-fingerprint
#[tokio::test]
async fn an_answer_counts_once_and_for_one_definition() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let call = calling(&agent);
    let question = desktop.question().await;
    let mut unknown = question.clone();
    unknown["id"] = json!("0".repeat(32));
    let mut foreign = question.clone();
    foreign["fingerprint"] = json!(fingerprint(OTHER));
    for wrong in [&unknown, &foreign] {
        desktop.closed(wrong).await;
    }
    heard_nothing(&mut application).await;
    desktop.decide(&question, "allow", json!("nothing")).await;
    let sent = application.call().await;
    desktop.closed(&question).await;
    heard_nothing(&mut application).await;
    application.answer(&sent, DONE).await;
    result(call).await;
    // It was an answer to that call alone.
    let next = calling(&agent);
    let another = desktop.question().await;
    assert_ne!(another["id"], question["id"]);
    desktop.closed(&question).await;
    heard_nothing(&mut application).await;
    desktop.decide(&another, "deny", json!("nothing")).await;
    nothing_done(&result(next).await, "declined");
}

// holds: approval-exact
#[tokio::test]
async fn each_call_has_its_own_question() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let calls: Vec<_> = (0..5).map(|n| sending(agent.call("getBalance", &format!(r#"{{"n":{n}}}"#)))).collect();
    let questions = desktop.questions(5).await;
    for question in &questions {
        let text = json!({"of": "question", "id": question["id"], "part": "arguments"});
        let (shown, _) = desktop.text(text).await;
        if shown == r#"{"n":3}"# {
            desktop.decide(question, "allow", json!("nothing")).await;
            let call = application.call().await;
            assert_eq!(call.arguments, shown);
            application.answer(&call, DONE).await;
        } else {
            desktop.decide(question, "deny", json!("nothing")).await;
        }
    }
    for (n, call) in calls.into_iter().enumerate() {
        let result = result(call).await;
        if n == 3 { assert_eq!(result["content"], json!([])) } else { nothing_done(&result, "declined") }
    }
    heard_nothing(&mut application).await;
}

// holds: approval-waiting-events
#[tokio::test]
async fn what_happens_while_a_call_waits_ends_it() {
    for (event, code) in EVENTS {
        let (mut desktop, application, agent) = Desktop::scene().await;
        let mut application = Some(application);
        let call = calling(&agent);
        let question = desktop.question().await;
        happens(event, &mut desktop, &mut application, &question).await;
        let ended = result(call).await;
        assert_eq!(ended["_meta"][crate::support::desktop::OUTCOME]["reason"]["code"], code, "{event}: {ended}");
        nothing_done(&ended, code);
        desktop.closed(&question).await;
        desktop.gone(&question).await;
        let entry = desktop.ended_call(&question["number"]).await;
        assert_eq!(entry["outcome"], json!({"code": code}), "{event}");
        if let (Some(mut application), true) = (application, !["disconnect", "client tokens revoked"].contains(&event))
        {
            heard_nothing(&mut application).await;
        }
    }
}

// holds: approval-same-definition
#[tokio::test]
async fn the_same_definition_again_keeps_the_question() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let call = calling(&agent);
    let question = desktop.question().await;
    application.register(TOOLS).await;
    application.register(&format!(r#"[{{"name":"more","inputSchema":{{"type":"object"}}}},{TOOL}]"#)).await;
    application.send(format!(r#"{{"type":"register","instructions":"new","tools":{TOOLS}}}"#)).await;
    assert_eq!(application.text().await, r#"{"type":"registered"}"#);
    desktop.decide(&question, "allow", json!("nothing")).await;
    let sent = application.call().await;
    application.answer(&sent, DONE).await;
    assert_eq!(result(call).await["content"], json!([]));
}

// holds: approval-sent-events
#[tokio::test]
async fn what_happens_after_a_call_was_sent_leaves_it_alone() {
    for (event, _) in EVENTS {
        let (mut desktop, application, agent) = Desktop::scene().await;
        let mut application = Some(application);
        let call = calling(&agent);
        let question = desktop.question().await;
        desktop.decide(&question, "allow", json!("nothing")).await;
        let sent = application.as_mut().unwrap().call().await;
        if event == "a no" {
            // It comes too late.
            desktop.closed(&question).await;
        } else {
            happens(event, &mut desktop, &mut application, &question).await;
        }
        if ["gone", "replaced", "disconnect", "client tokens revoked"].contains(&event) {
            perhaps_done(&result(call).await);
            let entry = desktop.ended_call(&question["number"]).await;
            assert_eq!(entry["outcome"], json!({"code": "disconnected"}), "{event}");
        } else {
            let mut application = application.unwrap();
            heard_nothing(&mut application).await;
            application.answer(&sent, DONE).await;
            assert_eq!(result(call).await["content"], json!([]), "{event}");
        }
    }
}

/// A call of the legacy era that can be cancelled.
fn cancellable(agent: &Agent) -> crate::support::http::Request {
    agent.legacy_call("getBalance", "{}").header("Mcp-Session-Id", "s")
}

async fn cancel(agent: &Agent) {
    let body = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    agent.ping().body(body).header("Mcp-Session-Id", "s").send().await.accepted();
}

// holds: approval-withdrawn
#[tokio::test]
async fn an_agent_that_goes_away_takes_its_question_with_it() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    for (request, notified) in [
        (agent.call("getBalance", "{}"), false),
        (agent.legacy_call("getBalance", "{}"), false),
        (agent.legacy_call("getBalance", "{}").header("Accept", "application/json"), false),
        (cancellable(&agent), true),
    ] {
        let sent = agent.sent(&request).await;
        let question = desktop.question().await;
        if notified {
            cancel(&agent).await;
            sent.stream().await.ended().await;
        } else {
            drop(sent);
        }
        desktop.gone(&question).await;
        desktop.closed(&question).await;
        assert_eq!(desktop.ended_call(&question["number"]).await["outcome"], json!({"code": "cancelled"}));
        // Of what was never sent, nothing is taken back.
        heard_nothing(&mut application).await;
    }
}

// holds: approval-sent-hang-up
#[tokio::test]
async fn an_agent_that_goes_away_after_the_yes_is_as_without_a_desktop() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    for (request, kind) in [
        (agent.call("getBalance", "{}"), "modern"),
        (cancellable(&agent), "notified"),
        (agent.legacy_call("getBalance", "{}"), "legacy"),
    ] {
        let sent = agent.sent(&request).await;
        let question = desktop.question().await;
        desktop.decide(&question, "allow", json!("nothing")).await;
        let call = application.call().await;
        if kind == "notified" {
            cancel(&agent).await;
            sent.stream().await.ended().await;
        } else {
            drop(sent);
        }
        if kind == "legacy" {
            heard_nothing(&mut application).await;
            application.answer(&call, DONE).await;
        } else {
            cancelled(&mut application, &call).await;
        }
        let outcome = desktop.ended_call(&question["number"]).await["outcome"].clone();
        assert_eq!(outcome, if kind == "legacy" { json!("answered") } else { json!({"code": "cancelled"}) }, "{kind}");
    }
}

// holds: approval-shutdown, control-end
#[tokio::test]
async fn when_the_desktop_goes_waiting_calls_are_unattended() {
    for way in ["shutdown", "end of stdin", "TERM"] {
        let (mut desktop, mut application, agent) = Desktop::scene().await;
        let sent = agent.sent(&agent.call("getBalance", r#"{"sent":1}"#)).await;
        let question = desktop.question().await;
        desktop.decide(&question, "allow", json!("nothing")).await;
        application.call().await;
        let waiting = calling(&agent);
        desktop.question().await;
        match way {
            "shutdown" => drop(desktop.send(json!({"type": "shutdown"})).await),
            "end of stdin" => desktop.close(),
            _ => desktop.signal(way).await,
        }
        let waiting = waiting.await.unwrap_or_else(|_| panic!("{way}: no answer"));
        nothing_done(&waiting.result_value(), "unattended");
        assert_eq!(application.closed().await.0, 1001, "{way}");
        unanswered(sent).await;
        let ended = desktop.ended().await;
        assert_eq!(ended.code, Some(0), "{way}: {ended:?}");
    }
}
