//! Revocations under clocks that are wrong, and tokens that pairs gave out.

use clientmcp_protocol::control::{Command as Ask, Memory, Pair, Which};

use crate::{
    call::HangUp,
    hub::{bench::*, *},
    token,
};

const HOUR: u64 = 60 * 60 * 1_000;

fn minted(bench: &mut Bench, label: Option<&str>) -> String {
    let (minted, mut outcome) = oneshot::channel();
    let label = label.map(self::label);
    let wanted = Wanted { subject: client("a"), role: Role::Agent, label, ttl: Some(Duration::from_secs(3_600)) };
    bench.apply(Command::Mint { wanted: Box::new(wanted), minted });
    outcome.try_recv().expect("answered").expect("made").token
}

fn revoke(bench: &mut Bench, label: Option<&str>) {
    let which = Which::Label(label.map(self::label));
    assert_eq!(bench.obey(Ask::Revoke { application: client("a"), role: Role::Agent, which }), Reply::Done);
}

/// A bench at the time that it is, and tokens that can end.
fn today() -> Bench {
    let mut bench = Bench::asking();
    bench.now.wall = now().wall;
    bench
}

fn taken(bench: &Bench, token: &str) -> bool {
    bench.hub.admit(token, Role::Agent).is_ok()
}

// holds: revoke-clock-ahead
#[test]
fn a_revocation_reaches_what_was_made_while_the_clock_was_ahead() {
    for label in [Some("F"), None] {
        let mut bench = today();
        bench.now.wall.0 += HOUR;
        let ahead = minted(&mut bench, label);
        let other = minted(&mut bench, Some("other"));
        bench.now.wall.0 -= HOUR;
        let right = minted(&mut bench, label);
        assert!(taken(&bench, &ahead) && taken(&bench, &right));
        revoke(&mut bench, label);
        assert!(!taken(&bench, &ahead) && !taken(&bench, &right), "{label:?}");
        assert!(taken(&bench, &other), "another label");
        let after = minted(&mut bench, label);
        assert!(taken(&bench, &after) && !taken(&bench, &ahead));
        // Once more, and what comes after that.
        revoke(&mut bench, label);
        assert!(!taken(&bench, &after));
        assert!({
            let token = minted(&mut bench, label);
            taken(&bench, &token)
        });
    }
}

// holds: revoke-clock-ahead
#[test]
fn it_does_so_after_a_restart_too() {
    let mut bench = today();
    bench.now.wall.0 += HOUR;
    let ahead = minted(&mut bench, Some("F"));
    let memory = (*bench.memory()).clone();
    bench.now.wall.0 -= HOUR;
    let again = |memory: &Memory| {
        let mut beginning = beginning(Asking::Person);
        beginning.access = beginning.access.with_revoked(&memory.generations, &memory.floors);
        beginning.memory = memory.clone();
        let mut bench = Bench::of(beginning);
        bench.now.wall = now().wall;
        bench
    };
    let mut bench = again(&memory);
    assert!(taken(&bench, &ahead));
    revoke(&mut bench, Some("F"));
    let after = minted(&mut bench, Some("F"));
    assert!(!taken(&bench, &ahead) && taken(&bench, &after));
    let bench = again(&bench.memory());
    assert!(!taken(&bench, &ahead) && taken(&bench, &after));
}

// holds: revoke-clock-ahead
#[test]
fn a_token_of_another_program_that_was_taken_is_reached_too() {
    let mut bench = today();
    let grant =
        token::Grant { subject: client("a"), role: Role::Agent, label: Some(label("F")), generation: 0, ttl: None };
    let ahead = SystemTime::now() + Duration::from_millis(HOUR);
    let strange = token::mint(&secret().into(), &grant, ahead).expect("made");
    assert!(taken(&bench, &strange));
    bench.step();
    revoke(&mut bench, Some("F"));
    assert!(!taken(&bench, &strange));
    let after = minted(&mut bench, Some("F"));
    assert!(taken(&bench, &after));
}

/// A token that another program made.
fn strange(of: &str, iat: SystemTime) -> String {
    let grant =
        token::Grant { subject: client("a"), role: Role::Agent, label: Some(label(of)), generation: 0, ttl: None };
    token::mint(&secret().into(), &grant, iat).expect("made")
}

// holds: revoke-clock-ahead
#[test]
fn a_token_that_was_taken_is_reached_when_the_clock_is_set_back_after_that() {
    let mut bench = today();
    let token = strange("F", SystemTime::now());
    assert!(taken(&bench, &token) && taken(&bench, &token));
    assert_eq!(bench.hub.commands.max_capacity() - bench.hub.commands.capacity(), 1, "it is told once");
    bench.step();
    bench.now.wall.0 -= HOUR;
    revoke(&mut bench, Some("F"));
    assert!(!taken(&bench, &token));
    let after = minted(&mut bench, Some("F"));
    assert!(taken(&bench, &after));
}

// holds: revoke-clock-ahead, revoke-cuts-agent
#[test]
fn what_is_under_way_is_reached_though_nobody_was_told_of_its_token() {
    let mut bench = today();
    let _app = bench.serving("a");
    let token = strange("F", SystemTime::now());
    let mut routed = bench.route_for("a", Some("F"), "go", HangUp::Ignored);
    routed.call.credential = Some(Arc::new(bench.hub.access.borrow().admit(&token, Role::Agent).expect("taken")));
    let flight = bench.send(routed);
    bench.now.wall.0 -= HOUR;
    revoke(&mut bench, Some("F"));
    assert_eq!(landed(flight), Err(Refusal::Revoked));
    assert!(!taken(&bench, &token));
}

// holds: revoke-clock-ahead
#[test]
fn a_beginning_after_the_year_9999_is_refused_by_a_floor() {
    let begins = |iat: f64| strange("F", UNIX_EPOCH + Duration::from_secs_f64(iat));
    let mut bench = today();
    let beyond = [253_402_300_799.5, 1_790_000_000_000.0, 1e15].map(begins);
    let last = begins(253_402_300_799.0);
    assert!(beyond.iter().all(|token| taken(&bench, token)));
    bench.step();
    revoke(&mut bench, Some("F"));
    assert!(!beyond.iter().any(|token| taken(&bench, token)));
    let after = minted(&mut bench, Some("F"));
    assert!(taken(&bench, &after) && taken(&bench, &last));
    // Even where a floor came to be beyond it.
    for _ in 0..2 {
        bench.step();
        revoke(&mut bench, Some("F"));
        assert!(!taken(&bench, &last) && !beyond.iter().any(|token| taken(&bench, token)));
        let after = minted(&mut bench, Some("F"));
        assert!(taken(&bench, &after));
    }
}

/// A token of `headers` for the host `E`.
fn headers(bench: &Bench) -> Option<String> {
    let minted = bench.hub.access().borrow().mint_for(&label("E"), &client("a"))?;
    Some(minted.expect("made").token)
}

fn allow(bench: &mut Bench, application: Option<&str>) {
    let application = application.map(client);
    assert_eq!(bench.obey(Ask::AllowPair { host: label("E"), application }), Reply::Done);
}

fn forget(bench: &mut Bench, application: Option<&str>) {
    let application = application.map(client);
    assert_eq!(bench.obey(Ask::ForgetPair { host: label("E"), application }), Reply::Done);
}

/// The person says no to the host's question.
fn deny(bench: &mut Bench, application: Option<&str>) {
    let wants = control::DoorWants::Pair { host: label("E"), application: application.map(client) };
    let (heard, mut outcome) = oneshot::channel();
    let knock = Box::new(Knock { wants, program: control::DoorProgram::default(), caller: Caller::resident() });
    let leave = bench.leave();
    bench.apply(Command::Knock { knock, leave, heard });
    let _waiting = outcome.try_recv().expect("heard").expect("not turned away").expect("asked");
    let question = bench.snapshot().door_questions[0].id;
    let deny = Ask::DecideDoor { question, verdict: control::Verdict::Deny };
    assert_eq!(bench.obey(deny), Reply::Done);
}

// holds: door-headers-pair
#[test]
fn a_token_of_headers_ends_with_what_let_its_host_in() {
    let mut bench = today();
    assert_eq!(headers(&bench), None);
    let mine = minted(&mut bench, Some("E"));
    allow(&mut bench, Some("a"));
    let token = headers(&bench).expect("it is let in");
    assert!(taken(&bench, &token));
    // Once more changes nothing.
    allow(&mut bench, Some("a"));
    assert!(taken(&bench, &token));
    forget(&mut bench, Some("a"));
    assert!(!taken(&bench, &token) && headers(&bench).is_none());
    // Let in anew in the same millisecond, or with the clock set back.
    for back in [0, HOUR] {
        bench.now.wall.0 -= back;
        allow(&mut bench, Some("a"));
        let newer = headers(&bench).expect("it is let in");
        assert!(!taken(&bench, &token) && taken(&bench, &newer));
        forget(&mut bench, Some("a"));
        assert!(!taken(&bench, &newer));
    }
    deny(&mut bench, Some("a"));
    assert!(headers(&bench).is_none() && !taken(&bench, &token));
    assert!(taken(&bench, &mine), "the person's own");
    allow(&mut bench, Some("a"));
    let last = headers(&bench).expect("it is let in");
    revoke(&mut bench, Some("E"));
    assert!(!taken(&bench, &last) && !taken(&bench, &mine));
}

// holds: door-headers-pair
#[test]
fn what_lets_a_host_in_to_all_holds_on_where_it_was_there() {
    let mut bench = today();
    allow(&mut bench, Some("a"));
    let alone = headers(&bench).expect("it is let in");
    // A no for all is none for this one.
    deny(&mut bench, None);
    assert!(taken(&bench, &alone));
    forget(&mut bench, None);
    allow(&mut bench, None);
    let both = headers(&bench).expect("it is let in");
    assert!(taken(&bench, &alone) && taken(&bench, &both));
    forget(&mut bench, Some("a"));
    assert!(taken(&bench, &both), "the other one was there");
    let of_all = headers(&bench).expect("it is let in");
    forget(&mut bench, None);
    assert!(!taken(&bench, &both) && !taken(&bench, &of_all));
    deny(&mut bench, Some("a"));
    allow(&mut bench, None);
    assert!(!taken(&bench, &of_all) && headers(&bench).is_none());
    forget(&mut bench, Some("a"));
    let after = headers(&bench).expect("it is let in");
    assert!(!taken(&bench, &of_all) && !taken(&bench, &both) && taken(&bench, &after));
}

// holds: door-headers-pair
#[test]
fn who_is_let_in_to_all_and_by_name_too_goes_on() {
    let mut bench = today();
    allow(&mut bench, None);
    let token = headers(&bench).expect("it is let in");
    allow(&mut bench, Some("a"));
    assert!(taken(&bench, &token));
    // The one that let it in is gone, though the host is let in.
    forget(&mut bench, None);
    assert!(!taken(&bench, &token) && headers(&bench).is_some());
    // A no ends it for good, whichever way that no goes.
    allow(&mut bench, None);
    forget(&mut bench, Some("a"));
    let token = headers(&bench).expect("it is let in");
    let no =
        Pair { host: label("E"), application: Some(client("a")), verdict: control::Verdict::Deny, made: Millis(7) };
    let access = bench.hub.access().borrow().clone();
    let pairs = [access.pairs(), &[no]].concat();
    bench.state.set_access(bench.now, access.with_pairs(pairs));
    assert!(!taken(&bench, &token));
    allow(&mut bench, Some("a"));
    assert!(!taken(&bench, &token));
}

// holds: door-headers-pair
#[test]
fn what_a_no_has_ended_stays_ended_when_it_is_forgotten() {
    let all = |verdict| Pair { host: label("E"), application: None, verdict, made: Millis(5) };
    let mut beginning = beginning(Asking::Person);
    beginning.access = beginning.access.with_pairs(vec![all(control::Verdict::Allow)]);
    let before = beginning.access.mint_for(&label("E"), &client("a")).expect("let in").expect("made").token;
    let no = Pair { application: Some(client("a")), verdict: control::Verdict::Deny, ..all(control::Verdict::Deny) };
    beginning.access = beginning.access.with_pairs(vec![all(control::Verdict::Allow), no]);
    let mut bench = Bench::of(beginning);
    assert!(!taken(&bench, &before));
    forget(&mut bench, Some("a"));
    assert!(!taken(&bench, &before));
    let after = headers(&bench).expect("it is let in");
    assert!(taken(&bench, &after));
}

// holds: door-headers-pair
#[test]
fn calls_under_way_end_with_the_pair() {
    let mut bench = today();
    let mut app = bench.serving("a");
    allow(&mut bench, Some("a"));
    let token = headers(&bench).expect("it is let in");
    let mut routed = bench.route_for("a", Some("E"), "go", HangUp::Ignored);
    routed.call.credential = Some(bench.hub.admit(&token, Role::Agent).expect("taken"));
    let flight = bench.send(routed);
    let other = bench.call_as("a", "E");
    forget(&mut bench, Some("a"));
    assert_eq!(landed(flight), Err(Refusal::Revoked));
    assert!(bench.waits(&other) && app.try_next().is_none(), "a token that the person made");
}
