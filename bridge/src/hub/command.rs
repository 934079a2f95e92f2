//! What changes the hub, and what it starts with.

use std::sync::Arc;

use clientmcp_protocol::{
    codes::CloseCode,
    control::{self, DoorHead, DoorProgram, DoorWants, Memory, Reply, Settings},
    ids::{ClientId, Label, Role},
};
use tokio::{
    sync::{oneshot, watch},
    time::Duration,
};

use super::{
    apps::View,
    desk::{Desk, RefusedAtDoor},
    doorbell::{Turned, Waiting},
    history::Finished,
    outbox::Outbox,
    ticket::{Flight, Leave},
};
use crate::{
    approvals::Asking,
    call::{Call, CallId, ConnectionId, RequestKey, Routed},
    declaration::Declaration,
    presence::Caller,
    refusal::Refusal,
    text::Text,
    token::{Access, Claims, MintError, Minted},
};

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
    Note { call: Box<Call>, refusal: Refusal, number: oneshot::Sender<u64> },
    /// Its agent is gone.
    GiveUp { number: u64 },
    /// Some agents said that they say no more.
    Withdraw,
    /// A legacy agent takes back what it asked.
    CancelRequest { key: RequestKey },
    /// The desktop asks for something.
    Desktop { command: Box<control::Command>, reply: oneshot::Sender<Reply> },
    /// A token is wanted.
    Mint { wanted: Box<Wanted>, minted: oneshot::Sender<Result<Minted, MintError>> },
    /// A token was taken, the newest of its label so far.
    Issued { claims: Arc<Claims> },
    /// Somebody at the local door wants something that the person may have to answer.
    Knock { knock: Box<Knock>, leave: Leave, heard: oneshot::Sender<Heard> },
    /// Whoever knocked is gone.
    Unknock { number: u64 },
    /// The local door was opened or closed.
    Door { door: DoorHead },
    /// Calls that ended after the first `seen` ones.
    Finished { seen: u64, reply: oneshot::Sender<Finished> },
    /// Close everything; `done` is dropped when all applications were told.
    Shutdown { done: oneshot::Sender<()> },
}

/// What a new token is to say.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(super) subject: ClientId,
    pub(super) role: Role,
    pub(super) label: Option<Label>,
    pub(super) ttl: Option<Duration>,
}

/// Who knocks at the local door.
#[derive(Debug)]
pub(crate) struct Knock {
    /// What is wanted.
    pub(super) wants: DoorWants,
    /// Who wants it, as the system tells.
    pub(super) program: DoorProgram,
    /// Whether it is still there.
    pub(super) caller: Caller,
}

/// What a knock is answered with at once.
pub(crate) type Heard = Result<Option<Waiting>, Turned>;

/// An application that was let in at the door.
#[derive(Debug)]
pub struct Arrival {
    /// What its token says.
    pub claims: Arc<Claims>,
    /// Its `Origin`, `native` without one, nothing for one that names nobody.
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
    pub(super) settings: watch::Sender<Settings>,
    pub(super) access: watch::Sender<Arc<Access>>,
    pub(super) view: watch::Sender<View>,
    pub(super) refused: Arc<RefusedAtDoor>,
    pub(super) desk: Option<Desk>,
}

/// What a connection is told when the hub ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close {
    /// The code.
    pub code: CloseCode,
    /// Why, for a developer's eyes.
    pub reason: &'static str,
}
