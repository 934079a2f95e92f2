//! For tests: the hub without its task. Each test says what time it is and looks at what came out.

use std::{
    collections::HashMap,
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use clientmcp_protocol::{
    codes::CloseCode,
    control::{
        Also, ClientOrigins, Count, Decide, Memory, Mode, QuestionHead, Rule, RuleAgent, Snapshot, Until, Verdict,
    },
    ids::{Label, QuestionId, ToolName},
    limits::SNAPSHOT_PAUSE,
};

use super::{calls::Question, command::Sent, state::State, *};
use crate::{
    call::CallId,
    declaration::{Declaration, Tool},
    presence::Presence,
    token::{Grant, Secret, Secrets, mint},
};

/// When it is at first, by the wall clock: when tokens of the bench were made, too.
pub(super) const START: u64 = 1_000_000_000_000;

pub(super) struct Bench {
    pub(super) state: State,
    pub(super) hub: Hub,
    pub(super) view: watch::Receiver<View>,
    pub(super) inbox: mpsc::Receiver<Command>,
    pub(super) now: Now,
}

/// An agent that leaves when a test says so, and of which the hub hears nothing but by asking.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaver(Arc<AtomicBool>);

impl Leaver {
    pub(super) fn caller(&self) -> Caller {
        Caller::at(self.clone())
    }

    pub(super) fn leave(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Presence for Leaver {
    fn has_left(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// An application's end of its outbox.
pub(super) struct Peer {
    pub(super) id: ConnectionId,
    pub(super) frames: mpsc::UnboundedReceiver<Frame>,
    pub(super) unsent: Unsent,
    pub(super) closing: Closing,
    pub(super) pulse: Pulse,
    _leave: Leave,
}

pub(super) fn secret() -> Secret {
    Secret::new(&"s".repeat(32)).expect("32 bytes")
}

/// What a token says that was made at [`START`].
pub(super) fn claims(application: &str, role: Role, label: Option<&str>) -> Arc<Claims> {
    type Known = HashMap<(String, Role, Option<String>), Arc<Claims>>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let key = (application.to_owned(), role, label.map(str::to_owned));
    let mut known = KNOWN.lock().expect("nobody failed");
    Arc::clone(known.entry(key).or_insert_with(|| fresh_claims(&secret(), application, role, label)))
}

/// The same by another secret.
pub(super) fn fresh_claims(secret: &Secret, application: &str, role: Role, label: Option<&str>) -> Arc<Claims> {
    let (secrets, start) = (Secrets::from(secret.clone()), UNIX_EPOCH + Duration::from_millis(START));
    let grant = Grant { subject: client(application), role, label: label.map(self::label), generation: 0, ttl: None };
    let token = mint(&secrets, &grant, start).expect("minted");
    Arc::new(Access::new(secrets).admit(&token, role).expect("it is ours"))
}

/// Nothing remembered, any origin.
pub(super) fn beginning(asking: Asking) -> Beginning {
    let settings = Settings { client_origins: ClientOrigins::Any, ..Settings::default() };
    let access = Access::new(secret().into());
    Beginning { asking, room: APPLICATIONS, settings, access, memory: Memory::default(), paused: false }
}

impl Bench {
    /// Nothing is asked.
    pub(super) fn new() -> Self {
        Self::of(beginning(Asking::Off))
    }

    /// There is a desktop, and everything is asked.
    pub(super) fn asking() -> Self {
        Self::of(beginning(Asking::Person))
    }

    pub(super) fn of(beginning: Beginning) -> Self {
        let (commands, inbox) = mpsc::channel(2 * (CALLS_IN_ALL + APPLICATIONS));
        let now = Now { mono: Instant::now(), wall: Millis(START) };
        let (hub, ends) = Hub::with(&beginning, commands);
        let view = hub.watch();
        Self { state: State::new(beginning, ends, now), hub, view, inbox, now }
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now.mono += time;
        self.now.wall.0 += u64::try_from(time.as_millis()).expect("a short time");
    }

    /// As the task does it: what is due by the clock comes first.
    pub(super) fn apply(&mut self, command: Command) {
        self.state.tick(self.now);
        self.state.apply(self.now, command);
    }

    pub(super) fn leave(&self) -> Leave {
        let place = self.hub.commands.clone().try_reserve_owned().expect("there is room in the queue");
        Leave { place: Some(place), words: None }
    }

    /// What an arrival becomes once the hub looks at it, and the application's end of it.
    pub(super) fn arrival(
        &self,
        claims: Arc<Claims>,
        origin: Option<&str>,
    ) -> (Command, oneshot::Receiver<Admitted>, Inbox) {
        let (outbox, inbox) = outbox(self.now.mono);
        let arrival = Box::new(Arrival { claims, origin: origin.map(str::to_owned), outbox });
        let (admitted, answer) = oneshot::channel();
        (Command::Connect { arrival, leave: self.leave(), admitted }, answer, inbox)
    }

    pub(super) fn connect_with(&mut self, claims: Arc<Claims>, origin: Option<&str>) -> Result<Peer, NotAdmitted> {
        let (command, mut admitted, inbox) = self.arrival(claims, origin);
        self.state.apply(self.now, command);
        let (id, leave) = admitted.try_recv().expect("answered")?;
        Ok(Peer::new(id, leave, inbox))
    }

    pub(super) fn connect_from(&mut self, application: &str, origin: Option<&str>) -> Result<Peer, NotAdmitted> {
        self.connect_with(claims(application, Role::Client, None), origin)
    }

    pub(super) fn try_connect(&mut self, application: &str) -> Option<Peer> {
        self.connect_from(application, Some(NATIVE)).ok()
    }

    pub(super) fn connect(&mut self, application: &str) -> Peer {
        self.try_connect(application).expect("there is room")
    }

    pub(super) fn register(&mut self, connection: ConnectionId, tools: &[Tool]) {
        let declaration = Declaration::new(tools.iter().map(copy).collect(), None);
        let (done, _) = oneshot::channel();
        self.state.apply(self.now, Command::Register { connection, declaration, done });
    }

    /// An application that serves one tool, `go`, and has been told so.
    pub(super) fn serving(&mut self, application: &str) -> Peer {
        self.serving_these(application, &[tool("go", 1)])
    }

    pub(super) fn serving_these(&mut self, application: &str, tools: &[Tool]) -> Peer {
        let mut peer = self.connect(application);
        self.register(peer.id, tools);
        assert_eq!(peer.next(), r#"{"type":"registered"}"#);
        peer
    }

    pub(super) fn route(&self, application: &str, hang_up: HangUp) -> Routed {
        self.route_for(application, None, "go", hang_up)
    }

    pub(super) fn route_for(&self, application: &str, label: Option<&str>, tool: &str, hang_up: HangUp) -> Routed {
        let view = self.view.borrow();
        let served = view.served(&client(application)).expect("it is served");
        let call = Call {
            agent: agent(application, label),
            tool: tool.into(),
            arguments: Text::empty_object(),
            hang_up,
            key: None,
            reported: None,
            credential: Some(claims(application, Role::Agent, label)),
            caller: Caller::resident(),
        };
        let tool = Arc::clone(served.declaration.tool(tool).expect("it is declared"));
        Routed { call, connection: served.connection, tool }
    }

    /// What a call becomes once the hub looks at it.
    pub(super) fn submission(&self, routed: Routed, own: bool) -> (Command, oneshot::Receiver<Sent>) {
        let (sent, outcome) = oneshot::channel();
        (Command::Submit { routed: Box::new(routed), own, leave: self.leave(), sent }, outcome)
    }

    pub(super) fn submit(&mut self, routed: Routed, own: bool) -> Flight {
        let (command, mut sent) = self.submission(routed, own);
        self.state.apply(self.now, command);
        sent.try_recv().expect("answered").expect("taken in")
    }

    pub(super) fn send(&mut self, routed: Routed) -> Flight {
        self.submit(routed, false)
    }

    /// The person's own call.
    pub(super) fn own_call(&mut self, application: &str) -> Flight {
        let mut routed = self.route(application, HangUp::Cancels);
        routed.call.credential = None;
        self.submit(routed, true)
    }

    pub(super) fn call(&mut self, application: &str) -> Flight {
        let routed = self.route(application, HangUp::Cancels);
        self.send(routed)
    }

    pub(super) fn call_as(&mut self, application: &str, label: &str) -> Flight {
        let routed = self.route_for(application, Some(label), "go", HangUp::Cancels);
        self.send(routed)
    }

    pub(super) fn result(&mut self, connection: ConnectionId, number: u64, text: &str) {
        let call = CallId { connection, number };
        self.state.apply(self.now, Command::Result { call, result: json(text) });
    }

    pub(super) fn obey(&mut self, command: control::Command) -> Reply {
        let (reply, mut answer) = oneshot::channel();
        self.apply(Command::Desktop { command: Box::new(command), reply });
        answer.try_recv().expect("every command is answered")
    }

    /// What is asked about a call that waits.
    pub(super) fn question(&self, flight: &Flight) -> (Question, Fingerprint) {
        let live = self.state.calls.get(flight.number).expect("it is under way");
        (live.question().expect("it waits"), live.routed.tool.fingerprint)
    }

    pub(super) fn waits(&self, flight: &Flight) -> bool {
        self.state.calls.get(flight.number).is_some_and(|live| live.question().is_some())
    }

    pub(super) fn decide(&mut self, flight: &Flight, verdict: Verdict, also: Also) -> Reply {
        let (question, fingerprint) = self.question(flight);
        self.decide_on(question.id, fingerprint, verdict, also)
    }

    pub(super) fn decide_on(
        &mut self,
        question: QuestionId,
        fingerprint: Fingerprint,
        verdict: Verdict,
        also: Also,
    ) -> Reply {
        self.obey(control::Command::Decide(Decide { question, fingerprint, verdict, also }))
    }

    pub(super) fn set_mode(&mut self, application: &str, mode: Mode, until: Until) -> Reply {
        self.obey(control::Command::SetMode { application: client(application), mode, until })
    }

    /// From what was seen last.
    pub(super) fn set_rules(&mut self, rules: Vec<Rule>) -> Reply {
        let revision = Count(self.state.policy.rules_revision());
        self.obey(control::Command::SetRules { revision, rules })
    }

    /// What the desktop is shown.
    pub(super) fn snapshot(&mut self) -> Arc<Snapshot> {
        self.pass(SNAPSHOT_PAUSE);
        self.state.touch();
        self.state.tick(self.now);
        self.shown()
    }

    /// What the desktop was shown last.
    pub(super) fn shown(&self) -> Arc<Snapshot> {
        Arc::clone(&self.hub.desk().expect("there is a desktop").snapshot.borrow())
    }

    pub(super) fn questions(&mut self) -> Vec<QuestionHead> {
        self.snapshot().questions.clone()
    }

    /// What is to be written down.
    pub(super) fn memory(&self) -> Arc<Memory> {
        Arc::clone(&self.hub.desk().expect("there is a desktop").memory.borrow())
    }

    /// Hands the hub what was said on leaving.
    pub(super) fn step(&mut self) {
        while let Ok(command) = self.inbox.try_recv() {
            self.state.apply(self.now, command);
        }
    }

    pub(super) fn tick_after(&mut self, time: Duration) {
        let Now { mono, wall } = self.now;
        self.state.tick(Now { mono: mono + time, wall });
    }
}

impl Peer {
    pub(super) fn new(id: ConnectionId, leave: Leave, inbox: Inbox) -> Self {
        let Inbox { frames, unsent, closing, pulse } = inbox;
        Self { id, frames, unsent, closing, pulse, _leave: leave }
    }

    pub(super) fn next(&mut self) -> Frame {
        self.try_next().expect("a frame is queued")
    }

    pub(super) fn try_next(&mut self) -> Option<Frame> {
        let frame = self.frames.try_recv().ok()?;
        self.unsent.written(frame.len());
        Some(frame)
    }

    pub(super) fn closed(&mut self) -> Option<CloseCode> {
        self.closing.try_recv().ok().map(|close| close.code)
    }
}

impl Flight {
    /// How it ended, if it has.
    pub(super) fn try_landed(&mut self) -> Option<Answer> {
        let answer = match self.answer.try_recv() {
            Ok(answer) => answer,
            Err(oneshot::error::TryRecvError::Empty) => return None,
            Err(oneshot::error::TryRecvError::Closed) => Err(Refusal::ShuttingDown),
        };
        self.leave.forget();
        Some(answer)
    }
}

/// How a call ended.
pub(super) fn landed(mut flight: Flight) -> Answer {
    flight.try_landed().expect("it has ended")
}

/// How a call ended that the application did not answer.
pub(super) fn outcome(flight: Flight) -> Outcome {
    let refusal = landed(flight).expect_err("no answer of the application");
    let Refusal::Ended(ended) = refusal else { panic!("{refusal:?}") };
    ended.outcome
}

pub(super) fn client(name: &str) -> ClientId {
    ClientId::new(name).expect("a client ID")
}

pub(super) fn label(text: &str) -> Label {
    Label::new(text).expect("a label")
}

pub(super) fn agent(application: &str, label: Option<&str>) -> Agent {
    Agent { application: client(application), label: label.map(self::label) }
}

pub(super) fn json(text: &str) -> Text {
    Text::of(serde_json::from_str(text).expect("JSON"))
}

pub(super) fn tool(name: &str, version: u32) -> Tool {
    let text = json(&format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"version":{version}}}"#));
    Tool::new(ToolName::new(name).expect("a name"), text, Vec::new())
}

/// About every agent's calls of `a`'s tool `go`, as a remembered answer makes it.
pub(super) fn rule(verdict: Verdict) -> Rule {
    let (go, bound) = (tool("go", 1), verdict == Verdict::Allow);
    Rule {
        id: "r".into(),
        application: client("a"),
        tool: go.name,
        agent: RuleAgent::Any,
        verdict,
        fingerprint: bound.then_some(go.fingerprint),
        origin: bound.then(|| NATIVE.into()),
        until: Until::Always,
        made: Millis(START),
    }
}

/// The same definition, said again.
pub(super) fn copy(tool: &Tool) -> Tool {
    Tool {
        name: tool.name.clone(),
        text: tool.text.clone(),
        mirrored: tool.mirrored.clone(),
        words: tool.words.clone(),
        ..*tool
    }
}
