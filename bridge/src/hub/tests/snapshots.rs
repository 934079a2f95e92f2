//! What the desktop is shown: heads alone, whole, never twice the same, and never too often.

use std::{sync::Arc, time::Duration};

use clientmcp_protocol::{
    control::{Command as Ask, Count, Event, Rule, Secrets, Snapshot, Verdict},
    limits::{APPLICATIONS, CONTROL_BYTES, RULES, SNAPSHOT_PAUSE},
};

use crate::call::HangUp;
use crate::hub::{bench::*, *};

fn bytes(snapshot: &Arc<Snapshot>) -> usize {
    serde_json::to_string(&Event::Snapshot(Box::new((**snapshot).clone()))).unwrap().len()
}

/// The snapshot without what tells it from the one before.
fn seen(snapshot: &Arc<Snapshot>) -> Snapshot {
    Snapshot { revision: Count(0), ..(**snapshot).clone() }
}

// holds: control-snapshot
#[test]
fn no_two_snapshots_in_a_row_are_equal_and_ten_a_second_are_made_at_most() {
    let mut bench = Bench::asking();
    let mut watch = bench.hub.desk().unwrap().snapshot;
    bench.state.tick(bench.now);
    let (mut shown, mut times) = (vec![watch.borrow_and_update().clone()], Vec::new());
    let app = bench.serving("a");
    for step in 0..400_u32 {
        bench.pass(Duration::from_millis(7));
        match step % 4 {
            0 => drop(bench.obey(if step % 8 == 0 { Ask::Pause } else { Ask::Resume })),
            1 => bench.register(app.id, &[tool("go", step / 40)]),
            2 => bench.result(app.id, 1_000, r#"{"content":[]}"#),
            _ => bench.state.touch(),
        }
        bench.state.tick(bench.now);
        if watch.has_changed().unwrap() {
            shown.push(watch.borrow_and_update().clone());
            times.push(bench.now.mono);
        }
    }
    assert!(shown.len() > 10, "{}", shown.len());
    for pair in shown.windows(2) {
        assert_ne!(seen(&pair[0]), seen(&pair[1]));
        assert_eq!(pair[1].revision.0, pair[0].revision.0 + 1);
    }
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= SNAPSHOT_PAUSE));
    bench.pass(SNAPSHOT_PAUSE);
    bench.state.tick(bench.now);
    watch.mark_unchanged();
    for _ in 0..20 {
        bench.pass(SNAPSHOT_PAUSE);
        bench.state.touch();
        bench.state.tick(bench.now);
        assert!(!watch.has_changed().unwrap(), "nothing has changed");
    }
}

// holds: control-snapshot
#[test]
fn the_hub_wakes_for_a_snapshot_that_is_due() {
    let mut bench = Bench::asking();
    bench.state.tick(bench.now);
    assert_eq!(bench.state.next_deadline(), None);
    let _app = bench.serving("a");
    assert_eq!(bench.state.next_deadline(), Some(bench.now.mono + SNAPSHOT_PAUSE));
    bench.pass(SNAPSHOT_PAUSE);
    bench.state.tick(bench.now);
    assert_eq!((bench.shown().applications.len(), bench.state.next_deadline()), (1, None));
}

// holds: control-snapshot, approval-question
#[test]
fn a_snapshot_has_the_heads_of_calls_and_questions_and_none_of_their_texts() {
    let mut bench = Bench::asking();
    let _app = bench.serving("a");
    let mut routed = bench.route_for("a", Some("x"), "go", HangUp::Cancels);
    routed.call.arguments = json(r#"{"pin":"very private"}"#);
    routed.call.reported = Some(clientmcp_protocol::shown::shown("line\none\u{202e}"));
    let flight = bench.send(routed);
    let (question, fingerprint) = bench.question(&flight);
    let snapshot = bench.snapshot();
    let [head] = snapshot.questions.as_slice() else { panic!("{snapshot:?}") };
    assert_eq!((head.id, head.fingerprint, head.arguments_bytes), (question.id, fingerprint, Count(22)));
    assert_eq!((head.agent.clone(), head.definition), (Some(label("x")), control::Definition::New));
    assert_eq!(head.ends.0 - head.asked.0, 120_000);
    let reported = head.reported.clone().unwrap();
    assert!(!reported.contains(['\n', '\u{202e}']), "{reported}");
    let [call] = snapshot.calls.as_slice() else { panic!("{snapshot:?}") };
    assert_eq!((call.number, call.sent, call.own), (head.number, None, false));
    assert!(!serde_json::to_string(&*snapshot).unwrap().contains("private"));
}

// holds: control-secrets
#[test]
fn no_secret_stands_in_a_snapshot_in_the_memory_or_in_a_refusal() {
    let mut bench = Bench::asking();
    let _app = bench.serving("a");
    let (good, short) = ("correct horse battery staple correct".to_owned(), "hunter2".to_owned());
    let mut said = Vec::new();
    for secrets in [vec![good.clone(), "s".repeat(32)], vec![good.clone(), short.clone()], vec![format!("{good}\n")]] {
        let command = Ask::SetSecrets { secrets: Secrets(secrets) };
        said.push(format!("{command:?}"));
        said.push(format!("{:?}", bench.obey(command)));
        said.push(serde_json::to_string(&*bench.snapshot()).unwrap());
        said.push(serde_json::to_string(&*bench.memory()).unwrap());
    }
    for text in said {
        assert!(![good.as_str(), &short, "ssssssss"].iter().any(|secret| text.contains(secret)), "{text}");
    }
}

// holds: control-snapshot-size
#[test]
fn a_snapshot_that_would_be_too_large_is_cut_and_says_by_how_much() {
    let mut bench = Bench::asking();
    let name = |number: usize| format!("{number:0>128}");
    // What `word` makes of it is six times as long.
    let origin = "\u{202e}".repeat(200);
    let peers: Vec<_> =
        (0..APPLICATIONS).map(|number| bench.connect_from(&name(number), Some(&origin)).unwrap()).collect();
    let rule = |number: usize| Rule {
        id: number.to_string(),
        application: client(&name(number)),
        origin: Some(origin.clone()),
        ..rule(Verdict::Allow)
    };
    assert_eq!(bench.set_rules((0..RULES).map(rule).collect()), Reply::Done);
    let snapshot = bench.snapshot();
    assert!(bytes(&snapshot) < CONTROL_BYTES, "{}", bytes(&snapshot));
    let count = |kept: usize, cut: Count| kept as u64 + cut.0;
    assert_eq!(count(snapshot.applications.len(), snapshot.cut.applications), APPLICATIONS as u64);
    assert_eq!(count(snapshot.rules.len(), snapshot.cut.rules), RULES as u64);
    assert!(snapshot.cut.applications.0 > 0 && !snapshot.applications.is_empty());
    assert!(
        snapshot.applications.iter().map(|head| head.id.as_str()).eq((0..).map(name).take(snapshot.applications.len())),
        "the last go first"
    );
    drop(peers);
}
