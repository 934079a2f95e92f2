//! What agents and hosts are called: one function for names that are typed, and labels of tokens as they are shown
//! (`docs/protocol.md`, "Tokens").

use serde_json::{Value, json};

use crate::support::{
    agent::Agent,
    desktop::{Desktop, calling, list, nothing_done, result},
    host::{Door, assert_refused, wants_mcp},
    scene::{CLIENT, TOOLS},
    serve::run_in,
    tokens,
};

/// Names that cannot be told from another, with the character that is odd.
const ODD: [(&str, &str); 5] = [
    ("Claude\u{202e}", "U+202E"),
    ("Cl\u{200b}aude", "U+200B"),
    ("Claude ", "U+0020"),
    ("Claude  Desktop", "U+0020"),
    ("Claude⟦U+202E⟧", "U+27E6"),
];

// holds: label-typed
#[tokio::test]
async fn a_name_is_checked_where_it_is_typed() {
    let mut desktop = Desktop::door().await;
    for (name, character) in ODD {
        let mint = json!({"type": "mint", "application": CLIENT, "role": "agent", "label": name, "seconds": 60});
        let allow = json!({"type": "allow_pair", "host": name, "application": CLIENT});
        for command in [mint, allow] {
            let reply = desktop.ask(command).await;
            assert_eq!(reply["refused"]["code"], "value", "{name:?}: {reply}");
            assert!(reply["refused"]["sentence"].as_str().unwrap().contains(character), "{reply}");
        }
        assert_refused(&Door::hello(desktop.runtime.path(), wants_mcp(name)).await.value().await, "hello");
        for arguments in [
            &["stdio", "--host", name, "--app", CLIENT][..],
            &["headers", "--host", name, "--app", CLIENT],
            &["token", CLIENT, "--role", "agent", "--label", name],
        ] {
            let ended = run_in(desktop.runtime.path(), arguments).await;
            assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{arguments:?}: {}", ended.stderr);
            assert!(ended.stderr.contains(character), "{arguments:?}: {}", ended.stderr);
            assert!(!ended.stderr.contains('\u{202e}') && !ended.stderr.contains('\u{200b}'), "{}", ended.stderr);
        }
    }
    assert_eq!(list(&desktop.snapshot(Value::is_object).await, "pairs").len(), 0);
}

/// One name to whoever reads it, and ways to write it.
const READ: &str = "Caf\u{e9} \u{e01}\u{e02}K";
const WRITTEN: [&str; 3] = [READ, "Cafe\u{301} \u{e01}\u{200b}\u{e02}K", "Caf\u{e9} \u{e01}\u{e02}\u{212a}"];

// holds: label-one
#[tokio::test]
async fn names_that_are_read_as_one_are_one_agent_however_they_were_written() {
    let mut desktop = Desktop::door().await;
    let runtime = std::sync::Arc::clone(&desktop.runtime);
    for name in WRITTEN {
        let mut agents = vec![desktop.labelled(CLIENT, name)];
        for other in WRITTEN {
            agents.push(Agent::new(desktop.port, &desktop.mint(CLIENT, "agent", Some(other)).await));
        }
        // The older token is valid until a floor is set.
        let valid = if name == WRITTEN[0] { &agents[..] } else { &agents[1..] };
        for agent in valid {
            agent.list().send().await.result_value();
        }
        desktop.done(by_label("revoke", name)).await;
        for agent in &agents {
            agent.list().send().await.refused_early(401);
        }
        let fresh = Agent::new(desktop.port, &desktop.mint(CLIENT, "agent", Some(name)).await);
        fresh.list().send().await.result_value();
        // Hosts at the door are let in, turned away and forgotten by the same name.
        desktop.done(json!({"type": "allow_pair", "host": name, "application": CLIENT})).await;
        let pairs = desktop.snapshot(|snapshot| list(snapshot, "pairs").len() == 1).await;
        assert_eq!(pairs["pairs"][0]["host"], READ);
        for other in WRITTEN {
            let open = Door::hello(runtime.path(), wants_mcp(other)).await.value().await;
            assert_eq!(open["say"], "open", "{other:?}: {open}");
        }
        desktop.done(json!({"type": "forget_pair", "host": name, "application": CLIENT})).await;
        desktop.snapshot(|snapshot| list(snapshot, "pairs").is_empty()).await;
    }
    let issued = list(&desktop.memory, "issued");
    assert!(issued.iter().all(|row| row["label"] == READ), "{issued:?}");
    assert!(issued.len() <= 1, "{issued:?}");
}

/// A token made elsewhere, under a label that turns what follows it around, and how that is shown.
const RAW: &str = "Editor\u{202e}";
const SHOWN: &str = "Editor⟦U+202E⟧";

fn by_label(command: &str, label: &str) -> Value {
    match command {
        "revoke" => json!({"type": "revoke", "application": CLIENT, "role": "agent", "which": {"label": label}}),
        command => json!({"type": command, "application": CLIENT, "label": label}),
    }
}

// holds: label-harmless
#[tokio::test]
async fn a_label_is_shown_harmless_and_is_the_key_that_is_shown() {
    let mut desktop = Desktop::start().await;
    let _application = desktop.application(CLIENT, TOOLS).await;
    let agent = desktop.labelled(CLIENT, RAW);
    let call = calling(&agent);
    let question = desktop.question().await;
    assert_eq!(question["agent"], SHOWN);
    assert_eq!(desktop.newest["calls"][0]["agent"], SHOWN);
    desktop.decide(&question, "deny", json!("block_agent")).await;
    nothing_done(&result(call).await, "declined");
    assert_eq!(desktop.ended_call(&question["number"]).await["call"]["agent"], SHOWN);
    nothing_done(&result(calling(&agent)).await, "blocked");
    let blocked = |snapshot: &Value| snapshot["blocked"][0]["label"] == SHOWN;
    desktop.snapshot(blocked).await;
    desktop.done(by_label("unblock", SHOWN)).await;
    // Rules and revocations name it as it is shown, or as it was written.
    for label in [SHOWN, RAW] {
        let rule = json!({"id": "1", "application": CLIENT, "tool": "getBalance", "agent": {"one": label},
            "verdict": "deny", "fingerprint": null, "origin": null, "until": "always", "made": 0});
        let newest = desktop.snapshot(|snapshot| list(snapshot, "rules").is_empty()).await;
        desktop.done(json!({"type": "set_rules", "revision": newest["rules_revision"], "rules": [rule]})).await;
        nothing_done(&result(calling(&agent)).await, "declined");
        let ruled = desktop.snapshot(|snapshot| !list(snapshot, "rules").is_empty()).await;
        assert_eq!(ruled["rules"][0]["agent"]["one"], SHOWN);
        desktop.done(json!({"type": "set_rules", "revision": ruled["rules_revision"], "rules": []})).await;
    }
    // An application's label is shown the same way.
    let claims = json!({"sub": "other", "role": "client", "label": RAW});
    let mut other = desktop.connect_as(&tokens::claiming(&claims.to_string()), &[]).await;
    other.register(TOOLS).await;
    let shown =
        |snapshot: &Value| list(snapshot, "applications").iter().any(|application| application["label"] == SHOWN);
    desktop.snapshot(shown).await;
    desktop.done(by_label("revoke", SHOWN)).await;
    agent.list().send().await.refused_early(401);
    desktop.labelled(CLIENT, "Editor").list().send().await.result_value();
    assert!(!desktop.lines.iter().any(|line| line.contains('\u{202e}')), "a raw label left the bridge");
}

// holds: label-harmless
#[tokio::test]
async fn what_was_remembered_under_the_label_as_it_was_written_holds() {
    for label in [SHOWN, RAW] {
        let memory = json!({
            "floors": [{"application": CLIENT, "role": "agent", "label": label, "issued_before": 1_900_000_000_000_u64}],
            "blocked": [{"application": "other", "label": label, "until": "always"}],
            "pairs": [{"host": label, "application": CLIENT, "verdict": "allow", "made": 1}],
        });
        let mut desktop = Desktop::with(json!({"memory": memory})).await;
        desktop.labelled(CLIENT, RAW).list().send().await.refused_early(401);
        let _other = desktop.application("other", TOOLS).await;
        let call = desktop.labelled("other", RAW).call("getBalance", "{}").send().await;
        nothing_done(&call.result_value(), "blocked");
        desktop.until(|desktop| desktop.memory.is_object()).await;
        assert_eq!(desktop.memory["floors"][0]["label"], SHOWN);
        assert_eq!(desktop.memory["pairs"][0]["host"], SHOWN);
        desktop.done(json!({"type": "forget_pair", "host": SHOWN, "application": CLIENT})).await;
        let unlabelled: Agent = desktop.agent(CLIENT);
        unlabelled.list().send().await.result_value();
    }
}
