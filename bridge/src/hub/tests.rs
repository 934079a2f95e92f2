//! The transitions, driven by hand: each test says what time it is and looks at what came out.

mod crowd;
mod desktop;
mod doorbell;
mod edges;
mod leaving;
mod revoked;
mod snapshots;
mod waiting;

use std::time::Duration;

use clientmcp_protocol::{
    codes::CloseCode,
    limits::{APPLICATIONS, CALLS_IN_FLIGHT, FROZEN_SILENCE, FROZEN_TIME, UNSENT_BYTES},
};

use super::{bench::*, *};
use crate::{
    call::{HangUp, RequestId, RequestKey},
    refusal::Limit,
};

const CALL_TIME: Duration = Duration::from_secs(120);

#[test]
fn a_call_travels_and_its_answer_returns() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a");
    let flight = bench.call("a");
    assert_eq!(app.next(), r#"{"type":"call","id":"1","name":"go","arguments":{}}"#);
    bench.result(app.id, 1, r#"{"content":[]}"#);
    assert_eq!(landed(flight).expect("answered").as_str(), r#"{"content":[]}"#);
    bench.step();
    assert!(app.frames.try_recv().is_err(), "a call that was answered is not cancelled");
    assert_eq!(bench.state.next_deadline(), None);
}

// holds: channel-replace
#[test]
fn the_newest_connection_wins_and_the_older_ones_calls_end_first() {
    let mut bench = Bench::new();
    let mut older = bench.serving("a");
    let flight = bench.call("a");
    let newer = bench.connect("a");
    assert_eq!(older.closed(), Some(CloseCode::Replaced));
    assert_eq!(outcome(flight), Outcome::Disconnected);
    assert!(bench.view.borrow().served(&client("a")).is_none(), "offline until the newer registers");
    bench.result(older.id, 1, r#"{"content":[]}"#);
    bench.register(older.id, &[tool("go", 1)]);
    assert!(bench.view.borrow().served(&client("a")).is_none(), "the older has no say any more");
    bench.register(newer.id, &[tool("go", 1)]);
    assert_eq!(bench.view.borrow().served(&client("a")).map(|served| served.connection), Some(newer.id));
    drop(older);
    bench.step();
    assert!(bench.view.borrow().served(&client("a")).is_some(), "the older's leaving takes nothing from the newer");
}

#[test]
fn a_register_with_the_same_text_changes_nothing_and_is_answered() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a");
    let before = bench.route("a", HangUp::Cancels);
    bench.view.mark_unchanged();
    bench.register(app.id, &[tool("go", 1)]);
    assert_eq!(app.next(), r#"{"type":"registered"}"#);
    assert!(!bench.view.has_changed().expect("the hub is there"));
    drop(bench.send(before));
    assert!(app.next().contains("call"), "what was routed before can still be sent");
}

#[test]
fn between_routing_and_sending_nothing_may_change() {
    let mut bench = Bench::new();
    let app = bench.serving("a");
    let routed = bench.route("a", HangUp::Cancels);
    bench.register(app.id, &[tool("go", 2)]);
    assert_eq!(outcome(bench.send(routed)), Outcome::Changed, "another definition");
    let routed = bench.route("a", HangUp::Cancels);
    bench.register(app.id, &[]);
    assert_eq!(outcome(bench.send(routed)), Outcome::Changed, "no definition");
    bench.register(app.id, &[tool("go", 2)]);
    let routed = bench.route("a", HangUp::Cancels);
    let newer = bench.serving("a");
    assert_eq!(outcome(bench.send(routed)), Outcome::Changed, "another application");
    let routed = bench.route("a", HangUp::Cancels);
    bench.state.apply(bench.now, Command::Disconnect { connection: newer.id, done: None });
    assert_eq!(outcome(bench.send(routed)), Outcome::Offline, "no application");
}

// holds: outcome-timeout
#[test]
fn a_call_without_an_answer_ends_in_time_and_is_cancelled() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a");
    let flight = bench.call("a");
    app.next();
    assert_eq!(bench.state.next_deadline(), Some(bench.now.mono + CALL_TIME));
    bench.tick_after(CALL_TIME.saturating_sub(Duration::from_nanos(1)));
    assert!(app.frames.try_recv().is_err(), "not yet");
    bench.tick_after(CALL_TIME);
    assert_eq!(app.next(), r#"{"type":"cancel","id":"1"}"#);
    assert_eq!(outcome(flight), Outcome::Timeout(CALL_TIME));
    bench.result(app.id, 1, r#"{"content":[]}"#);
    assert_eq!(bench.state.next_deadline(), None);
}

#[test]
fn hanging_up_cancels_where_the_era_says_so() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a");
    drop(bench.call("a"));
    app.next();
    bench.step();
    assert_eq!(app.next(), r#"{"type":"cancel","id":"1"}"#);
    let legacy = bench.route("a", HangUp::Ignored);
    drop(bench.send(legacy));
    app.next();
    bench.step();
    assert!(app.frames.try_recv().is_err(), "a lost connection is no cancel");
    assert!(bench.state.next_deadline().is_some(), "it is still under way");
}

// holds: leaving-asked
#[test]
fn the_call_of_an_agent_that_hung_up_before_it_was_taken_in_is_never_sent() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a");
    let routed = bench.route("a", HangUp::Cancels);
    let (command, outcome) = bench.submission(routed, false);
    drop(outcome);
    bench.state.apply(bench.now, command);
    bench.step();
    assert!(app.try_next().is_none() && bench.state.calls.is_empty());
}

fn key(session: &str, id: RequestId) -> RequestKey {
    RequestKey { agent: agent("a", None), session: session.into(), id }
}

#[test]
fn a_legacy_cancel_stops_the_newest_call_of_its_session_and_id_and_no_other() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a");
    let one = || RequestId::Integer("1".into());
    let keys = [key("s", one()), key("t", one()), key("s", one()), key("s", RequestId::String("1".into()))].map(Some);
    let mut flights = Vec::new();
    for key in keys {
        let mut routed = bench.route("a", HangUp::Ignored);
        routed.call.key = key;
        flights.push(bench.send(routed));
        app.next();
    }
    for (cancelled, wire) in [(2, "3"), (0, "1")] {
        bench.state.apply(bench.now, Command::CancelRequest { key: key("s", one()) });
        assert_eq!(app.next(), format!(r#"{{"type":"cancel","id":"{wire}"}}"#));
        let answer = flights[cancelled].answer.try_recv().expect("answered");
        assert_eq!(answer.err(), Some(Refusal::Cancelled));
    }
    bench.state.apply(bench.now, Command::CancelRequest { key: key("s", one()) });
    assert!(app.frames.try_recv().is_err(), "nothing is left under that id");
    bench.result(app.id, 2, r#"{"content":[]}"#);
    bench.state.apply(bench.now, Command::CancelRequest { key: key("t", one()) });
    assert!(app.frames.try_recv().is_err(), "what was answered is not cancelled");
}

const PING_ON_CALL: Duration = Duration::from_millis(1);

/// An application that has shown that it pings on calls, and was silent ever since.
fn silent_for(silence: Duration) -> (Bench, Peer, Flight) {
    let mut bench = Bench::new();
    let mut app = bench.serving("a");
    drop(bench.call("a"));
    app.next();
    app.pulse.heard(bench.now.mono + PING_ON_CALL, true);
    bench.step();
    app.next();
    bench.pass(PING_ON_CALL + silence);
    let flight = bench.call("a");
    app.next();
    (bench, app, flight)
}

// holds: outcome-unresponsive
#[test]
fn an_application_that_shows_no_sign_of_life_after_a_long_silence_is_unresponsive() {
    let (mut bench, mut app, flight) = silent_for(FROZEN_SILENCE);
    assert_eq!(bench.state.next_deadline(), Some(bench.now.mono + FROZEN_TIME));
    bench.tick_after(FROZEN_TIME);
    assert_eq!(app.next(), r#"{"type":"cancel","id":"2"}"#);
    assert_eq!(outcome(flight), Outcome::Unresponsive);
}

// holds: outcome-unresponsive
#[test]
fn an_application_that_wakes_up_has_its_whole_time() {
    let (mut bench, mut app, flight) = silent_for(FROZEN_SILENCE);
    app.pulse.heard(bench.now.mono + FROZEN_TIME, true);
    bench.tick_after(FROZEN_TIME);
    assert!(app.frames.try_recv().is_err());
    assert_eq!(bench.state.next_deadline(), Some(bench.now.mono + CALL_TIME));
    bench.tick_after(CALL_TIME);
    assert_eq!(outcome(flight), Outcome::Timeout(CALL_TIME));
}

// holds: outcome-unresponsive
#[test]
fn nobody_is_suspected_who_was_heard_lately_or_never_pinged_on_a_call() {
    let (bench, _app, _flight) = silent_for(FROZEN_SILENCE.saturating_sub(Duration::from_nanos(1)));
    assert_eq!(bench.state.next_deadline(), Some(bench.now.mono + CALL_TIME));
    let mut bench = Bench::new();
    let app = bench.serving("a");
    app.pulse.heard(bench.now.mono, true);
    bench.pass(FROZEN_SILENCE * 2);
    let _flight = bench.call("a");
    assert_eq!(bench.state.next_deadline(), Some(bench.now.mono + CALL_TIME), "an idle ping says nothing of calls");
}

// holds: limit-calls
#[test]
fn one_call_more_than_the_limit_is_busy_until_one_is_answered() {
    let mut bench = Bench::new();
    let app = bench.serving("a");
    let mut flights = Vec::new();
    for _ in 0..CALLS_IN_FLIGHT {
        flights.push(bench.call("a"));
        assert!(!flights.last().expect("one").is_over(), "within the limit");
    }
    assert_eq!(outcome(bench.call("a")), Outcome::Busy(Limit::CallsInFlight));
    bench.result(app.id, 7, r#"{"content":[]}"#);
    let flight = bench.call("a");
    assert!(!flight.is_over(), "there is room again");
}

#[test]
fn an_application_that_does_not_read_is_busy_and_others_are_not() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a");
    let other = bench.serving("b");
    let long = json(&format!("{{\"x\":\"{}\"}}", "y".repeat(3 * 1024 * 1024)));
    let mut flights = Vec::new();
    let busy = loop {
        let mut routed = bench.route("a", HangUp::Cancels);
        routed.call.arguments = long.clone();
        let flight = bench.send(routed);
        if flight.is_over() {
            break outcome(flight);
        }
        flights.push(flight);
    };
    assert_eq!((busy, flights.len()), (Outcome::Busy(Limit::UnsentBytes), UNSENT_BYTES / long.as_str().len()));
    assert!(!bench.call("b").is_over());
    app.next();
    let mut routed = bench.route("a", HangUp::Cancels);
    routed.call.arguments = long;
    assert!(!bench.send(routed).is_over(), "what was read makes room");
    drop(other);
}

// holds: limit-applications
#[test]
fn one_application_more_than_the_limit_is_refused_and_a_replacement_is_not() {
    let mut bench = Bench::new();
    let mut peers = Vec::new();
    for number in 0..APPLICATIONS {
        peers.push(bench.connect(&format!("app-{number}")));
    }
    assert!(bench.try_connect("one-more").is_none());
    assert!(bench.try_connect("app-7").is_some());
    peers.pop();
    bench.step();
    assert!(bench.try_connect("one-more").is_some());
}

#[test]
fn at_the_end_applications_are_told_and_sent_calls_are_not_answered() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a");
    let flight = bench.call("a");
    bench.state.shut_down(bench.now);
    assert_eq!(app.closed(), Some(CloseCode::GoingAway));
    assert_eq!(landed(flight).err(), Some(Refusal::ShuttingDown));
    assert!(bench.view.borrow().served(&client("a")).is_none());
}
