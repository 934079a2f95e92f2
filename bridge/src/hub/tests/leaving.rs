//! No answer counts once the agent that waits for it is gone.

use clientmcp_protocol::{
    control::{Also, ErrorCode, Mode, Until, Verdict},
    ids::QuestionId,
};

use super::waiting::{refused_as, remember};
use crate::hub::{bench::*, *};

/// An agent that has left in one of the ways in which the hub can see it, without a word of it having come.
fn deserted(hang_up: HangUp, drops: bool) -> (Bench, Peer, Option<Flight>, (QuestionId, Fingerprint)) {
    let (mut bench, leaver) = (Bench::asking(), Leaver::default());
    let app = bench.serving("a");
    let mut routed = bench.route("a", hang_up);
    routed.call.caller = leaver.caller();
    let flight = bench.send(routed);
    let (question, fingerprint) = bench.question(&flight);
    // Either nobody holds the call any more, whose farewell is in the queue, or the system knows of an end.
    let flight = if drops {
        drop(flight);
        None
    } else {
        leaver.leave();
        Some(flight)
    };
    (bench, app, flight, (question.id, fingerprint))
}

const DESERTIONS: [(HangUp, bool); 4] =
    [(HangUp::Cancels, false), (HangUp::Ignored, false), (HangUp::Cancels, true), (HangUp::Ignored, true)];

// holds: approval-withdrawn, leaving-asked
#[test]
fn no_yes_counts_once_the_agent_is_gone_though_nobody_has_said_so() {
    for (hang_up, drops) in DESERTIONS {
        for also in [Also::Nothing, remember(true), remember(false)] {
            let (mut bench, mut app, flight, (question, fingerprint)) = deserted(hang_up, drops);
            refused_as(&bench.decide_on(question, fingerprint, Verdict::Allow, also), ErrorCode::NoSuchQuestion);
            assert!(bench.state.calls.is_empty());
            assert!(flight.is_none_or(|flight| landed(flight) == Err(Refusal::Cancelled)));
            bench.step();
            assert_eq!(app.try_next(), None, "{hang_up:?}, {drops}");
            let memory = bench.memory();
            assert!(memory.rules.is_empty() && memory.seen.is_empty() && memory.blocked.is_empty());
        }
    }
}

// holds: leaving-no
#[test]
fn a_no_to_an_agent_that_is_gone_keeps_what_goes_with_it() {
    for (hang_up, drops) in DESERTIONS {
        for also in [Also::Nothing, remember(false), Also::BlockAgent] {
            let (mut bench, mut app, flight, (question, fingerprint)) = deserted(hang_up, drops);
            assert_eq!(bench.decide_on(question, fingerprint, Verdict::Deny, also.clone()), Reply::Done);
            assert!(bench.state.calls.is_empty() && app.try_next().is_none());
            drop(flight);
            let memory = bench.memory();
            let (ruled, blocked) = (also == remember(false), also == Also::BlockAgent);
            assert_eq!((memory.rules.len(), memory.blocked.len()), (ruled.into(), blocked.into()));
            assert!(memory.seen.is_empty());
            // The next time nobody is asked.
            let again = bench.call("a");
            assert_eq!(bench.waits(&again), also == Also::Nothing);
        }
    }
}

// holds: leaving-asked
#[test]
fn nothing_that_lets_calls_pass_lets_one_pass_whose_agent_is_gone() {
    let ways: [fn(&mut Bench); 2] = [
        |bench| assert_eq!(bench.set_rules(vec![rule(Verdict::Allow)]), Reply::Done),
        |bench| assert_eq!(bench.set_mode("a", Mode::AllowAll, Until::Quit), Reply::Done),
    ];
    for (hang_up, drops) in DESERTIONS {
        for way in ways {
            let (mut bench, mut app, flight, _) = deserted(hang_up, drops);
            way(&mut bench);
            assert!(bench.state.calls.is_empty() && app.try_next().is_none());
            assert!(flight.is_none_or(|flight| landed(flight) == Err(Refusal::Cancelled)));
            // The same for one that comes to the gate only now.
            let leaver = Leaver::default();
            let mut routed = bench.route("a", hang_up);
            routed.call.caller = leaver.caller();
            leaver.leave();
            assert_eq!(landed(bench.send(routed)), Err(Refusal::Cancelled));
            let routed = bench.route("a", hang_up);
            let (command, sent) = bench.submission(routed, false);
            drop(sent);
            bench.apply(command);
            assert!(bench.state.calls.is_empty() && app.try_next().is_none());
            drop(bench.call("a"));
            assert!(app.next().contains("\"call\""), "and others pass");
        }
    }
}

// holds: leaving-asked, leaving-noticed
#[test]
fn who_is_gone_is_asked_about_no_more() {
    for (hang_up, drops) in DESERTIONS {
        let (mut bench, mut app, flight, _) = deserted(hang_up, drops);
        let other = bench.call("a");
        bench.apply(Command::Withdraw);
        assert_eq!(bench.questions().len(), 1);
        assert!(bench.waits(&other) && app.try_next().is_none());
        assert!(flight.is_none_or(|flight| landed(flight) == Err(Refusal::Cancelled)));
    }
    // Nor is a question put for somebody who is gone before it.
    let (mut bench, leaver) = (Bench::asking(), Leaver::default());
    let _app = bench.serving("a");
    let mut routed = bench.route("a", HangUp::Ignored);
    routed.call.caller = leaver.caller();
    leaver.leave();
    assert_eq!(landed(bench.send(routed)), Err(Refusal::Cancelled));
    assert!(bench.questions().is_empty());
}

/// There when first asked, and gone when asked again.
#[derive(Debug, Default)]
struct Leaving(std::sync::atomic::AtomicU8);

impl crate::presence::Presence for Leaving {
    fn has_left(&self) -> bool {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 1
    }
}

// holds: leaving-asked
#[test]
fn an_agent_that_leaves_while_its_yes_is_taken_makes_no_rule() {
    let mut bench = Bench::asking();
    let mut app = bench.serving("a");
    let mut routed = bench.route("a", HangUp::Cancels);
    routed.call.caller = Caller::at(Leaving::default());
    let flight = bench.send(routed);
    let (question, fingerprint) = bench.question(&flight);
    refused_as(&bench.decide_on(question.id, fingerprint, Verdict::Allow, remember(true)), ErrorCode::NoSuchQuestion);
    assert_eq!(landed(flight), Err(Refusal::Cancelled));
    assert!(app.try_next().is_none() && bench.snapshot().rules.is_empty());
}
