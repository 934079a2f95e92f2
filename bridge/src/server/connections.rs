//! Open HTTP connections, and which of them may be closed to make room for another.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};

use crate::presence::Tcp;

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
    begun: Arc<Notify>,
}

/// One connection's place. Dropping it frees the place.
#[derive(Debug)]
pub(super) struct Place {
    busy: Busy,
    begun: Arc<Notify>,
    evicted: oneshot::Receiver<()>,
}

/// Notes when a connection has a request.
#[derive(Clone, Debug)]
pub(super) struct Busy {
    connections: Connections,
    id: u64,
}

/// One request and its answer. The connection is busy from the moment the request is there whole: who sends half of one
/// and waits keeps nobody's place.
#[derive(Clone, Debug)]
pub(super) struct Exchange(Arc<UnderWay>);

#[derive(Debug)]
struct UnderWay {
    busy: Busy,
    begun: AtomicBool,
}

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
        let begun = Arc::<Notify>::default();
        let (idle_since, evict) = (Instant::now(), Some(evict));
        open.connections.insert(id, Connection { requests: 0, idle_since, evict, begun: Arc::clone(&begun) });
        Some(Place { busy: Busy { connections: self.clone(), id }, begun, evicted })
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

    /// Resolves when the place was given to another connection, and when the peer went while a request of its was not
    /// answered: whoever serves the connection does not see that behind bytes that it has no use for yet.
    pub(super) async fn over(&mut self, stream: &Tcp) {
        let Self { busy, begun, evicted } = self;
        tokio::select! {
            _ = evicted => {}
            () = left(busy, begun, stream) => {}
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.busy.connections.open().connections.remove(&self.busy.id);
    }
}

impl Busy {
    fn is_busy(&self) -> bool {
        self.connections.open().connections.get(&self.id).is_some_and(|connection| connection.requests > 0)
    }

    /// A request whose head has come.
    pub(super) fn exchange(&self) -> Exchange {
        Exchange(Arc::new(UnderWay { busy: self.clone(), begun: AtomicBool::new(false) }))
    }
}

impl Exchange {
    /// Goes along with the request's body until that is read.
    pub(super) fn request(&self, body: Incoming) -> Body {
        if body.is_end_stream() {
            self.begin();
        }
        Body::new(Watched { body, exchange: self.clone() })
    }

    /// Goes along with the answer's body until that is written or given up.
    pub(super) fn answer(self, body: Body) -> Body {
        self.begin();
        Body::new(Watched { body, exchange: self })
    }

    fn begin(&self) {
        let UnderWay { busy, begun } = &*self.0;
        if !begun.swap(true, Ordering::Relaxed)
            && let Some(connection) = busy.connections.open().connections.get_mut(&busy.id)
        {
            connection.requests += 1;
            connection.begun.notify_one();
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let begun = *self.begun.get_mut();
        if let Some(connection) = self.busy.connections.open().connections.get_mut(&self.busy.id) {
            connection.requests -= usize::from(begun);
            connection.idle_since = Instant::now();
        }
    }
}

async fn left(busy: &Busy, begun: &Notify, stream: &Tcp) {
    loop {
        begun.notified().await;
        while busy.is_busy() {
            stream.stirred().await;
            // What comes after the answer is the next request, and not for us.
            if busy.is_busy() && stream.look() {
                return;
            }
        }
    }
}

/// A body whose end tells something of its connection.
struct Watched<B> {
    body: B,
    exchange: Exchange,
}

impl<B> HttpBody for Watched<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.exchange.begin();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
