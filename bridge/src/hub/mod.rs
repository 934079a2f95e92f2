//! Who is connected, what is under way and what is in force: one task owns it, one closed set of commands changes it.
//!
//! The handle is what everybody else holds. Reads (lists, discovery, routing, tokens) answer from what the task has
//! published, without asking it. The hub runs no tool, opens no socket, touches no file and retries nothing.

mod apps;
#[cfg(test)]
mod bench;
mod calls;
mod desk;
mod desktop;
mod history;
mod outbox;
mod pulse;
mod state;
#[cfg(test)]
mod tests;

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use clientmcp_protocol::{
    codes::CloseCode,
    control::{self, Memory, Millis, Reply, Settings},
    ids::{ClientId, Fingerprint, Role},
    limits::{APPLICATIONS, CALLS_IN_ALL, HTTP_CONNECTIONS, SLEEP},
};
use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    time::{Duration, Instant, sleep_until},
};

pub use self::{
    apps::{Served, View},
    desk::{Check, DeskView, RefusedAtDoor, ending},
    desktop::settings_fault,
    history::Finished,
    outbox::{Closing, Frame, Inbox, Outbox, Unsent, outbox},
    pulse::Pulse,
};
use crate::{
    approvals::{Asking, Now},
    call::{Agent, Call, CallId, ConnectionId, HangUp, RequestKey, Routed},
    declaration::{Declaration, Tool},
    refusal::{Ended, Limit, Outcome, Refusal},
    text::Text,
    token::{Access, Claims, TokenFault},
};

/// What stands for an application that comes without an origin: a native program.
pub const NATIVE: &str = "native";

/// What stands for an origin that names nobody: `null`, or a repeated header.
pub const NO_ORIGIN: &str = "null";

/// Commands waiting for the hub's task. Every call and every application takes two places at most: one for what it says,
/// and one reserved on entering for what must be said on leaving. So nobody ever waits for a place that a waiting one holds.
const COMMANDS: usize = 2 * (CALLS_IN_ALL + APPLICATIONS + HTTP_CONNECTIONS);

/// How often the hub looks at the clock by itself.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// What a hub starts with.
#[derive(Debug)]
pub struct Beginning {
    /// Who answers where asking is needed.
    pub asking: Asking,
    /// Applications connected at a time.
    pub room: usize,
    /// What is set.
    pub settings: Settings,
    /// Who is let in.
    pub access: Access,
    /// What was remembered; its revocations must be in `access` already.
    pub memory: Memory,
    /// Whether all calls are refused at first.
    pub paused: bool,
}

/// Everything that changes the hub's state.
pub(crate) enum Command {
    /// An application holds a valid token and wants its client ID.
    Connect { arrival: Box<Arrival>, leave: Leave, admitted: oneshot::Sender<Admitted> },
    /// It declared its tools; `done` is dropped when that is served.
    Register { connection: ConnectionId, declaration: Declaration, done: oneshot::Sender<()> },
    /// It answered a call.
    Result { call: CallId, result: Text },
    /// Its connection ended; `done` is dropped when nothing of it is served any more.
    Disconnect { connection: ConnectionId, done: Option<oneshot::Sender<()>> },
    /// A call wants to be sent. The person's own is approved by the click that made it.
    Submit { routed: Box<Routed>, own: bool, leave: Leave, sent: oneshot::Sender<Sent> },
    /// A call led nowhere.
    Note { call: Box<Call>, refusal: Refusal },
    /// Its agent is gone.
    GiveUp { number: u64 },
    /// A legacy agent takes back what it asked.
    CancelRequest { key: RequestKey },
    /// The desktop asks for something.
    Desktop { command: Box<control::Command>, reply: oneshot::Sender<Reply> },
    /// Calls that ended after the first `seen` ones.
    Finished { seen: u64, reply: oneshot::Sender<Finished> },
    /// Close everything; `done` is dropped when all applications were told.
    Shutdown { done: oneshot::Sender<()> },
}

/// An application that was let in at the door.
#[derive(Debug)]
pub struct Arrival {
    /// What its token says.
    pub claims: Arc<Claims>,
    /// Its `Origin`, [`NATIVE`] without one, nothing for one that names nobody.
    pub origin: Option<String>,
    /// Where it is written to.
    pub outbox: Outbox,
}

/// Why an application with a valid token is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    /// Its token was revoked on the way.
    Revoked,
    /// It comes from an origin that is not pinned.
    Origin,
    /// It would be one more than the limit.
    TooMany,
}

/// What an application gets for its client ID: a place, and the words that give it up.
pub(crate) type Admitted = Result<(ConnectionId, Leave), NotAdmitted>;

/// What became of a call that was submitted: its end comes later.
pub(crate) type Sent = Result<Flight, Refusal>;

/// How a call ended.
pub(crate) type Answer = Result<Text, Refusal>;

/// The hub's ends of what it publishes.
pub(crate) struct Ends {
    settings: watch::Sender<Settings>,
    access: watch::Sender<Arc<Access>>,
    view: watch::Sender<View>,
    refused: Arc<RefusedAtDoor>,
    desk: Option<desk::Desk>,
}

/// The way to the hub. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Hub {
    commands: mpsc::Sender<Command>,
    view: watch::Receiver<View>,
    settings: watch::Receiver<Settings>,
    access: watch::Receiver<Arc<Access>>,
    refused: Arc<RefusedAtDoor>,
    desk: Option<DeskView>,
    /// Calls on the way to the hub or waiting for their answer.
    calls: Arc<Semaphore>,
}

impl Hub {
    /// Starts the hub's task on the current runtime. It ends after [`Hub::shut_down`].
    pub fn start(beginning: Beginning) -> Self {
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let (hub, ends) = Self::with(&beginning, commands);
        tokio::spawn(run(state::State::new(beginning, ends, now()), inbox));
        hub
    }

    fn with(beginning: &Beginning, commands: mpsc::Sender<Command>) -> (Self, Ends) {
        let (publish, view) = watch::channel(View::default());
        let (set, settings) = watch::channel(beginning.settings.clone());
        let (let_in, access) = watch::channel(Arc::new(beginning.access.clone()));
        let refused = Arc::<RefusedAtDoor>::default();
        let desk = (beginning.asking == Asking::Person).then(|| desk::Desk::new(beginning.memory.clone()));
        let (desk, desk_view) = desk.unzip();
        let ends = Ends { settings: set, access: let_in, view: publish, refused: Arc::clone(&refused), desk };
        let calls = Arc::new(Semaphore::new(CALLS_IN_ALL));
        (Self { commands, view, settings, access, refused, desk: desk_view, calls }, ends)
    }

    /// Accepts a token for a role, as of now. One that is refused is counted.
    pub fn admit(&self, token: &str, role: Role) -> Result<Arc<Claims>, TokenFault> {
        let claims = self.access.borrow().admit(token, role);
        claims.map(Arc::new).inspect_err(|_| self.refused(Check::Token))
    }

    /// Who is let in; wakes when that changes.
    pub fn access(&self) -> watch::Receiver<Arc<Access>> {
        self.access.clone()
    }

    /// What is set.
    pub fn settings(&self) -> Settings {
        self.settings.borrow().clone()
    }

    /// Counts a request that was refused at the door.
    pub fn refused(&self, check: Check) {
        self.refused.count(check);
    }

    /// What an application serves now; nothing while it is offline or has not registered.
    pub fn served(&self, application: &ClientId) -> Option<Served> {
        self.view.borrow().served(application).cloned()
    }

    /// Wakes at every change of what is served, to be compared with what was seen before.
    pub fn watch(&self) -> watch::Receiver<View> {
        self.view.clone()
    }

    /// What the desktop is shown; nothing without one.
    pub fn desk(&self) -> Option<DeskView> {
        self.desk.clone()
    }

    /// Finds the application and the tool. A call that leads nowhere is shown to the desktop too.
    pub async fn route(&self, call: Call) -> Result<Routed, Refusal> {
        match self.find(&call) {
            Ok((connection, tool)) => Ok(Routed { connection, tool, call }),
            Err(refusal) => {
                if self.desk.is_some() {
                    let note = Command::Note { call: Box::new(call), refusal: refusal.clone() };
                    // A hub that is gone shows nothing any more.
                    let _ = self.commands.send(note).await;
                }
                Err(refusal)
            }
        }
    }

    fn find(&self, call: &Call) -> Result<(ConnectionId, Arc<Tool>), Refusal> {
        let ended = |outcome| Err(Ended { outcome, structured: false }.into());
        let view = self.view.borrow();
        let barred = view.barred(&call.agent);
        let Some(served) = view.served(&call.agent.application) else {
            return ended(barred.unwrap_or(Outcome::Offline));
        };
        match (served.declaration.tool(&call.tool), barred) {
            // What bars it is said in the step that takes it in.
            (Some(tool), _) => Ok((served.connection, Arc::clone(tool))),
            (None, Some(outcome)) => ended(outcome),
            (None, None) => Err(Refusal::UnknownTool(call.tool.clone())),
        }
    }

    /// Brings a call to the gate. It is approved and sent, put to the person, or refused, in one step of the hub.
    pub async fn submit(&self, routed: Routed) -> Result<Ticket, Refusal> {
        self.bring(routed, false).await
    }

    /// The person's own call of a tool whose definition they saw.
    pub async fn try_tool(
        &self,
        application: ClientId,
        tool: &str,
        fingerprint: Fingerprint,
        arguments: Text,
    ) -> Result<Ticket, Refusal> {
        let call = Call {
            agent: Agent { application, label: None },
            tool: tool.to_owned(),
            arguments,
            hang_up: HangUp::Cancels,
            key: None,
            reported: None,
            credential: None,
        };
        let routed = self.route(call).await?;
        if routed.tool.fingerprint != fingerprint {
            return Err(Ended { outcome: Outcome::Changed, structured: false }.into());
        }
        self.bring(routed, true).await
    }

    async fn bring(&self, routed: Routed, own: bool) -> Result<Ticket, Refusal> {
        let Ok(place) = Arc::clone(&self.calls).try_acquire_owned() else {
            let structured = !routed.tool.has_output_schema;
            return Err(Ended { outcome: Outcome::Busy(Limit::CallsInAll), structured }.into());
        };
        let leave = Leave::reserve(&self.commands).await.ok_or(Refusal::ShuttingDown)?;
        let (sent, outcome) = oneshot::channel();
        let command = Command::Submit { routed: Box::new(routed), own, leave, sent };
        self.commands.send(command).await.map_err(|_| Refusal::ShuttingDown)?;
        let flight = outcome.await.map_err(|_| Refusal::ShuttingDown)??;
        Ok(Ticket { flight, _place: place })
    }

    /// Takes back a legacy agent's request, if it is under way.
    pub async fn cancel(&self, key: RequestKey) {
        // A hub that is gone has ended it already.
        let _ = self.commands.send(Command::CancelRequest { key }).await;
    }

    /// Does what the desktop asks.
    pub async fn obey(&self, command: control::Command) -> Option<Reply> {
        let (reply, outcome) = oneshot::channel();
        self.commands.send(Command::Desktop { command: Box::new(command), reply }).await.ok()?;
        outcome.await.ok()
    }

    /// Calls that ended after the first `seen` ones.
    pub async fn finished(&self, seen: u64) -> Finished {
        let (reply, outcome) = oneshot::channel();
        let _ = self.commands.send(Command::Finished { seen, reply }).await;
        outcome.await.unwrap_or_default()
    }

    /// Asks for a client ID's place. A connection that holds it already is closed as replaced.
    pub async fn connect(&self, arrival: Arrival) -> Result<Connection, Rejected> {
        let leave = Leave::reserve(&self.commands).await.ok_or(Rejected::ShuttingDown)?;
        let (admitted, outcome) = oneshot::channel();
        let command = Command::Connect { arrival: Box::new(arrival), leave, admitted };
        self.commands.send(command).await.map_err(|_| Rejected::ShuttingDown)?;
        match outcome.await.map_err(|_| Rejected::ShuttingDown)? {
            Ok((id, leave)) => Ok(Connection { id, commands: self.commands.clone(), leave }),
            Err(NotAdmitted::TooMany) => Err(Rejected::TooMany),
            Err(NotAdmitted::Revoked) => {
                self.refused(Check::Token);
                Err(Rejected::Revoked)
            }
            Err(NotAdmitted::Origin) => {
                self.refused(Check::ClientOrigin);
                Err(Rejected::Origin)
            }
        }
    }

    /// Ends everything: calls that wait are answered `unattended`, applications are closed with 1001, calls that were sent
    /// end without an answer.
    pub async fn shut_down(&self) {
        let (done, finished) = oneshot::channel();
        if self.commands.send(Command::Shutdown { done }).await.is_ok() {
            let _ = finished.await;
        }
    }
}

/// Why an application with a valid token cannot connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// Its token was revoked on the way.
    Revoked,
    /// The limit of connected applications is reached.
    TooMany,
    /// It comes from an origin that is not allowed for it.
    Origin,
    /// The bridge is closing.
    ShuttingDown,
}

/// An application's place in the hub. Dropping it gives the place up.
#[derive(Debug)]
pub struct Connection {
    id: ConnectionId,
    commands: mpsc::Sender<Command>,
    leave: Leave,
}

impl Connection {
    /// Its identity.
    pub fn id(&self) -> ConnectionId {
        self.id
    }

    /// Replaces everything declared before; returns when it is served and `registered` is on its way.
    pub async fn register(&self, declaration: Declaration) {
        let (done, finished) = oneshot::channel();
        self.send(Command::Register { connection: self.id, declaration, done }).await;
        let _ = finished.await;
    }

    /// Passes a result on. One for an unknown or finished call goes nowhere.
    pub async fn result(&self, number: u64, result: Text) {
        self.send(Command::Result { call: CallId { connection: self.id, number }, result }).await;
    }

    /// Gives the place up; returns when its calls are answered and its tools are gone.
    pub async fn end(mut self) {
        self.leave.forget();
        let (done, finished) = oneshot::channel();
        self.send(Command::Disconnect { connection: self.id, done: Some(done) }).await;
        let _ = finished.await;
    }

    async fn send(&self, command: Command) {
        // A hub that is gone has closed this connection already.
        let _ = self.commands.send(command).await;
    }
}

/// A call that was taken in. Dropped before its answer came, it says so.
#[derive(Debug)]
pub struct Ticket {
    flight: Flight,
    _place: tokio::sync::OwnedSemaphorePermit,
}

impl Ticket {
    /// Its number, by which the desktop finds it.
    pub fn number(&self) -> u64 {
        self.flight.number
    }

    /// How the call ends. Dropping the future is the agent's hang-up.
    pub async fn answer(self) -> Result<Text, Refusal> {
        self.flight.landed().await
    }
}

/// A call's way back.
#[derive(Debug)]
pub(crate) struct Flight {
    number: u64,
    answer: oneshot::Receiver<Answer>,
    leave: Leave,
}

impl Flight {
    /// Whether the call has ended already.
    #[cfg(test)]
    fn is_over(&self) -> bool {
        !self.answer.is_empty()
    }

    async fn landed(mut self) -> Answer {
        let answer = (&mut self.answer).await.unwrap_or(Err(Refusal::ShuttingDown));
        self.leave.forget();
        answer
    }
}

/// Giving up is an event: words that are sent when their holder is dropped, with their place in the queue reserved.
#[derive(Debug)]
pub(crate) struct Leave {
    place: Option<mpsc::OwnedPermit<Command>>,
    words: Option<Farewell>,
}

/// What there is to say on leaving.
#[derive(Clone, Copy, Debug)]
enum Farewell {
    /// The socket is gone.
    Disconnect(ConnectionId),
    /// Nobody waits for the answer any more.
    GiveUp(u64),
}

impl Leave {
    async fn reserve(commands: &mpsc::Sender<Command>) -> Option<Self> {
        let place = commands.clone().reserve_owned().await.ok()?;
        Some(Self { place: Some(place), words: None })
    }

    fn say(&mut self, words: Farewell) {
        self.words = Some(words);
    }

    fn forget(&mut self) {
        self.words = None;
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        let (Some(place), Some(words)) = (self.place.take(), self.words) else { return };
        place.send(match words {
            Farewell::Disconnect(connection) => Command::Disconnect { connection, done: None },
            Farewell::GiveUp(number) => Command::GiveUp { number },
        });
    }
}

async fn run(mut state: state::State, mut inbox: mpsc::Receiver<Command>) {
    let mut heartbeat = Instant::now() + HEARTBEAT;
    state.touch();
    state.show(now());
    loop {
        let wake = state.next_deadline().map_or(heartbeat, |due| due.min(heartbeat));
        let command = tokio::select! {
            biased;
            command = inbox.recv() => command,
            () = sleep_until(wake) => {
                beat(&mut state, &mut heartbeat);
                continue;
            }
        };
        match command {
            Some(Command::Shutdown { done }) => {
                state.shut_down(now());
                drop(done);
                return;
            }
            Some(command) => {
                beat(&mut state, &mut heartbeat);
                state.apply(now(), command);
            }
            None => return,
        }
    }
}

/// What is due by the clock, before anything that was asked. A beat that comes late tells that the machine slept.
fn beat(state: &mut state::State, heartbeat: &mut Instant) {
    let now = now();
    if now.mono >= *heartbeat {
        if now.mono >= *heartbeat + SLEEP {
            state.woke(now);
        }
        *heartbeat = now.mono + HEARTBEAT;
        state.touch();
    }
    state.tick(now);
}

fn now() -> Now {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Now { mono: Instant::now(), wall: Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX)) }
}

/// What a connection is told when the hub ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close {
    /// The code.
    pub code: CloseCode,
    /// Why, for a developer's eyes.
    pub reason: &'static str,
}
