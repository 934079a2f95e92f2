//! The transitions, driven by hand: each test says what time it is and looks at what came out.

use std::time::Duration;

use clientmcp_protocol::{
    codes::CloseCode,
    control::{ClientOrigins, Memory, Millis, Settings},
    ids::{ClientId, Label, Role, ToolName},
    limits::{APPLICATIONS, CALLS_IN_FLIGHT, FROZEN_SILENCE, FROZEN_TIME, UNSENT_BYTES},
};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

use super::{state::State, *};
use crate::{
    call::{Agent, HangUp, RequestId, RequestKey},
    declaration::Tool,
    refusal::Limit,
    token::{Grant, Secret, Secrets, mint},
};

const CALL_TIME: Duration = Duration::from_secs(120);

/// The hub without its task.
struct Bench {
    state: State,
    hub: Hub,
    view: watch::Receiver<View>,
    inbox: mpsc::Receiver<Command>,
    now: Now,
}

/// An application's end of its outbox.
struct Peer {
    id: ConnectionId,
    frames: mpsc::UnboundedReceiver<Frame>,
    unsent: Unsent,
    closing: Closing,
    pulse: Pulse,
    _leave: Leave,
}

pub(super) fn secret() -> Secret {
    Secret::new(&"s".repeat(32)).expect("32 bytes")
}

pub(super) fn claims(application: &str, role: Role, label: Option<&str>) -> Arc<Claims> {
    let (secrets, now) = (Secrets::from(secret()), std::time::SystemTime::now());
    let label = label.map(|label| Label::new(label).expect("a label"));
    let grant = Grant { subject: client(application), role, label, generation: 0, ttl: None };
    let token = mint(&secrets, &grant, now).expect("minted");
    Arc::new(Access::new(secrets).admit(&token, role).expect("it is ours"))
}

impl Bench {
    fn new() -> Self {
        Self::with(Asking::Off, Memory::default())
    }

    fn with(asking: Asking, memory: Memory) -> Self {
        let (commands, inbox) = mpsc::channel(2 * APPLICATIONS);
        let settings = Settings { client_origins: ClientOrigins::Any, ..Settings::default() };
        let access = Access::new(secret().into());
        let beginning = Beginning { asking, room: APPLICATIONS, settings, access, memory, paused: false };
        let now = Now { mono: Instant::now(), wall: Millis(1_000_000_000_000) };
        let (hub, ends) = Hub::with(&beginning, commands);
        let view = hub.watch();
        Self { state: State::new(beginning, ends, now), hub, view, inbox, now }
    }

    fn pass(&mut self, time: Duration) {
        self.now.mono += time;
        self.now.wall.0 += u64::try_from(time.as_millis()).expect("a short time");
    }

    async fn try_connect(&mut self, application: &str) -> Option<Peer> {
        let (outbox, Inbox { frames, unsent, closing, pulse }) = outbox();
        let leave = Leave::reserve(&self.hub.commands).await.expect("the queue is open");
        let (admitted, answer) = oneshot::channel();
        let arrival = Arrival { claims: claims(application, Role::Client, None), origin: Some(NATIVE.into()), outbox };
        self.state.apply(self.now, Command::Connect { arrival: Box::new(arrival), leave, admitted });
        let (id, leave) = answer.await.expect("answered").ok()?;
        Some(Peer { id, frames, unsent, closing, pulse, _leave: leave })
    }

    async fn connect(&mut self, application: &str) -> Peer {
        self.try_connect(application).await.expect("there is room")
    }

    fn register(&mut self, connection: ConnectionId, tools: &[Tool]) {
        let tools = tools.iter().map(|tool| Tool::new(tool.name.clone(), tool.text.clone(), Vec::new()));
        let declaration = Declaration::new(tools.collect(), None);
        let (done, _) = oneshot::channel();
        self.state.apply(self.now, Command::Register { connection, declaration, done });
    }

    /// An application that serves one tool, `go`, and has been told so.
    async fn serving(&mut self, application: &str) -> Peer {
        let mut peer = self.connect(application).await;
        self.register(peer.id, &[tool("go", 1)]);
        assert_eq!(peer.next(), r#"{"type":"registered"}"#);
        peer
    }

    fn route(&self, application: &str, hang_up: HangUp) -> Routed {
        let view = self.view.borrow();
        let served = view.served(&client(application)).expect("it is served");
        let call = Call {
            agent: Agent { application: client(application), label: None },
            tool: "go".into(),
            arguments: Text::empty_object(),
            hang_up,
            key: None,
            reported: None,
            credential: Some(claims(application, Role::Agent, None)),
        };
        let tool = Arc::clone(served.declaration.tool("go").expect("it is declared"));
        Routed { call, connection: served.connection, tool }
    }

    async fn send(&mut self, routed: Routed) -> Flight {
        let leave = Leave::reserve(&self.hub.commands).await.expect("the queue is open");
        let (sent, outcome) = oneshot::channel();
        self.state.apply(self.now, Command::Submit { routed: Box::new(routed), own: false, leave, sent });
        outcome.await.expect("answered").expect("taken in")
    }

    async fn call(&mut self, application: &str) -> Flight {
        let routed = self.route(application, HangUp::Cancels);
        self.send(routed).await
    }

    fn result(&mut self, connection: ConnectionId, number: u64, text: &str) {
        let call = CallId { connection, number };
        self.state.apply(self.now, Command::Result { call, result: json(text) });
    }

    /// Hands the hub what was said on leaving.
    fn step(&mut self) {
        while let Ok(command) = self.inbox.try_recv() {
            self.state.apply(self.now, command);
        }
    }

    fn tick_after(&mut self, time: Duration) {
        let Now { mono, wall } = self.now;
        self.state.tick(Now { mono: mono + time, wall });
    }
}

impl Peer {
    fn next(&mut self) -> Frame {
        let frame = self.frames.try_recv().expect("a frame is queued");
        self.unsent.written(frame.len());
        frame
    }

    fn closed(&mut self) -> Option<CloseCode> {
        self.closing.try_recv().ok().map(|close| close.code)
    }
}

fn client(name: &str) -> ClientId {
    ClientId::new(name).expect("a client ID")
}

fn json(text: &str) -> Text {
    Text::of(serde_json::from_str(text).expect("JSON"))
}

fn tool(name: &str, version: u32) -> Tool {
    let text = json(&format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"version":{version}}}"#));
    Tool::new(ToolName::new(name).expect("a name"), text, Vec::new())
}

/// How a call ended that was not put on its way.
async fn refused(flight: Flight) -> Outcome {
    outcome(flight.landed().await)
}

fn outcome(answer: Result<impl Sized, Refusal>) -> Outcome {
    let refusal = answer.err().expect("no answer of the application");
    let Refusal::Ended(ended) = refusal else { panic!("{refusal:?}") };
    ended.outcome
}

#[tokio::test]
async fn a_call_travels_and_its_answer_returns() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a").await;
    let flight = bench.call("a").await;
    assert_eq!(app.next(), r#"{"type":"call","id":"1","name":"go","arguments":{}}"#);
    bench.result(app.id, 1, r#"{"content":[]}"#);
    assert_eq!(flight.landed().await.expect("answered").as_str(), r#"{"content":[]}"#);
    bench.step();
    assert!(app.frames.try_recv().is_err(), "a call that was answered is not cancelled");
    assert_eq!(bench.state.next_deadline(), None);
}

// holds: channel-replace
#[tokio::test]
async fn the_newest_connection_wins_and_the_older_ones_calls_end_first() {
    let mut bench = Bench::new();
    let mut older = bench.serving("a").await;
    let flight = bench.call("a").await;
    let newer = bench.connect("a").await;
    assert_eq!(older.closed(), Some(CloseCode::Replaced));
    assert_eq!(outcome(flight.landed().await), Outcome::Disconnected);
    assert!(bench.view.borrow().served(&client("a")).is_none(), "offline until the newer registers");
    bench.result(older.id, 1, r#"{"content":[]}"#);
    bench.register(older.id, &[tool("go", 1)]);
    assert!(bench.view.borrow().served(&client("a")).is_none(), "the older has no say any more");
    bench.register(newer.id, &[tool("go", 1)]);
    assert_eq!(bench.view.borrow().served(&client("a")).map(|served| served.connection), Some(newer.id));
    drop(older);
    bench.step();
    assert!(bench.view.borrow().served(&client("a")).is_some(), "the older's leaving takes nothing from the newer");
}

#[tokio::test]
async fn a_register_with_the_same_text_changes_nothing_and_is_answered() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a").await;
    let before = bench.route("a", HangUp::Cancels);
    bench.view.mark_unchanged();
    bench.register(app.id, &[tool("go", 1)]);
    assert_eq!(app.next(), r#"{"type":"registered"}"#);
    assert!(!bench.view.has_changed().expect("the hub is there"));
    drop(bench.send(before).await);
    assert!(app.next().contains("call"), "what was routed before can still be sent");
}

#[tokio::test]
async fn between_routing_and_sending_nothing_may_change() {
    let mut bench = Bench::new();
    let app = bench.serving("a").await;
    let routed = bench.route("a", HangUp::Cancels);
    bench.register(app.id, &[tool("go", 2)]);
    assert_eq!(refused(bench.send(routed).await).await, Outcome::Changed, "another definition");
    let routed = bench.route("a", HangUp::Cancels);
    bench.register(app.id, &[]);
    assert_eq!(refused(bench.send(routed).await).await, Outcome::Changed, "no definition");
    bench.register(app.id, &[tool("go", 2)]);
    let routed = bench.route("a", HangUp::Cancels);
    let newer = bench.serving("a").await;
    assert_eq!(refused(bench.send(routed).await).await, Outcome::Changed, "another application");
    let routed = bench.route("a", HangUp::Cancels);
    bench.state.apply(bench.now, Command::Disconnect { connection: newer.id, done: None });
    assert_eq!(refused(bench.send(routed).await).await, Outcome::Offline, "no application");
}

// holds: outcome-timeout
#[tokio::test]
async fn a_call_without_an_answer_ends_in_time_and_is_cancelled() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a").await;
    let flight = bench.call("a").await;
    app.next();
    assert_eq!(bench.state.next_deadline(), Some(bench.now.mono + CALL_TIME));
    bench.tick_after(CALL_TIME.saturating_sub(Duration::from_nanos(1)));
    assert!(app.frames.try_recv().is_err(), "not yet");
    bench.tick_after(CALL_TIME);
    assert_eq!(app.next(), r#"{"type":"cancel","id":"1"}"#);
    assert_eq!(outcome(flight.landed().await), Outcome::Timeout(CALL_TIME));
    bench.result(app.id, 1, r#"{"content":[]}"#);
    assert_eq!(bench.state.next_deadline(), None);
}

#[tokio::test]
async fn hanging_up_cancels_where_the_era_says_so() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a").await;
    drop(bench.call("a").await);
    app.next();
    bench.step();
    assert_eq!(app.next(), r#"{"type":"cancel","id":"1"}"#);
    let legacy = bench.route("a", HangUp::Ignored);
    drop(bench.send(legacy).await);
    app.next();
    bench.step();
    assert!(app.frames.try_recv().is_err(), "a lost connection is no cancel");
    assert!(bench.state.next_deadline().is_some(), "it is still under way");
}

#[tokio::test]
async fn an_agent_that_hung_up_before_its_call_was_sent_cancels_it() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a").await;
    let routed = Box::new(bench.route("a", HangUp::Cancels));
    let leave = Leave::reserve(&bench.hub.commands).await.expect("the queue is open");
    let (sent, outcome) = oneshot::channel();
    drop(outcome);
    bench.state.apply(bench.now, Command::Submit { routed, own: false, leave, sent });
    bench.step();
    app.next();
    assert_eq!(app.next(), r#"{"type":"cancel","id":"1"}"#);
}

fn key(session: &str, id: RequestId) -> RequestKey {
    RequestKey { agent: Agent { application: client("a"), label: None }, session: session.into(), id }
}

#[tokio::test]
async fn a_legacy_cancel_stops_the_newest_call_of_its_session_and_id_and_no_other() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a").await;
    let one = || RequestId::Integer("1".into());
    let keys = [key("s", one()), key("t", one()), key("s", one()), key("s", RequestId::String("1".into()))].map(Some);
    let mut flights = Vec::new();
    for key in keys {
        let mut routed = bench.route("a", HangUp::Ignored);
        routed.call.key = key;
        flights.push(bench.send(routed).await);
        app.next();
    }
    for (cancelled, wire) in [(2, "3"), (0, "1")] {
        bench.state.apply(bench.now, Command::CancelRequest { key: key("s", one()) });
        assert_eq!(app.next(), format!(r#"{{"type":"cancel","id":"{wire}"}}"#));
        let answer = flights[cancelled].answer.try_recv().expect("answered");
        assert_eq!(answer.err(), Some(Refusal::Cancelled));
    }
    bench.state.apply(bench.now, Command::CancelRequest { key: key("s", one()) });
    assert!(app.frames.try_recv().is_err(), "nothing is left under that id");
    bench.result(app.id, 2, r#"{"content":[]}"#);
    bench.state.apply(bench.now, Command::CancelRequest { key: key("t", one()) });
    assert!(app.frames.try_recv().is_err(), "what was answered is not cancelled");
}

const PING_ON_CALL: Duration = Duration::from_millis(1);

/// An application that has shown that it pings on calls, and was silent ever since.
async fn silent_for(silence: Duration) -> (Bench, Peer, Flight) {
    let mut bench = Bench::new();
    let mut app = bench.serving("a").await;
    drop(bench.call("a").await);
    app.next();
    app.pulse.heard(bench.now.mono + PING_ON_CALL, true);
    bench.step();
    app.next();
    bench.pass(PING_ON_CALL + silence);
    let flight = bench.call("a").await;
    app.next();
    (bench, app, flight)
}

// holds: outcome-unresponsive
#[tokio::test]
async fn an_application_that_shows_no_sign_of_life_after_a_long_silence_is_unresponsive() {
    let (mut bench, mut app, flight) = silent_for(FROZEN_SILENCE).await;
    assert_eq!(bench.state.next_deadline(), Some(bench.now.mono + FROZEN_TIME));
    bench.tick_after(FROZEN_TIME);
    assert_eq!(app.next(), r#"{"type":"cancel","id":"2"}"#);
    assert_eq!(outcome(flight.landed().await), Outcome::Unresponsive);
}

// holds: outcome-unresponsive
#[tokio::test]
async fn an_application_that_wakes_up_has_its_whole_time() {
    let (mut bench, mut app, flight) = silent_for(FROZEN_SILENCE).await;
    app.pulse.heard(bench.now.mono + FROZEN_TIME, true);
    bench.tick_after(FROZEN_TIME);
    assert!(app.frames.try_recv().is_err());
    assert_eq!(bench.state.next_deadline(), Some(bench.now.mono + CALL_TIME));
    bench.tick_after(CALL_TIME);
    assert_eq!(outcome(flight.landed().await), Outcome::Timeout(CALL_TIME));
}

// holds: outcome-unresponsive
#[tokio::test]
async fn nobody_is_suspected_who_was_heard_lately_or_never_pinged_on_a_call() {
    let (bench, _app, _flight) = silent_for(FROZEN_SILENCE.saturating_sub(Duration::from_nanos(1))).await;
    assert_eq!(bench.state.next_deadline(), Some(bench.now.mono + CALL_TIME));
    let mut bench = Bench::new();
    let app = bench.serving("a").await;
    app.pulse.heard(bench.now.mono, true);
    bench.pass(FROZEN_SILENCE * 2);
    let _flight = bench.call("a").await;
    assert_eq!(bench.state.next_deadline(), Some(bench.now.mono + CALL_TIME), "an idle ping says nothing of calls");
}

// holds: limit-calls
#[tokio::test]
async fn one_call_more_than_the_limit_is_busy_until_one_is_answered() {
    let mut bench = Bench::new();
    let app = bench.serving("a").await;
    let mut flights = Vec::new();
    for _ in 0..CALLS_IN_FLIGHT {
        flights.push(bench.call("a").await);
        assert!(!flights.last().expect("one").is_over(), "within the limit");
    }
    assert_eq!(refused(bench.call("a").await).await, Outcome::Busy(Limit::CallsInFlight));
    bench.result(app.id, 7, r#"{"content":[]}"#);
    let flight = bench.call("a").await;
    assert!(!flight.is_over(), "there is room again");
}

#[tokio::test]
async fn an_application_that_does_not_read_is_busy_and_others_are_not() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a").await;
    let other = bench.serving("b").await;
    let long = json(&format!("{{\"x\":\"{}\"}}", "y".repeat(3 * 1024 * 1024)));
    let mut flights = Vec::new();
    let busy = loop {
        let mut routed = bench.route("a", HangUp::Cancels);
        routed.call.arguments = long.clone();
        let flight = bench.send(routed).await;
        if flight.is_over() {
            break refused(flight).await;
        }
        flights.push(flight);
    };
    assert_eq!((busy, flights.len()), (Outcome::Busy(Limit::UnsentBytes), UNSENT_BYTES / long.as_str().len()));
    assert!(!bench.call("b").await.is_over());
    app.next();
    let mut routed = bench.route("a", HangUp::Cancels);
    routed.call.arguments = long;
    assert!(!bench.send(routed).await.is_over(), "what was read makes room");
    drop(other);
}

// holds: limit-applications
#[tokio::test]
async fn one_application_more_than_the_limit_is_refused_and_a_replacement_is_not() {
    let mut bench = Bench::new();
    let mut peers = Vec::new();
    for number in 0..APPLICATIONS {
        peers.push(bench.connect(&format!("app-{number}")).await);
    }
    assert!(bench.try_connect("one-more").await.is_none());
    assert!(bench.try_connect("app-7").await.is_some());
    peers.pop();
    bench.step();
    assert!(bench.try_connect("one-more").await.is_some());
}

#[tokio::test]
async fn at_the_end_applications_are_told_and_sent_calls_are_not_answered() {
    let mut bench = Bench::new();
    let mut app = bench.serving("a").await;
    let flight = bench.call("a").await;
    bench.state.shut_down(bench.now);
    assert_eq!(app.closed(), Some(CloseCode::GoingAway));
    assert_eq!(flight.landed().await.err(), Some(Refusal::ShuttingDown));
    assert!(bench.view.borrow().served(&client("a")).is_none());
}
