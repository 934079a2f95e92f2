//! One interleaving: agents, applications, a person and two clocks around a hub, and the model beside it.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::AddAssign,
    sync::{Arc, LazyLock},
    time::Duration,
};

use clientmcp_protocol::{
    control::{Also, Command as Ask, Count, Decide, ErrorCode, Mode, Rule, RuleAgent, Secrets, Until, Verdict, Which},
    ids::{QuestionId, ToolName},
};

use super::{
    super::{bench::*, *},
    dice::Dice,
    model::{Expected, Model, ORIGINS, Stage},
};
use crate::{
    call::{CallId, RequestId, RequestKey},
    declaration::{Declaration, Tool},
    token::{NumericDate, Secret},
};

const APPLICATIONS: [&str; 2] = ["a", "b"];
const LABELS: [Option<&str>; 3] = [None, Some("x"), Some("y")];
const SECRETS: [char; 2] = ['s', 't'];

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

type PassKey = (usize, &'static str, Role, Option<&'static str>);

static PASSES: LazyLock<HashMap<PassKey, Arc<Claims>>> = LazyLock::new(|| {
    let mut passes = HashMap::new();
    for (place, letter) in SECRETS.iter().enumerate() {
        let secret = Secret::new(&letter.to_string().repeat(32)).unwrap();
        for application in APPLICATIONS {
            for (role, label) in LABELS.map(|label| (Role::Agent, label)).into_iter().chain([(Role::Client, None)]) {
                let claims = fresh_claims(&secret, application, role, label);
                passes.insert((place, application, role, label), claims);
            }
        }
    }
    passes
});

/// What happened, to know that it was enough.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    steps: u64,
    asked: u64,
    sent: u64,
    answered: HashMap<&'static str, u64>,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
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
        self.asked > 100_000 && self.sent > 100_000 && ways.iter().all(|way| self.answered.get(way) > Some(&100))
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
            62..67 => self.hang_up(),
            67..69 => self.cancel(),
            69..71 => self.burst(),
            71..81 => self.time(),
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

    fn queue(&self, command: Command) {
        assert!(self.bench.hub.commands.try_send(command).is_ok(), "there is room in the queue");
    }

    fn ask(&mut self, command: Ask) {
        let (reply, answer) = oneshot::channel();
        self.replies.push_back(answer);
        self.queue(Command::Desktop { command: Box::new(command), reply });
    }

    /// A token's words: those it had before, which may be refused by now, or new ones.
    fn pass(&mut self, application: &'static str, role: Role, label: Option<&'static str>) -> Arc<Claims> {
        let fits = |key: &PassKey| (key.1, key.2, key.3) == (application, role, label);
        if let Some((_, claims)) = self.passes.iter().rfind(|(key, _)| fits(key))
            && self.dice.percent(if self.model.stands(claims) { 95 } else { 40 })
        {
            return Arc::clone(claims);
        }
        let secret = self.model.signer();
        let key = (secret, application, role, label);
        let mut claims = (*PASSES[&key]).clone();
        claims.generation = self.model.generation(&claims.subject, role);
        #[expect(clippy::cast_precision_loss, reason = "a date of our time")]
        let now = self.bench.now.wall.0 as f64 / 1_000.0;
        claims.issued_at = NumericDate::new(now);
        let claims = Arc::new(claims);
        self.model.knows(Arc::clone(&claims), secret);
        self.passes.push((key, Arc::clone(&claims)));
        claims
    }

    fn arrive(&mut self, application: &'static str) {
        let (claims, origin) = (self.pass(application, Role::Client, None), self.dice.of(&ORIGINS));
        let (command, admitted, inbox) = self.bench.arrival(claims, origin);
        self.arriving.push_back((!self.dice.percent(5)).then_some((admitted, inbox)));
        self.queue(command);
    }

    /// An application that is there, or was, ends its connection.
    fn leave(&mut self) {
        let Some(id) = self.some_peer() else { return };
        if self.dice.percent(50) {
            self.queue(Command::Disconnect { connection: id, done: None });
        } else {
            self.peers.remove(&id);
        }
    }

    fn some_peer(&mut self) -> Option<ConnectionId> {
        let mut ids: Vec<_> = self.peers.keys().copied().collect();
        ids.sort_unstable();
        (!ids.is_empty()).then(|| self.dice.of(&ids))
    }

    fn register(&mut self) {
        let Some(connection) = self.some_peer() else { return };
        let mut tools = Vec::new();
        for name in 0..3 {
            if !self.dice.percent(12) {
                tools.push(copy(&TOOLS[2 * name + usize::from(self.dice.percent(25))]));
            }
        }
        let (done, _) = oneshot::channel();
        self.queue(Command::Register { connection, declaration: Declaration::new(tools, None), done });
    }

    /// An agent asks for a tool that it was shown. What was found may be brought to the gate much later.
    fn call(&mut self) {
        let (application, label) = (self.dice.of(&APPLICATIONS), self.dice.of(&LABELS));
        let application = if self.dice.percent(70) { "a" } else { application };
        let own = self.dice.percent(5);
        let label = label.filter(|_| !own);
        self.calls += 1;
        let hang_up = if self.dice.percent(50) { HangUp::Cancels } else { HangUp::Ignored };
        let agent = agent(application, label);
        let id = self.dice.of(&["1", "2", "3"]);
        let key = RequestKey { agent: agent.clone(), session: "s".into(), id: RequestId::Integer(id.into()) };
        let key = (hang_up == HangUp::Ignored).then_some(key);
        self.keys.extend(key.clone());
        let call = Call {
            agent,
            tool: self.dice.of(&["go", "peek", "stop"]).into(),
            arguments: json(&format!(r#"{{"n":{}, "x":1e400,"x":0.10}}"#, self.calls)),
            hang_up,
            key,
            reported: None,
            credential: if own { None } else { Some(self.pass(application, Role::Agent, label)) },
        };
        if let Ok((connection, tool)) = self.bench.hub.find(&call) {
            self.hands.push((Routed { call, connection, tool }, own));
        }
        while !self.hands.is_empty() && self.dice.percent(75) {
            let place = self.dice.place(self.hands.len());
            let (routed, own) = self.hands.swap_remove(place);
            self.submit(routed, own);
        }
    }

    fn submit(&mut self, routed: Routed, own: bool) {
        let arguments = routed.call.arguments.clone();
        let (command, sent) = self.bench.submission(routed, own);
        self.submitted.push_back((arguments, (!self.dice.percent(4)).then_some(sent)));
        self.queue(command);
    }

    /// Many calls at once: enough to reach the limits, now and then.
    fn burst(&mut self) {
        let count = if self.dice.percent(3) { 90 } else { self.dice.below(12) };
        for _ in 0..count {
            self.call();
        }
    }

    fn hang_up(&mut self) {
        if !self.flights.is_empty() {
            let place = self.dice.place(self.flights.len());
            drop(self.flights.swap_remove(place));
        }
    }

    fn cancel(&mut self) {
        if !self.keys.is_empty() {
            let place = self.dice.place(self.keys.len());
            self.queue(Command::CancelRequest { key: self.keys[place].clone() });
        }
    }

    /// A result for a call that was sent, or was once, or never.
    fn result(&mut self) {
        let Some(connection) = self.some_peer() else { return };
        let last = self.numbers.get(&connection).copied().unwrap_or(0);
        let number = self.dice.below(last + 2);
        self.results += 1;
        let result = json(&format!(r#"{{"content":[],"r":{}}}"#, self.results));
        self.queue(Command::Result { call: CallId { connection, number }, result });
    }

    fn decide(&mut self) {
        let open: Vec<_> = self
            .model
            .calls
            .iter()
            .filter_map(|call| match call.stage {
                Stage::Waiting { question, .. } => Some((question?, call.fingerprint())),
                Stage::Sent { .. } | Stage::Over => None,
            })
            .collect();
        let among = if open.is_empty() || self.dice.percent(8) { &self.questions } else { &open };
        if among.is_empty() {
            return;
        }
        let (mut question, mut fingerprint) = self.dice.of(among);
        match self.dice.below(40) {
            0 => question.0 ^= 1,
            1 => fingerprint = TOOLS[self.dice.place(TOOLS.len())].fingerprint,
            _ => {}
        }
        let verdict = if self.dice.percent(75) { Verdict::Allow } else { Verdict::Deny };
        let also = match self.dice.below(10) {
            0..6 => Also::Nothing,
            6..9 => Also::Remember { any_agent: self.dice.percent(30), until: self.until() },
            _ => Also::BlockAgent,
        };
        self.ask(Ask::Decide(Decide { question, fingerprint, verdict, also }));
    }

    fn until(&mut self) -> Until {
        let end = self.bench.now.wall.0 + self.dice.of(&[0, 1_000, 5_000, 60_000, 600_000]);
        self.dice.of(&[Until::Always, Until::Quit, Until::At(Millis(end)), Until::At(Millis(end))])
    }

    /// What else the person does.
    fn wish(&mut self) -> Ask {
        let (name, label) = (self.dice.of(&APPLICATIONS), self.dice.of(&LABELS).map(label));
        let application = client(name);
        match self.dice.below(40) {
            0 => Ask::Pause,
            1..9 => Ask::Resume,
            9..21 => {
                let ask = [Mode::Ask, Mode::Ask, Mode::AskExceptReadOnly, Mode::AskExceptReadOnly];
                let other = self.dice.of(&[Mode::AllowAll, Mode::AllowAll, Mode::Block]);
                let mode = if self.dice.percent(70) { self.dice.of(&ask) } else { other };
                Ask::SetMode { application, mode, until: self.until() }
            }
            21..28 => {
                let now = self.bench.state.policy.rules_revision();
                let revision = Count(if self.dice.percent(10) { now + 1 } else { now });
                let rules = (0..self.dice.below(4)).map(|id| self.rule(id)).collect();
                Ask::SetRules { revision, rules }
            }
            28 => Ask::Disconnect { application },
            29..33 => Ask::Unblock { application, label },
            33..37 => {
                let which = if self.dice.percent(30) { Which::All } else { Which::Label(label) };
                Ask::Revoke { application, role: self.dice.of(&[Role::Agent, Role::Agent, Role::Client]), which }
            }
            _ => {
                let letters = self.dice.of(&["s", "t", "st", "ts", "ts"]);
                let secrets = letters.chars().map(|letter| letter.to_string().repeat(32)).collect();
                Ask::SetSecrets { secrets: Secrets(secrets) }
            }
        }
    }

    fn rule(&mut self, id: u64) -> Rule {
        let tool = &TOOLS[self.dice.place(TOOLS.len())];
        let label = self.dice.of(&LABELS).map(label);
        Rule {
            id: id.to_string(),
            application: client(self.dice.of(&APPLICATIONS)),
            tool: tool.name.clone(),
            agent: if self.dice.percent(40) { RuleAgent::Any } else { RuleAgent::One(label) },
            verdict: if self.dice.percent(70) { Verdict::Allow } else { Verdict::Deny },
            fingerprint: self.dice.percent(80).then_some(tool.fingerprint),
            origin: self.dice.of(&[Some(NATIVE), Some(NATIVE), Some("https://a.example"), None]).map(str::to_owned),
            until: self.until(),
            made: Millis(START),
        }
    }

    /// Clocks go on, or one of them jumps; the hub may have slept meanwhile.
    fn time(&mut self) {
        let millis = self.dice.of(&[1, 1, 500, 5_000, 5_000, 60_000, 120_000, 600_000]);
        let wall = &mut self.bench.now.wall.0;
        match self.dice.below(10) {
            0 => *wall += millis,
            1 => *wall -= self.dice.of(&[1, 5_000, 5_001, 3_600_000]),
            2 => self.bench.now.mono += Duration::from_millis(millis),
            _ => self.bench.pass(Duration::from_millis(millis)),
        }
        if self.dice.percent(70) {
            let mut expected = Expected::default();
            self.model.look(self.bench.now, &mut expected);
            if self.dice.percent(30) {
                self.bench.state.woke(self.bench.now);
            }
            self.bench.state.tick(self.bench.now);
            self.check(expected);
        }
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
                reply => panic!("{reply:?}"),
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
