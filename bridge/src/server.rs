//! The accept loop: connections within their limit, the routes, and an orderly end.

mod connections;

use std::{convert::Infallible, future::Future, io, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderValue, Response, StatusCode, header::CONNECTION},
    middleware::{self, Next},
    routing::any,
};
use clientmcp_protocol::limits::{CLOSE_TIME, HEAD_BYTES, HEAD_LINES, HEAD_TIME};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
    time::{sleep, timeout},
};
use tower_service::Service as _;

use self::connections::{Busy, Connections, Place};
use crate::{
    agent::{self, Endpoint, Severed},
    client::{self, Channel},
    control::Listener,
    door::Door,
    guard::{self, Guard},
    hub::{Check, Hub},
    port::{self, ListenError},
    presence::{Caller, Tcp},
    room::Room,
};

/// A bridge that listens and has not begun to serve.
#[derive(Debug)]
pub struct Bridge {
    listener: TcpListener,
    port: u16,
}

/// How long an accept that failed for want of files waits for some to be closed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

impl Bridge {
    /// Takes the port; 0 takes a free one.
    pub fn listen(port: u16) -> Result<Self, ListenError> {
        let listener = port::listen(port)?;
        let address = listener.local_addr().map_err(|cause| ListenError::Failed { port, cause })?;
        Ok(Self { listener, port: address.port() })
    }

    /// Where agents call.
    pub fn mcp_url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Where applications connect.
    pub fn connect_url(&self) -> String {
        format!("ws://127.0.0.1:{}/connect", self.port)
    }

    /// Serves until `stop` resolves; then tells applications to come back and ends what is left.
    pub async fn serve(self, hub: Hub, room: Room, stop: impl Future<Output = ()>) {
        let (alive, mut last) = mpsc::channel(1);
        let router = routes(&hub, self.port, alive.clone());
        let (stopping, stopped) = watch::channel(());
        let connections = Connections::new(room.connections);
        let accepting = accept(&self.listener, router, &connections, &alive, &stopped);
        tokio::select! {
            () = accepting => {}
            () = stop => {}
        }
        drop((self.listener, alive, stopped));
        hub.shut_down().await;
        let _ = stopping.send(());
        // Every connection and every application holds a sender; when the last one is gone, so are they.
        let _ = timeout(CLOSE_TIME + Duration::from_secs(1), last.recv()).await;
    }
}

impl Listener for Bridge {
    fn listen(port: u16) -> Result<Self, ListenError> {
        Self::listen(port)
    }

    fn mcp_url(&self) -> String {
        self.mcp_url()
    }

    fn connect_url(&self) -> String {
        self.connect_url()
    }

    fn serve(
        self,
        hub: Hub,
        room: Room,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (open, listening) = watch::channel(());
        let (port, mcp, connect) = (self.port, self.mcp_url(), self.connect_url());
        let door = tokio::spawn(Door { hub: hub.clone(), port, mcp, connect, listening }.serve());
        let stop = async move {
            stop.await;
            // Nothing is given out for a port that is no longer listened on.
            drop(open);
        };
        async move {
            self.serve(hub, room, stop).await;
            let _ = timeout(CLOSE_TIME + Duration::from_secs(1), door).await;
        }
    }
}

fn routes(hub: &Hub, port: u16, alive: mpsc::Sender<()>) -> Router {
    let guard = Arc::new(Guard::new(port));
    let channel = Arc::new(Channel::new(hub.clone(), alive));
    let endpoint = Arc::new(Endpoint::new(hub.clone(), Arc::clone(&guard)));
    let agents = any(agent::serve).with_state(endpoint);
    Router::new()
        .route("/mcp", agents.clone())
        .route("/mcp/{token}", agents)
        .route("/connect", any(client::connect).with_state(channel))
        .fallback(|| async { agent::unknown_path() })
        .layer(middleware::from_fn_with_state((guard, hub.clone()), check_host))
}

/// The first rung, on every route, known or not.
async fn check_host(State((guard, hub)): State<(Arc<Guard>, Hub)>, request: Request, next: Next) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let verdict = guard.host(&parts);
    if verdict.is_err() {
        hub.refused(Check::Host);
    }
    match verdict {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(refusal) if guard::is_endpoint(parts.uri.path()) => agent::refuse(&refusal),
        Err(_) => client::refuse_host(),
    }
}

async fn accept(
    listener: &TcpListener,
    router: Router,
    connections: &Connections,
    alive: &mpsc::Sender<()>,
    stopped: &watch::Receiver<()>,
) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // When no connection is idle, the new one is closed unanswered.
        let Some(place) = connections.enter() else { continue };
        let (router, alive, stopped) = (router.clone(), alive.clone(), stopped.clone());
        tokio::spawn(async move {
            serve_connection(stream, router, place, stopped).await;
            drop(alive);
        });
    }
}

async fn serve_connection(stream: TcpStream, router: Router, mut place: Place, mut stopped: watch::Receiver<()>) {
    // Answers are small and whole; waiting for more to send would only delay them.
    let _ = stream.set_nodelay(true);
    let (stream, busy) = (Tcp::new(stream), place.busy());
    let caller = stream.caller();
    let service = service_fn(move |request| respond(router.clone(), busy.clone(), caller.clone(), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(HEAD_LINES)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream.io()), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // First what there is to be answered: who says no more may still read.
        biased;
        _ = &mut connection => return,
        () = place.over(&stream) => return,
        // The sender says so, or is gone.
        _ = stopped.changed() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(CLOSE_TIME, connection).await;
}

/// The length of the head as it is usually written. hyper looks at the limit only between two reads, so one that came in
/// a single read can be longer.
fn head_bytes(request: &Request) -> usize {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let authority = request.uri().authority().map_or(0, |authority| "http://".len() + authority.as_str().len());
    let lines = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    request.method().as_str().len() + authority + target + "  HTTP/1.1\r\n\r\n".len() + lines.sum::<usize>()
}

/// As hyper answers one.
fn head_too_large() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

async fn respond(
    mut router: Router,
    busy: Busy,
    caller: Caller,
    request: hyper::Request<Incoming>,
) -> io::Result<Response<Body>> {
    let exchange = busy.exchange();
    let mut request = request.map(|body| exchange.request(body));
    request.extensions_mut().insert(caller);
    if head_bytes(&request) > HEAD_BYTES {
        return Ok(head_too_large());
    }
    let response = router.call(request).await.unwrap_or_else(|never: Infallible| match never {});
    if response.extensions().get::<Severed>().is_some() {
        return Err(io::Error::other("the bridge shuts down"));
    }
    Ok(response.map(|body| exchange.answer(body)))
}
