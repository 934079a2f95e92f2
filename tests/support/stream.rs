//! Event streams as they stand on the wire: events and comments kept apart, every byte between them checked.

use std::time::Duration;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::timeout,
};

use super::{
    agent::{Agent, LEGACY},
    application::{Application, Call},
    expecting,
    http::Request,
    post::Head,
    scene::TOOLS,
    schema::{self, Asked},
    serve::Serve,
    tokens, within,
};

/// The parameters of an agent that wants to hear of changes.
pub(crate) const CHANGES: &str = r#""notifications":{"toolsListChanged":true}"#;

/// A request that was sent and whose answer nobody has read. Dropping it closes the connection.
pub(crate) struct Sent {
    connection: BufReader<TcpStream>,
    asked: Asked,
}

/// An answer that is read piece by piece. Dropping it closes the connection.
pub(crate) struct Stream {
    pub(crate) head: Head,
    connection: BufReader<TcpStream>,
    asked: Asked,
    /// Of the body, as it arrived.
    raw: Vec<u8>,
    /// Of the body, without its framing, and not yet consumed.
    pending: Vec<u8>,
    ended: bool,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    /// The text of an event's one line of data.
    Event(String),
    Comment,
}

impl Agent {
    /// Opens a stream of the modern era; `members` are those of `params`.
    pub(crate) fn listen(&self, members: &str) -> Request {
        self.modern("subscriptions/listen", members)
    }

    /// Opens a stream of the legacy era.
    pub(crate) fn get(&self) -> Request {
        Request::new(self.port(), "GET", "/mcp")
            .header("Authorization", format!("Bearer {}", self.token()))
            .header("Accept", "text/event-stream")
            .header("MCP-Protocol-Version", LEGACY)
    }

    /// Sends a request on a connection of its own, without reading.
    pub(crate) async fn sent(&self, request: &Request) -> Sent {
        let mut connection = within(TcpStream::connect(("127.0.0.1", self.port()))).await.unwrap();
        let bytes = [&request.head(), request.text().as_bytes()].concat();
        within(connection.write_all(&bytes)).await.unwrap();
        Sent { connection: BufReader::new(connection), asked: request.asked() }
    }

    /// Sends a request and reads as far as the answer is an event stream.
    pub(crate) async fn stream(&self, request: &Request) -> Stream {
        self.sent(request).await.stream().await
    }

    /// Opens a listening stream and reads its acknowledgement.
    pub(crate) async fn listening(&self) -> Stream {
        let mut stream = self.stream(&self.listen(CHANGES)).await;
        assert!(stream.event().await.contains("notifications/subscriptions/acknowledged"));
        stream
    }

    /// Opens a legacy stream and reads the comment that it begins with.
    pub(crate) async fn getting(&self) -> Stream {
        let mut stream = self.stream(&self.get()).await;
        assert_eq!(stream.next().await, Some(Piece::Comment));
        stream
    }

    /// The names of the tools that are served now.
    pub(crate) async fn tool_names(&self) -> Vec<String> {
        let list = self.list().send().await.result_value();
        let names = list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.collect()
    }
}

impl Sent {
    /// Closes the sending side alone.
    pub(crate) async fn shut(&mut self) {
        within(self.connection.shutdown()).await.unwrap();
    }

    /// Writes more behind the request.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        within(self.connection.write_all(bytes)).await.unwrap();
    }

    /// Resolves when the answer has begun, or the connection ended.
    pub(crate) async fn stirs(&mut self) {
        let _ = within(self.connection.fill_buf()).await;
    }

    /// The bridge's port, and ours.
    pub(crate) fn ports(&self) -> (u16, u16) {
        let stream = self.connection.get_ref();
        (stream.peer_addr().unwrap().port(), stream.local_addr().unwrap().port())
    }

    /// The connection itself.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.connection.into_inner()
    }

    /// The answer, whatever it is; none when the connection ended without one.
    pub(crate) async fn answer(mut self) -> Option<Stream> {
        let head = Head::read(&mut self.connection).await?;
        let Self { connection, asked } = self;
        Some(Stream { head, connection, asked, raw: Vec::new(), pending: Vec::new(), ended: false })
    }

    /// The answer, which is an event stream.
    pub(crate) async fn stream(self) -> Stream {
        let mut answer = self.answer().await.expect("the connection ended without an answer");
        if answer.head.status != 200 || answer.head.header("content-type") != Some("text/event-stream") {
            let body = answer.rest().await;
            panic!("no event stream: {:?} {body}", answer.head);
        }
        assert_eq!(answer.head.header("cache-control"), Some("no-store"));
        assert_eq!(answer.head.header("x-accel-buffering"), Some("no"));
        answer
    }
}

impl Stream {
    /// The next event or comment; none at the end, whichever way it ends.
    pub(crate) async fn next(&mut self) -> Option<Piece> {
        let end = loop {
            if let Some(end) = self.pending.windows(2).position(|pair| pair == b"\n\n") {
                break end;
            }
            if !self.more().await {
                assert!(self.pending.is_empty(), "cut in {:?}", String::from_utf8_lossy(&self.pending));
                return None;
            }
        };
        let block: Vec<u8> = self.pending.drain(..end + 2).collect();
        let line = std::str::from_utf8(&block[..end]).unwrap();
        assert!(!line.contains(['\r', '\n']), "more than one line: {line:?}");
        if line.starts_with(':') {
            return Some(Piece::Comment);
        }
        schema::check_answer(&self.asked, self.head.header("content-type"), line);
        Some(Piece::Event(line.strip_prefix("data: ").unwrap_or_else(|| panic!("no event: {line:?}")).to_owned()))
    }

    /// The next event, past any comments.
    pub(crate) async fn event(&mut self) -> String {
        // Comments come on and on, so that the whole wait has a limit.
        expecting("an event of the stream", async {
            loop {
                match self.next().await.expect("the stream ended") {
                    Piece::Event(event) => return event,
                    Piece::Comment => {}
                }
            }
        })
        .await
    }

    /// The next event as a value.
    pub(crate) async fn value(&mut self) -> Value {
        serde_json::from_str(&self.event().await).unwrap()
    }

    /// Waits for the end, and fails at another event.
    pub(crate) async fn ended(&mut self) {
        expecting("the end of the stream", async {
            while let Some(piece) = self.next().await {
                assert_eq!(piece, Piece::Comment, "an event before the end");
            }
        })
        .await;
    }

    /// The events up to the end.
    pub(crate) async fn events(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        expecting("the end of the stream", async {
            while let Some(piece) = self.next().await {
                if let Piece::Event(event) = piece {
                    events.push(serde_json::from_str(&event).unwrap());
                }
            }
        })
        .await;
        events
    }

    /// All that is left of a body, as a text.
    pub(crate) async fn rest(&mut self) -> String {
        while self.more().await {}
        let rest = String::from_utf8(std::mem::take(&mut self.pending)).unwrap();
        schema::check_answer(&self.asked, self.head.header("content-type"), &rest);
        rest
    }

    /// Reads some more of the body; false at its end. Nothing is lost when the caller gives up in between.
    async fn more(&mut self) -> bool {
        loop {
            if self.decode() {
                return true;
            }
            // A reset is an end, too.
            if self.ended
                || expecting("more of an answer", self.connection.read_buf(&mut self.raw)).await.unwrap_or(0) == 0
            {
                self.ended = true;
                return false;
            }
        }
    }

    /// Takes what has arrived out of its framing; false when that is nothing yet.
    fn decode(&mut self) -> bool {
        let length: Option<usize> = self.head.header("content-length").map(|length| length.parse().unwrap());
        let part = if self.ended {
            0..0
        } else if self.head.header("transfer-encoding").is_some() {
            let Some(line) = self.raw.windows(2).position(|pair| pair == b"\r\n") else { return false };
            let size = usize::from_str_radix(std::str::from_utf8(&self.raw[..line]).unwrap(), 16).unwrap();
            let (start, end) = (line + 2, line + 2 + size);
            if self.raw.len() < end + 2 {
                return false;
            }
            assert_eq!(self.raw.drain(end..end + 2).collect::<Vec<_>>(), b"\r\n");
            self.raw.drain(..start);
            self.ended = size == 0;
            0..size
        } else if let Some(length) = length.or((self.head.status == 202).then_some(0)) {
            self.ended = self.raw.len() >= length;
            0..if self.ended { length } else { 0 }
        } else {
            0..self.raw.len()
        };
        let any = !part.is_empty();
        self.pending.extend(self.raw.drain(part));
        any
    }
}

/// The bridge's own clock: a call whose stream brings a comment every second until it is answered.
pub(crate) struct Clock {
    application: Application,
    agent: Agent,
}

impl Clock {
    pub(crate) async fn start(serve: &Serve) -> Self {
        let application = Application::serving(serve, "clock", TOOLS).await;
        Self { application, agent: Agent::new(serve.port, &tokens::agent("clock")) }
    }

    /// Waits until at least 2 s have passed for the bridge.
    pub(crate) async fn wait(&mut self) {
        let sent = self.agent.sent(&self.agent.call("getBalance", "{}")).await;
        let call = self.application.call().await;
        let mut stream = sent.stream().await;
        for _ in 0..2 {
            assert_eq!(stream.next().await, Some(Piece::Comment));
        }
        self.application.answer(&call, r#"{"content":[]}"#).await;
        stream.event().await;
    }

    /// The number of events that each of these streams has brought when 2 s have passed.
    pub(crate) async fn events<const N: usize>(&mut self, streams: [&mut Stream; N]) -> [usize; N] {
        self.wait().await;
        let mut events = [0; N];
        for (stream, events) in streams.into_iter().zip(&mut events) {
            // What has come is there to be read at once.
            while let Ok(piece) = timeout(Duration::from_millis(100), stream.next()).await {
                *events += usize::from(piece.expect("the stream ended") != Piece::Comment);
            }
        }
        events
    }

    /// Fails when one of these streams brings an event within the 2 s.
    pub(crate) async fn silent<const N: usize>(&mut self, streams: [&mut Stream; N]) {
        assert_eq!(self.events(streams).await, [0; N], "events");
    }
}

/// The next message of an application, which takes back this call.
pub(crate) async fn cancelled(application: &mut Application, call: &Call) {
    let message: Value = serde_json::from_str(&application.text().await).unwrap();
    assert_eq!(message, serde_json::json!({"type": "cancel", "id": call.id}));
}
