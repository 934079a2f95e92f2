//! The desktop's part of the control channel: `clientmcp serve --control` as a child, one JSON message a line. It reads
//! only while a test waits for something, so that a test can also leave the channel unread.

use std::{collections::HashMap, process::Stdio, sync::Arc};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
};

use super::{
    agent::Agent,
    application::{Application, Upgrade},
    expecting,
    http::{Request, Response},
    scene::{CLIENT, TOOLS},
    serve::{Ended, Folder},
    stream::Sent,
    tokens::{self, SECRET},
    waits::OUTER_LIMIT,
    within,
};

/// Where a result says how the call ended when nothing was done.
pub(crate) const OUTCOME: &str = "io.github.clientmcp/outcome";

/// A result of an application.
pub(crate) const DONE: &str = r#"{"content":[]}"#;

/// A bridge and the channel that drives it. The bridge dies with this value.
pub(crate) struct Desktop {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: JoinHandle<String>,
    /// The port that it listens on.
    pub(crate) port: u16,
    requests: u64,
    replies: HashMap<u64, Value>,
    /// Questions that a wait gave out.
    known: Vec<Value>,
    /// Every line that was read, as it came.
    pub(crate) lines: Vec<String>,
    /// The newest snapshot that was read.
    pub(crate) newest: Value,
    /// The newest memory that was read.
    pub(crate) memory: Value,
    /// Finished calls, in the order in which they were told.
    pub(crate) finished: Vec<Value>,
    /// How many finished calls were missed.
    pub(crate) missed: u64,
    /// Codes of the errors that no reply carried.
    pub(crate) errors: Vec<String>,
    /// Where its local door is: a folder of this test, as the person's own runtime folder.
    pub(crate) runtime: Arc<Folder>,
}

impl Desktop {
    /// A bridge to which nothing was said yet.
    pub(crate) fn silent() -> Self {
        Self::silent_in(Folder::new().into())
    }

    /// The same, with its door in this folder.
    pub(crate) fn silent_in(runtime: Arc<Folder>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clientmcp"));
        command.args(["serve", "--control"]).env("XDG_RUNTIME_DIR", runtime.path()).kill_on_drop(true);
        Self::spawn(command, runtime)
    }

    /// A bridge started by this command.
    pub(crate) fn spawn(mut command: Command, runtime: Arc<Folder>) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a bridge");
        let mut stderr = child.stderr.take().unwrap();
        // Read all the time: a full pipe would stop the bridge.
        let stderr = tokio::spawn(async move {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).await.unwrap();
            String::from_utf8(bytes).unwrap()
        });
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            stderr,
            port: 0,
            requests: 0,
            replies: HashMap::new(),
            known: Vec::new(),
            lines: Vec::new(),
            newest: Value::Null,
            memory: Value::Null,
            finished: Vec::new(),
            missed: 0,
            errors: Vec::new(),
            runtime,
        }
    }

    /// A bridge that was greeted.
    pub(crate) async fn greeted() -> Self {
        Self::greet(Self::silent()).await
    }

    async fn greet(mut desktop: Self) -> Self {
        desktop.line(r#"{"type":"hello","control":1,"version":"test"}"#).await;
        desktop
    }

    /// A bridge that serves, with nothing set and nothing remembered.
    pub(crate) async fn start() -> Self {
        Self::with(json!({})).await
    }

    /// A bridge that serves, started with these members beside the port and the secret.
    pub(crate) async fn with(members: Value) -> Self {
        Self::silent().started(members).await
    }

    /// A bridge that serves, with its door in this folder.
    pub(crate) async fn with_in(runtime: &Arc<Folder>, members: Value) -> Self {
        Self::silent_in(Arc::clone(runtime)).started(members).await
    }

    /// A bridge whose door is open.
    pub(crate) async fn door() -> Self {
        let mut desktop = Self::start().await;
        desktop.door_open().await;
        desktop
    }

    /// A bridge whose door is open for these hosts and the application `alice-wallet`, whose calls are sent unasked.
    pub(crate) async fn door_allowing(hosts: &[&str]) -> Self {
        let mut desktop = Self::with(json!({"memory": allowing(hosts)})).await;
        desktop.door_open().await;
        desktop
    }

    /// Waits until the door is open.
    pub(crate) async fn door_open(&mut self) -> Value {
        self.snapshot(|snapshot| snapshot["door"]["open"] == true).await
    }

    /// The one open question at the door.
    pub(crate) async fn door_question(&mut self) -> Value {
        let snapshot = self.snapshot(|snapshot| door_questions(snapshot) == 1).await;
        snapshot["door_questions"][0].clone()
    }

    /// Answers a question at the door.
    pub(crate) async fn decide_door(&mut self, question: &Value, verdict: &str) {
        self.done(json!({"type": "decide_door", "question": question["id"], "verdict": verdict})).await;
    }

    /// Greets and starts it.
    pub(crate) async fn started(self, members: Value) -> Self {
        let mut desktop = Self::greet(self).await;
        desktop.done(starting(members)).await;
        assert_ne!(desktop.port, 0, "no `listening` before the reply to `start`");
        desktop
    }

    /// A bridge, the application `alice-wallet` with one tool, and its agent.
    pub(crate) async fn scene() -> (Self, Application, Agent) {
        let desktop = Self::start().await;
        let application = desktop.application(CLIENT, TOOLS).await;
        let agent = desktop.agent(CLIENT);
        (desktop, application, agent)
    }

    /// An application without an `Origin`, connected with these tools.
    pub(crate) async fn application(&self, sub: &str, tools: &str) -> Application {
        let mut application = self.connect(sub, &[]).await;
        application.register(tools).await;
        application
    }

    /// Connects as `sub` with these header lines; whether the bridge then closes is for the test to see.
    pub(crate) async fn connect(&self, sub: &str, lines: &[&str]) -> Application {
        self.connect_as(&tokens::client(sub), lines).await
    }

    /// Connects with this token and these header lines.
    pub(crate) async fn connect_as(&self, token: &str, lines: &[&str]) -> Application {
        let mut upgrade = Upgrade::offering(self.port, &format!("clientmcp.v1, {token}"));
        upgrade.lines.extend(lines.iter().map(|&line| line.to_owned()));
        upgrade.send().await.accepted().await
    }

    /// The agent of `sub` without a label.
    pub(crate) fn agent(&self, sub: &str) -> Agent {
        Agent::new(self.port, &tokens::agent(sub))
    }

    /// The agent of `sub` with this label, whose token was issued long ago.
    pub(crate) fn labelled(&self, sub: &str, label: &str) -> Agent {
        let claims = json!({"sub": sub, "role": "agent", "label": label, "iat": 1_700_000_000});
        Agent::new(self.port, &tokens::claiming(&claims.to_string()))
    }

    /// Writes one line, whatever it holds.
    pub(crate) async fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin was closed");
        within(stdin.write_all(format!("{line}\n").as_bytes())).await.unwrap();
        within(stdin.flush()).await.unwrap();
    }

    /// Sends a line to a bridge that may have ended: whether it had not.
    pub(crate) async fn try_line(&mut self, line: &str) -> bool {
        let stdin = self.stdin.as_mut().expect("stdin was closed");
        within(stdin.write_all(format!("{line}\n").as_bytes())).await.is_ok() && within(stdin.flush()).await.is_ok()
    }

    /// Sends a command and gives back its number.
    pub(crate) async fn send(&mut self, mut command: Value) -> u64 {
        self.requests += 1;
        command["request"] = json!(self.requests);
        self.line(&command.to_string()).await;
        self.requests
    }

    /// The reply with this number.
    pub(crate) async fn reply(&mut self, request: u64) -> Value {
        expecting(format_args!("the reply to request {request}"), async {
            while !self.replies.contains_key(&request) {
                self.read().await;
            }
        })
        .await;
        self.replies.remove(&request).unwrap()
    }

    /// Sends a command and waits for its reply.
    pub(crate) async fn ask(&mut self, command: Value) -> Value {
        let request = self.send(command).await;
        self.reply(request).await
    }

    /// Sends a command that is done.
    pub(crate) async fn done(&mut self, command: Value) {
        let shown = command["type"].to_string();
        assert_eq!(self.ask(command).await, "done", "{shown}");
    }

    /// Sends a command that is refused with this code.
    pub(crate) async fn refused(&mut self, command: Value, code: &str) {
        let shown = command["type"].to_string();
        let reply = self.ask(command).await;
        assert_eq!(reply["refused"]["code"], code, "{shown}: {reply}");
        assert!(reply["refused"]["sentence"].as_str().is_some_and(|sentence| !sentence.is_empty()), "{reply}");
    }

    /// A snapshot of which this is true: the newest that was read, or the first one after it.
    pub(crate) async fn snapshot(&mut self, holds: impl Fn(&Value) -> bool) -> Value {
        self.until(|desktop| holds(&desktop.newest)).await;
        self.newest.clone()
    }

    /// Reads until this is true.
    pub(crate) async fn until(&mut self, holds: impl Fn(&Self) -> bool) {
        let read = async {
            while !holds(self) {
                self.read().await;
            }
        };
        let read = tokio::time::timeout(OUTER_LIMIT, read).await;
        // What is shown and what has ended may be megabytes.
        let cut = |text: String| text.chars().take(4_000).collect::<String>();
        let (snapshot, finished) = (&self.newest, &self.finished);
        let seen = || format!("snapshot: {}; finished: {}", cut(snapshot.to_string()), cut(format!("{finished:?}")));
        assert!(read.is_ok(), "the desktop waited {OUTER_LIMIT:?} in vain; {}", seen());
    }

    /// The one open question that no earlier wait gave out.
    pub(crate) async fn question(&mut self) -> Value {
        self.questions(1).await.remove(0)
    }

    /// The open questions that no earlier wait gave out, when there are so many.
    pub(crate) async fn questions(&mut self, count: usize) -> Vec<Value> {
        self.until(|desktop| desktop.unknown().count() == count).await;
        let questions: Vec<_> = self.unknown().cloned().collect();
        self.known.extend(questions.iter().map(|question| question["id"].clone()));
        questions
    }

    fn unknown(&self) -> impl Iterator<Item = &Value> {
        list(&self.newest, "questions").iter().filter(|question| !self.known.contains(&question["id"]))
    }

    /// Waits until a question is shown no more.
    pub(crate) async fn gone(&mut self, question: &Value) {
        self.snapshot(|snapshot| list(snapshot, "questions").iter().all(|other| other["id"] != question["id"])).await;
    }

    /// The entry of a call when it has ended.
    pub(crate) async fn ended_call(&mut self, number: &Value) -> Value {
        let is = |entry: &&Value| entry["call"]["number"] == *number;
        self.until(|desktop| desktop.finished.iter().any(|entry| is(&entry))).await;
        self.finished.iter().find(is).unwrap().clone()
    }

    /// Answers a question.
    pub(crate) async fn decide(&mut self, question: &Value, verdict: &str, also: Value) {
        self.done(decision(question, verdict, also)).await;
    }

    /// Fails unless this question can no longer be answered.
    pub(crate) async fn closed(&mut self, question: &Value) {
        self.refused(decision(question, "allow", json!("nothing")), "no_such_question").await;
    }

    /// A whole text, piece by piece, and the length that was told.
    pub(crate) async fn text(&mut self, text: Value) -> (String, usize) {
        let mut whole = String::new();
        loop {
            let reply = self.ask(json!({"type": "get", "text": text, "offset": whole.len()})).await;
            let piece = reply["text"]["piece"].as_str().unwrap_or_else(|| panic!("no piece: {reply}"));
            assert!(piece.len() <= 262_144, "a piece of {} bytes", piece.len());
            whole += piece;
            let bytes = usize::try_from(reply["text"]["bytes"].as_u64().unwrap()).unwrap();
            if piece.is_empty() || whole.len() >= bytes {
                return (whole, bytes);
            }
        }
    }

    /// Makes a token.
    pub(crate) async fn mint(&mut self, sub: &str, role: &str, label: Option<&str>) -> String {
        let command = json!({"type": "mint", "application": sub, "role": role, "label": label, "seconds": 600});
        let reply = self.ask(command).await;
        reply["token"]["token"].as_str().unwrap_or_else(|| panic!("no token: {reply}")).to_owned()
    }

    /// The bridge's process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id().expect("the bridge has ended")
    }

    /// Closes stdin.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal by its name.
    pub(crate) async fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(within(Command::new("kill").args(["-s", name, &pid]).status()).await.unwrap().success());
    }

    /// Waits for the end, which must come even when nobody reads, then reads what is left on stdout.
    pub(crate) async fn ended(mut self) -> Ended {
        let code = within(self.child.wait()).await.unwrap().code();
        let mut stdout = String::new();
        within(self.stdout.read_to_string(&mut stdout)).await.unwrap();
        Ended { code, stdout, stderr: within(self.stderr).await.unwrap() }
    }

    /// Reads one message and files it.
    pub(crate) async fn read(&mut self) -> Value {
        let mut line = String::new();
        expecting("a line of the control channel", self.stdout.read_line(&mut line)).await.unwrap();
        assert!(line.ends_with('\n'), "the channel ended in {line:?}");
        line.pop();
        assert!(line.len() <= 1_048_576, "a line of {} bytes", line.len());
        let mut message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.lines.push(line);
        match message["type"].as_str() {
            Some("hello") => assert_eq!((self.lines.len(), &message["control"]), (1, &json!(1))),
            Some("listening") => self.port = port(&message),
            Some("reply") => {
                let request = message["request"].as_u64().expect("a number");
                let before = self.replies.insert(request, message["reply"].clone());
                assert!(before.is_none() && request <= self.requests, "one reply too many: {message}");
            }
            Some("snapshot") => {
                assert!(message["revision"].as_u64() > self.newest["revision"].as_u64(), "{message}");
                self.newest["revision"] = message["revision"].clone();
                assert_ne!(message, self.newest, "the same snapshot twice");
                self.newest = message.clone();
            }
            Some("finished") => {
                self.missed += message["missed"].as_u64().expect("a count");
                let Value::Array(calls) = message["calls"].take() else { panic!("no calls: {message}") };
                self.finished.extend(calls);
            }
            Some("remember") => self.memory = message.clone(),
            Some("error") => {
                assert!(message["sentence"].is_string(), "{message}");
                self.errors.push(message["code"].as_str().expect("a code").to_owned());
            }
            kind => panic!("no message of the channel: {kind:?} in {message}"),
        }
        message
    }
}

fn port(listening: &Value) -> u16 {
    let mcp = listening["mcp"].as_str().expect("where agents call");
    let port = mcp.strip_prefix("http://127.0.0.1:").and_then(|rest| rest.strip_suffix("/mcp"));
    port.expect(mcp).parse().expect(mcp)
}

/// A list of a snapshot or of the memory; empty when there is none.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// The command that starts a bridge: whole, with these members instead of the ordinary ones. A memory may be one that was
/// told, or say of some lists alone what is in them.
pub(crate) fn starting(members: Value) -> Value {
    let Value::Object(mut members) = members else { panic!("no members: {members}") };
    let remembered = members.remove("memory").unwrap_or_else(|| json!({}));
    let mut memory = json!({"modes": [], "rules": [], "blocked": [], "pins": [], "generations": [], "floors": [],
        "issued": [], "seen": [], "pairs": []});
    memory.as_object_mut().unwrap().extend(remembered.as_object().expect("a memory").clone());
    memory.as_object_mut().unwrap().remove("type");
    let settings =
        json!({"client_origins": "pinned", "allow_origins": [], "call_seconds": 120, "question_seconds": 120});
    let mut start = json!({"type": "start", "port": 0, "secrets": [SECRET], "settings": settings, "paused": false});
    start["memory"] = memory;
    start.as_object_mut().unwrap().extend(members);
    start
}

/// The command that answers a question.
pub(crate) fn decision(question: &Value, verdict: &str, also: Value) -> Value {
    let (id, fingerprint) = (&question["id"], &question["fingerprint"]);
    let mut command = json!({"type": "decide", "question": id, "fingerprint": fingerprint, "verdict": verdict});
    command["also"] = also;
    command
}

/// The fingerprint of a definition.
pub(crate) fn fingerprint(definition: &str) -> String {
    use std::fmt::Write;
    Sha256::digest(definition.as_bytes()).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// How many questions are open at the door.
pub(crate) fn door_questions(snapshot: &Value) -> usize {
    snapshot["door_questions"].as_array().map_or(0, Vec::len)
}

/// Memory in which these hosts were let in to `alice-wallet`, whose calls are sent unasked.
pub(crate) fn allowing(hosts: &[&str]) -> Value {
    let pair = |host: &&str| json!({"host": host, "application": CLIENT, "verdict": "allow", "made": 1});
    let pairs: Vec<_> = hosts.iter().map(pair).collect();
    let now = u64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let mode = json!({"application": CLIENT, "mode": "allow_all", "until": {"at": now + 3_600_000}});
    json!({"pairs": pairs, "modes": [mode]})
}

/// Sends a request on the side.
pub(crate) fn sending(request: Request) -> JoinHandle<Response> {
    tokio::spawn(async move { request.send().await })
}

/// Calls the tool of `alice-wallet` on the side.
pub(crate) fn calling(agent: &Agent) -> JoinHandle<Response> {
    sending(agent.call("getBalance", "{}"))
}

/// The result of what was sent on the side.
pub(crate) async fn result(call: JoinHandle<Response>) -> Value {
    call.await.unwrap().result_value()
}

/// Checks a result that says that nothing was done.
#[track_caller]
pub(crate) fn nothing_done(result: &Value, code: &str) {
    assert_eq!(result["_meta"][OUTCOME]["reason"]["code"], code, "{result}");
    assert_eq!((&result["_meta"][OUTCOME]["status"], &result["isError"]), (&json!("rejected"), &json!(true)));
    assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.contains("Nothing was done")), "{result}");
}

/// Checks a result that says that something may have been done.
#[track_caller]
pub(crate) fn perhaps_done(result: &Value) {
    let text = result["content"][0]["text"].as_str();
    assert!(text.is_some_and(|text| text.contains("may or may not have happened")), "{result}");
    assert_eq!((&result["isError"], result["_meta"].get(OUTCOME)), (&json!(true), None), "{result}");
}

/// The call's connection, or the stream that has begun, ends without an answer.
pub(crate) async fn unanswered(sent: Sent) {
    if let Some(mut answer) = sent.answer().await {
        assert_eq!(answer.head.header("content-type"), Some("text/event-stream"), "{:?}", answer.head);
        answer.ended().await;
    }
}
