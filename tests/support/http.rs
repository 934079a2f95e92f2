//! A raw HTTP/1.1 client: what a test writes is what is sent, faults included. It never mends a request; it only adds
//! `Content-Length` to a body whose length nothing else tells.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use super::{
    expecting,
    schema::{self, Asked},
    within,
};

/// A request, header by header and byte by byte.
#[derive(Clone)]
pub(crate) struct Request {
    port: u16,
    method: String,
    target: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    chunked: bool,
    unchecked: bool,
}

impl Request {
    /// A request with the right `Host` and nothing else.
    pub(crate) fn new(port: u16, method: &str, target: &str) -> Self {
        let host = ("Host".to_owned(), format!("127.0.0.1:{port}").into_bytes());
        Self {
            port,
            method: method.to_owned(),
            target: target.to_owned(),
            headers: vec![host],
            body: Vec::new(),
            chunked: false,
            unchecked: false,
        }
    }

    pub(crate) fn method(mut self, method: &str) -> Self {
        method.clone_into(&mut self.method);
        self
    }

    pub(crate) fn target(mut self, target: &str) -> Self {
        target.clone_into(&mut self.target);
        self
    }

    /// Sets a header: every line of that name goes, one line comes.
    pub(crate) fn header(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).also(name, value)
    }

    /// Adds a header line beside those that stand.
    pub(crate) fn also(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The body, to be changed in one place.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// Replaces one piece of the body that must be there, so that a test cannot spoil nothing by mistake.
    pub(crate) fn swap(self, old: &str, new: &str) -> Self {
        assert!(self.text().contains(old), "{old} is not in {}", self.text());
        let body = self.text().replacen(old, new, 1);
        self.body(body)
    }

    /// Sends the body in chunks, without a `Content-Length`.
    pub(crate) fn chunked(mut self) -> Self {
        self.chunked = true;
        self.header("Transfer-Encoding", "chunked")
    }

    /// Takes an answer that is not what the schema of its revision demands.
    pub(crate) fn unchecked(mut self, _why: &'static str) -> Self {
        self.unchecked = true;
        self
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
    }

    /// Everything up to and with the empty line.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target).into_bytes();
        let mut line = |name: &str, value: &[u8]| {
            head.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        };
        for (name, value) in &self.headers {
            line(name, value);
        }
        if !self.body.is_empty() && !self.has("Content-Length") && !self.has("Transfer-Encoding") {
            line("Content-Length", self.body.len().to_string().as_bytes());
        }
        head.extend(b"\r\n");
        head
    }

    /// All of it, as it is sent.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        if !self.chunked {
            bytes.extend(&self.body);
            return bytes;
        }
        for chunk in self.body.chunks(60_000) {
            bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            bytes.extend(chunk);
            bytes.extend(b"\r\n");
        }
        bytes.extend(b"0\r\n\r\n");
        bytes
    }

    /// What decides how the answer must look.
    pub(super) fn asked(&self) -> Asked {
        let version = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("MCP-Protocol-Version"));
        let version = version.map(|(_, value)| String::from_utf8_lossy(value).trim().to_owned());
        Asked { version, body: self.body.clone(), unchecked: self.unchecked }
    }

    /// Sends it on a connection of its own.
    pub(crate) async fn send(&self) -> Response {
        Connection::open(self.port).await.send(self).await
    }
}

/// An answer as it stood on the wire.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    /// Statuses of the 1xx answers before it.
    pub(crate) interim: Vec<u16>,
    headers: Vec<(String, String)>,
}

impl Response {
    /// All values of a header, in order, letter case aside.
    pub(crate) fn headers(&self, name: &str) -> Vec<&str> {
        let same = |(other, _): &&(String, String)| other.eq_ignore_ascii_case(name);
        self.headers.iter().filter(same).map(|(_, value)| value.as_str()).collect()
    }

    /// The value of a header that stands at most once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let values = self.headers(name);
        assert!(values.len() <= 1, "{name} is repeated: {values:?}");
        values.first().copied()
    }

    /// The names of all headers, in small letters.
    pub(crate) fn header_names(&self) -> Vec<String> {
        self.headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn check(&self, asked: &Asked) {
        schema::check_answer(asked, self.header("Content-Type"), self.text());
    }
}

/// One TCP connection, kept for as many requests as a test likes.
pub(crate) struct Connection {
    read: OwnedReadHalf,
    write: OwnedWriteHalf,
    /// Read from the socket, not yet consumed.
    pending: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(port: u16) -> Self {
        let stream = expecting("a connection", TcpStream::connect(("127.0.0.1", port))).await;
        let (read, write) = stream.expect("connects").into_split();
        Self { read, write, pending: Vec::new() }
    }

    /// Sends a request and reads its answer meanwhile: an answer may come before the body was taken.
    pub(crate) async fn send(&mut self, request: &Request) -> Response {
        let bytes = request.bytes();
        let Self { read, write, pending } = self;
        let reading = read_response(read, pending, request.method == "HEAD");
        tokio::pin!(reading);
        let response = tokio::select! {
            response = &mut reading => response,
            // A failed write tells nothing: the bridge may have answered and closed.
            _ = write.write_all(&bytes) => reading.await,
        };
        response.check(&request.asked());
        response
    }

    /// Sends bytes that need not be a whole request.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        within(self.write.write_all(bytes)).await.unwrap();
    }

    pub(crate) async fn read(&mut self) -> Response {
        let response = read_response(&mut self.read, &mut self.pending, false).await;
        response.check(&Asked::default());
        response
    }

    /// Reads the interim answer that asks for the body.
    pub(crate) async fn continues(&mut self) {
        let mut reader = Reader { read: &mut self.read, pending: &mut self.pending };
        assert_eq!(reader.head().await.0, 100);
    }

    /// Whether it stands, as far as is known here now.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.read.try_read(&mut [0]), Err(fault) if fault.kind() == std::io::ErrorKind::WouldBlock)
    }

    /// Waits until the bridge has closed the connection, and fails when it sends anything more.
    pub(crate) async fn closed(&mut self) {
        assert!(self.pending.is_empty(), "more than an answer: {:?}", String::from_utf8_lossy(&self.pending));
        let mut byte = [0];
        let read = expecting("the end of the connection", self.read.read(&mut byte)).await;
        assert!(matches!(read, Ok(0) | Err(_)), "something was sent after the answer");
    }
}

/// The unread side of a connection.
struct Reader<'a> {
    read: &'a mut OwnedReadHalf,
    pending: &'a mut Vec<u8>,
}

impl Reader<'_> {
    /// False at the end of the connection.
    async fn more(&mut self) -> bool {
        let read = expecting("more of an answer", self.read.read_buf(self.pending)).await;
        read.expect("an answer, no reset") > 0
    }

    async fn exactly(&mut self, count: usize) -> Vec<u8> {
        while self.pending.len() < count {
            assert!(self.more().await, "cut after {:?}", String::from_utf8_lossy(self.pending));
        }
        self.pending.drain(..count).collect()
    }

    async fn line(&mut self) -> String {
        loop {
            if let Some(end) = self.pending.windows(2).position(|pair| pair == b"\r\n") {
                let line = self.exactly(end + 2).await;
                return String::from_utf8(line).unwrap().trim_end_matches("\r\n").to_owned();
            }
            assert!(self.more().await, "closed without an answer: {:?}", String::from_utf8_lossy(self.pending));
        }
    }

    async fn head(&mut self) -> (u16, Vec<(String, String)>) {
        let status = self.line().await;
        assert!(status.starts_with("HTTP/1.1 "), "{status}");
        let mut headers = Vec::new();
        loop {
            let line = self.line().await;
            if line.is_empty() {
                return (status[9..12].parse().unwrap(), headers);
            }
            let (name, value) = line.split_once(':').expect("a header line");
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
    }

    async fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(&self.line().await, 16).unwrap();
            body.extend(self.exactly(size).await);
            assert_eq!(self.line().await, "");
            if size == 0 {
                return body;
            }
        }
    }

    async fn rest(&mut self) -> Vec<u8> {
        while self.more().await {}
        std::mem::take(self.pending)
    }
}

async fn read_response(read: &mut OwnedReadHalf, pending: &mut Vec<u8>, answers_head: bool) -> Response {
    let mut reader = Reader { read, pending };
    let mut interim = Vec::new();
    let (status, headers) = loop {
        let (status, headers) = reader.head().await;
        if status >= 200 || status == 101 {
            break (status, headers);
        }
        interim.push(status);
    };
    let mut response = Response { status, headers, interim, body: Vec::new() };
    let length = response.header("Content-Length").map(|text| text.parse().unwrap());
    let chunked = response.header("Transfer-Encoding").is_some();
    response.body = match length {
        _ if answers_head || matches!(status, 101 | 204 | 304) => Vec::new(),
        _ if chunked => reader.chunks().await,
        Some(length) => reader.exactly(length).await,
        None => reader.rest().await,
    };
    response
}
