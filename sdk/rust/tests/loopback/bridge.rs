//! A bridge whose every move the test makes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "in a test, an unexpected turn is a failure")]

use std::{panic::Location, time::Duration};

use clientmcp::Application;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async,
    tungstenite::{
        Message,
        handshake::server::{Request, Response},
        http::{HeaderMap, HeaderValue},
        protocol::CloseFrame,
    },
};

pub(crate) const REGISTERED: &str = r#"{"type":"registered"}"#;
pub(crate) const PING: &str = r#"{"type":"ping"}"#;

/// How long anything may take before the test gives up: it decides no test that passes.
const OUTER_LIMIT: Duration = Duration::from_secs(60);

/// The future's value, or the end of the test, which says what it waited for and where.
#[track_caller]
pub(crate) fn within<F: Future>(what: &str, future: F) -> impl Future<Output = F::Output> {
    let caller = Location::caller();
    async move {
        let value = tokio::time::timeout(OUTER_LIMIT, future).await;
        value.unwrap_or_else(|_| panic!("waited {OUTER_LIMIT:?} in vain for {what}, at {caller}"))
    }
}

/// Listens; accepts when the test says so.
pub(crate) struct Bridge(TcpListener);

impl Bridge {
    pub(crate) async fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}/connect", self.0.local_addr().unwrap())
    }

    /// An application of this bridge.
    pub(crate) fn application(&self) -> Application {
        Application::new("token-1").url(self.url())
    }

    /// The next TCP connection, before any handshake.
    pub(crate) async fn socket(&self) -> TcpStream {
        within("a connection", self.0.accept()).await.unwrap().0
    }

    /// The next WebSocket.
    pub(crate) async fn accept(&self) -> Peer {
        self.accept_as("clientmcp.v1").await
    }

    /// The next WebSocket, with another answer to the offer.
    pub(crate) async fn accept_as(&self, selected: &'static str) -> Peer {
        let mut headers = HeaderMap::new();
        #[allow(clippy::result_large_err, reason = "the callback's type is not ours")]
        let answer = |request: &Request, mut response: Response| {
            headers.clone_from(request.headers());
            response.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static(selected));
            Ok(response)
        };
        let socket = within("a handshake", accept_hdr_async(self.socket().await, answer)).await.unwrap();
        Peer { socket, headers }
    }

    /// The next WebSocket, with its `register` taken and accepted.
    pub(crate) async fn online(&self) -> Peer {
        let mut peer = self.accept().await;
        peer.register().await;
        peer.send(REGISTERED).await;
        peer
    }
}

/// One application, as its bridge sees it.
pub(crate) struct Peer {
    socket: WebSocketStream<TcpStream>,
    pub(crate) headers: HeaderMap,
}

impl Peer {
    pub(crate) async fn send(&mut self, text: impl Into<String>) {
        within("a message to be taken", self.socket.send(Message::text(text.into()))).await.unwrap();
    }

    pub(crate) async fn text(&mut self) -> String {
        let message = within("a message of the application", self.socket.next()).await;
        message.unwrap().unwrap().into_text().unwrap().as_str().to_owned()
    }

    pub(crate) async fn message(&mut self) -> Value {
        serde_json::from_str(&self.text().await).unwrap()
    }

    pub(crate) async fn register(&mut self) -> Value {
        let register = self.message().await;
        assert_eq!(register["type"], "register");
        register
    }

    /// Sends a call and takes the ping that must follow at once.
    pub(crate) async fn call(&mut self, id: &str, name: &str, arguments: &str) {
        self.send(format!(r#"{{"type":"call","id":"{id}","name":"{name}","arguments":{arguments}}}"#)).await;
        assert_eq!(self.text().await, PING);
    }

    pub(crate) async fn cancel(&mut self, id: &str) {
        self.send(json!({ "type": "cancel", "id": id }).to_string()).await;
    }

    /// The id and result of the next answer.
    pub(crate) async fn result(&mut self) -> (String, Value) {
        let mut message = self.message().await;
        assert_eq!(message["type"], "result");
        (message["id"].as_str().unwrap().to_owned(), message["result"].take())
    }

    pub(crate) async fn close(mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame { code: code.into(), reason: reason.into() };
        within("a close frame to be taken", self.socket.close(Some(frame))).await.unwrap();
        within("the end of the connection", async { while self.socket.next().await.is_some() {} }).await;
    }

    /// The code of the close frame that comes now.
    pub(crate) async fn closed(&mut self) -> u16 {
        match within("a close frame", self.socket.next()).await {
            Some(Ok(Message::Close(Some(frame)))) => frame.code.into(),
            other => panic!("no close frame but {other:?}"),
        }
    }

    /// Waits for the other side to hang up without a word.
    pub(crate) async fn hung_up(mut self) {
        within("the application to hang up", async { while let Some(Ok(_)) = self.socket.next().await {} }).await;
    }
}
