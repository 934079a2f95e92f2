//! Who knocks at the local door, driven by hand.

use clientmcp_protocol::control::{DoorProgram, DoorWants, ErrorCode, Pair, Reply, Verdict};

use super::*;

fn pair(host: &str) -> DoorWants {
    DoorWants::Pair { host: label(host), application: Some(client("a")) }
}

/// The answer to a knock: at once, or later.
fn knock(bench: &mut Bench, wants: DoorWants) -> Result<Option<Waiting>, Turned> {
    knock_as(bench, wants, Caller::resident())
}

fn knock_as(bench: &mut Bench, wants: DoorWants, caller: Caller) -> Result<Option<Waiting>, Turned> {
    let (heard, mut outcome) = oneshot::channel();
    let knock = Knock { wants, program: DoorProgram::default(), caller };
    let leave = bench.leave();
    bench.apply(Command::Knock { knock: Box::new(knock), leave, heard });
    outcome.try_recv().expect("a knock is heard at once")
}

fn waiting(bench: &mut Bench, wants: DoorWants) -> Waiting {
    knock(bench, wants).expect("not turned away").expect("not settled")
}

fn answer(waiting: Waiting) -> Option<Result<(), Turned>> {
    futures_util::FutureExt::now_or_never(waiting.answer())
}

// holds: door-pair-unanswered
#[test]
fn a_question_ends_unanswered_by_either_clock_and_is_not_remembered() {
    for by_wall in [false, true] {
        let mut bench = Bench::asking();
        let first = waiting(&mut bench, pair("Editor"));
        bench.pass(Duration::from_secs(119));
        let second = waiting(&mut bench, pair("Editor"));
        assert_eq!(bench.snapshot().door_questions.len(), 1);
        if by_wall {
            bench.now.wall.0 += 1_000;
        } else {
            bench.now.mono += Duration::from_secs(1);
        }
        bench.state.tick(bench.now);
        assert_eq!((answer(first), answer(second)), (Some(Err(Turned::Unanswered)), Some(Err(Turned::Unanswered))));
        let snapshot = bench.snapshot();
        assert_eq!((snapshot.door_questions.len(), snapshot.pairs.len()), (0, 0));
        // It is asked anew, with its whole time.
        let third = waiting(&mut bench, pair("Editor"));
        bench.pass(Duration::from_secs(119));
        bench.state.tick(bench.now);
        assert_eq!(answer(third), None);
    }
}

// holds: door-questions-limit
#[test]
fn four_wait_for_one_answer_and_the_fifth_does_not() {
    let mut bench = Bench::asking();
    let there: Vec<_> = (0..4).map(|_| waiting(&mut bench, pair("Editor"))).collect();
    assert!(matches!(knock(&mut bench, pair("Editor")), Err(Turned::Busy)));
    // Another question is another matter.
    let other = waiting(&mut bench, pair("Viewer"));
    let question = bench.snapshot().door_questions[0].id;
    let decide = control::Command::DecideDoor { question, verdict: Verdict::Allow };
    assert_eq!(bench.obey(decide), Reply::Done);
    assert!(there.into_iter().all(|waiting| answer(waiting) == Some(Ok(()))));
    assert_eq!(answer(other), None);
}

// holds: door-closing
#[test]
fn the_bridges_end_answers_who_waits() {
    let mut bench = Bench::asking();
    let waiting = waiting(&mut bench, pair("Editor"));
    bench.state.shut_down(bench.now);
    assert_eq!(answer(waiting), Some(Err(Turned::Closing)));
}

// holds: door-pair-commands
#[test]
fn a_pair_that_cannot_be_remembered_leaves_its_question_open() {
    let mut beginning = beginning(Asking::Person);
    let pair_of = |number: usize| Pair {
        host: label(&format!("Host {number}")),
        application: None,
        verdict: Verdict::Allow,
        made: Millis(1),
    };
    beginning.access = beginning.access.with_pairs((0..256).map(pair_of).collect());
    let mut bench = Bench::of(beginning);
    let waiting = waiting(&mut bench, pair("Editor"));
    let question = bench.snapshot().door_questions[0].id;
    let decide = control::Command::DecideDoor { question, verdict: Verdict::Allow };
    let reply = bench.obey(decide.clone());
    assert!(matches!(reply, Reply::Refused { code: ErrorCode::Value, .. }), "{reply:?}");
    let forget = control::Command::ForgetPair { host: label("Host 1"), application: None };
    assert_eq!(bench.obey(forget), Reply::Done);
    assert_eq!(bench.obey(decide), Reply::Done);
    assert_eq!(answer(waiting), Some(Ok(())));
}

// holds: leaving-asked, door-pair-commands
#[test]
fn a_yes_at_the_door_is_asked_of_the_connection_and_a_no_is_not() {
    let token = || DoorWants::Token { application: client("a"), role: Role::Agent, label: None, seconds: None };
    let mut bench = Bench::asking();
    let decide = |bench: &mut Bench, verdict| {
        let question = bench.snapshot().door_questions[0].id;
        bench.obey(control::Command::DecideDoor { question, verdict })
    };
    for wants in [pair("Editor"), token()] {
        let leaver = Leaver::default();
        let _gone = knock_as(&mut bench, wants, leaver.caller());
        leaver.leave();
        let reply = decide(&mut bench, Verdict::Allow);
        assert!(matches!(reply, Reply::Refused { code: ErrorCode::NoSuchQuestion, .. }), "{reply:?}");
        let snapshot = bench.snapshot();
        assert_eq!((snapshot.door_questions.len(), snapshot.pairs.len()), (0, 0));
    }
    // Somebody else who wants the same is there.
    let leaver = Leaver::default();
    let _gone = knock_as(&mut bench, pair("Editor"), leaver.caller());
    let there = waiting(&mut bench, pair("Editor"));
    leaver.leave();
    assert_eq!(decide(&mut bench, Verdict::Allow), Reply::Done);
    assert_eq!(answer(there), Some(Ok(())));
    let _gone = knock_as(&mut bench, pair("Viewer"), leaver.caller());
    assert_eq!(decide(&mut bench, Verdict::Deny), Reply::Done);
    assert_eq!(bench.snapshot().pairs.len(), 2);
}
