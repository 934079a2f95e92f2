//! As many calls as there may be, waiting and sent.

use clientmcp_protocol::{
    control::{Ending, Mode, Until},
    limits::{CALLS_IN_ALL, CALLS_IN_FLIGHT, QUESTIONS, QUESTIONS_OF_AGENT},
};

use crate::hub::{bench::*, *};
use crate::refusal::Limit;

/// The newest call that ended, and how.
fn newest(bench: &Bench) -> (u64, Ending, Option<Millis>) {
    let ended = *bench.hub.desk().expect("there is a desktop").finished.borrow();
    let finished = bench.state.desk.as_ref().expect("there is a desktop").finished_since(ended - 1);
    let entry = finished.calls.last().expect("an entry");
    (entry.call.number.0, entry.outcome, entry.call.sent)
}

// holds: limit-waiting-apart, control-finished-every
#[test]
fn as_many_calls_as_may_be_sent_are_sent_and_one_more_is_told_with_its_number() {
    let mut bench = Bench::asking();
    let mut there = Vec::new();
    let applications = CALLS_IN_ALL / CALLS_IN_FLIGHT;
    for number in 0..=applications {
        let name = format!("a{number}");
        let mut app = bench.serving(&name);
        // Those that wait are no part of it.
        let waiting: Vec<_> = (0..QUESTIONS_OF_AGENT).map(|_| bench.call(&name)).collect();
        assert_eq!(bench.set_mode(&format!("b{number}"), Mode::AllowAll, Until::Quit), Reply::Done);
        let other = bench.serving(&format!("b{number}"));
        assert!(app.try_next().is_none());
        there.push((waiting, app, other));
    }
    let mut sent = Vec::new();
    for number in 0..applications {
        sent.extend((0..CALLS_IN_FLIGHT).map(|_| bench.call(&format!("b{number}"))));
    }
    assert!(sent.iter().all(|flight| !flight.is_over()));
    let last = format!("b{applications}");
    let over = bench.call(&last);
    let number = over.number;
    assert_eq!(outcome(over), Outcome::Busy(Limit::CallsInAll));
    let code = clientmcp_protocol::codes::OutcomeCode::Busy;
    assert_eq!(newest(&bench), (number, Ending::Code(code), None));
    // One answer makes room for one.
    let (_, _, first) = &there[0];
    bench.result(first.id, 1, r#"{"content":[]}"#);
    let flight = bench.call(&last);
    assert!(!flight.is_over());
    assert_eq!(outcome(bench.call(&last)), Outcome::Busy(Limit::CallsInAll));
    drop(sent);
}

// The clock stands still, so that not every one of these calls is a snapshot of its own.
// holds: limit-waiting-apart
#[tokio::test(start_paused = true)]
async fn calls_that_wait_keep_no_place_of_those_that_are_sent() {
    let hub = Hub::start(beginning(Asking::Person));
    let mut connections = Vec::new();
    let applications = CALLS_IN_ALL / QUESTIONS + 1;
    for number in 0..applications {
        let (outbox, inbox) = outbox(Instant::now());
        let claims = claims(&format!("a{number}"), Role::Client, None);
        let arrival = Arrival { claims, origin: Some(NATIVE.to_owned()), outbox };
        let connection = hub.connect(arrival).await.expect("there is room");
        connection.register(crate::declaration::Declaration::new(vec![tool("go", 1)], None)).await;
        connections.push((connection, inbox));
    }
    let call = |number: usize, label: String| {
        let application = format!("a{number}");
        let credential = Some(claims(&application, Role::Agent, Some(&label)));
        Call {
            agent: agent(&application, Some(&label)),
            tool: "go".into(),
            arguments: Text::empty_object(),
            hang_up: HangUp::Cancels,
            key: None,
            reported: None,
            credential,
            caller: Caller::resident(),
        }
    };
    let mut waiting = Vec::new();
    for number in 0..applications - 1 {
        for place in 0..QUESTIONS {
            let routed =
                hub.route(call(number, format!("{}", place / QUESTIONS_OF_AGENT))).await.expect("it is served");
            waiting.push(hub.submit(routed).await.expect("taken in"));
        }
    }
    assert_eq!(waiting.len(), CALLS_IN_ALL);
    let last = applications - 1;
    let allow = control::Command::SetMode {
        application: client(&format!("a{last}")),
        mode: Mode::AllowAll,
        until: Until::Quit,
    };
    assert_eq!(hub.obey(allow).await, Some(Reply::Done));
    let routed = hub.route(call(last, "0".into())).await.expect("it is served");
    let _ticket = hub.submit(routed).await.expect("taken in");
    let (_, inbox) = connections.last_mut().expect("there are some");
    assert_eq!(inbox.frames.recv().await.as_deref(), Some(r#"{"type":"registered"}"#));
    assert!(inbox.frames.recv().await.is_some_and(|frame| frame.contains("\"call\"")));
    // Whoever leaves does not wait for anybody's place, nor does the person.
    drop(waiting);
    assert_eq!(hub.obey(control::Command::Pause).await, Some(Reply::Done));
}
