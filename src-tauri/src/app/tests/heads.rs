//! Heads as a bridge sends them, and what a page says of them.

use clientmcp_protocol::{
    control::{
        ApplicationHead, CallHead, Count, Definition, DoorProgram, DoorQuestion, DoorWants, Event, Hints, Millis,
        QuestionHead, Snapshot, Via,
    },
    ids::{ClientId, Fingerprint, Label, QuestionId, ToolName},
};

use crate::wire::AboutQuestion;

pub(super) fn id(text: &str) -> ClientId {
    ClientId::new(text).unwrap()
}

pub(super) fn question(number: u64, agent: &str, ends: u64) -> QuestionHead {
    QuestionHead {
        id: QuestionId(number.into()),
        number: Count(number),
        application: id("wallet"),
        origin: "native".to_owned(),
        tool: ToolName::new("pay").unwrap(),
        fingerprint: Fingerprint([7; 32]),
        title: None,
        description: None,
        agent: Label::new(agent).ok(),
        via: Via::Token,
        reported: None,
        arguments_bytes: Count(13),
        tool_bytes: Count(50),
        hints: Hints::default(),
        risk: None,
        definition: Definition::New,
        asked: Millis(1),
        ends: Millis(ends),
    }
}

pub(super) fn at_door(number: u64, host: &str) -> DoorQuestion {
    DoorQuestion {
        id: QuestionId(number.into()),
        wants: DoorWants::Pair { host: Label::new(host).unwrap(), application: Some(id("wallet")) },
        program: DoorProgram { pid: Some(7), path: Some("/opt/clientmcp".to_owned()), parent: None },
        asked: Millis(1),
        ends: Millis(100),
    }
}

pub(super) fn call(number: u64) -> CallHead {
    CallHead {
        number: Count(number),
        application: id("wallet"),
        tool: "pay".to_owned(),
        agent: Label::new("Editor").ok(),
        via: Some(Via::Token),
        own: false,
        sent: Some(Millis(2)),
        began: Millis(1),
        arguments_bytes: Count(13),
    }
}

pub(super) fn application(connection: u64) -> ApplicationHead {
    ApplicationHead {
        id: id("wallet"),
        connection: Count(connection),
        label: None,
        origin: "native".to_owned(),
        since: Millis(1),
        registered: true,
        tools: Count(1),
        tools_bytes: Count(50),
        instructions_bytes: Count(0),
        declaration: None,
        in_flight: Count(0),
        unresponsive: false,
    }
}

pub(super) fn snapshot(change: impl FnOnce(&mut Snapshot)) -> Event {
    let mut snapshot = Snapshot::default();
    change(&mut snapshot);
    Event::Snapshot(Box::new(snapshot))
}

/// What a page says is in view of the questions that a test opens: the first line of the arguments, and all of them.
pub(super) fn in_view(first: bool, all: bool) -> AboutQuestion {
    AboutQuestion::InView { fingerprint: Fingerprint([7; 32]), first, all }
}
