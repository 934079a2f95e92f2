//! A host: `clientmcp stdio` as a child, or a bare connection to the local door. One JSON message a line.

use std::{path::Path, process::Stdio};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::{UnixStream, unix},
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
};

use super::{agent::META, expecting, post::member, scene::CLIENT, serve::Ended, within};

/// Where the door of a runtime folder is.
pub(crate) fn socket(runtime: &Path) -> std::path::PathBuf {
    runtime.join("clientmcp/door.sock")
}

/// A hello's members for MCP with `alice-wallet`.
pub(crate) fn wants_mcp(host: &str) -> Value {
    json!({"want": "mcp", "host": host, "application": CLIENT})
}

/// Fails unless the door refused with this code.
#[track_caller]
pub(crate) fn assert_refused(said: &Value, code: &str) {
    assert_eq!((&said["say"], &said["code"]), (&json!("refused"), &json!(code)), "{said}");
    assert!(said["sentence"].as_str().is_some_and(|sentence| !sentence.is_empty()), "{said}");
}

/// Messages on lines, whatever carries them.
pub(crate) struct Talk<R, W> {
    input: BufReader<R>,
    output: Option<W>,
    /// Notifications that were read, oldest first.
    pub(crate) heard: Vec<Value>,
}

/// A connection to the door.
pub(crate) type Door = Talk<unix::OwnedReadHalf, unix::OwnedWriteHalf>;

impl Door {
    /// A connection that has said nothing yet.
    pub(crate) async fn silent(runtime: &Path) -> Self {
        let (input, output) = within(UnixStream::connect(socket(runtime))).await.unwrap().into_split();
        Self::over(input, output)
    }

    /// A connection that has said this hello, beside the version.
    pub(crate) async fn hello(runtime: &Path, members: Value) -> Self {
        let mut door = Self::silent(runtime).await;
        let mut hello = json!({"door": 1, "version": "test"});
        hello.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        door.send(&hello.to_string()).await;
        door
    }

    /// A connection that is MCP from here on.
    pub(crate) async fn mcp(runtime: &Path, host: &str, application: &str) -> Self {
        let mut door = Self::hello(runtime, json!({"want": "mcp", "host": host, "application": application})).await;
        let said = door.value().await;
        assert_eq!((&said["say"], &said["door"]), (&json!("open"), &json!(1)), "{said}");
        door
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Talk<R, W> {
    fn over(input: R, output: W) -> Self {
        Self { input: BufReader::new(input), output: Some(output), heard: Vec::new() }
    }

    /// Writes one line.
    pub(crate) async fn send(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes()).await;
    }

    /// Writes bytes.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        let output = self.output.as_mut().expect("it was closed");
        within(output.write_all(bytes)).await.unwrap();
        within(output.flush()).await.unwrap();
    }

    /// The next line; nothing at the end.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let mut line = String::new();
        expecting("a line to the host", self.input.read_line(&mut line)).await.unwrap();
        line.pop().map(|end| {
            assert_eq!(end, '\n', "half a line: {line}");
            line
        })
    }

    /// The next line.
    pub(crate) async fn line(&mut self) -> String {
        self.next().await.expect("the connection ended")
    }

    /// The next line, as a value.
    pub(crate) async fn value(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The next line with an `id`, as it was written; notifications before it are noted.
    pub(crate) async fn response(&mut self) -> String {
        loop {
            let line = self.line().await;
            assert_eq!(member(&line, "jsonrpc").as_deref(), Some(r#""2.0""#), "{line}");
            if member(&line, "method").is_none() {
                return line;
            }
            self.heard.push(serde_json::from_str(&line).unwrap());
        }
    }

    /// The next notification, noted earlier or read now. A response in between fails.
    pub(crate) async fn notification(&mut self) -> Value {
        if !self.heard.is_empty() {
            return self.heard.remove(0);
        }
        let message = self.value().await;
        assert!(message["method"].is_string(), "no notification: {message}");
        message
    }

    /// Waits until a notification of this method has come.
    pub(crate) async fn hears(&mut self, method: &str) -> Value {
        loop {
            let message = self.notification().await;
            if message["method"] == method {
                return message;
            }
        }
    }

    /// Sends a legacy request and gives back its result.
    pub(crate) async fn legacy(&mut self, method: &str, params: Value) -> Value {
        self.send(&legacy(1, method, &params)).await;
        self.result().await
    }

    /// Sends a modern request and gives back its result; `members` are those of `params`, without braces and `_meta`.
    pub(crate) async fn modern(&mut self, method: &str, members: &str) -> Value {
        self.send(&modern(1, method, members)).await;
        self.result().await
    }

    /// The result of the next response.
    pub(crate) async fn result(&mut self) -> Value {
        let line = self.response().await;
        let mut message: Value = serde_json::from_str(&line).unwrap();
        assert!(message["result"].is_object(), "no result: {line}");
        message["result"].take()
    }

    /// The error of the next response.
    pub(crate) async fn error(&mut self) -> Value {
        let line = self.response().await;
        let mut message: Value = serde_json::from_str(&line).unwrap();
        assert!(message["error"].is_object(), "no error: {line}");
        message["error"].take()
    }

    /// Opens a legacy session.
    pub(crate) async fn initialize(&mut self, revision: &str) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
        let result = self.legacy("initialize", params).await;
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        result
    }

    /// The names of a legacy list.
    pub(crate) async fn names(&mut self) -> Vec<String> {
        let result = self.legacy("tools/list", json!({})).await;
        let tools = result["tools"].as_array().expect("a list");
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Says no more.
    pub(crate) fn close(&mut self) {
        self.output = None;
    }
}

/// A legacy request.
pub(crate) fn legacy(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// A modern request.
pub(crate) fn modern(id: u64, method: &str, members: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}{comma}{META}}}}}"#)
}

/// `clientmcp stdio`. It dies with this value.
pub(crate) struct Host {
    pub(crate) child: Child,
    stderr: JoinHandle<String>,
    pub(crate) talk: Talk<ChildStdout, ChildStdin>,
}

impl Host {
    /// Starts it with these arguments behind `stdio`.
    pub(crate) fn start(runtime: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clientmcp"));
        command.arg("stdio").args(arguments);
        Self::spawn(command, runtime)
    }

    /// For one application, as the host `Editor`.
    pub(crate) fn of(runtime: &Path, application: &str) -> Self {
        Self::start(runtime, &["--host", "Editor", "--app", application])
    }

    /// Starts this command.
    pub(crate) fn spawn(mut command: Command, runtime: &Path) -> Self {
        // A proxy that the person has set up is none for this machine.
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env(name, "http://192.0.2.1:9");
        }
        command.env("XDG_RUNTIME_DIR", runtime).kill_on_drop(true);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a command");
        let talk = Talk::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let stderr = tokio::spawn(async move {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).await.unwrap();
            String::from_utf8(bytes).unwrap()
        });
        Self { child, stderr, talk }
    }

    /// Waits for its end and reads what is left.
    pub(crate) async fn ended(mut self) -> Ended {
        let mut stdout = String::new();
        within(self.talk.input.read_to_string(&mut stdout)).await.unwrap();
        let code = within(self.child.wait()).await.unwrap().code();
        Ended { code, stdout, stderr: within(self.stderr).await.unwrap() }
    }
}
