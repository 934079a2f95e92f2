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
    knock_of(bench, wants, DoorProgram::default(), caller)
}

fn knock_of(
    bench: &mut Bench,
    wants: DoorWants,
    program: DoorProgram,
    caller: Caller,
) -> Result<Option<Waiting>, Turned> {
    let (heard, mut outcome) = oneshot::channel();
    let knock = Knock { wants, program, caller };
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
    let leaver = Leaver::default();
    let _gone = knock_as(&mut bench, pair("Viewer"), leaver.caller());
    leaver.leave();
    assert_eq!(decide(&mut bench, Verdict::Deny), Reply::Done);
    assert_eq!(bench.snapshot().pairs.len(), 1);
}

// holds: door-question-shown
#[test]
fn a_yes_is_for_the_program_that_the_question_shows() {
    let program = |pid| DoorProgram { pid: Some(pid), ..DoorProgram::default() };
    let shown = |bench: &mut Bench| {
        let [ref question] = bench.snapshot().door_questions[..] else { panic!("one question") };
        (question.id, question.program.clone())
    };
    let allow =
        |bench: &mut Bench, question| bench.obey(control::Command::DecideDoor { question, verdict: Verdict::Allow });
    for is_told in [false, true] {
        let (mut bench, leaver) = (Bench::asking(), Leaver::default());
        let first = knock_of(&mut bench, pair("Editor"), program(1), leaver.caller()).expect("heard").expect("asked");
        let second =
            knock_of(&mut bench, pair("Editor"), program(2), Caller::resident()).expect("heard").expect("asked");
        let third =
            knock_of(&mut bench, pair("Editor"), program(3), Caller::resident()).expect("heard").expect("asked");
        let (question, by) = shown(&mut bench);
        assert_eq!(by, program(1));
        // One that is not shown goes, and nothing changes.
        drop(third);
        bench.step();
        assert_eq!(shown(&mut bench), (question, program(1)));
        // The one that is shown goes, which is known already, or only once the yes comes.
        if is_told {
            drop(first);
            bench.step();
        } else {
            leaver.leave();
        }
        let reply = allow(&mut bench, question);
        assert!(matches!(reply, Reply::Refused { code: ErrorCode::NoSuchQuestion, .. }), "{reply:?}");
        assert_eq!(bench.snapshot().pairs, []);
        // The other one asks now, by a question of its own.
        let (next, by) = shown(&mut bench);
        assert!(next != question && by == program(2), "{by:?}");
        assert_eq!(allow(&mut bench, next), Reply::Done);
        assert_eq!(answer(second), Some(Ok(())));
    }
}
