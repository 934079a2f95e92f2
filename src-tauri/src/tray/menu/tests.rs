use clientmcp_protocol::{
    codes::OutcomeCode,
    control::{CallHead, Count, Ending, ErrorCode, Millis, QuestionHead, Via},
};
use serde_json::json;

use super::*;
use crate::wire::{KeysCode, Known};

fn running(snapshot: &serde_json::Value) -> View {
    let mut whole = serde_json::to_value(Snapshot::default()).unwrap();
    whole.as_object_mut().unwrap().extend(snapshot.as_object().unwrap().clone());
    View {
        bridge: BridgeState::Running { mcp: String::new(), connect: String::new() },
        snapshot: Some(Box::new(serde_json::from_value(whole).unwrap())),
        ..View::default()
    }
}

fn application(id: &str) -> serde_json::Value {
    json!({
        "id": id, "connection": 1, "origin": "native", "since": 0, "registered": true, "tools": 1, "tools_bytes": 9,
        "instructions_bytes": 0, "declaration": null, "in_flight": 0, "unresponsive": false,
    })
}

fn question() -> serde_json::Value {
    let question = QuestionHead {
        id: clientmcp_protocol::ids::QuestionId(7),
        number: Count(1),
        application: "wallet".parse().unwrap(),
        origin: "native".into(),
        tool: "pay".parse().unwrap(),
        fingerprint: clientmcp_protocol::ids::Fingerprint([0; 32]),
        title: None,
        description: None,
        agent: None,
        via: Via::Token,
        reported: None,
        arguments_bytes: Count(2),
        tool_bytes: Count(2),
        hints: clientmcp_protocol::control::Hints::default(),
        risk: None,
        definition: clientmcp_protocol::control::Definition::New,
        asked: Millis(0),
        ends: Millis(1),
    };
    serde_json::to_value(question).unwrap()
}

fn at_door() -> serde_json::Value {
    json!({
        "id": "00000000000000000000000000000008", "wants": { "pair": { "host": "Editor", "application": null } },
        "program": { "pid": 1, "path": null, "parent": null }, "asked": 0, "ends": 1,
    })
}

fn call(number: u64, tool: &str) -> CallHead {
    CallHead {
        number: Count(number),
        application: "wallet".parse().unwrap(),
        tool: tool.into(),
        agent: None,
        via: Some(Via::Token),
        own: false,
        sent: None,
        began: Millis(0),
        arguments_bytes: Count(2),
    }
}

fn finished(number: u64, tool: &str, outcome: Ending) -> FinishedCall {
    FinishedCall { call: call(number, tool), outcome, ended: Millis(0), result_bytes: Count(0) }
}

fn known(id: &str, last_seen: u64) -> Known {
    Known { application: id.parse().unwrap(), last_seen: Some(Millis(last_seen)), labels: Vec::new() }
}

/// The menu as a person reads it: `>` before an entry of a menu, `-` for a line, `(...)` for what cannot be picked.
fn read(entries: &[Entry]) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in entries {
        match entry {
            Entry::Separator => lines.push("-".into()),
            Entry::Pick { text, enabled: true, checked, .. } => {
                lines.push(format!("{}{text}", checked.map_or("", |on| if on { "[x] " } else { "[ ] " })));
            }
            Entry::Line(text) | Entry::Pick { text, enabled: false, .. } => lines.push(format!("({text})")),
            Entry::Menu { text, entries } => {
                lines.push(text.clone());
                lines.extend(read(entries).into_iter().map(|line| format!("> {line}")));
            }
        }
    }
    lines
}

fn state(view: &View) -> (String, Icon) {
    let tray = tray(view, &[]);
    (read(&tray.menu)[0].clone(), tray.icon)
}

// holds: desktop-tray-menu
#[test]
fn the_whole_menu_of_a_running_bridge() {
    let mut view = running(&json!({ "applications": [application("wallet")], "questions": [question()] }));
    view.known = vec![known("wallet", 5), known("notes", 3)];
    view.preferences.start_at_login = true;
    let recent = [finished(1, "getBalance", Ending::Answered), finished(2, "pay", Ending::Code(OutcomeCode::Declined))];
    let expected = "\
(1 question waits for you)
-
Open ClientMCP
Approvals (1)
-
wallet \u{b7} pay \u{2014} declined
wallet \u{b7} getBalance \u{2014} answered
-
Copy MCP URL
Copy agent token
> wallet
> notes
Copy client token
> wallet
> notes
> -
> New\u{2026}
-
Pause
[x] Start at login
-
Quit";
    assert_eq!(read(&tray(&view, &recent).menu).join("\n"), expected);
}

// holds: desktop-tray-state, desktop-door-waits
#[test]
fn each_state_has_its_line_and_its_icon() {
    let bridge = |bridge| View { bridge, ..View::default() };
    let failed = |code| bridge(BridgeState::Failed { code, sentence: "Long story.".into() });
    let trouble = KeysState::Trouble { code: KeysCode::Locked, sentence: String::new(), choices: Vec::new() };
    let one = json!([application("wallet")]);
    let calls = json!([call(1, "pay")]);
    let table = [
        (View::default(), "(Reading the keychain\u{2026})", Icon::Idle),
        (View { keys: KeysState::Keychain, ..View::default() }, "(Starting\u{2026})", Icon::Idle),
        (View { keys: trouble, ..View::default() }, "(Choose where secrets are kept)", Icon::Error),
        (bridge(BridgeState::Starting), "(Starting\u{2026})", Icon::Idle),
        (
            bridge(BridgeState::Waiting { sentence: String::new() }),
            "(The bridge ended and is started again)",
            Icon::Error,
        ),
        (failed(None), "(Not running: the bridge keeps ending)", Icon::Error),
        (failed(Some(ErrorCode::PortTaken)), "(Not running: the port is taken)", Icon::Error),
        (running(&json!({})), "(No application connected)", Icon::Idle),
        (running(&json!({ "applications": one })), "(1 application connected)", Icon::Idle),
        (
            running(&json!({ "applications": one, "calls": calls })),
            "(1 application connected \u{b7} 1 call)",
            Icon::Active,
        ),
        (running(&json!({ "paused": true, "calls": calls })), "(Paused: calls are refused)", Icon::Paused),
        (running(&json!({ "calls": calls, "questions": [question()] })), "(1 question waits for you)", Icon::Waiting),
        (
            running(&json!({ "paused": true, "questions": [question(), question()] })),
            "(2 questions wait for you)",
            Icon::Waiting,
        ),
        (running(&json!({ "door_questions": [at_door()] })), "(1 question waits for you)", Icon::Waiting),
        (
            running(&json!({ "questions": [question()], "door_questions": [at_door()] })),
            "(2 questions wait for you)",
            Icon::Waiting,
        ),
    ];
    for (view, line, icon) in table {
        assert_eq!(state(&view), (line.into(), icon));
    }
}

// holds: desktop-tray-state
#[test]
fn what_an_ended_bridge_told_is_over() {
    let mut view = running(&json!({ "questions": [question()], "calls": [call(1, "pay")], "paused": true }));
    view.bridge = BridgeState::Failed { code: None, sentence: String::new() };
    let Tray { icon, menu } = tray(&view, &[]);
    let lines = read(&menu);
    assert_eq!((icon, lines[1].as_str(), lines[4].as_str()), (Icon::Error, "Start again", "Approvals"));
    assert!(lines.contains(&"(Copy MCP URL)".into()) && lines.contains(&"(Pause)".into()), "{lines:?}");
}

// holds: desktop-tray-menu
#[test]
fn only_the_newest_five_calls_are_listed() {
    let recent: Vec<_> = (1..=7).map(|number| finished(number, &format!("t{number}"), Ending::Failed)).collect();
    let lines = read(&calls(&recent));
    assert_eq!((lines.len(), lines[1].as_str()), (6, "wallet \u{b7} t7 \u{2014} its tool failed"));
    assert!(calls(&[]).is_empty(), "no line around nothing");
}

// holds: desktop-tray-many
#[test]
fn of_many_applications_twenty_are_listed_and_the_rest_is_counted() {
    let none = read(&copies(&running(&json!({}))));
    assert_eq!(none[2..], ["Copy agent token", "> (No application yet)", "Copy client token", "> New\u{2026}"]);
    let mut view = running(&json!({ "applications": [application("zebra")] }));
    view.known = (0..1000).map(|number| known(&format!("app{number}"), number)).collect();
    let lines = read(&applications(&view, true, Action::CopyAgentToken));
    assert_eq!((lines.len(), lines[0].as_str(), lines[1].as_str()), (21, "zebra", "app999"));
    assert_eq!(lines[20], "981 more in the window");
}

// holds: desktop-tray-names
#[test]
fn names_show_their_controls_keep_their_ampersands_and_are_cut() {
    let names = [
        ("a\u{202e}b&c\n", "a\u{27e6}U+202E\u{27e7}b&&c "),
        (&"x".repeat(41), &format!("{}\u{27e6}\u{2026}+1\u{27e7}", "x".repeat(40))),
    ];
    for (tool, expected) in names {
        let lines = read(&calls(&[finished(1, tool, Ending::Answered)]));
        assert_eq!(lines[1], format!("wallet \u{b7} {expected} \u{2014} answered"));
    }
}
