//! What the desktop asks for, and what follows from it at once.

use std::time::Duration;

use clientmcp_protocol::{
    codes::CloseCode,
    control::{
        Also, Command as Ask, Count, ErrorCode, Floor, Memory, Mode, Pin, Rule, Secrets, TextRef, Until, Verdict, Which,
    },
    limits::{CALLS_IN_FLIGHT, RULES},
};

use super::{
    super::{bench::*, *},
    waiting::refused_as,
};
use crate::{
    call::HangUp,
    refusal::Limit,
    token::{NumericDate, Secret},
};

// holds: control-set-rules
#[test]
fn rules_that_changed_meanwhile_are_not_replaced() {
    let mut bench = Bench::asking();
    let (app, seen) = (bench.serving("a"), bench.snapshot().rules_revision);
    let flight = bench.call("a");
    let remember = Also::Remember { any_agent: false, until: Until::Always };
    assert_eq!(bench.decide(&flight, Verdict::Deny, remember), Reply::Done);
    for revision in [seen, Count(seen.0 + 2), Count(u64::MAX)] {
        refused_as(&bench.obey(Ask::SetRules { revision, rules: vec![] }), ErrorCode::Stale);
    }
    assert_eq!((bench.memory().rules.len(), outcome(bench.call("a"))), (1, Outcome::Declined));
    let revision = bench.snapshot().rules_revision;
    assert_eq!(bench.obey(Ask::SetRules { revision, rules: vec![] }), Reply::Done);
    refused_as(&bench.obey(Ask::SetRules { revision, rules: vec![rule(Verdict::Deny)] }), ErrorCode::Stale);
    let flight = bench.call("a");
    assert!(bench.waits(&flight));
    drop(app);
}

// holds: limit-rules
#[test]
fn more_rules_than_there_can_be_are_refused_in_either_way() {
    let mut bench = Bench::asking();
    let mut app = bench.serving("a");
    let rules = |count: usize| {
        (0..count).map(|id| Rule { id: id.to_string(), tool: tool("other", 1).name, ..rule(Verdict::Deny) }).collect()
    };
    refused_as(&bench.set_rules(rules(RULES + 1)), ErrorCode::Value);
    assert_eq!(bench.set_rules(rules(RULES)), Reply::Done);
    let flight = bench.call("a");
    let remember = Also::Remember { any_agent: false, until: Until::Always };
    refused_as(&bench.decide(&flight, Verdict::Allow, remember.clone()), ErrorCode::Value);
    assert!(bench.waits(&flight) && app.try_next().is_none(), "nothing was done");
    assert_eq!(bench.set_rules(rules(RULES - 1)), Reply::Done);
    assert_eq!(bench.decide(&flight, Verdict::Allow, remember), Reply::Done);
    assert_eq!(bench.memory().rules.len(), RULES);
}

// holds: approval-modes
#[test]
fn a_mode_decides_waiting_calls_at_once_and_goes_back_at_its_end() {
    let mut bench = Bench::asking();
    let mut app = bench.serving("a");
    let mut flight = bench.call("a");
    refused_as(&bench.set_mode("a", Mode::AllowAll, Until::Always), ErrorCode::Value);
    assert!(bench.waits(&flight));
    let end = Until::At(Millis(bench.now.wall.0 + 60_000));
    assert_eq!(bench.set_mode("a", Mode::AllowAll, end), Reply::Done);
    assert!(app.next().contains("\"call\"") && flight.try_landed().is_none());
    bench.pass(Duration::from_millis(59_999));
    let flight = bench.call("a");
    assert!(!bench.waits(&flight));
    bench.pass(Duration::from_millis(1));
    let flight = bench.call("a");
    assert!(bench.waits(&flight));
    assert!(bench.memory().modes.is_empty());
}

// holds: approval-clock-back
#[test]
fn a_clock_that_jumps_back_ends_what_was_allowed_for_a_while() {
    let mut bench = Bench::asking();
    let _app = bench.serving("a");
    let end = Until::At(Millis(bench.now.wall.0 + 60_000));
    assert_eq!(bench.set_mode("a", Mode::AllowAll, end), Reply::Done);
    bench.now.wall.0 -= 5_001;
    let flight = bench.call("a");
    assert!(bench.waits(&flight));
}

// holds: control-try-tool
#[test]
fn the_persons_own_call_is_sent_unasked_and_rules_do_not_count() {
    let mut bench = Bench::asking();
    let mut app = bench.serving("a");
    assert_eq!(bench.set_rules(vec![rule(Verdict::Deny)]), Reply::Done);
    let mut flight = bench.own_call("a");
    assert_eq!(app.next(), r#"{"type":"call","id":"1","name":"go","arguments":{}}"#);
    assert!(flight.try_landed().is_none());
}

// holds: control-try-tool
#[test]
fn the_persons_own_call_is_stopped_by_what_stops_every_call() {
    let mut bench = Bench::asking();
    let app = bench.serving("a");
    assert_eq!(bench.obey(Ask::Pause), Reply::Done);
    assert_eq!(outcome(bench.own_call("a")), Outcome::Paused);
    assert_eq!(bench.obey(Ask::Resume), Reply::Done);
    assert_eq!(bench.set_mode("a", Mode::Block, Until::Quit), Reply::Done);
    assert_eq!(outcome(bench.own_call("a")), Outcome::Blocked);
    assert_eq!(bench.set_mode("a", Mode::Ask, Until::Quit), Reply::Done);
    let sent: Vec<_> = (0..CALLS_IN_FLIGHT).map(|_| bench.own_call("a")).collect();
    assert_eq!(outcome(bench.own_call("a")), Outcome::Busy(Limit::CallsInFlight));
    let routed = bench.route("a", HangUp::Cancels);
    bench.register(app.id, &[tool("go", 2)]);
    assert_eq!(outcome(bench.submit(routed, true)), Outcome::Changed);
    let routed = bench.route("a", HangUp::Cancels);
    bench.apply(Command::Disconnect { connection: app.id, done: None });
    assert_eq!(outcome(bench.submit(routed, true)), Outcome::Offline);
    drop(sent);
}

// holds: control-try-tool
#[test]
fn a_block_of_the_unlabelled_agent_is_none_of_the_person() {
    let mut bench = Bench::asking();
    let mut app = bench.serving("a");
    let flight = bench.call("a");
    assert_eq!(bench.decide(&flight, Verdict::Deny, Also::BlockAgent), Reply::Done);
    let mut flight = bench.own_call("a");
    assert_eq!(flight.try_landed().map(Result::err), None);
    assert!(app.next().contains("\"call\""));
}

fn pinned(pins: &[(&str, &str)]) -> Bench {
    let mut beginning = beginning(Asking::Person);
    beginning.settings.client_origins = control::ClientOrigins::Pinned;
    let pin = |(application, origin): &(&str, &str)| Pin {
        application: client(application),
        origins: vec![(*origin).into()],
    };
    beginning.memory.pins = pins.iter().map(pin).collect();
    Bench::of(beginning)
}

const PAGE: Option<&str> = Some("https://a.example");
const ORIGIN_REFUSED: Option<NotAdmitted> = Some(NotAdmitted::Origin);

// holds: pin-first, pin-refused, pin-evicts-nobody, pin-native
#[test]
fn the_first_origin_is_the_only_one() {
    let mut bench = pinned(&[]);
    let mut app = bench.connect_from("a", PAGE).unwrap();
    assert_eq!(bench.memory().pins, [Pin { application: client("a"), origins: vec!["https://a.example".into()] }]);
    for other in ["https://b.example", "http://a.example", NATIVE, ""] {
        assert_eq!(bench.connect_from("a", Some(other)).err(), ORIGIN_REFUSED, "{other}");
    }
    assert_eq!(app.closed(), None, "nobody was evicted");
    assert!(bench.connect_from("a", PAGE).is_ok() && app.closed().is_some(), "a reconnect");
    assert!(bench.connect_from("b", Some(NATIVE)).is_ok(), "each client ID has its own");
    assert_eq!(bench.connect_from("b", PAGE).err(), ORIGIN_REFUSED);
}

// holds: pin-null
#[test]
fn an_origin_that_names_nobody_is_refused_always_and_never_remembered() {
    let mut bench = pinned(&[]);
    for nobody in [None, Some(NO_ORIGIN)] {
        assert_eq!(bench.connect_from("a", nobody).err(), ORIGIN_REFUSED);
    }
    assert!(bench.memory().pins.is_empty());
    assert!(bench.connect_from("a", PAGE).is_ok());
    for nobody in [None, Some(NO_ORIGIN)] {
        assert_eq!(bench.connect_from("a", nobody).err(), ORIGIN_REFUSED);
    }
}

// holds: pin-add, pin-remembered
#[test]
fn the_person_may_add_an_origin_but_never_null() {
    let mut bench = pinned(&[("a", "https://a.example")]);
    let add = |origin: &str| Ask::AddOrigin { application: client("a"), origin: origin.into() };
    for bad in ["null", ""] {
        refused_as(&bench.obey(add(bad)), ErrorCode::Value);
    }
    assert_eq!(bench.connect_from("a", Some(NATIVE)).err(), ORIGIN_REFUSED);
    assert_eq!((bench.obey(add(NATIVE)), bench.obey(add(NATIVE))), (Reply::Done, Reply::Done));
    assert!(bench.connect_from("a", Some(NATIVE)).is_ok() && bench.connect_from("a", PAGE).is_ok());
    assert_eq!(
        bench.memory().pins,
        [Pin { application: client("a"), origins: vec!["https://a.example".into(), NATIVE.into()] }]
    );
}

// holds: pin-any
#[test]
fn where_any_origin_may_come_none_is_remembered_or_refused() {
    let mut bench = Bench::asking();
    for origin in [PAGE, Some(NATIVE), Some(NO_ORIGIN), None] {
        assert!(bench.connect_from("a", origin).is_ok());
    }
    assert!(bench.memory().pins.is_empty());
}

// holds: pin-first
#[test]
fn an_origin_that_was_refused_for_want_of_room_is_not_remembered() {
    let mut beginning = beginning(Asking::Person);
    (beginning.settings.client_origins, beginning.room) = (control::ClientOrigins::Pinned, 1);
    let mut bench = Bench::of(beginning);
    let _app = bench.connect_from("a", PAGE).unwrap();
    assert_eq!(bench.connect_from("b", PAGE).err(), Some(NotAdmitted::TooMany));
    assert_eq!(bench.memory().pins.len(), 1);
}

fn revoke(role: Role, which: Which) -> Ask {
    Ask::Revoke { application: client("a"), role, which }
}

// holds: revoke-cuts-agent, revoke-nothing-else
#[test]
fn revoking_an_agent_cuts_off_its_calls_and_no_others() {
    for which in [Which::All, Which::Label(Some(label("x")))] {
        let mut bench = Bench::asking();
        let (mut app, _other_app) = (bench.serving("a"), bench.serving("b"));
        let flights =
            [bench.call_as("a", "x"), bench.call_as("a", "x"), bench.call_as("a", "y"), bench.call_as("b", "x")];
        assert_eq!(bench.decide(&flights[0], Verdict::Allow, Also::Nothing), Reply::Done);
        let mut own = bench.own_call("a");
        bench.pass(Duration::from_millis(1));
        let all = which == Which::All;
        assert_eq!(bench.obey(revoke(Role::Agent, which)), Reply::Done);
        let frames: Vec<_> = std::iter::from_fn(|| app.try_next()).skip(2).collect();
        assert_eq!(frames, [r#"{"type":"cancel","id":"1"}"#], "the sent one is told to stop");
        let ended = flights.map(|mut flight| flight.try_landed().map(Result::err));
        let revoked = Some(Some(Refusal::Revoked));
        assert_eq!(ended, [revoked.clone(), revoked.clone(), revoked.filter(|_| all), None]);
        assert_eq!((app.closed(), own.try_landed().map(Result::err)), (None, None));
    }
}

// holds: revoke-application, revoke-nothing-else
#[test]
fn revoking_an_application_closes_its_connection_and_ends_its_calls() {
    for which in [Which::All, Which::Label(None)] {
        let mut bench = Bench::asking();
        let (mut app, mut other) = (bench.serving("a"), bench.serving("b"));
        let (sent, waiting) = (bench.call("a"), bench.call("a"));
        assert_eq!(bench.decide(&sent, Verdict::Allow, Also::Nothing), Reply::Done);
        bench.pass(Duration::from_millis(1));
        assert_eq!(bench.obey(revoke(Role::Client, which)), Reply::Done);
        assert_eq!((app.closed(), other.closed()), (Some(CloseCode::Unauthorized), None));
        assert_eq!((outcome(sent), outcome(waiting)), (Outcome::Disconnected, Outcome::Offline));
        assert!(bench.state.calls.is_empty() && bench.hub.served(&client("a")).is_none());
    }
}

// holds: revoke-secret
#[test]
fn dropping_a_secret_cuts_off_all_that_it_let_in() {
    let new = "n".repeat(32);
    let secret = Secret::new(&new).unwrap();
    let mut bench = Bench::asking();
    let (mut old, flight) = (bench.serving("a"), bench.call("a"));
    let both = Secrets(vec![new.clone(), "s".repeat(32)]);
    assert_eq!(bench.obey(Ask::SetSecrets { secrets: both }), Reply::Done);
    let mut fresh = bench.connect_with(fresh_claims(&secret, "b", Role::Client, None), Some(NATIVE)).unwrap();
    assert!(bench.waits(&flight) && old.closed().is_none());
    for bad in [vec![], vec!["short".to_owned()], vec![new.clone(), "two\nlines".repeat(9)]] {
        refused_as(&bench.obey(Ask::SetSecrets { secrets: Secrets(bad) }), ErrorCode::Secret);
    }
    assert!(bench.waits(&flight) && old.closed().is_none(), "nothing was done");
    assert_eq!(bench.obey(Ask::SetSecrets { secrets: Secrets(vec![new]) }), Reply::Done);
    assert_eq!((old.closed(), fresh.closed()), (Some(CloseCode::Unauthorized), None));
    assert!(flight_ended(flight), "with its application or its agent");
}

fn flight_ended(mut flight: Flight) -> bool {
    flight.try_landed().is_some_and(|answer| answer.is_err())
}

// holds: revoke-cuts-agent
#[test]
fn a_call_that_was_let_in_before_a_revocation_and_comes_after_it_is_not_taken_in() {
    for which in [Which::All, Which::Label(None)] {
        let mut bench = Bench::asking();
        let mut app = bench.serving("a");
        assert_eq!(bench.set_mode("a", Mode::AllowAll, Until::Quit), Reply::Done);
        let routed = bench.route("a", HangUp::Cancels);
        bench.pass(Duration::from_millis(1));
        assert_eq!(bench.obey(revoke(Role::Agent, which)), Reply::Done);
        let flight = bench.send(routed);
        assert_eq!(landed(flight).err(), Some(Refusal::Revoked));
        assert_eq!(app.try_next(), None);
    }
}

// holds: revoke-application
#[test]
fn an_application_that_was_let_in_before_a_revocation_and_comes_after_it_does_not_connect() {
    for which in [Which::All, Which::Label(None)] {
        let mut bench = Bench::asking();
        bench.pass(Duration::from_millis(1));
        assert_eq!(bench.obey(revoke(Role::Client, which)), Reply::Done);
        assert!(bench.try_connect("a").is_none());
        assert_eq!(bench.state.applications.len(), 0);
    }
}

// holds: revoke-then-mint, revoke-remembered
#[test]
fn what_is_made_after_a_revocation_is_good_and_what_was_revoked_stays_so() {
    let mut bench = Bench::asking();
    bench.pass(Duration::from_millis(1));
    assert_eq!(bench.obey(revoke(Role::Client, Which::Label(None))), Reply::Done);
    let mut later = (*claims("a", Role::Client, None)).clone();
    #[expect(clippy::cast_precision_loss, reason = "a date of our time")]
    let next = NumericDate::new((bench.now.wall.0 + 1) as f64 / 1_000.0);
    later.issued_at = next;
    assert!(bench.connect_with(later.into(), Some(NATIVE)).is_ok());
    let floor = |at| Floor { application: client("a"), role: Role::Client, label: None, issued_before: Millis(at) };
    assert_eq!(bench.memory().floors, [floor(START + 2)]);
    bench.pass(Duration::from_secs(60));
    assert_eq!(bench.obey(revoke(Role::Client, Which::Label(None))), Reply::Done);
    bench.now.wall.0 -= 30_000;
    assert_eq!(bench.obey(revoke(Role::Client, Which::Label(None))), Reply::Done);
    assert_eq!(bench.memory().floors, [floor(START + 60_002)], "a floor never falls, and is remembered as it is");
}

// holds: control-get-refused
#[test]
fn the_texts_of_a_question_are_gone_with_it() {
    let mut bench = Bench::asking();
    let _app = bench.serving("a");
    let flight = bench.call("a");
    let (question, _) = bench.question(&flight);
    let get = || Ask::Get {
        text: TextRef::Question { id: question.id, part: control::QuestionPart::Arguments },
        offset: Count(0),
    };
    assert_eq!(bench.obey(get()), Reply::Text { piece: "{}".into(), bytes: Count(2) });
    assert_eq!(bench.decide(&flight, Verdict::Deny, Also::Nothing), Reply::Done);
    refused_as(&bench.obey(get()), ErrorCode::NotFound);
}

// holds: control-remember
#[test]
fn what_has_ended_meanwhile_is_not_written_down_or_shown_again() {
    let mut beginning = beginning(Asking::Person);
    let past = Until::At(Millis(START));
    beginning.memory.rules = vec![Rule { until: past, ..rule(Verdict::Allow) }];
    beginning.memory.blocked = vec![control::BlockedAgent { application: client("a"), label: None, until: past }];
    beginning.memory.modes =
        vec![control::ModeOf { application: client("a"), mode: Mode::AllowAll, until: Until::Always, ends: None }];
    let bench = Bench::of(beginning);
    assert_eq!(*bench.memory(), Memory::default());
    assert_eq!(bench.view.borrow().barred(&agent("a", None)), None);
}

// holds: control-set-rules
#[test]
fn two_rules_under_one_id_are_refused() {
    let mut bench = Bench::asking();
    refused_as(&bench.set_rules(vec![rule(Verdict::Deny), rule(Verdict::Allow)]), ErrorCode::Value);
    assert!(bench.memory().rules.is_empty());
}
