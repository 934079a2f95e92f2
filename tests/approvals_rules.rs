//! Modes, rules and blocks: which calls are asked for, and what comes first (`docs/protocol.md`, "Modes and rules").

use serde_json::{Value, json};

use crate::support::{
    agent::Agent,
    application::Application,
    desktop::{DONE, Desktop, calling, decision, fingerprint, list, nothing_done, result, sending},
    scene::{CLIENT, TOOLS, heard_nothing},
};

const TOOL: &str = r#"{"name":"getBalance","inputSchema":{"type":"object"}}"#;
const CHANGED: &str = r#"{"name":"getBalance","description":"another","inputSchema":{"type":"object"}}"#;

fn remember(any_agent: bool, until: &str) -> Value {
    json!({"remember": {"any_agent": any_agent, "until": until}})
}

fn mode(mode: &str, until: Value) -> Value {
    let mut command = json!({"type": "set_mode", "application": CLIENT, "mode": mode});
    command["until"] = until;
    command
}

/// A rule for every agent, for the tool as it is and an application without an `Origin`.
fn rule(id: &str, verdict: &str) -> Value {
    json!({"id": id, "application": CLIENT, "tool": "getBalance", "agent": "any", "verdict": verdict,
        "fingerprint": fingerprint(TOOL), "origin": "native", "until": "always", "made": 0})
}

/// Replaces all rules.
async fn set_rules(desktop: &mut Desktop, rules: Value) {
    // The newest revision may not have been read yet; a refusal changes nothing.
    let mut revision = desktop.snapshot(Value::is_object).await["rules_revision"].as_u64().unwrap();
    loop {
        let reply = desktop.ask(json!({"type": "set_rules", "revision": revision, "rules": rules})).await;
        if reply == "done" {
            return;
        }
        assert_eq!(reply["refused"]["code"], "stale", "{reply}");
        let seen = revision;
        let newer = |snapshot: &Value| snapshot["rules_revision"].as_u64() > Some(seen);
        revision = desktop.snapshot(newer).await["rules_revision"].as_u64().unwrap();
    }
}

/// The call is sent without a question.
async fn sent(agent: &Agent, application: &mut Application) {
    let called = calling(agent);
    let call = application.call().await;
    application.answer(&call, DONE).await;
    assert_eq!(result(called).await["content"], json!([]));
}

/// The call is asked for. It is declined then.
async fn asked(desktop: &mut Desktop, agent: &Agent) -> Value {
    let called = calling(agent);
    let question = desktop.question().await;
    desktop.decide(&question, "deny", json!("nothing")).await;
    nothing_done(&result(called).await, "declined");
    question
}

/// The call ends at once, with this code.
async fn refused(agent: &Agent, code: &str) {
    nothing_done(&result(calling(agent)).await, code);
}

/// Lets a call through, or not, and remembers it.
async fn decided(
    desktop: &mut Desktop,
    agent: &Agent,
    application: &mut Application,
    verdict: &str,
    also: Value,
) -> Value {
    let called = calling(agent);
    let question = desktop.question().await;
    desktop.decide(&question, verdict, also).await;
    if verdict == "allow" {
        let call = application.call().await;
        application.answer(&call, DONE).await;
    }
    result(called).await;
    question
}

// holds: approval-allow-rule, approval-definition
#[tokio::test]
async fn an_allow_rule_fits_one_agent_one_definition_one_origin() {
    let settings = json!({"client_origins": "any", "allow_origins": [], "call_seconds": 9, "question_seconds": 99});
    let desktop = &mut Desktop::with(json!({"settings": settings})).await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let (editor, other) = (desktop.labelled(CLIENT, "Editor"), desktop.labelled(CLIENT, "Other"));
    let unlabelled = desktop.agent(CLIENT);
    assert_eq!(asked(desktop, &editor).await["definition"], "new");
    decided(desktop, &editor, &mut application, "allow", remember(false, "always")).await;
    sent(&editor, &mut application).await;
    for stranger in [&other, &unlabelled] {
        assert_eq!(asked(desktop, stranger).await["definition"], "seen");
    }
    // The same definition on another connection is fine, another definition is not, nor is another origin.
    drop(application);
    let mut application = desktop.application(CLIENT, &format!("[ {TOOL} ]")).await;
    sent(&editor, &mut application).await;
    application.register(&format!("[{CHANGED}]")).await;
    assert_eq!(asked(desktop, &editor).await["definition"], "changed");
    let mut elsewhere = desktop.connect(CLIENT, &["Origin: https://wallet.example"]).await;
    elsewhere.register(TOOLS).await;
    assert_eq!(asked(desktop, &editor).await["origin"], "https://wallet.example");
    // For everybody, where the person said so.
    decided(desktop, &editor, &mut elsewhere, "allow", remember(true, "quit")).await;
    for agent in [&editor, &other, &unlabelled] {
        sent(agent, &mut elsewhere).await;
    }
}

// holds: approval-deny-rule
#[tokio::test]
async fn a_deny_rule_fits_every_definition_and_origin() {
    let settings = json!({"client_origins": "any", "allow_origins": [], "call_seconds": 9, "question_seconds": 99});
    let desktop = &mut Desktop::with(json!({"settings": settings})).await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    let (editor, other) = (desktop.labelled(CLIENT, "Editor"), desktop.labelled(CLIENT, "Other"));
    decided(desktop, &editor, &mut application, "deny", remember(false, "always")).await;
    let rules = desktop.snapshot(|snapshot| list(snapshot, "rules").len() == 1).await["rules"].clone();
    for (name, expected) in [
        ("agent", json!({"one": "Editor"})),
        ("verdict", json!("deny")),
        ("fingerprint", Value::Null),
        ("origin", Value::Null),
        ("until", json!("always")),
    ] {
        assert_eq!(rules[0][name], expected, "{rules}");
    }
    refused(&editor, "declined").await;
    application.register(&format!("[{CHANGED}]")).await;
    refused(&editor, "declined").await;
    let mut elsewhere = desktop.connect(CLIENT, &["Origin: https://wallet.example"]).await;
    elsewhere.register(TOOLS).await;
    refused(&editor, "declined").await;
    // It denies even where the mode allows.
    desktop.done(mode("allow_all", json!("quit"))).await;
    refused(&editor, "declined").await;
    sent(&other, &mut elsewhere).await;
    heard_nothing(&mut elsewhere).await;
}

// holds: approval-rule-decides-waiting
#[tokio::test]
async fn a_remembered_answer_decides_the_waiting_calls_that_fit() {
    for (verdict, any_agent) in [("allow", false), ("allow", true), ("deny", false), ("deny", true)] {
        let desktop = &mut Desktop::start().await;
        let more = r#"{"name":"more","inputSchema":{"type":"object"}}"#;
        let mut application = desktop.application(CLIENT, &format!("[{TOOL},{more}]")).await;
        let (editor, other) = (desktop.labelled(CLIENT, "Editor"), desktop.labelled(CLIENT, "Other"));
        let first = calling(&editor);
        let question = desktop.question().await;
        let (same, foreign) = (calling(&editor), calling(&other));
        let another = sending(editor.call("more", "{}"));
        let waiting = desktop.questions(3).await;
        desktop.decide(&question, verdict, remember(any_agent, "always")).await;
        let mut fit = vec![first, same];
        let mut open = vec![another];
        if any_agent {
            fit.push(foreign);
        } else {
            open.push(foreign);
        }
        if verdict == "allow" {
            for _ in 0..fit.len() {
                let call = application.call().await;
                assert_eq!(call.name, "getBalance");
                application.answer(&call, DONE).await;
            }
        }
        for call in fit {
            let result = result(call).await;
            if verdict == "allow" {
                assert_eq!(result["content"], json!([]));
            } else {
                nothing_done(&result, "declined");
            }
        }
        heard_nothing(&mut application).await;
        let mut left = 0;
        for question in &waiting {
            let reply = desktop.ask(decision(question, "deny", json!("nothing"))).await;
            left += usize::from(reply == "done");
        }
        assert_eq!(left, open.len(), "{verdict} {any_agent}");
        for call in open {
            nothing_done(&result(call).await, "declined");
        }
    }
}

// holds: approval-block-agent
#[tokio::test]
async fn a_blocked_agent_is_refused_until_it_is_unblocked() {
    let (mut desktop, mut application, _) = Desktop::scene().await;
    let (editor, other) = (desktop.labelled(CLIENT, "Editor"), desktop.labelled(CLIENT, "Other"));
    let first = calling(&editor);
    let question = desktop.question().await;
    desktop.refused(decision(&question, "allow", json!("block_agent")), "value").await;
    let (second, foreign) = (calling(&editor), calling(&other));
    let waiting = desktop.questions(2).await;
    desktop.decide(&question, "deny", json!("block_agent")).await;
    nothing_done(&result(first).await, "declined");
    nothing_done(&result(second).await, "blocked");
    refused(&editor, "blocked").await;
    let blocked = desktop.snapshot(|snapshot| !list(snapshot, "blocked").is_empty()).await["blocked"].clone();
    assert_eq!((&blocked[0]["application"], &blocked[0]["label"]), (&json!(CLIENT), &json!("Editor")));
    let minutes = (blocked[0]["until"]["at"].as_u64().unwrap() - question["asked"].as_u64().unwrap()) / 60_000;
    assert!((15..=17).contains(&minutes), "{blocked}");
    assert!(list(&desktop.newest, "rules").is_empty(), "a rule was made");
    for question in waiting.iter().filter(|question| question["agent"] == "Other") {
        desktop.decide(question, "deny", json!("nothing")).await;
    }
    nothing_done(&result(foreign).await, "declined");
    desktop.done(json!({"type": "unblock", "application": CLIENT, "label": "Editor"})).await;
    asked(&mut desktop, &editor).await;
    heard_nothing(&mut application).await;
}

// holds: approval-modes
#[tokio::test]
async fn each_mode_does_what_it_says() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    desktop.refused(mode("allow_all", json!("always")), "value").await;
    asked(&mut desktop, &agent).await;
    desktop.done(mode("allow_all", json!("quit"))).await;
    sent(&agent, &mut application).await;
    let others = desktop.application("other", TOOLS).await;
    let stranger = desktop.agent("other");
    asked(&mut desktop, &stranger).await;
    drop(others);
    desktop.done(mode("block", json!("always"))).await;
    refused(&agent, "blocked").await;
    assert_eq!(agent.tool_names().await, ["getBalance"]);
    let modes = desktop.snapshot(|snapshot| snapshot["modes"][0]["mode"] == "block").await["modes"].clone();
    assert_eq!(modes, json!([{"application": CLIENT, "mode": "block", "until": "always"}]));
    desktop.done(mode("ask", json!("always"))).await;
    desktop.snapshot(|snapshot| list(snapshot, "modes").is_empty()).await;
    asked(&mut desktop, &agent).await;
    // A grant that has an end has ended then.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    desktop.done(mode("allow_all", json!({"at": u64::try_from(now).unwrap() + 10_000}))).await;
    desktop.snapshot(|snapshot| !list(snapshot, "modes").is_empty()).await;
    desktop.snapshot(|snapshot| list(snapshot, "modes").is_empty()).await;
    asked(&mut desktop, &agent).await;
}

// holds: approval-read-only
#[tokio::test]
async fn a_read_only_claim_counts_for_a_definition_that_was_seen() {
    let claim = |hint: &str, text: &str| {
        let annotations = format!(r#""annotations":{{"readOnlyHint":{hint}}},"description":"{text}""#);
        format!(r#"[{{"name":"getBalance",{annotations},"inputSchema":{{"type":"object"}}}}]"#)
    };
    let desktop = &mut Desktop::start().await;
    desktop.done(mode("ask_except_read_only", json!("always"))).await;
    let mut application = desktop.application(CLIENT, &claim("true", "a")).await;
    let agent = desktop.agent(CLIENT);
    // A no is no reason to send the next call unasked.
    asked(desktop, &agent).await;
    let question = decided(desktop, &agent, &mut application, "allow", json!("nothing")).await;
    assert_eq!((&question["definition"], &question["hints"]["read_only"]), (&json!("new"), &json!(true)));
    sent(&agent, &mut application).await;
    application.register(&claim("true", "b")).await;
    let question = decided(desktop, &agent, &mut application, "allow", json!("nothing")).await;
    assert_eq!(question["definition"], "changed");
    sent(&agent, &mut application).await;
    application.register(&claim("false", "c")).await;
    asked(desktop, &agent).await;
    asked(desktop, &agent).await;
    application.register(TOOLS).await;
    asked(desktop, &agent).await;
    asked(desktop, &agent).await;
    // A rule beats the mode.
    application.register(&claim("true", "d")).await;
    decided(desktop, &agent, &mut application, "deny", remember(true, "quit")).await;
    refused(&agent, "declined").await;
    heard_nothing(&mut application).await;
    // A definition whose allow rule was used has been seen, one whose rule was not used has not.
    for used in [false, true] {
        let tools = claim("true", if used { "e" } else { "f" });
        let mut allow = rule("a", "allow");
        allow["fingerprint"] = json!(fingerprint(&tools[1..tools.len() - 1]));
        set_rules(desktop, json!([allow])).await;
        application.register(&tools).await;
        if used {
            sent(&agent, &mut application).await;
        }
        set_rules(desktop, json!([])).await;
        if used { sent(&agent, &mut application).await } else { drop(asked(desktop, &agent).await) }
    }
}

// holds: approval-read-only, approval-definition, control-remember
#[tokio::test]
async fn what_was_seen_on_one_origin_was_not_seen_on_another() {
    const CLAIM: &str =
        r#"[{"name":"getBalance","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]"#;
    let settings = json!({"client_origins": "any", "allow_origins": [], "call_seconds": 9, "question_seconds": 99});
    let mut desktop = Desktop::with(json!({"settings": settings})).await;
    desktop.done(mode("ask_except_read_only", json!("always"))).await;
    let mut application = desktop.application(CLIENT, CLAIM).await;
    let agent = desktop.agent(CLIENT);
    decided(&mut desktop, &agent, &mut application, "allow", json!("nothing")).await;
    sent(&agent, &mut application).await;
    let mut elsewhere = desktop.connect(CLIENT, &["Origin: https://wallet.example"]).await;
    elsewhere.register(CLAIM).await;
    assert_eq!(asked(&mut desktop, &agent).await["definition"], "new");
    decided(&mut desktop, &agent, &mut elsewhere, "allow", json!("nothing")).await;
    sent(&agent, &mut elsewhere).await;
    // Each origin keeps what was seen there, in memory too.
    desktop.until(|desktop| list(&desktop.memory, "seen").len() == 2).await;
    let mut memory = desktop.memory.clone();
    assert_eq!(memory["seen"][0]["origin"], "https://wallet.example");
    memory["seen"].as_array_mut().unwrap().remove(0);
    let mut desktop = Desktop::with(json!({"settings": settings, "memory": memory})).await;
    let agent = desktop.agent(CLIENT);
    let mut application = desktop.application(CLIENT, CLAIM).await;
    sent(&agent, &mut application).await;
    let mut elsewhere = desktop.connect(CLIENT, &["Origin: https://wallet.example"]).await;
    elsewhere.register(CLAIM).await;
    assert_eq!(asked(&mut desktop, &agent).await["definition"], "new");
}

// holds: approval-deny-beats-allow, approval-allow-unbound, control-set-rules, limit-rules
#[tokio::test]
async fn of_the_rules_that_the_desktop_sets_deny_beats_allow() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let unbound = |member: &str| {
        let mut rule = rule("a", "allow");
        rule[member] = Value::Null;
        json!([rule])
    };
    let stale = desktop.snapshot(Value::is_object).await["rules_revision"].clone();
    set_rules(&mut desktop, json!([rule("a", "allow")])).await;
    sent(&agent, &mut application).await;
    desktop.refused(json!({"type": "set_rules", "revision": stale, "rules": []}), "stale").await;
    sent(&agent, &mut application).await;
    for rules in [json!([rule("a", "allow"), rule("b", "deny")]), json!([rule("b", "deny"), rule("a", "allow")])] {
        set_rules(&mut desktop, rules).await;
        refused(&agent, "declined").await;
    }
    for rules in [unbound("fingerprint"), unbound("origin"), json!([])] {
        set_rules(&mut desktop, rules).await;
        asked(&mut desktop, &agent).await;
    }
    let many = |count: usize| (0..count).map(|n| rule(&n.to_string(), "deny")).collect::<Vec<_>>();
    let revision = desktop.snapshot(|snapshot| list(snapshot, "rules").is_empty()).await["rules_revision"].clone();
    for rules in [json!(many(1_001)), json!([rule("a", "allow"), rule("a", "deny")])] {
        desktop.refused(json!({"type": "set_rules", "revision": revision, "rules": rules}), "value").await;
    }
    asked(&mut desktop, &agent).await;
    // As many as there may be, and one more by an answer.
    let mut many = many(1_000);
    for rule in &mut many {
        rule["tool"] = json!("another");
    }
    set_rules(&mut desktop, json!(many)).await;
    let called = calling(&agent);
    let question = desktop.question().await;
    desktop.refused(decision(&question, "allow", remember(false, "always")), "value").await;
    heard_nothing(&mut application).await;
    desktop.decide(&question, "deny", json!("nothing")).await;
    nothing_done(&result(called).await, "declined");
}
