//! Many calls, and everything that can happen to them, in random order over real sockets: no application ever receives
//! a call that was not approved in its exact form, and no call is left unanswered (`docs/protocol.md`, "Questions").

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot,
    },
    task::JoinHandle,
};
use tokio_tungstenite::tungstenite::Message;

use crate::leaving::delivered;
use crate::support::{
    agent::Agent,
    application::{Application, Call},
    desktop::{DONE, Desktop, OUTCOME, decision, fingerprint, list},
    post::member,
    stream::Sent,
    waits::limited,
    within,
};

const CALLS: usize = 2_000;
const LIMIT: Duration = Duration::from_secs(60);
/// A call that is sent may wait for its answer as long as two minutes.
const SETTLED: Duration = Duration::from_secs(300);
const LANES: usize = 8;
const LABELS: [&str; 2] = ["a", "b"];

/// `SplitMix64`: any seed is a good one.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }
}

/// What was approved, and what arrived, by the text of the arguments.
#[derive(Default)]
struct Ledger {
    /// The definition and the connection that each approval was given for; written down before the bridge is told.
    approved: HashMap<String, (String, u64)>,
    received: HashSet<String>,
    /// Whose agent had left before anybody said yes.
    departed: HashSet<String>,
    /// Which of the bridge's connections each of ours is.
    connections: HashMap<usize, u64>,
}

type Shared = Arc<Mutex<Ledger>>;

enum Order {
    /// Declare this tool.
    Register(String),
    /// Answer what was held back.
    Answer,
}

/// One client ID.
struct Lane {
    id: String,
    tool: String,
    orders: Option<UnboundedSender<Order>>,
    agents: Vec<Agent>,
}

struct Made {
    arguments: String,
    lane: usize,
    label: usize,
    task: JoinHandle<Option<Value>>,
    leave: Option<oneshot::Sender<Leave>>,
    hung_up: bool,
    revoked: bool,
}

/// What stands behind a request on its connection.
const BEHIND: [&[u8]; 4] = [b"", b"\r\n", b"no request", &[b'x'; 9_000]];

/// How an agent's connection ends.
#[derive(Clone, Copy)]
enum Way {
    Close,
    Shut,
    Reset,
}

/// An agent is to leave, and to say where it was connected.
struct Leave {
    way: Way,
    left: oneshot::Sender<(u16, u16)>,
}

fn definition(serial: usize) -> String {
    format!(r#"{{"name":"t","description":"{serial}","inputSchema":{{"type":"object"}}}}"#)
}

/// An application: checks each call that arrives, and answers at once or, every fourth, when it is told to.
async fn application(mut socket: Application, own: usize, mut orders: UnboundedReceiver<Order>, ledger: Shared) {
    let (mut served, mut declared) = (None, std::collections::VecDeque::new());
    let mut held: Vec<Call> = Vec::new();
    loop {
        tokio::select! {
            order = orders.recv() => match order {
                Some(Order::Register(tool)) => {
                    socket.send(format!(r#"{{"type":"register","tools":[{tool}]}}"#)).await;
                    declared.push_back(tool);
                }
                Some(Order::Answer) => {
                    for call in held.drain(..) {
                        socket.answer(&call, DONE).await;
                    }
                }
                None => return,
            },
            message = socket.recv() => {
                let Message::Text(text) = message else { return };
                let text = text.as_str();
                match &*member(text, "type").unwrap() {
                    r#""registered""# => served = declared.pop_front(),
                    r#""call""# => {
                        let call = arrived(text, served.as_deref(), own, &ledger);
                        if call.arguments.ends_with("0}") { held.push(call) } else { socket.answer(&call, DONE).await }
                    }
                    _ => {}
                }
            }
        }
    }
}

fn arrived(text: &str, served: Option<&str>, own: usize, ledger: &Shared) -> Call {
    let string = |name| serde_json::from_str(&member(text, name).unwrap()).unwrap();
    let call = Call { id: string("id"), name: string("name"), arguments: member(text, "arguments").unwrap() };
    let mut ledger = ledger.lock().unwrap();
    let (fingerprint_of, connection) = ledger.approved.get(&call.arguments).expect("an approval of this call").clone();
    assert_eq!(fingerprint_of, fingerprint(served.expect("a declaration")), "approved for another definition: {text}");
    let same = *ledger.connections.entry(own).or_insert(connection);
    assert_eq!(same, connection, "approved for another connection: {text}");
    assert!(ledger.received.insert(call.arguments.clone()), "sent twice: {text}");
    call
}

/// Calls, and gives back the result; none when the connection ended without one.
async fn call(
    agent: Agent,
    arguments: String,
    legacy: bool,
    behind: &'static [u8],
    leave: oneshot::Receiver<Leave>,
) -> Option<Value> {
    let request = if legacy { agent.legacy_call("t", &arguments) } else { agent.call("t", &arguments) };
    let mut sent = agent.sent(&request).await;
    sent.write(behind).await;
    let (ports, mut leave) = (sent.ports(), leave);
    tokio::select! {
        () = sent.stirs() => {}
        Ok(Leave { way, left }) = &mut leave => {
            let kept = end(sent.into_stream(), way).await;
            let _ = left.send(ports);
            // Who closed its sending side alone still reads, until the bridge has seen it.
            if let Some(mut kept) = kept {
                let _ = within(kept.read_to_end(&mut Vec::new())).await;
            }
            return None;
        }
    }
    tokio::select! {
        answer = read(sent) => answer,
        Ok(Leave { left, .. }) = leave => {
            let _ = left.send(ports);
            None
        }
    }
}

async fn end(mut stream: TcpStream, way: Way) -> Option<TcpStream> {
    match way {
        Way::Close => None,
        Way::Reset => {
            stream.set_zero_linger().unwrap();
            None
        }
        Way::Shut => {
            stream.shutdown().await.unwrap();
            Some(stream)
        }
    }
}

async fn read(sent: Sent) -> Option<Value> {
    let mut answer = sent.answer().await?;
    let body = answer.rest().await;
    if answer.head.status == 401 {
        return None;
    }
    let text = match answer.head.header("content-type") {
        Some("text/event-stream") => body.lines().find_map(|line| line.strip_prefix("data: "))?.to_owned(),
        _ => body,
    };
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

struct World {
    desktop: Desktop,
    random: Random,
    lanes: Vec<Lane>,
    made: Vec<Made>,
    ledger: Shared,
    serial: usize,
    steps: usize,
    deserted: usize,
    connections: usize,
    applications: Vec<JoinHandle<()>>,
}

impl World {
    async fn new(seed: u64) -> Self {
        let mut desktop = Desktop::start().await;
        let mut lanes = Vec::new();
        for lane in 0..LANES {
            let id = format!("lane-{lane}");
            let mut agents = Vec::new();
            for label in LABELS {
                agents.push(Agent::new(desktop.port, &desktop.mint(&id, "agent", Some(label)).await));
            }
            lanes.push(Lane { id, tool: String::new(), orders: None, agents });
        }
        let (random, ledger) = (Random(seed), Shared::default());
        let (made, applications) = (Vec::new(), Vec::new());
        Self { desktop, random, lanes, made, ledger, serial: 0, steps: 0, deserted: 0, connections: 0, applications }
    }

    async fn step(&mut self) {
        self.steps += 1;
        let lane = self.random.below(LANES);
        match self.random.below(1_000) {
            0..150 => self.call(lane),
            150..850 => self.decide().await,
            850..890 => self.register(lane),
            890..920 => self.reconnect(lane).await,
            920..935 => self.hang_up(),
            935..950 => self.desert().await,
            950..955 => self.leave(lane),
            955..960 => self.revoke(lane).await,
            960..990 => self.order_answers(lane),
            990 => {
                self.desktop.done(json!({"type": "pause"})).await;
                self.call(lane);
                self.decide().await;
                self.desktop.done(json!({"type": "resume"})).await;
            }
            _ => {
                let id = self.lanes[lane].id.clone();
                let mode = |mode: &str| json!({"type": "set_mode", "application": id, "mode": mode, "until": "quit"});
                self.desktop.done(mode("block")).await;
                self.decide().await;
                self.desktop.done(mode("ask")).await;
            }
        }
    }

    fn call(&mut self, lane: usize) {
        let (label, number) = (self.random.below(LABELS.len()), self.made.len());
        let arguments = format!(r#"{{"n":{number}}}"#);
        let legacy = self.random.below(3) == 0;
        let behind = BEHIND[self.random.below(BEHIND.len())];
        let (leave, leaving) = oneshot::channel();
        let task =
            tokio::spawn(call(self.lanes[lane].agents[label].clone(), arguments.clone(), legacy, behind, leaving));
        self.made.push(Made { arguments, lane, label, task, leave: Some(leave), hung_up: false, revoked: false });
    }

    /// An agent leaves, and a yes that comes right after that is too late.
    async fn desert(&mut self) {
        let recent = self.made.len().min(20);
        if recent == 0 {
            return;
        }
        let at = self.made.len() - 1 - self.random.below(recent);
        let way = [Way::Close, Way::Shut, Way::Reset][self.random.below(3)];
        let Some(leave) = self.made[at].leave.take() else { return };
        let (left, leaving) = oneshot::channel();
        // One that was answered already does not leave any more.
        if leave.send(Leave { way, left }).is_ok()
            && let Ok((port, peer)) = within(leaving).await
        {
            delivered(port, peer).await;
            self.made[at].hung_up = true;
            self.deserted += 1;
            self.ledger.lock().unwrap().departed.insert(self.made[at].arguments.clone());
            self.decide().await;
        }
    }

    /// Answers one of the questions that the newest snapshot shows, which may be gone by now.
    async fn decide(&mut self) {
        let questions = list(&self.desktop.newest, "questions");
        if questions.is_empty() {
            // Read on until there may be some.
            self.desktop.done(json!({"type": "resume"})).await;
            return;
        }
        let question = questions[self.random.below(questions.len())].clone();
        let head = |head: &&Value| head["id"] == question["application"];
        let connection = list(&self.desktop.newest, "applications").iter().find(head).expect("its application");
        let connection = connection["connection"].as_u64().unwrap();
        let text = json!({"of": "question", "id": question["id"], "part": "arguments"});
        let reply = self.desktop.ask(json!({"type": "get", "text": text, "offset": 0})).await;
        let Some(arguments) = reply["text"]["piece"].as_str().map(str::to_owned) else { return };
        let mut command = match self.random.below(10) {
            0 | 1 => decision(&question, "deny", json!("nothing")),
            _ => decision(&question, "allow", json!("nothing")),
        };
        if self.random.below(12) == 0 {
            command["fingerprint"] = json!(fingerprint(&definition(self.serial)));
        }
        let departed = self.ledger.lock().unwrap().departed.contains(&arguments);
        if !departed && command["verdict"] == "allow" && command["fingerprint"] == question["fingerprint"] {
            let shown = question["fingerprint"].as_str().unwrap().to_owned();
            self.ledger.lock().unwrap().approved.insert(arguments, (shown, connection));
        }
        // The reply may come while others happen.
        let request = self.desktop.send(command).await;
        let lane = self.random.below(LANES);
        match self.random.below(40) {
            0..5 => self.register(lane),
            5 => self.leave(lane),
            6..9 => self.hang_up(),
            _ => {}
        }
        let reply = self.desktop.reply(request).await;
        assert!(!departed || reply["refused"]["code"] == "no_such_question", "an agent that had left: {reply}");
    }

    fn register(&mut self, lane: usize) {
        let again = self.random.below(3) == 0;
        let lane = &mut self.lanes[lane];
        if !again {
            self.serial += 1;
            lane.tool = definition(self.serial);
        }
        if let Some(orders) = &lane.orders {
            // An application that has just been closed takes no orders.
            drop(orders.send(Order::Register(lane.tool.clone())));
        }
    }

    /// Connects anew, most times with the declaration that the connection before had. Who is away comes first.
    async fn reconnect(&mut self, lane: usize) {
        let lane = self.lanes.iter().position(|lane| lane.orders.is_none()).unwrap_or(lane);
        if self.random.below(2) == 0 {
            self.leave(lane);
        }
        let socket = self.desktop.connect(&self.lanes[lane].id, &[]).await;
        let (orders, taken) = unbounded_channel();
        self.connections += 1;
        let (own, ledger) = (self.connections, self.ledger.clone());
        self.applications.push(tokio::spawn(application(socket, own, taken, ledger)));
        let lane = &mut self.lanes[lane];
        if lane.tool.is_empty() || self.random.below(4) == 0 {
            self.serial += 1;
            lane.tool = definition(self.serial);
        }
        drop(orders.send(Order::Register(lane.tool.clone())));
        // The older one keeps its orders: it lives until the bridge has closed it.
        if let Some(older) = lane.orders.replace(orders) {
            tokio::spawn(async move { older.closed().await });
        }
    }

    fn leave(&mut self, lane: usize) {
        self.lanes[lane].orders = None;
    }

    fn order_answers(&mut self, lane: usize) {
        if let Some(orders) = &self.lanes[lane].orders {
            drop(orders.send(Order::Answer));
        }
    }

    fn hang_up(&mut self) {
        let recent = self.made.len().min(20);
        if recent > 0 {
            let at = self.made.len() - 1 - self.random.below(recent);
            self.made[at].hung_up = true;
            self.made[at].task.abort();
        }
    }

    async fn revoke(&mut self, lane: usize) {
        let (at, id) = (self.random.below(LABELS.len()), self.lanes[lane].id.clone());
        let which = json!({"label": LABELS[at]});
        let command = json!({"type": "revoke", "application": id, "role": "agent", "which": which});
        self.made.iter_mut().filter(|made| made.lane == lane && made.label == at).for_each(|made| made.revoked = true);
        self.desktop.done(command).await;
        let token = self.desktop.mint(&id, "agent", Some(LABELS[at])).await;
        self.lanes[lane].agents[at] = Agent::new(self.desktop.port, &token);
    }

    /// Answers whatever is still open, until every call has ended.
    async fn settle(&mut self) {
        limited(SETTLED, "all calls to end", async {
            while self.made.iter().any(|made| !made.task.is_finished()) {
                for lane in 0..LANES {
                    self.order_answers(lane);
                }
                self.decide().await;
            }
        })
        .await;
    }
}

/// What an ended call may have been, and how it is counted.
fn check(made: &Made, outcome: Option<&Value>, received: bool) -> String {
    let Some(message) = outcome else {
        assert!(made.hung_up || made.revoked, "left unanswered: {}", made.arguments);
        return if made.hung_up { "hung up" } else { "revoked" }.to_owned();
    };
    let result = &message["result"];
    let code = result["_meta"][OUTCOME]["reason"]["code"].as_str();
    let uncertain = result["isError"] == true && code.is_none();
    assert!(code.is_none() || !received, "received, and {code:?}: {}", made.arguments);
    assert!(code.is_some() || uncertain || received, "answered, and not received: {message}");
    assert!(result.is_object(), "{message}");
    code.unwrap_or(if uncertain { "disconnected" } else { "answered" }).to_owned()
}

// holds: approval-exact, approval-used-once, control-snapshot-rate
#[tokio::test]
async fn no_order_of_events_sends_what_was_not_approved() {
    // The same one unless another is given, as `cargo xtask soak` does.
    let seed = std::env::var("CLIENTMCP_TESTS_SEED").map_or(1, |seed| seed.parse().unwrap());
    println!("CLIENTMCP_TESTS_SEED={seed}");
    let start = Instant::now();
    let mut world = World::new(seed).await;
    for lane in 0..LANES {
        world.reconnect(lane).await;
    }
    let begin = Instant::now();
    while world.made.len() < CALLS && begin.elapsed() < LIMIT {
        world.step().await;
        if let Some(failed) = world.applications.iter().position(JoinHandle::is_finished) {
            // One that ended by itself was replaced; one that failed fails the test.
            world.applications.swap_remove(failed).await.unwrap();
        }
    }
    world.settle().await;
    let shown = world.desktop.lines.iter().filter(|line| line.starts_with(r#"{"type":"snapshot""#)).count();
    let most = u128::try_from(shown).unwrap();
    assert!(most <= start.elapsed().as_millis() / 100 + 2, "{shown} snapshots in {:?}", start.elapsed());
    println!("{} steps, {} agents left unseen", world.steps, world.deserted);
    assert!(world.deserted > 20, "hardly anybody left");
    if let Some(steps) = std::env::var_os("CLIENTMCP_TESTS_STEPS") {
        let mut steps = std::fs::OpenOptions::new().create(true).append(true).open(steps).unwrap();
        std::io::Write::write_all(&mut steps, format!("{}\n", world.steps).as_bytes()).unwrap();
    }
    let World { made, lanes, ledger, applications, .. } = world;
    drop(lanes);
    for application in applications {
        within(application).await.unwrap();
    }
    let mut tally: HashMap<String, usize> = HashMap::new();
    let (total, ledger) = (made.len(), ledger.lock().unwrap().received.clone());
    for mut one in made {
        let outcome = (&mut one.task).await.unwrap_or_else(|error| {
            assert!(error.is_cancelled(), "{error}");
            None
        });
        *tally.entry(check(&one, outcome.as_ref(), ledger.contains(&one.arguments))).or_default() += 1;
    }
    println!("{total} calls: {tally:?}");
    assert!(tally.get("answered") > Some(&(total / 20)), "nearly nothing was answered: {tally:?}");
}
