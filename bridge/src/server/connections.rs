//! Open HTTP connections, and which of them may be closed to make room for another.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::{sync::oneshot, time::Instant};

/// All open connections.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    limit: usize,
    open: Arc<Mutex<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    connections: HashMap<u64, Connection>,
    last: u64,
}

#[derive(Debug)]
struct Connection {
    requests: usize,
    idle_since: Instant,
    evict: Option<oneshot::Sender<()>>,
}

/// One connection's place. Dropping it frees the place.
#[derive(Debug)]
pub(super) struct Place {
    busy: Busy,
    evicted: oneshot::Receiver<()>,
}

/// Notes when a connection has a request.
#[derive(Clone, Debug)]
pub(super) struct Busy {
    connections: Connections,
    id: u64,
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct UnderWay(Busy);

impl Connections {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, open: Arc::default() }
    }

    /// A place for a new connection; over the limit, that of the one that has been idle for longest. None when none is.
    pub(super) fn enter(&self) -> Option<Place> {
        let mut open = self.open();
        if open.connections.len() >= self.limit {
            let idle = open.connections.iter().filter(|(_, connection)| connection.requests == 0);
            let longest = idle.min_by_key(|(_, connection)| connection.idle_since).map(|(id, _)| *id)?;
            let evicted = open.connections.remove(&longest).and_then(|connection| connection.evict);
            if let Some(evict) = evicted {
                let _ = evict.send(());
            }
        }
        open.last += 1;
        let id = open.last;
        let (evict, evicted) = oneshot::channel();
        open.connections.insert(id, Connection { requests: 0, idle_since: Instant::now(), evict: Some(evict) });
        Some(Place { busy: Busy { connections: self.clone(), id }, evicted })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // Nothing that holds the lock can panic halfway.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    pub(super) fn busy(&self) -> Busy {
        self.busy.clone()
    }

    /// Resolves when the place was given to another connection.
    pub(super) async fn evicted(&mut self) {
        let _ = (&mut self.evicted).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.busy.connections.open().connections.remove(&self.busy.id);
    }
}

impl Busy {
    /// From now until the answer is sent the connection is not idle.
    pub(super) fn begin(&self) -> UnderWay {
        if let Some(connection) = self.connections.open().connections.get_mut(&self.id) {
            connection.requests += 1;
        }
        UnderWay(self.clone())
    }
}

impl UnderWay {
    /// Goes along with the answer's body until that is written or given up.
    pub(super) fn until_sent(self, body: Body) -> impl HttpBody<Data = Bytes, Error = axum::Error> {
        Answer { body, _under_way: self }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(connection) = self.0.connections.open().connections.get_mut(&self.0.id) {
            connection.requests -= 1;
            connection.idle_since = Instant::now();
        }
    }
}

/// A body that remembers that its connection is busy.
struct Answer {
    body: Body,
    _under_way: UnderWay,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
