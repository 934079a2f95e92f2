//! Who is connected and what is under way: one task owns it, one closed set of commands changes it.
//!
//! The handle is what everybody else holds. Reads (lists, discovery, routing) answer from the published [`View`] without
//! asking the task. The hub runs no tool, opens no socket, touches no file and retries nothing.

mod apps;
mod calls;
mod outbox;
mod pulse;
mod state;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use clientmcp_protocol::{
    codes::CloseCode,
    ids::ClientId,
    limits::{APPLICATIONS, CALLS_IN_ALL, HTTP_CONNECTIONS},
};
use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    time::Instant,
};

pub use self::{
    apps::{Served, View},
    outbox::{Closing, Frame, Inbox, Outbox, Unsent, outbox},
    pulse::Pulse,
};
use crate::{
    approvals::{Approved, Confirm},
    call::{Call, CallId, ConnectionId, RequestKey, Routed},
    declaration::Declaration,
    refusal::{Ended, Limit, Outcome, Refusal},
    text::Text,
};

/// Commands waiting for the hub's task. Every call and every application takes two places at most: one for what it says,
/// and one reserved on entering for what must be said on leaving. So nobody ever waits for a place that a waiting one holds.
const COMMANDS: usize = 2 * (CALLS_IN_ALL + APPLICATIONS + HTTP_CONNECTIONS);

/// What the hub must know from the start.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Whether calls need the person's answer.
    pub confirm: Confirm,
    /// Time an application has for a call, from sending.
    pub call_time: Duration,
    /// Applications connected at a time.
    pub applications: usize,
}

/// Everything that changes the hub's state.
pub(crate) enum Command {
    /// An application holds a valid token and wants its client ID.
    Connect { application: ClientId, outbox: Outbox, leave: Leave, admitted: oneshot::Sender<Admitted> },
    /// It declared its tools; `done` is dropped when that is served.
    Register { connection: ConnectionId, declaration: Declaration, done: oneshot::Sender<()> },
    /// It answered a call.
    Result { call: CallId, result: Text },
    /// Its connection ended; `done` is dropped when nothing of it is served any more.
    Disconnect { connection: ConnectionId, done: Option<oneshot::Sender<()>> },
    /// An approved call is to be sent.
    Send { approved: Approved, leave: Leave, sent: oneshot::Sender<Sent> },
    /// Nobody waits for the answer any more.
    Cancel { call: CallId },
    /// A legacy agent takes back what it asked.
    CancelRequest { key: RequestKey },
    /// Close everything; `done` is dropped when all applications were told.
    Shutdown { done: oneshot::Sender<()> },
}

/// The next connection would be one more than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// What an application gets for its client ID: a place, and the words that give it up.
pub(crate) type Admitted = Result<(ConnectionId, Leave), TooMany>;

/// What became of a call that was to be sent.
pub(crate) type Sent = Result<Flight, Refusal>;

/// How a sent call ended.
pub(crate) type Answer = Result<Text, Refusal>;

/// The way to the hub. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Hub {
    commands: mpsc::Sender<Command>,
    view: watch::Receiver<View>,
    settings: Settings,
    /// Calls on the way to the hub or waiting for their answer.
    calls: Arc<Semaphore>,
}

impl Hub {
    /// Starts the hub's task on the current runtime. It ends after [`Hub::shut_down`].
    pub fn start(settings: Settings) -> Self {
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let (publish, view) = watch::channel(View::default());
        tokio::spawn(run(state::State::new(settings, publish), inbox));
        Self { commands, view, settings, calls: Arc::new(Semaphore::new(CALLS_IN_ALL)) }
    }

    /// Whether calls need the person's answer.
    pub fn confirm(&self) -> Confirm {
        self.settings.confirm
    }

    /// What an application serves now; nothing while it is offline or has not registered.
    pub fn served(&self, application: &ClientId) -> Option<Served> {
        self.view.borrow().served(application).cloned()
    }

    /// Wakes at every change of what is served, to be compared with what was seen before.
    pub fn watch(&self) -> watch::Receiver<View> {
        self.view.clone()
    }

    /// Finds the application and the tool.
    pub fn route(&self, call: Call) -> Result<Routed, Refusal> {
        let Some(served) = self.served(&call.agent.application) else {
            return Err(Ended { outcome: Outcome::Offline, structured: false }.into());
        };
        match served.declaration.tool(&call.tool) {
            Some(tool) => Ok(Routed { connection: served.connection, tool: Arc::clone(tool), call }),
            None => Err(Refusal::UnknownTool(call.tool)),
        }
    }

    /// Sends an approved call and waits for how it ends. Dropping the future is the agent's hang-up.
    pub async fn dispatch(&self, approved: Approved) -> Result<Text, Refusal> {
        let Ok(_place) = self.calls.try_acquire() else {
            let structured = !approved.routed().tool.has_output_schema;
            return Err(Ended { outcome: Outcome::Busy(Limit::CallsInAll), structured }.into());
        };
        let leave = Leave::reserve(&self.commands).await.ok_or(Refusal::ShuttingDown)?;
        let (sent, outcome) = oneshot::channel();
        let command = Command::Send { approved, leave, sent };
        self.commands.send(command).await.map_err(|_| Refusal::ShuttingDown)?;
        outcome.await.map_err(|_| Refusal::ShuttingDown)??.landed().await
    }

    /// Takes back a legacy agent's request, if it is under way.
    pub async fn cancel(&self, key: RequestKey) {
        // A hub that is gone has ended it already.
        let _ = self.commands.send(Command::CancelRequest { key }).await;
    }

    /// Asks for a client ID's place. A connection that holds it already is closed as replaced.
    pub async fn connect(&self, application: ClientId, outbox: Outbox) -> Result<Connection, Rejected> {
        let leave = Leave::reserve(&self.commands).await.ok_or(Rejected::ShuttingDown)?;
        let (admitted, outcome) = oneshot::channel();
        let command = Command::Connect { application, outbox, leave, admitted };
        self.commands.send(command).await.map_err(|_| Rejected::ShuttingDown)?;
        let (id, leave) = outcome.await.map_err(|_| Rejected::ShuttingDown)?.map_err(|TooMany| Rejected::TooMany)?;
        Ok(Connection { id, commands: self.commands.clone(), leave })
    }

    /// Ends everything: applications are closed with 1001, calls that were sent end without an answer.
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
    /// The limit of connected applications is reached.
    TooMany,
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

/// A call on its way. Dropped before it landed, it says so.
#[derive(Debug)]
pub(crate) struct Flight {
    answer: oneshot::Receiver<Answer>,
    leave: Leave,
}

impl Flight {
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
    Cancel(CallId),
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
            Farewell::Cancel(call) => Command::Cancel { call },
        });
    }
}

async fn run(mut state: state::State, mut inbox: mpsc::Receiver<Command>) {
    loop {
        let command = match state.next_deadline() {
            Some(deadline) => tokio::select! {
                biased;
                command = inbox.recv() => command,
                () = tokio::time::sleep_until(deadline) => {
                    state.tick(Instant::now());
                    continue;
                }
            },
            None => inbox.recv().await,
        };
        match command {
            Some(Command::Shutdown { done }) => {
                state.shut_down();
                drop(done);
                return;
            }
            Some(command) => state.apply(Instant::now(), command),
            None => return,
        }
    }
}

/// What a connection is told when the hub ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close {
    /// The code.
    pub code: CloseCode,
    /// Why, for a developer's eyes.
    pub reason: &'static str,
}
