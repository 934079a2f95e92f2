//! A fake application: an upgrade whose every line the test may choose, then a WebSocket that may send anything.

use futures_util::{SinkExt, StreamExt};
use tokio::{
    io::{AsyncWriteExt, BufReader},
    net::TcpStream,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Message,
        protocol::{
            Role,
            frame::{Frame, coding::OpCode},
        },
    },
};

use super::{
    expecting,
    post::{Head, member},
    serve::Serve,
    tokens, within,
};

/// The request that an upgrade begins with, line by line.
pub(crate) struct Upgrade {
    port: u16,
    /// The request line and the header lines, without line ends.
    pub(crate) lines: Vec<String>,
}

/// What the bridge said to an upgrade.
pub(crate) struct Upgraded {
    pub(crate) head: Head,
    stream: BufReader<TcpStream>,
}

/// An application that is connected.
pub(crate) struct Application {
    socket: WebSocketStream<TcpStream>,
}

/// A `call` as it arrived.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The text of the arguments.
    pub(crate) arguments: String,
}

impl Upgrade {
    /// A faultless request that offers these subprotocols.
    pub(crate) fn offering(port: u16, offers: &str) -> Self {
        let mut upgrade = Self::without_offers(port);
        upgrade.lines.push(format!("Sec-WebSocket-Protocol: {offers}"));
        upgrade
    }

    /// A request that is faultless but for the missing subprotocols.
    pub(crate) fn without_offers(port: u16) -> Self {
        let host = format!("Host: 127.0.0.1:{port}");
        let lines = [
            "GET /connect HTTP/1.1",
            &host,
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ];
        Self { port, lines: lines.map(str::to_owned).into() }
    }

    /// The request with the line that begins so replaced by any number of others.
    pub(crate) fn instead(mut self, begins: &str, others: &[&str]) -> Self {
        let at = self.lines.iter().position(|line| line.starts_with(begins)).expect(begins);
        self.lines.splice(at..=at, others.iter().map(|&line| line.to_owned()));
        self
    }

    /// Sends it and reads the head of the answer.
    pub(crate) async fn send(self) -> Upgraded {
        let mut stream = BufReader::new(within(TcpStream::connect(("127.0.0.1", self.port))).await.unwrap());
        let request = self.lines.join("\r\n") + "\r\n\r\n";
        within(stream.write_all(request.as_bytes())).await.unwrap();
        let head = Head::read(&mut stream).await.expect("the upgrade ended without an answer");
        Upgraded { head, stream }
    }
}

impl Upgraded {
    /// The body of a refusal.
    pub(crate) async fn body(mut self) -> String {
        self.head.body(&mut self.stream).await
    }

    /// The bare stream of an accepted upgrade.
    pub(crate) fn stream(self) -> BufReader<TcpStream> {
        assert_eq!(self.head.status, 101, "{:?}", self.head);
        self.stream
    }

    /// The socket of an accepted upgrade.
    pub(crate) async fn accepted(self) -> Application {
        assert_eq!(self.head.status, 101, "{:?}", self.head);
        assert_eq!(self.head.header("sec-websocket-protocol"), Some("clientmcp.v1"));
        let early = self.stream.buffer().to_vec();
        let stream = self.stream.into_inner();
        Application { socket: WebSocketStream::from_partially_read(stream, early, Role::Client, None).await }
    }
}

impl Application {
    /// Connects with these offers; whether the bridge then closes is for the test to see.
    pub(crate) async fn offering(serve: &Serve, offers: &str) -> Self {
        Upgrade::offering(serve.port, offers).send().await.accepted().await
    }

    /// Connects as the application `sub`.
    pub(crate) async fn connect(serve: &Serve, sub: &str) -> Self {
        Self::offering(serve, &format!("clientmcp.v1, {}", tokens::client(sub))).await
    }

    /// Connects as `sub` and declares these tools.
    pub(crate) async fn serving(serve: &Serve, sub: &str, tools: &str) -> Self {
        let mut application = Self::connect(serve, sub).await;
        application.register(tools).await;
        application
    }

    /// Declares these tools and waits until that is accepted.
    pub(crate) async fn register(&mut self, tools: &str) {
        self.send(format!(r#"{{"type":"register","tools":{tools}}}"#)).await;
        assert_eq!(self.text().await, r#"{"type":"registered"}"#);
    }

    /// Sends one text message.
    pub(crate) async fn send(&mut self, text: impl Into<String>) {
        self.send_message(Message::text(text.into())).await;
    }

    /// Sends any message.
    pub(crate) async fn send_message(&mut self, message: Message) {
        within(self.socket.send(message)).await.unwrap();
    }

    /// Sends one frame, whose bytes need not be what its opcode says.
    pub(crate) async fn send_frame(&mut self, bytes: impl Into<Vec<u8>>, opcode: OpCode, last: bool) {
        self.send_message(Message::Frame(Frame::message(bytes.into(), opcode, last))).await;
    }

    /// Answers a call.
    pub(crate) async fn answer(&mut self, call: &Call, result: &str) {
        self.send(format!(r#"{{"type":"result","id":"{}","result":{result}}}"#, call.id)).await;
    }

    /// The next message.
    pub(crate) async fn recv(&mut self) -> Message {
        let next = expecting("a message to the application", self.socket.next()).await;
        next.expect("the connection ended").expect("the connection broke")
    }

    /// The next message, which is a text: always one line.
    pub(crate) async fn text(&mut self) -> String {
        let message = self.recv().await;
        let Message::Text(text) = &message else { panic!("no text: {message:?}") };
        assert!(!text.contains(['\r', '\n']), "more than one line: {text:?}");
        text.as_str().to_owned()
    }

    /// The next message, which is a call.
    pub(crate) async fn call(&mut self) -> Call {
        let text = self.text().await;
        assert_eq!(member(&text, "type").as_deref(), Some(r#""call""#), "{text}");
        let string = |name| serde_json::from_str(&member(&text, name).expect(&text)).unwrap();
        Call { id: string("id"), name: string("name"), arguments: member(&text, "arguments").expect(&text) }
    }

    /// The code and the reason of the close frame that comes next, after which the connection ends.
    pub(crate) async fn closed(&mut self) -> (u16, String) {
        let message = self.recv().await;
        let Message::Close(Some(frame)) = message else { panic!("no close code: {message:?}") };
        assert!(frame.reason.len() <= 123, "{frame:?}");
        // Reading on sends our part of the closing handshake.
        let after = expecting("the end of a connection that was closed", self.socket.next()).await;
        assert!(!matches!(after, Some(Ok(_))), "after the close frame came {after:?}");
        (frame.code.into(), frame.reason.as_str().to_owned())
    }
}
