//! Who is connected, what is under way and what is in force: one task owns it, one closed set of commands changes it.
//!
//! The handle is what everybody else holds. Reads (lists, discovery, routing, tokens) answer from what the task has
//! published, without asking it. The hub runs no tool, opens no socket, touches no file and retries nothing.

mod apps;
#[cfg(test)]
mod bench;
mod calls;
mod command;
mod connection;
mod cut;
mod desk;
mod desktop;
mod doorbell;
mod gate;
mod history;
#[cfg(test)]
mod interleavings;
mod issued;
mod memory;
mod outbox;
mod pulse;
mod state;
#[cfg(test)]
mod tests;
mod ticket;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use clientmcp_protocol::{
    control::{self, DoorHead, DoorProgram, DoorWants, Millis, Reply, Settings},
    ids::{ClientId, Fingerprint, Label, Role},
    limits::{APPLICATIONS, CALLS_IN_ALL, DOOR_CONNECTIONS, HTTP_CONNECTIONS, ISSUED, QUESTIONS, SLEEP},
};
use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    time::{Duration, Instant, sleep_until},
};

pub use clientmcp_protocol::origin::{NATIVE, NOBODY as NO_ORIGIN};

pub use self::{
    apps::{Served, View},
    command::{Arrival, Beginning, Close},
    connection::{Connection, Rejected},
    desk::{Check, DeskView, RefusedAtDoor, ending},
    desktop::settings_fault,
    doorbell::{Turned, Waiting},
    history::Finished,
    memory::{memory_fault, settled},
    outbox::{Closing, Frame, Inbox, Outbox, Unsent, outbox},
    pulse::Pulse,
    ticket::Ticket,
};
use self::{
    command::{Admitted, Answer, Command, Ends, Knock, NotAdmitted, Wanted},
    ticket::{Farewell, Flight, Leave},
};
use crate::{
    approvals::{Asking, Now},
    call::{Agent, Call, ConnectionId, HangUp, RequestKey, Routed},
    declaration::Tool,
    presence::Caller,
    refusal::{Ended, Outcome, Refusal},
    text::Text,
    token::{Access, Claims, LAST_END, MintError, Minted, NumericDate, TokenFault},
};

/// Calls that are sent, that wait for the person, or that are on the way to the gate. The first two have limits of their
/// own, which the gate keeps and answers for; so there is always room for some of the last, and none of them stays.
const CALLS: usize = CALLS_IN_ALL + QUESTIONS * APPLICATIONS + 1_024;

/// Commands waiting for the hub's task. Every call, every application and everybody at the local door takes two places at
/// most: one for what it says, and one reserved on entering for what must be said on leaving. So nobody ever waits for a
/// place that a waiting one holds.
const COMMANDS: usize = 2 * (CALLS + APPLICATIONS + HTTP_CONNECTIONS + DOOR_CONNECTIONS);

/// The newest token of each label that the hub was told of, so that it is not told with every request.
type Taken = HashMap<(ClientId, Role, Option<Label>), NumericDate>;

/// How often the hub looks at the clock by itself.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// The way to the hub. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Hub {
    commands: mpsc::Sender<Command>,
    view: watch::Receiver<View>,
    settings: watch::Receiver<Settings>,
    access: watch::Receiver<Arc<Access>>,
    refused: Arc<RefusedAtDoor>,
    desk: Option<DeskView>,
    taken: Arc<Mutex<Taken>>,
    /// Calls on the way to the hub, or under way.
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
        let calls = Arc::new(Semaphore::new(CALLS));
        let taken = Arc::default();
        (Self { commands, view, settings, access, refused, desk: desk_view, taken, calls }, ends)
    }

    /// Accepts a token for a role, as of now. One that is refused is counted.
    pub fn admit(&self, token: &str, role: Role) -> Result<Arc<Claims>, TokenFault> {
        let claims = self.access.borrow().admit(token, role).inspect_err(|_| self.refused(Check::Token))?;
        let claims = Arc::new(claims);
        self.took(&claims);
        Ok(claims)
    }

    /// Whatever the clock says now, it may be set back before the token's label is revoked: who does that means it, too.
    fn took(&self, claims: &Arc<Claims>) {
        let Some(issued) = claims.issued_at else { return };
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (claims.subject.clone(), claims.role, claims.label.clone());
        if taken.get(&key).is_some_and(|newest| *newest >= issued) {
            return;
        }
        // Without room for it now, the next request says it.
        let told = self.commands.try_send(Command::Issued { claims: Arc::clone(claims) }).is_ok();
        // One beyond all calendars hides no other.
        if told && issued.seconds() <= LAST_END {
            if taken.len() >= ISSUED {
                taken.clear();
            }
            taken.insert(key, issued);
        }
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
            Ok((connection, tool)) => Ok(Routed { call, connection, tool }),
            Err(refusal) => {
                self.note(call, refusal.clone()).await;
                Err(refusal)
            }
        }
    }

    /// Shows a call that led nowhere, and gives it a number.
    async fn note(&self, call: Call, refusal: Refusal) -> u64 {
        if self.desk.is_none() {
            return 0;
        }
        let (number, noted) = oneshot::channel();
        // A hub that is gone shows nothing any more.
        let _ = self.commands.send(Command::Note { call: Box::new(call), refusal, number }).await;
        noted.await.unwrap_or_default()
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
    ) -> Result<Ticket, Untried> {
        let call = Call {
            agent: Agent { application, label: None },
            tool: tool.to_owned(),
            arguments,
            hang_up: HangUp::Cancels,
            key: None,
            reported: None,
            credential: None,
            // The desktop goes with its channel, and the bridge with that.
            caller: Caller::resident(),
        };
        let (connection, tool) = match self.find(&call) {
            Ok(found) => found,
            Err(refusal) => {
                let number = self.note(call, refusal.clone()).await;
                return Err(Untried::Refused { refusal, number });
            }
        };
        if tool.fingerprint != fingerprint {
            return Err(Untried::Stale);
        }
        let ticket = self.bring(Routed { call, connection, tool }, true).await;
        ticket.map_err(|refusal| Untried::Refused { refusal, number: 0 })
    }

    async fn bring(&self, routed: Routed, own: bool) -> Result<Ticket, Refusal> {
        let place = Arc::clone(&self.calls).acquire_owned().await.map_err(|_| Refusal::ShuttingDown)?;
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

    /// Withdraws what waits for agents that are gone, whose connection may still be read and written.
    pub async fn withdraw(&self) {
        // A hub that is gone has ended it already.
        let _ = self.commands.send(Command::Withdraw).await;
    }

    /// Makes a token, and remembers that it was made.
    pub async fn mint(
        &self,
        subject: ClientId,
        role: Role,
        label: Option<Label>,
        ttl: Option<Duration>,
    ) -> Result<Minted, Unminted> {
        let (minted, outcome) = oneshot::channel();
        let wanted = Box::new(Wanted { subject, role, label, ttl });
        self.commands.send(Command::Mint { wanted, minted }).await.map_err(|_| Unminted::Closing)?;
        Ok(outcome.await.map_err(|_| Unminted::Closing)??)
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

    /// Asks the person to let somebody in at the local door, unless that is settled: nothing to wait for means yes.
    pub async fn knock(
        &self,
        wants: DoorWants,
        program: DoorProgram,
        caller: Caller,
    ) -> Result<Option<Waiting>, Turned> {
        let leave = Leave::reserve(&self.commands).await.ok_or(Turned::Closing)?;
        let (heard, outcome) = oneshot::channel();
        let command = Command::Knock { knock: Box::new(Knock { wants, program, caller }), leave, heard };
        self.commands.send(command).await.map_err(|_| Turned::Closing)?;
        outcome.await.map_err(|_| Turned::Closing)?
    }

    /// Says how the local door stands.
    pub async fn door_stands(&self, door: DoorHead) {
        // A hub that is gone shows nothing any more.
        let _ = self.commands.send(Command::Door { door }).await;
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

/// Why no token was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unminted {
    /// It cannot be made.
    #[error(transparent)]
    Fault(#[from] MintError),
    /// The bridge shuts down.
    #[error("the bridge shuts down")]
    Closing,
}

/// Why the person's own call was not tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Untried {
    /// The definition that the person saw is not the one that is served.
    Stale,
    /// It led nowhere, and is shown under this number.
    Refused {
        /// Why.
        refusal: Refusal,
        /// The call's number; 0 where it got none.
        number: u64,
    },
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
        state.withdraw(now);
        state.touch();
    }
    state.tick(now);
}

/// A clock that is set beyond the last moment that can be told counts as standing there.
fn now() -> Now {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Now { mono: Instant::now(), wall: Millis(0).after(since) }
}
