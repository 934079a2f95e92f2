//! What can happen to a call while it waits for the person, one test for each.

use std::time::Duration;

use clientmcp_protocol::{
    codes::CloseCode,
    control::{Also, Command as Ask, ErrorCode, Mode, RuleAgent, Until, Verdict, Which},
    ids::QuestionId,
    limits::{BLOCK_TIME, CALLS_IN_FLIGHT, QUESTIONS, QUESTIONS_OF_AGENT},
};

use crate::hub::{bench::*, *};
use crate::{
    call::{HangUp, RequestId, RequestKey},
    refusal::Limit,
};

const QUESTION_TIME: Duration = Duration::from_secs(120);

/// A desktop, an application that serves `go`, and a call that waits.
fn waiting() -> (Bench, Peer, Flight) {
    let mut bench = Bench::asking();
    let mut app = bench.serving("a");
    let flight = bench.call("a");
    assert!(bench.waits(&flight) && app.try_next().is_none(), "nothing is sent unasked");
    (bench, app, flight)
}

pub(super) fn refused_as(reply: &Reply, expected: ErrorCode) {
    assert!(matches!(reply, Reply::Refused { code, .. } if *code == expected), "{reply:?}");
}

/// It is over, the application never heard of it, and no answer to its question counts any more.
fn ended(bench: &mut Bench, app: &mut Peer, mut flight: Flight, question: (QuestionId, Fingerprint)) -> Refusal {
    let refusal = flight.try_landed().expect("it has ended").expect_err("nobody answered it");
    let reply = bench.decide_on(question.0, question.1, Verdict::Allow, Also::Nothing);
    refused_as(&reply, ErrorCode::NoSuchQuestion);
    assert_eq!(app.try_next(), None, "the application never heard of it");
    assert!(bench.state.calls.is_empty(), "nothing is left of it");
    refusal
}

/// What a waiting call ends as when this happens.
fn ends_as(happens: impl FnOnce(&mut Bench, &Peer)) -> Outcome {
    let (mut bench, mut app, flight) = waiting();
    let (question, fingerprint) = bench.question(&flight);
    happens(&mut bench, &app);
    while app.try_next().is_some_and(|frame| frame == r#"{"type":"registered"}"#) {}
    let refusal = ended(&mut bench, &mut app, flight, (question.id, fingerprint));
    let Refusal::Ended(ended) = refusal else { panic!("{refusal:?}") };
    ended.outcome
}

// holds: approval-waiting-events
#[test]
fn a_waiting_call_ends_with_what_it_was_about() {
    assert_eq!(
        ends_as(|bench, app| bench.apply(Command::Disconnect { connection: app.id, done: None })),
        Outcome::Offline
    );
    let disconnect = Ask::Disconnect { application: client("a") };
    assert_eq!(ends_as(|bench, _| assert_eq!(bench.obey(disconnect), Reply::Done)), Outcome::Offline);
    assert_eq!(ends_as(|bench, _| drop(bench.connect("a"))), Outcome::Changed);
    assert_eq!(ends_as(|bench, app| bench.register(app.id, &[tool("go", 2)])), Outcome::Changed);
    assert_eq!(ends_as(|bench, app| bench.register(app.id, &[tool("stop", 1)])), Outcome::Changed);
    assert_eq!(ends_as(|bench, app| bench.register(app.id, &[])), Outcome::Changed);
}

// holds: approval-same-definition
#[test]
fn a_register_that_leaves_the_tool_as_it_is_leaves_the_question() {
    let (mut bench, mut app, mut flight) = waiting();
    bench.register(app.id, &[tool("go", 1)]);
    bench.register(app.id, &[tool("stop", 1), tool("go", 1)]);
    assert!(bench.waits(&flight));
    assert_eq!(bench.decide(&flight, Verdict::Allow, Also::Nothing), Reply::Done);
    let frames: Vec<_> = std::iter::from_fn(|| app.try_next()).collect();
    let registered = r#"{"type":"registered"}"#;
    assert_eq!(frames, [registered, registered, r#"{"type":"call","id":"1","name":"go","arguments":{}}"#]);
    assert!(flight.try_landed().is_none());
}

// holds: approval-waiting-events
#[test]
fn a_waiting_call_ends_when_the_person_says_so() {
    let obey = |command: Ask| move |bench: &mut Bench, _: &Peer| assert_eq!(bench.obey(command), Reply::Done);
    assert_eq!(ends_as(obey(Ask::Pause)), Outcome::Paused);
    let block = Ask::SetMode { application: client("a"), mode: Mode::Block, until: Until::Always };
    assert_eq!(ends_as(obey(block)), Outcome::Blocked);
    let deny = |bench: &mut Bench, _: &Peer| assert_eq!(bench.set_rules(vec![rule(Verdict::Deny)]), Reply::Done);
    assert_eq!(ends_as(deny), Outcome::Declined);
}

// holds: approval-unanswered
#[test]
fn a_question_that_nobody_answers_ends_by_either_clock() {
    for (mono, wall) in
        [(QUESTION_TIME, QUESTION_TIME), (QUESTION_TIME, Duration::ZERO), (Duration::ZERO, QUESTION_TIME)]
    {
        let (mut bench, _app, mut flight) = waiting();
        let Now { mono: asked, wall: Millis(at) } = bench.now;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap();
        let nearly = Duration::from_millis(1);
        bench.now =
            Now { mono: asked + mono.saturating_sub(nearly), wall: Millis(at + millis(wall.saturating_sub(nearly))) };
        bench.state.tick(bench.now);
        assert!(bench.waits(&flight));
        assert_eq!(bench.state.next_deadline(), Some(asked + QUESTION_TIME));
        bench.now = Now { mono: asked + mono, wall: Millis(at + millis(wall)) };
        bench.state.tick(bench.now);
        assert!(
            matches!(flight.try_landed(), Some(Err(Refusal::Ended(ended))) if ended.outcome == Outcome::Unanswered(QUESTION_TIME))
        );
    }
}

// holds: approval-unanswered
#[test]
fn an_answer_after_the_end_is_late_even_if_nobody_has_looked_at_the_clock() {
    let late = |bench: &mut Bench, _: &Peer| {
        let question = bench.state.calls.iter().find_map(|(_, live)| live.question()).unwrap();
        let fingerprint = tool("go", 1).fingerprint;
        bench.pass(QUESTION_TIME);
        let decide =
            control::Decide { question: question.id, fingerprint, verdict: Verdict::Allow, also: Also::Nothing };
        let (reply, mut answer) = oneshot::channel();
        // Without the tick that the task makes first.
        bench.state.apply(bench.now, Command::Desktop { command: Box::new(Ask::Decide(decide)), reply });
        refused_as(&answer.try_recv().unwrap(), ErrorCode::NoSuchQuestion);
    };
    assert_eq!(ends_as(late), Outcome::Unanswered(QUESTION_TIME));
}

// holds: approval-unanswered
#[test]
fn after_a_sleep_questions_that_are_over_end_before_anything_else() {
    let (mut bench, _app, mut flight) = waiting();
    bench.pass(QUESTION_TIME * 2);
    bench.state.woke(bench.now);
    assert!(
        matches!(flight.try_landed(), Some(Err(Refusal::Ended(ended))) if ended.outcome == Outcome::Unanswered(QUESTION_TIME))
    );
}

// holds: approval-withdrawn
#[test]
fn an_agent_that_goes_away_withdraws_its_waiting_call_in_either_era() {
    for hang_up in [HangUp::Cancels, HangUp::Ignored] {
        let mut bench = Bench::asking();
        let mut app = bench.serving("a");
        let routed = bench.route("a", hang_up);
        let flight = bench.send(routed);
        let (question, fingerprint) = bench.question(&flight);
        drop(flight);
        bench.step();
        refused_as(
            &bench.decide_on(question.id, fingerprint, Verdict::Allow, Also::Nothing),
            ErrorCode::NoSuchQuestion,
        );
        assert_eq!(app.try_next(), None, "{hang_up:?}");
        assert!(bench.state.calls.is_empty() && bench.questions().is_empty());
    }
}

// holds: approval-withdrawn
#[test]
fn a_legacy_cancel_withdraws_a_waiting_call() {
    let mut bench = Bench::asking();
    let mut app = bench.serving("a");
    let key = || RequestKey { agent: agent("a", None), session: "s".into(), id: RequestId::Integer("1".into()) };
    let mut routed = bench.route("a", HangUp::Ignored);
    routed.call.key = Some(key());
    let flight = bench.send(routed);
    let (question, fingerprint) = bench.question(&flight);
    bench.apply(Command::CancelRequest { key: key() });
    assert_eq!(ended(&mut bench, &mut app, flight, (question.id, fingerprint)), Refusal::Cancelled);
}

// holds: revoke-cuts-agent
#[test]
fn a_waiting_call_ends_when_its_agent_is_revoked() {
    for which in [Which::All, Which::Label(None)] {
        let (mut bench, mut app, flight) = waiting();
        let other = bench.call_as("a", "x");
        let (question, fingerprint) = bench.question(&flight);
        bench.pass(Duration::from_millis(1));
        let all = which == Which::All;
        assert_eq!(bench.obey(Ask::Revoke { application: client("a"), role: Role::Agent, which }), Reply::Done);
        assert_eq!(bench.waits(&other), !all, "another label");
        drop(other);
        bench.step();
        assert_eq!(ended(&mut bench, &mut app, flight, (question.id, fingerprint)), Refusal::Revoked);
    }
}

// holds: approval-shutdown, outcome-unattended
#[test]
fn when_the_bridge_ends_waiting_calls_are_unattended_and_sent_ones_unanswered() {
    let (mut bench, mut app, sent) = waiting();
    assert_eq!(bench.decide(&sent, Verdict::Allow, Also::Nothing), Reply::Done);
    let waiting = bench.call("a");
    bench.state.shut_down(bench.now);
    assert_eq!(outcome(waiting), Outcome::Unattended);
    assert_eq!(landed(sent).err(), Some(Refusal::ShuttingDown));
    assert!(app.next().contains("\"call\"") && app.try_next().is_none());
    assert_eq!(app.closed(), Some(CloseCode::GoingAway));
}

// holds: approval-allow, approval-used-once, approval-exact
#[test]
fn a_yes_sends_this_call_once_as_it_was_shown() {
    let (mut bench, mut app, first) = waiting();
    let mut routed = bench.route("a", HangUp::Cancels);
    let text = r#"{"x":1e400, "x":0.10, "y":"\u00e9"}"#;
    routed.call.arguments = json(text);
    let second = bench.send(routed);
    let (question, fingerprint) = bench.question(&second);
    assert_eq!(bench.decide(&second, Verdict::Allow, Also::Nothing), Reply::Done);
    assert_eq!(app.next(), format!(r#"{{"type":"call","id":"1","name":"go","arguments":{text}}}"#));
    let again = bench.decide_on(question.id, fingerprint, Verdict::Allow, Also::Nothing);
    refused_as(&again, ErrorCode::NoSuchQuestion);
    assert!(bench.waits(&first) && app.try_next().is_none(), "no other call");
    bench.result(app.id, 1, r#"{"content":[]}"#);
    assert_eq!(landed(second).unwrap().as_str(), r#"{"content":[]}"#);
}

// holds: approval-fingerprint
#[test]
fn an_answer_to_another_question_or_definition_is_refused_and_leaves_the_question_open() {
    let (mut bench, mut app, flight) = waiting();
    let (question, fingerprint) = bench.question(&flight);
    for (id, fingerprint) in [
        (QuestionId(question.id.0 ^ 1), fingerprint),
        (question.id, tool("go", 2).fingerprint),
        (QuestionId(0), fingerprint),
    ] {
        for verdict in [Verdict::Allow, Verdict::Deny] {
            refused_as(&bench.decide_on(id, fingerprint, verdict, remember(false)), ErrorCode::NoSuchQuestion);
        }
    }
    assert!(bench.waits(&flight) && app.try_next().is_none() && bench.memory().rules.is_empty());
}

// holds: approval-declined
#[test]
fn a_no_declines_this_call_alone() {
    let (mut bench, mut app, flight) = waiting();
    let other = bench.call("a");
    assert_eq!(bench.decide(&flight, Verdict::Deny, Also::Nothing), Reply::Done);
    assert_eq!(outcome(flight), Outcome::Declined);
    assert!(bench.waits(&other) && app.try_next().is_none());
}

// holds: approval-sent-events
#[test]
fn a_call_that_was_sent_goes_on_through_all_this() {
    let (mut bench, mut app, mut flight) = waiting();
    assert_eq!(bench.decide(&flight, Verdict::Allow, Also::Nothing), Reply::Done);
    bench.register(app.id, &[tool("go", 2)]);
    bench.register(app.id, &[]);
    assert_eq!(bench.obey(Ask::Pause), Reply::Done);
    assert_eq!(bench.set_mode("a", Mode::Block, Until::Always), Reply::Done);
    assert_eq!(bench.set_rules(vec![rule(Verdict::Deny)]), Reply::Done);
    assert!(flight.try_landed().is_none());
    assert!(
        app.next().contains("\"call\"") && !std::iter::from_fn(|| app.try_next()).any(|frame| frame.contains("cancel"))
    );
    bench.result(app.id, 1, r#"{"content":[]}"#);
    assert!(landed(flight).is_ok());
}

// holds: limit-calls
#[test]
fn a_yes_where_there_is_no_room_is_busy_and_sends_nothing() {
    let (mut bench, mut app, flight) = waiting();
    let sent: Vec<_> = (0..CALLS_IN_FLIGHT).map(|_| bench.own_call("a")).collect();
    while app.try_next().is_some() {}
    assert_eq!(bench.decide(&flight, Verdict::Allow, Also::Nothing), Reply::Done);
    assert_eq!(outcome(flight), Outcome::Busy(Limit::CallsInFlight));
    assert_eq!(app.try_next(), None);
    drop(sent);
}

// holds: limit-questions
#[test]
fn open_questions_are_limited_for_an_agent_and_for_an_application() {
    let mut bench = Bench::asking();
    let (_a, _b) = (bench.serving("a"), bench.serving("b"));
    let mut flights: Vec<_> = (0..QUESTIONS_OF_AGENT).map(|_| bench.call("a")).collect();
    assert_eq!(outcome(bench.call("a")), Outcome::Busy(Limit::QuestionsOfAgent));
    for label in ["x", "y", "z"] {
        flights.extend((0..QUESTIONS_OF_AGENT).map(|_| bench.call_as("a", label)));
    }
    assert_eq!(flights.iter().filter(|flight| bench.waits(flight)).count(), QUESTIONS);
    assert_eq!(outcome(bench.call_as("a", "w")), Outcome::Busy(Limit::Questions));
    let elsewhere = bench.call("b");
    assert!(bench.waits(&elsewhere), "another application has room of its own");
    assert_eq!(bench.decide(&flights.remove(0), Verdict::Deny, Also::Nothing), Reply::Done);
    let next = bench.call_as("a", "w");
    assert!(bench.waits(&next), "there is room again");
}

pub(super) fn remember(any_agent: bool) -> Also {
    Also::Remember { any_agent, until: Until::Always }
}

// holds: approval-rule-decides-waiting, approval-allow-rule
#[test]
fn a_remembered_yes_releases_the_waiting_calls_that_it_fits_and_no_others() {
    for any_agent in [false, true] {
        let mut bench = Bench::asking();
        let mut app = bench.serving_these("a", &[tool("go", 1), tool("stop", 1)]);
        let mut elsewhere = bench.serving("b");
        let first = bench.call_as("a", "x");
        let same = bench.call_as("a", "x");
        let another_agent = bench.call_as("a", "y");
        let routed = bench.route_for("a", Some("x"), "stop", HangUp::Cancels);
        let another_tool = bench.send(routed);
        let another_application = bench.call_as("b", "x");
        assert_eq!(bench.decide(&first, Verdict::Allow, remember(any_agent)), Reply::Done);
        assert!(!bench.waits(&first) && !bench.waits(&same));
        assert_eq!(bench.waits(&another_agent), !any_agent);
        assert!(bench.waits(&another_tool) && bench.waits(&another_application));
        let sent = std::iter::from_fn(|| app.try_next()).count();
        assert_eq!((sent, elsewhere.try_next()), (if any_agent { 3 } else { 2 }, None));
        let memory = bench.memory();
        let [rule] = memory.rules.as_slice() else { panic!("{memory:?}") };
        let bound = (rule.fingerprint, rule.origin.as_deref(), rule.verdict);
        assert_eq!(bound, (Some(tool("go", 1).fingerprint), Some(NATIVE), Verdict::Allow));
        assert_eq!(rule.agent, if any_agent { RuleAgent::Any } else { RuleAgent::One(Some(label("x"))) });
    }
}

// holds: approval-allow-rule
#[test]
fn a_changed_definition_and_another_origin_are_asked_about_again() {
    let (mut bench, app, flight) = waiting();
    assert_eq!(bench.decide(&flight, Verdict::Allow, remember(true)), Reply::Done);
    let ruled = bench.call("a");
    assert!(!bench.waits(&ruled), "the rule sends it");
    bench.register(app.id, &[tool("go", 2)]);
    let changed = bench.call("a");
    assert!(bench.waits(&changed));
    let elsewhere = bench.connect_from("a", Some("https://a.example")).unwrap();
    bench.register(elsewhere.id, &[tool("go", 1)]);
    let flight = bench.call("a");
    assert!(bench.waits(&flight));
}

// holds: approval-rule-decides-waiting, approval-deny-rule
#[test]
fn a_remembered_no_declines_the_waiting_calls_that_it_fits_whatever_the_tool_becomes() {
    let (mut bench, mut app, flight) = waiting();
    let (same, other) = (bench.call("a"), bench.call_as("a", "x"));
    assert_eq!(bench.decide(&flight, Verdict::Deny, remember(false)), Reply::Done);
    assert_eq!((outcome(flight), outcome(same)), (Outcome::Declined, Outcome::Declined));
    assert!(bench.waits(&other) && app.try_next().is_none());
    let memory = bench.memory();
    let [rule] = memory.rules.as_slice() else { panic!("{memory:?}") };
    assert_eq!((rule.fingerprint, &rule.origin, rule.verdict), (None, &None, Verdict::Deny));
    bench.register(app.id, &[tool("go", 2)]);
    assert_eq!(outcome(bench.call("a")), Outcome::Declined);
    let elsewhere = bench.connect_from("a", Some("https://a.example")).unwrap();
    bench.register(elsewhere.id, &[tool("go", 1)]);
    assert_eq!(outcome(bench.call("a")), Outcome::Declined, "wherever it comes from");
}

// holds: approval-block-agent
#[test]
fn blocking_the_agent_declines_the_call_and_blocks_the_others_for_a_while() {
    let mut bench = Bench::asking();
    let mut app = bench.serving("a");
    let (flight, same, other) = (bench.call_as("a", "x"), bench.call_as("a", "x"), bench.call_as("a", "y"));
    assert_eq!(bench.decide(&flight, Verdict::Deny, Also::BlockAgent), Reply::Done);
    assert_eq!((outcome(flight), outcome(same)), (Outcome::Declined, Outcome::Blocked));
    assert!(bench.waits(&other) && app.try_next().is_none());
    assert!(bench.memory().rules.is_empty() && bench.memory().blocked.len() == 1);
    assert_eq!(outcome(bench.call_as("a", "x")), Outcome::Blocked);
    bench.pass(BLOCK_TIME.saturating_sub(Duration::from_millis(1)));
    assert_eq!(outcome(bench.call_as("a", "x")), Outcome::Blocked);
    bench.pass(Duration::from_millis(1));
    let later = bench.call_as("a", "x");
    assert!(bench.waits(&later) && bench.memory().blocked.is_empty());
}

// holds: approval-block-agent
#[test]
fn an_agent_cannot_be_allowed_and_blocked_at_once() {
    let (mut bench, mut app, flight) = waiting();
    refused_as(&bench.decide(&flight, Verdict::Allow, Also::BlockAgent), ErrorCode::Value);
    assert!(bench.waits(&flight) && app.try_next().is_none(), "nothing was done");
}

// holds: approval-block-agent
#[test]
fn a_block_can_be_lifted() {
    let (mut bench, _app, flight) = waiting();
    assert_eq!(bench.decide(&flight, Verdict::Deny, Also::BlockAgent), Reply::Done);
    let unblock = || Ask::Unblock { application: client("a"), label: None };
    assert_eq!(bench.obey(unblock()), Reply::Done);
    refused_as(&bench.obey(unblock()), ErrorCode::NotFound);
    let flight = bench.call("a");
    assert!(bench.waits(&flight));
}
