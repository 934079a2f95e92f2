//! HTTP/1.1 by hand: heads and bodies as they came, and an agent that posts one message a connection.

use serde_json::value::RawValue;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

use super::{
    expecting,
    schema::{self, Asked},
    serve::Serve,
    tokens, within,
};

/// The head of an answer.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: Head,
    pub(crate) body: String,
}

impl Head {
    /// Reads a head; none when the connection ended before its first byte.
    pub(crate) async fn read(stream: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            // A reset is an end without an answer, too.
            let read = expecting("the head of an answer", stream.read_line(&mut line)).await.unwrap_or(0);
            if read == 0 && lines.is_empty() {
                return None;
            }
            assert!(line.ends_with("\r\n"), "the head ended in {line:?} after {lines:?}");
            if line == "\r\n" {
                break;
            }
            lines.push(line.trim_end().to_owned());
        }
        let status = lines[0].strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let headers = lines[1..].iter().map(|line| line.split_once(':').expect(line));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
        Some(Self { status: status.expect(&lines[0]), headers })
    }

    /// The value of a header that stands at most once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{name} stands more than once: {self:?}");
        value
    }

    /// Reads the body that belongs to this head.
    pub(crate) async fn body(&self, stream: &mut BufReader<TcpStream>) -> String {
        let mut body = Vec::new();
        if let Some(length) = self.header("content-length") {
            body.resize(length.parse().unwrap(), 0);
            within(stream.read_exact(&mut body)).await.unwrap();
        } else if self.header("transfer-encoding").is_some() {
            loop {
                let mut size = String::new();
                within(stream.read_line(&mut size)).await.unwrap();
                let start = body.len();
                body.resize(start + usize::from_str_radix(size.trim_end(), 16).unwrap(), 0);
                within(stream.read_exact(&mut body[start..])).await.unwrap();
                within(stream.read_line(&mut size)).await.unwrap();
                if start == body.len() {
                    break;
                }
            }
        } else if self.status != 202 && self.status != 204 {
            within(stream.read_to_end(&mut body)).await.unwrap();
        }
        String::from_utf8(body).unwrap()
    }
}

/// An agent of one application.
#[derive(Clone)]
pub(crate) struct Agent {
    port: u16,
    token: String,
    unchecked: bool,
}

impl Agent {
    /// An agent of the application `sub`.
    pub(crate) fn of(serve: &Serve, sub: &str) -> Self {
        Self::with_token(serve, &tokens::agent(sub))
    }

    /// Whoever holds this token.
    pub(crate) fn with_token(serve: &Serve, token: &str) -> Self {
        Self { port: serve.port, token: token.to_owned(), unchecked: false }
    }

    /// Takes answers that are not what the schema of their revision demands.
    pub(crate) fn unchecked(mut self, _why: &'static str) -> Self {
        self.unchecked = true;
        self
    }

    /// Posts a body of the legacy era; none when the connection ended without an answer.
    pub(crate) async fn try_post(&self, body: &str) -> Option<Answer> {
        self.try_post_with("", body).await
    }

    /// Posts with further header lines, each with its line end.
    pub(crate) async fn try_post_with(&self, headers: &str, body: &str) -> Option<Answer> {
        let mut stream = BufReader::new(within(TcpStream::connect(("127.0.0.1", self.port))).await.unwrap());
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n{headers}\r\n",
            self.port,
            self.token,
            body.len(),
        );
        within(stream.write_all(head.as_bytes())).await.unwrap();
        within(stream.write_all(body.as_bytes())).await.unwrap();
        let asked = Asked { version: version(headers), body: body.into(), unchecked: self.unchecked };
        let head = Head::read(&mut stream).await?;
        let body = head.body(&mut stream).await;
        schema::check_answer(&asked, head.header("Content-Type"), &body);
        Some(Answer { head, body })
    }

    /// Calls a tool as a legacy agent with the id 1; none when the connection ended without an answer.
    pub(crate) async fn try_call(&self, name: &str, arguments: &str) -> Option<Answer> {
        self.try_post(&call(name, arguments)).await
    }

    /// Calls a tool and waits for the answer.
    pub(crate) async fn call(&self, name: &str, arguments: &str) -> Answer {
        self.try_call(name, arguments).await.expect("the connection ended without an answer")
    }

    /// The result of `tools/list` as a legacy agent.
    pub(crate) async fn list(&self) -> String {
        let answer = self.try_post(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
        member(answer.unwrap().result(), "tools").unwrap()
    }

    /// The instructions that `initialize` gives to a legacy agent.
    pub(crate) async fn instructions(&self) -> Option<String> {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
        let text = member(self.try_post(body).await.unwrap().result(), "instructions")?;
        Some(serde_json::from_str(&text).unwrap())
    }
}

/// The version that these header lines name.
fn version(headers: &str) -> Option<String> {
    let mut headers = headers.lines().filter_map(|line| line.split_once(':'));
    let version = headers.find(|(name, _)| name.eq_ignore_ascii_case("MCP-Protocol-Version"));
    version.map(|(_, value)| value.trim().to_owned())
}

/// The body of a legacy `tools/call` with the id 1.
pub(crate) fn call(name: &str, arguments: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#)
}

impl Answer {
    /// The text of a member of the JSON body.
    pub(crate) fn member(&self, name: &str) -> Option<String> {
        member(&self.body, name)
    }

    /// The text of the result of an answer that has one.
    pub(crate) fn result(&self) -> String {
        assert_eq!(self.head.status, 200, "{self:?}");
        self.member("result").unwrap_or_else(|| panic!("no result: {self:?}"))
    }

    /// The result as a value.
    pub(crate) fn value(&self) -> serde_json::Value {
        serde_json::from_str(&self.result()).unwrap()
    }
}

/// The text of the last member of this name.
pub(crate) fn member(object: impl AsRef<str>, name: &str) -> Option<String> {
    members(object.as_ref()).into_iter().rev().find(|(other, _)| other == name).map(|(_, value)| value)
}

/// The members of an object, in order, repeated ones too, each value as the text that it is.
pub(crate) fn members(object: &str) -> Vec<(String, String)> {
    struct Members;
    impl<'de> serde::de::Visitor<'de> for Members {
        type Value = Vec<(String, String)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<M: serde::de::MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut members = Vec::new();
            while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                members.push((name, value.get().to_owned()));
            }
            Ok(members)
        }
    }
    let mut text = serde_json::Deserializer::from_str(object);
    let members = serde::Deserializer::deserialize_map(&mut text, Members);
    members.unwrap_or_else(|error| panic!("{error} in {object}"))
}
