//! What the desktop hands over at the start: what cannot be meant is refused, and of two rows about the same thing the one
//! counts that lets less through (`docs/protocol.md`, "Memory").

use serde_json::{Value, json};

use crate::support::{
    agent::Agent,
    desktop::{DONE, Desktop, calling, list, nothing_done, result, starting},
    scene::{CLIENT, TOOLS},
    tokens,
};

const HIGHEST: u64 = (1 << 53) - 1;

fn start(memory: &Value) -> Value {
    starting(json!({"memory": memory}))
}

fn generation(generation: u64) -> Value {
    json!({"application": CLIENT, "role": "agent", "generation": generation})
}

fn pin(origins: Value) -> Value {
    let mut pin = json!({"application": CLIENT});
    pin["origins"] = origins;
    pin
}

fn mode(mode: &str, until: Value) -> Value {
    let mut row = json!({"application": CLIENT, "mode": mode});
    row["until"] = until;
    row
}

// holds: memory-bounds
#[tokio::test]
async fn a_memory_that_cannot_be_meant_is_refused_and_another_may_follow() {
    let mut desktop = Desktop::greeted().await;
    let far = 253_402_300_800_000_u64;
    let floor = json!({"application": CLIENT, "role": "agent", "label": null, "issued_before": far});
    let rule = json!({"id": "1", "application": CLIENT, "tool": "t", "agent": "any", "verdict": "deny",
        "fingerprint": null, "origin": null, "until": {"at": far}, "made": 0});
    let made = json!({"id": "1", "application": CLIENT, "tool": "t", "agent": "any", "verdict": "deny",
        "fingerprint": null, "origin": null, "until": "always", "made": far});
    let pair = json!({"host": "Editor", "application": null, "verdict": "allow", "made": u64::MAX});
    let issued = json!({"application": CLIENT, "role": "agent", "label": null, "newest": far});
    let too_many: Vec<_> = (0..65).map(|number| json!(format!("https://a{number}.example"))).collect();
    for memory in [
        json!({"generations": [generation(HIGHEST + 1)]}),
        json!({"generations": [generation(1), generation(u64::MAX)]}),
        json!({"pins": [pin(json!([]))]}),
        json!({"pins": [pin(json!(["native"])), pin(json!(["native"]))]}),
        json!({"pins": [pin(json!(["null"]))]}),
        json!({"pins": [pin(json!(["native", "a b"]))]}),
        json!({"pins": [pin(json!(too_many))]}),
        json!({"floors": [floor]}),
        json!({"rules": [rule]}),
        json!({"rules": [made]}),
        json!({"pairs": [pair]}),
        json!({"issued": [issued]}),
        json!({"modes": [mode("block", json!({"at": far}))]}),
        json!({"blocked": [{"application": CLIENT, "label": null, "until": {"at": far}}]}),
    ] {
        desktop.refused(start(&memory), "value").await;
    }
    desktop.done(start(&json!({"generations": [generation(HIGHEST)], "pins": [pin(json!(["native"]))]}))).await;
}

// holds: memory-bounds, revoke-all
#[tokio::test]
async fn the_highest_generation_that_is_taken_can_still_be_revoked() {
    let mut desktop = Desktop::with(json!({"memory": {"generations": [generation(HIGHEST - 1)]}})).await;
    let token = desktop.mint(CLIENT, "agent", None).await;
    let agent = Agent::new(desktop.port, &token);
    agent.list().send().await.result_value();
    // The second time there is none left that could be raised, and none that would let anything through.
    for _ in 0..2 {
        desktop.done(json!({"type": "revoke", "application": CLIENT, "role": "agent", "which": "all"})).await;
        agent.list().send().await.refused_early(401);
    }
    let mint = json!({"type": "mint", "application": CLIENT, "role": "agent", "label": null, "seconds": 60});
    desktop.refused(mint, "value").await;
    desktop.until(|desktop| desktop.memory["generations"] == json!([generation(HIGHEST)])).await;
    let again = Desktop::with(json!({"memory": desktop.memory})).await;
    Agent::new(again.port, &token).list().send().await.refused_early(401);
    let last = tokens::claiming(&json!({"sub": CLIENT, "role": "agent", "gen": HIGHEST}).to_string());
    Agent::new(again.port, &last).list().send().await.refused_early(401);
}

// holds: memory-told-again
#[tokio::test]
async fn what_was_told_at_the_edge_of_time_can_be_started_with() {
    const LAST: u64 = 253_402_300_799_999;
    let row = |member: &str| {
        let mut row = json!({"application": CLIENT, "role": "agent", "label": "E"});
        row[member] = json!(LAST);
        row
    };
    let pair = |verdict: &str| json!({"host": "E", "application": CLIENT, "verdict": verdict, "made": LAST});
    let all = json!({"host": "E", "application": null, "verdict": "allow", "made": LAST});
    let revoke = json!({"type": "revoke", "application": CLIENT, "role": "agent", "which": {"label": "E"}});
    let forget = json!({"type": "forget_pair", "host": "E", "application": CLIENT});
    let allow = json!({"type": "allow_pair", "host": "F", "application": null});
    for (memory, command, done) in [
        (json!({"issued": [row("newest")]}), &revoke, true),
        (json!({"floors": [row("issued_before")]}), &revoke, true),
        (json!({"pairs": [pair("deny"), all]}), &forget, true),
        (json!({"pairs": [pair("allow")]}), &allow, false),
    ] {
        let mut desktop = Desktop::with(json!({"memory": memory})).await;
        let reply = desktop.ask(command.clone()).await;
        assert_eq!(reply == "done", done, "{memory}: {reply}");
        // What was told of it comes before what is told of this.
        desktop.done(json!({"type": "add_origin", "application": "b", "origin": "native"})).await;
        desktop.until(|desktop| !list(&desktop.memory, "pins").is_empty()).await;
        Desktop::with(json!({"memory": desktop.memory})).await;
    }
}

// holds: memory-stricter
#[tokio::test]
async fn of_two_rows_about_the_same_thing_the_stricter_counts() {
    let now = u64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let hour = json!({"at": now + 3_600_000});
    let all = mode("allow_all", json!("quit"));
    for (stricter, expected) in [
        (mode("block", json!("always")), "block"),
        (mode("ask", json!("always")), "ask"),
        (mode("ask_except_read_only", json!("always")), "ask_except_read_only"),
    ] {
        for modes in [json!([all, stricter]), json!([stricter, all]), json!([all, stricter, all])] {
            let mut desktop = Desktop::with(json!({"memory": {"modes": modes}})).await;
            let mut snapshot = desktop.snapshot(Value::is_object).await;
            let shown = snapshot["modes"].take();
            let shown = shown[0]["mode"].as_str().unwrap_or("ask");
            assert_eq!(shown, expected, "{modes}");
        }
    }
    let generations = [generation(3), generation(1)];
    let floor = |at: u64| json!({"application": "b", "role": "agent", "label": "x", "issued_before": at});
    let blocked = |until: Value| {
        let mut row = json!({"application": CLIENT, "label": null});
        row["until"] = until;
        row
    };
    let seen =
        |digit: &str| json!({"application": CLIENT, "tool": "t", "origin": "native", "fingerprint": digit.repeat(64)});
    let memory = json!({
        "generations": generations, "floors": [floor(now + 60_000), floor(1_000)],
        "blocked": [blocked(json!("always")), blocked(hour)], "seen": [seen("0"), seen("1")],
    });
    let mut desktop = Desktop::with(json!({"memory": memory})).await;
    desktop.until(|desktop| desktop.memory.is_object()).await;
    assert_eq!(desktop.memory["generations"], json!([generation(3)]));
    assert_eq!(desktop.memory["floors"], json!([floor(now + 60_000)]));
    assert_eq!(desktop.memory["blocked"], json!([blocked(json!("always"))]));
    assert_eq!(desktop.memory["seen"], json!([]), "which one the person saw is unclear");
    let old = tokens::claiming(&json!({"sub": CLIENT, "role": "agent", "gen": 1}).to_string());
    Agent::new(desktop.port, &old).list().send().await.refused_early(401);
}

// holds: approval-allow-all-day
#[tokio::test]
async fn allow_all_ends_within_a_day_and_says_when() {
    const DAY: u64 = 24 * 60 * 60 * 1_000;
    let wall = || u64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    let set = |until: Value| {
        let mut command = mode("allow_all", until);
        command["type"] = json!("set_mode");
        command
    };
    // Far enough that a slow machine cannot bring it within a day.
    for far in [wall() + DAY + 600_000, u64::MAX] {
        desktop.refused(set(json!({"at": far})), "value").await;
    }
    desktop.done(set(json!({"at": wall() + DAY}))).await;
    let before = wall();
    desktop.done(set(json!("quit"))).await;
    let quit = |snapshot: &Value| snapshot["modes"][0]["until"] == "quit";
    let ends = desktop.snapshot(quit).await["modes"][0]["ends"].as_u64().expect("an end");
    assert!((before + DAY..=wall() + DAY).contains(&ends), "{ends}");
    let call = calling(&agent);
    let asked = application.call().await;
    application.answer(&asked, DONE).await;
    result(call).await;
    // The next bridge goes on with the same end, and one whose end has come, or is too far away, asks.
    desktop.until(|desktop| desktop.memory["modes"][0]["ends"] == ends).await;
    let memory = desktop.memory.clone();
    drop(desktop);
    let mut again = Desktop::with(json!({"memory": memory})).await;
    assert_eq!(again.snapshot(quit).await["modes"][0]["ends"], ends);
    for end in [wall(), wall() + DAY + 600_000] {
        let mut memory = memory.clone();
        memory["modes"][0]["ends"] = json!(end);
        let mut desktop = Desktop::with(json!({"memory": memory})).await;
        assert_eq!(list(&desktop.snapshot(Value::is_object).await, "modes").len(), 0);
        let _application = desktop.application(CLIENT, TOOLS).await;
        let call = calling(&desktop.agent(CLIENT));
        let question = desktop.question().await;
        desktop.decide(&question, "deny", json!("nothing")).await;
        nothing_done(&result(call).await, "declined");
    }
}

// holds: control-words
#[tokio::test]
async fn a_word_in_another_form_is_no_command_and_does_nothing() {
    let mut desktop = Desktop::start().await;
    let words = [
        ("/type", json!({"type": "set_mode", "application": CLIENT, "mode": "block", "until": "always"})),
        ("/mode", json!({"type": "set_mode", "application": CLIENT, "mode": "block", "until": "always"})),
        ("/until", json!({"type": "set_mode", "application": CLIENT, "mode": "block", "until": "always"})),
        ("/role", json!({"type": "revoke", "application": CLIENT, "role": "agent", "which": "all"})),
        ("/which", json!({"type": "revoke", "application": CLIENT, "role": "agent", "which": "all"})),
        (
            "/settings/client_origins",
            json!({"type": "set_settings", "settings": {"client_origins": "any", "allow_origins": [],
                "call_seconds": 9, "question_seconds": 99}}),
        ),
        ("/text/of", json!({"type": "get", "text": {"of": "application", "id": CLIENT, "part": "tools"}, "offset": 0})),
        (
            "/text/part",
            json!({"type": "get", "text": {"of": "application", "id": CLIENT, "part": "tools"}, "offset": 0}),
        ),
    ];
    let before = desktop.snapshot(Value::is_object).await;
    let mut expected = 0;
    for (place, command) in words {
        let word = command.pointer(place).unwrap().as_str().unwrap().to_owned();
        for odd in [json!({ &word: null }), json!({ &word: {} }), json!([word]), json!(1)] {
            let mut command = command.clone();
            *command.pointer_mut(place).unwrap() = odd;
            desktop.send(command).await;
            expected += 1;
            desktop.until(|desktop| desktop.errors.len() == expected).await;
        }
    }
    assert!(desktop.errors.iter().all(|code| code == "not_a_command"), "{:?}", desktop.errors);
    desktop.done(json!({"type": "pause"})).await;
    let after = desktop.snapshot(|snapshot| snapshot["paused"] == true).await;
    assert_eq!((&after["modes"], &after["settings"]), (&before["modes"], &before["settings"]));
}
