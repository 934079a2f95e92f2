//! One interleaving: agents, applications, a person and two clocks around a hub, and the model beside it.

mod deeds;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::AddAssign,
    sync::{Arc, LazyLock},
    time::Duration,
};

use clientmcp_protocol::{
    control::{Command as Ask, Count, ErrorCode},
    ids::{QuestionId, ToolName},
};

use super::{
    super::{
        bench::*,
        command::{Sent, Wanted},
        *,
    },
    dice::Dice,
    model::{Expected, Model, Stage},
};
use crate::{
    call::{CallId, RequestKey},
    declaration::{Declaration, Tool},
};

const APPLICATIONS: [&str; 2] = ["a", "b"];
/// Enough for the limit of an application to be reached before each of them has reached its own.
const LABELS: [Option<&str>; 5] = [None, Some("x"), Some("y"), Some("z"), Some("w")];

/// Two read-only tools and one that says nothing, each in two versions; one has an output schema.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let rest = [
        ("go", r#""annotations":{"readOnlyHint":true}"#),
        ("peek", r#""annotations":{"readOnlyHint":true},"outputSchema":{}"#),
        ("stop", r#""title":"Stop""#),
    ];
    let tool = |(name, rest): (&str, &str), version| {
        let text = format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"version":{version},{rest}}}"#);
        Tool::new(ToolName::new(name).unwrap(), json(&text), Vec::new())
    };
    rest.into_iter().flat_map(|one| (1..=2).map(move |version| tool(one, version))).collect()
});

/// Which secret signed a token, and what it says.
type PassKey = (usize, &'static str, Role, Option<&'static str>);

/// What happened, to know that it was enough.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) steps: u64,
    /// Tokens that say that they were issued later than they were.
    ahead: u64,
    deserted: u64,
    asked: u64,
    sent: u64,
    answered: HashMap<&'static str, u64>,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.ahead += other.ahead;
        self.deserted += other.deserted;
        self.asked += other.asked;
        self.sent += other.sent;
        for (code, count) in other.answered {
            *self.answered.entry(code).or_default() += count;
        }
    }
}

impl Tally {
    /// Every way for a call to end was seen many times.
    pub(super) fn is_broad(&self) -> bool {
        let ways = [
            "answered",
            "offline",
            "disconnected",
            "timeout",
            "declined",
            "unanswered",
            "unattended",
            "changed",
            "paused",
            "blocked",
            "busy",
            "cancelled",
            "revoked",
            "shutting down",
        ];
        self.ahead > 1_000
            && self.deserted > 10_000
            && self.asked > 100_000
            && self.sent > 50_000
            && ways.iter().all(|way| self.answered.get(way) > Some(&100))
    }
}

/// See the module.
pub(super) struct World {
    dice: Dice,
    bench: Bench,
    model: Model,
    tally: Tally,
    /// Asked the hub for a place and not heard of yet; nothing where the application was gone again at once.
    arriving: VecDeque<Option<(oneshot::Receiver<Admitted>, Inbox)>>,
    peers: HashMap<ConnectionId, Peer>,
    /// The number of the last call that each was sent.
    numbers: HashMap<ConnectionId, u64>,
    /// Routed, and not brought to the gate yet.
    hands: Vec<(Routed, bool)>,
    /// On the way to the gate; nothing where the agent was gone again at once.
    submitted: VecDeque<(Text, Option<oneshot::Receiver<Sent>>)>,
    flights: Vec<(Text, Flight)>,
    replies: VecDeque<oneshot::Receiver<Reply>>,
    /// Arguments that were sent, by which calls are told apart.
    sent: HashSet<String>,
    /// Every question there ever was.
    questions: Vec<(QuestionId, Fingerprint)>,
    passes: Vec<(PassKey, Arc<Claims>)>,
    keys: Vec<RequestKey>,
    /// How each agent of a call can leave.
    leavers: Vec<(Text, Leaver)>,
    calls: u64,
    results: u64,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let bench = Bench::asking();
        let mut world = Self {
            dice: Dice::new(seed),
            model: Model::new(bench.now),
            bench,
            tally: Tally::default(),
            arriving: VecDeque::new(),
            peers: HashMap::new(),
            numbers: HashMap::new(),
            hands: Vec::new(),
            submitted: VecDeque::new(),
            flights: Vec::new(),
            replies: VecDeque::new(),
            sent: HashSet::new(),
            questions: Vec::new(),
            passes: Vec::new(),
            keys: Vec::new(),
            leavers: Vec::new(),
            calls: 0,
            results: 0,
        };
        world.arrive("a");
        world.process(usize::MAX);
        world.register();
        world.process(usize::MAX);
        world.compare();
        world
    }

    /// Somebody does something, and the hub looks at some of its queue, or at none of it.
    pub(super) fn step(&mut self) {
        self.tally.steps += 1;
        match self.dice.below(100) {
            0..22 => self.call(),
            22..45 => self.decide(),
            45..52 => self.result(),
            52..57 => self.register(),
            57..60 => {
                let application = self.dice.of(&APPLICATIONS);
                self.arrive(application);
            }
            60..62 => self.leave(),
            62..65 => self.hang_up(),
            65..67 => self.desert(),
            67..69 => self.cancel(),
            69..71 => self.burst(),
            71..81 => self.time(),
            81 => self.reload(),
            _ => {
                let command = self.wish();
                self.ask(command);
            }
        }
        match self.dice.below(10) {
            0..6 => self.process(usize::MAX),
            6..8 => self.process(1),
            _ => {}
        }
        self.compare();
    }

    /// The hub looks at its queue.
    fn process(&mut self, most: usize) {
        for _ in 0..most {
            let Ok(command) = self.bench.inbox.try_recv() else { return };
            self.apply(command);
        }
    }

    fn apply(&mut self, command: Command) {
        let mut expected = Expected::default();
        self.model.look(self.bench.now, &mut expected);
        self.model.apply(&command, &mut expected);
        let submits = matches!(command, Command::Submit { .. });
        self.bench.apply(command);
        if let Some(admitted) = expected.admitted {
            self.admitted(admitted);
        }
        if submits {
            let (arguments, sent) = self.submitted.pop_front().expect("it was submitted");
            let flight = sent.map(|mut sent| sent.try_recv().expect("answered").expect("taken in"));
            self.flights.extend(flight.map(|flight| (arguments, flight)));
        }
        if let Some(expected) = &expected.reply {
            let reply =
                self.replies.pop_front().and_then(|mut reply| reply.try_recv().ok()).expect("one reply to each");
            let reply = match reply {
                Reply::Done => Ok(()),
                Reply::Refused { code, .. } => Err(code),
                Reply::Text { .. } | Reply::Token { .. } | Reply::Tried { .. } => panic!("nobody asked for it"),
            };
            assert_eq!(&reply, expected);
            if matches!(reply, Err(code) if code != ErrorCode::Secret) {
                *self.tally.answered.entry("refused").or_default() += 1;
            }
        }
        self.check(expected);
    }

    fn admitted(&mut self, expected: bool) {
        let Some((mut admitted, inbox)) = self.arriving.pop_front().expect("it arrived") else { return };
        match admitted.try_recv().expect("answered") {
            Ok((id, leave)) => {
                assert!(expected && self.peers.insert(id, Peer::new(id, leave, inbox)).is_none());
            }
            Err(fault) => assert!(!expected && fault == NotAdmitted::Revoked),
        }
    }

    /// What came out is what had to come out, and nothing of it was forbidden.
    fn check(&mut self, mut expected: Expected) {
        for peer in self.peers.values_mut() {
            let id = peer.id;
            let wanted = expected.frames.iter().filter(|(connection, _)| *connection == id);
            let mut wanted = wanted.map(|(_, frame)| frame.as_str());
            while let Some(frame) = peer.try_next() {
                assert_eq!(Some(frame.as_str()), wanted.next());
                if frame.starts_with(r#"{"type":"call""#) {
                    let last = self.numbers.entry(peer.id).or_default();
                    *last += 1;
                    let id = format!(r#"{{"type":"call","id":"{last}","name":""#);
                    assert!(frame.starts_with(&id), "ids count up: {frame}");
                    let (_, arguments) = frame.split_once(r#","arguments":"#).expect("it has arguments");
                    let arguments = arguments.strip_suffix('}').expect("an object");
                    assert!(self.sent.insert(arguments.to_owned()), "sent twice: {frame}");
                    let of = |call: &&super::model::Told| call.arguments().as_str() == arguments;
                    let call = self.model.calls.iter().find(of).expect("somebody asked for it");
                    assert_eq!(self.model.forbids(call), None, "{frame}");
                    self.tally.sent += 1;
                }
            }
            assert_eq!(wanted.next(), None, "a frame is missing");
            let closed = expected.closed.iter().find(|(connection, _)| *connection == peer.id);
            assert_eq!(peer.closed(), closed.map(|(_, code)| *code));
        }
        let mut landed = Vec::new();
        self.flights.retain_mut(|(arguments, flight)| match flight.try_landed() {
            Some(answer) => {
                *self.tally.answered.entry(way(&answer)).or_default() += 1;
                let wanted = expected.answers.iter().position(|(of, _)| of == arguments).expect("nothing ended it");
                assert_eq!(answer, expected.answers.swap_remove(wanted).1);
                landed.push(arguments.clone());
                false
            }
            None => true,
        });
        for (arguments, answer) in expected.answers {
            assert!(!self.flights.iter().any(|(of, _)| *of == arguments), "left without its answer: {answer:?}");
        }
    }

    /// The hub holds what the model holds.
    fn compare(&mut self) {
        assert!(self.model.within_limits());
        let mut live = 0;
        for (number, told) in (1..).zip(&mut self.model.calls) {
            let call = self.bench.state.calls.get(number);
            assert_eq!(call.is_some(), told.is_live());
            let Some(call) = call else { continue };
            live += 1;
            assert_eq!(&call.routed.call.arguments, told.arguments());
            if let (Some(asked), Stage::Waiting { question, .. }) = (call.question(), &mut told.stage)
                && question.replace(asked.id).is_none()
            {
                self.questions.push((asked.id, call.routed.tool.fingerprint));
                self.tally.asked += 1;
            }
            assert_eq!((call.question().is_some(), call.flying().is_some()), (told.waits(), told.is_sent()));
        }
        assert_eq!(self.bench.state.calls.iter().count(), live);
        assert!(live > 0 || self.bench.state.calls.is_empty(), "an index leads to a call that is over");
    }

    /// The bridge shuts down: nothing is left unanswered.
    pub(super) fn finish(mut self) -> Tally {
        let (done, mut told) = oneshot::channel();
        self.apply(Command::Shutdown { done });
        assert!(told.try_recv().is_err_and(|state| state == oneshot::error::TryRecvError::Closed));
        assert!(self.flights.is_empty() && self.bench.state.calls.is_empty());
        // The task ends with its queue.
        self.bench.inbox.close();
        while self.bench.inbox.try_recv().is_ok() {}
        for (_, sent) in &mut self.submitted {
            assert!(sent.as_mut().is_none_or(|sent| sent.try_recv().is_err()), "never taken in");
        }
        self.tally
    }
}

fn way(answer: &Answer) -> &'static str {
    match answer {
        Ok(_) => "answered",
        Err(Refusal::Cancelled) => "cancelled",
        Err(Refusal::Revoked) => "revoked",
        Err(Refusal::ShuttingDown) => "shutting down",
        Err(Refusal::Ended(ended)) => ended.outcome.code().as_str(),
        Err(other) => panic!("{other:?}"),
    }
}
