//! Connected applications: who holds a client ID, and what of it is served.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use clientmcp_protocol::{control::Millis, ids::ClientId};

use super::{Arrival, outbox::Outbox};
use crate::{
    call::{Agent, ConnectionId},
    declaration::Declaration,
    refusal::Outcome,
    token::Claims,
};

/// What is served, and what keeps calls from being sent, as everybody outside the hub sees it.
#[derive(Debug, Default)]
pub struct View {
    served: HashMap<ClientId, Served>,
    closing: bool,
    wakes: u64,
    paused: bool,
    blocked: HashSet<ClientId>,
    blocked_agents: HashSet<Agent>,
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

    /// All that serve something.
    pub fn applications(&self) -> impl Iterator<Item = &ClientId> {
        self.served.keys()
    }

    /// Whether the person paused all calls.
    pub fn paused(&self) -> bool {
        self.paused
    }

    /// The bridge shuts down: streams end.
    pub fn closing(&self) -> bool {
        self.closing
    }

    /// Counts up when the machine slept: nobody could be heard meanwhile.
    pub fn wakes(&self) -> u64 {
        self.wakes
    }

    /// What keeps every call of this agent from being sent.
    pub fn barred(&self, agent: &Agent) -> Option<Outcome> {
        if self.paused {
            return Some(Outcome::Paused);
        }
        let blocked = self.blocked.contains(&agent.application) || self.blocked_agents.contains(agent);
        blocked.then_some(Outcome::Blocked)
    }

    pub(super) fn bar(&mut self, paused: bool, applications: Vec<ClientId>, agents: Vec<Agent>) {
        self.paused = paused;
        self.blocked = applications.into_iter().collect();
        self.blocked_agents = agents.into_iter().collect();
    }

    pub(super) fn wake(&mut self) {
        self.wakes += 1;
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
    pub(super) connection: ConnectionId,
    pub(super) claims: Arc<Claims>,
    /// Where it came from, to be shown and to bind rules to.
    pub(super) origin: String,
    pub(super) since: Millis,
    pub(super) outbox: Outbox,
    /// Absent until its first register.
    pub(super) declaration: Option<Arc<Declaration>>,
    /// The number of the call that was sent last. It counts per connection.
    pub(super) last_call: u64,
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

    pub(super) fn get(&self, connection: ConnectionId) -> Option<&Application> {
        self.by_connection.get(&connection)
    }

    pub(super) fn get_mut(&mut self, connection: ConnectionId) -> Option<&mut Application> {
        self.by_connection.get_mut(&connection)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Application> {
        self.by_connection.values()
    }

    /// The connections for which this holds.
    pub(super) fn connections(&self, holds: impl Fn(&Application) -> bool) -> Vec<ConnectionId> {
        self.iter().filter(|application| holds(application)).map(|application| application.connection).collect()
    }

    /// The client ID must be free.
    pub(super) fn insert(&mut self, id: ClientId, origin: String, arrival: Arrival, since: Millis) -> ConnectionId {
        self.last += 1;
        let connection = ConnectionId(self.last);
        self.holders.insert(id.clone(), connection);
        let Arrival { claims, outbox, .. } = arrival;
        let application =
            Application { id, connection, claims, origin, since, outbox, declaration: None, last_call: 0 };
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
