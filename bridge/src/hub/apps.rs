//! Connected applications: who holds a client ID, and what of it is served.

use std::{collections::HashMap, sync::Arc};

use clientmcp_protocol::ids::ClientId;

use super::{calls::Calls, outbox::Outbox};
use crate::{call::ConnectionId, declaration::Declaration};

/// What is served, as everybody outside the hub sees it.
#[derive(Debug, Default)]
pub struct View {
    served: HashMap<ClientId, Served>,
    closing: bool,
}

/// An application that is connected and has registered.
#[derive(Clone, Debug)]
pub struct Served {
    /// The connection that holds its client ID.
    pub connection: ConnectionId,
    /// Its latest register.
    pub declaration: Arc<Declaration>,
}

impl View {
    /// What this application serves.
    pub fn served(&self, application: &ClientId) -> Option<&Served> {
        self.served.get(application)
    }

    /// The bridge shuts down: streams end.
    pub fn closing(&self) -> bool {
        self.closing
    }

    pub(super) fn close(&mut self) {
        self.served.clear();
        self.closing = true;
    }

    pub(super) fn serve(&mut self, application: ClientId, served: Served) {
        self.served.insert(application, served);
    }

    pub(super) fn withdraw(&mut self, application: &ClientId) -> bool {
        self.served.remove(application).is_some()
    }
}

/// One connection as the hub holds it.
#[derive(Debug)]
pub(super) struct Application {
    pub(super) id: ClientId,
    pub(super) outbox: Outbox,
    /// Absent until its first register.
    pub(super) declaration: Option<Arc<Declaration>>,
    pub(super) calls: Calls,
}

/// All connections, found by connection and by client ID.
#[derive(Debug, Default)]
pub(super) struct Applications {
    by_connection: HashMap<ConnectionId, Application>,
    holders: HashMap<ClientId, ConnectionId>,
    last: u64,
}

impl Applications {
    pub(super) fn len(&self) -> usize {
        self.by_connection.len()
    }

    pub(super) fn holder(&self, application: &ClientId) -> Option<ConnectionId> {
        self.holders.get(application).copied()
    }

    pub(super) fn get_mut(&mut self, connection: ConnectionId) -> Option<&mut Application> {
        self.by_connection.get_mut(&connection)
    }

    /// The client ID must be free.
    pub(super) fn insert(&mut self, id: ClientId, outbox: Outbox) -> ConnectionId {
        self.last += 1;
        let connection = ConnectionId(self.last);
        self.holders.insert(id.clone(), connection);
        let application = Application { id, outbox, declaration: None, calls: Calls::default() };
        self.by_connection.insert(connection, application);
        connection
    }

    pub(super) fn remove(&mut self, connection: ConnectionId) -> Option<Application> {
        let application = self.by_connection.remove(&connection)?;
        self.holders.remove(&application.id);
        Some(application)
    }

    pub(super) fn drain(&mut self) -> Vec<Application> {
        self.holders.clear();
        self.by_connection.drain().map(|(_, application)| application).collect()
    }
}
