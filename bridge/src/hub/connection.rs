//! An application's place in the hub, as its socket holds it.

use tokio::sync::{mpsc, oneshot};

use super::{command::Command, ticket::Leave};
use crate::{
    call::{CallId, ConnectionId},
    declaration::Declaration,
    text::Text,
};

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
    pub(super) id: ConnectionId,
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) leave: Leave,
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
