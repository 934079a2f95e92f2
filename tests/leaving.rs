//! Agents that leave while the person is asked: in every way, and however their request is written (`docs/protocol.md`,
//! "Leaving"). A new way or spelling is a new row.
//!
//! The yes is said at once, without waiting for the question to go. Nothing here depends on who is faster: an agent has left
//! when the system has brought that to the bridge's end, and from then on no yes may send its call.

use std::{fs, process::Stdio};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    process::{Child, Command},
};

use crate::support::{
    agent::Agent,
    application::Application,
    desktop::{DONE, Desktop, decision, list},
    http::{Connection, Request},
    scene::{CLIENT, TOOLS, heard_nothing},
    within,
};

const SESSION: &str = "a-session";

/// How an agent's request to the endpoint is written.
struct Spelling {
    name: &'static str,
    /// The request's bytes.
    bytes: Writes,
    /// The agent waits until its answer has begun as an event stream.
    begun: bool,
    /// A legacy call of [`SESSION`], which can be cancelled by its id.
    legacy: bool,
}

/// What an agent writes.
type Writes = fn(&Agent) -> Vec<u8>;

/// What stands behind the request on the same connection.
const BEHIND: [(&str, Writes); 6] = [
    ("nothing", |_| Vec::new()),
    ("a line end", |_| b"\r\n".to_vec()),
    ("junk", |_| b"\0junk that is no request".to_vec()),
    ("a whole request", |agent| bytes(&agent.ping())),
    ("half a request", |agent| agent.list().head()[..40].to_vec()),
    // More than the bridge keeps.
    ("a flood", |_| vec![b'x'; 200_000]),
];

const SPELLINGS: [Spelling; 9] = [
    Spelling { name: "modern, either answer", bytes: |agent| bytes(&modern(agent)), begun: false, legacy: false },
    Spelling {
        name: "modern, JSON alone",
        bytes: |agent| bytes(&modern(agent).header("Accept", "application/json")),
        begun: false,
        legacy: false,
    },
    Spelling {
        name: "modern, events alone",
        bytes: |agent| bytes(&modern(agent).header("Accept", "text/event-stream")),
        begun: false,
        legacy: false,
    },
    Spelling { name: "modern, the stream has begun", bytes: |agent| bytes(&modern(agent)), begun: true, legacy: false },
    Spelling { name: "legacy", bytes: |agent| bytes(&legacy(agent)), begun: false, legacy: true },
    Spelling {
        name: "legacy, in chunks",
        bytes: |agent| bytes(&legacy(agent).header("Accept", "application/json").chunked()),
        begun: false,
        legacy: true,
    },
    Spelling {
        name: "legacy, whose body is asked for",
        bytes: |agent| bytes(&legacy(agent).header("Expect", "100-continue")),
        begun: false,
        legacy: true,
    },
    Spelling {
        name: "legacy, the token in the path",
        bytes: |agent| bytes(&legacy(agent).without("Authorization").target(&format!("/mcp/{}", agent.token()))),
        begun: false,
        legacy: true,
    },
    Spelling {
        name: "a batch",
        bytes: |agent| {
            let call = agent.legacy_call("getBalance", "{}");
            let batch = format!(r#"[{{"jsonrpc":"2.0","id":9,"method":"ping"}},{}]"#, call.text());
            bytes(&call.body(batch).header("MCP-Protocol-Version", "2025-03-26").header("Mcp-Session-Id", SESSION))
        },
        begun: false,
        legacy: true,
    },
];

/// How an agent's connection ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Closes,
    Shuts,
    Resets,
    IsKilled,
}

const ENDS: [End; 4] = [End::Closes, End::Shuts, End::Resets, End::IsKilled];

/// How an agent is gone though its connection is there.
#[derive(Clone, Copy, Debug)]
enum Word {
    Cancel,
    RevokeLabel,
    RevokeAll,
}

const WORDS: [Word; 3] = [Word::Cancel, Word::RevokeLabel, Word::RevokeAll];

fn bytes(request: &Request) -> Vec<u8> {
    request.bytes()
}

fn modern(agent: &Agent) -> Request {
    agent.call("getBalance", "{}")
}

fn legacy(agent: &Agent) -> Request {
    agent.legacy_call("getBalance", "{}").header("Mcp-Session-Id", SESSION)
}

/// Fails unless a yes to this question comes too late, now and for ever.
pub(crate) async fn too_late(desktop: &mut Desktop, application: &mut Application, question: &Value, case: &str) {
    let yes = decision(question, "allow", json!({"remember": {"any_agent": true, "until": "always"}}));
    let reply = desktop.ask(yes).await;
    assert_eq!(reply["refused"]["code"], "no_such_question", "{case}: {reply}");
    heard_nothing(application).await;
    desktop.gone(question).await;
    let ended = desktop.ended_call(&question["number"]).await;
    assert_eq!((&ended["outcome"], &ended["call"]["sent"]), (&json!({"code": "cancelled"}), &Value::Null), "{case}");
    assert!(list(&desktop.memory, "rules").is_empty() && list(&desktop.memory, "seen").is_empty(), "{case}");
}

/// A process that holds this open until it is killed.
pub(crate) fn holder(open: std::os::fd::OwnedFd) -> Child {
    Command::new("sleep").arg("1000").stdin(Stdio::from(open)).kill_on_drop(true).spawn().unwrap()
}

pub(crate) async fn killed(mut child: Child) {
    within(child.kill()).await.unwrap();
}

/// Waits until the bridge's end of a connection is not established any more, as the system says.
pub(crate) async fn delivered(port: u16, peer: u16) {
    const ESTABLISHED: &str = "01";
    let here = format!("0100007F:{port:04X} 0100007F:{peer:04X} {ESTABLISHED}");
    within(async {
        while fs::read_to_string("/proc/net/tcp").unwrap().contains(&here) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

async fn asks(agent: &Agent, spelling: &Spelling, behind: &[u8]) -> TcpStream {
    let mut stream = within(TcpStream::connect(("127.0.0.1", agent.port()))).await.unwrap();
    within(stream.write_all(&[(spelling.bytes)(agent), behind.to_vec()].concat())).await.unwrap();
    if spelling.begun {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while line != ":\n" {
            line.clear();
            assert_ne!(within(reader.read_line(&mut line)).await.unwrap(), 0, "the stream ended");
        }
        stream = reader.into_inner();
    }
    stream
}

async fn leaves(mut stream: TcpStream, end: End) -> Option<TcpStream> {
    // The bridge may have closed it for what it sent.
    let Ok(bridge) = stream.peer_addr() else { return None };
    let (port, peer) = (bridge.port(), stream.local_addr().unwrap().port());
    let kept = match end {
        End::Closes => {
            drop(stream);
            None
        }
        End::Shuts => {
            let _ = within(stream.shutdown()).await;
            Some(stream)
        }
        End::Resets => {
            stream.set_zero_linger().unwrap();
            drop(stream);
            None
        }
        End::IsKilled => {
            let stream = stream.into_std().unwrap();
            let child = holder(stream.into());
            killed(child).await;
            None
        }
    };
    delivered(port, peer).await;
    kept
}

// holds: leaving-http, approval-withdrawn
#[tokio::test]
async fn a_yes_after_the_agents_connection_ended_sends_nothing() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    for spelling in &SPELLINGS {
        // One whose stream has begun takes a second.
        for (behind, bytes) in BEHIND.into_iter().filter(|(behind, _)| !spelling.begun || *behind == "junk") {
            for end in ENDS {
                let case = format!("{}; behind it {behind}; {end:?}", spelling.name);
                heard_nothing(&mut application).await;
                let mut stream = asks(&agent, spelling, &[]).await;
                let question = desktop.question().await;
                // One that is closed for what it sent has left as well.
                let _ = within(stream.write_all(&bytes(&agent))).await;
                let kept = leaves(stream, end).await;
                too_late(&mut desktop, &mut application, &question, &case).await;
                drop(kept);
            }
        }
    }
}

// holds: leaving-noticed
#[tokio::test]
async fn a_question_goes_when_its_agent_does_whatever_lies_behind_the_request() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    for spelling in SPELLINGS.iter().filter(|spelling| !spelling.begun) {
        for (behind, bytes) in BEHIND {
            for end in [End::Closes, End::Shuts] {
                // An application that says nothing for 90 s is taken for gone, and a busy machine needs longer for all of this.
                heard_nothing(&mut application).await;
                // In one piece with the request.
                let stream = asks(&agent, spelling, &bytes(&agent)).await;
                let number = if behind == "a flood" {
                    // Its question may be gone before anybody sees it.
                    let before = desktop.finished.len();
                    let gone = |desktop: &Desktop| list(&desktop.newest, "questions").is_empty();
                    desktop.until(|desktop| desktop.finished.len() > before && gone(desktop)).await;
                    None
                } else {
                    Some(desktop.question().await)
                };
                let kept = leaves(stream, end).await;
                if let Some(question) = number {
                    desktop.gone(&question).await;
                    desktop.closed(&question).await;
                }
                drop(kept);
            }
        }
    }
    heard_nothing(&mut application).await;
}

// holds: leaving-behind
#[tokio::test]
async fn what_stands_behind_a_request_is_answered_after_it() {
    let (mut desktop, mut application, agent) = Desktop::scene().await;
    for (behind, count) in [("ping", 1), ("ping", 20)] {
        let behind: Vec<u8> = (0..count).flat_map(|_| bytes(&agent.legacy(behind, ""))).collect();
        assert!(behind.len() <= 16_384);
        let mut connection = Connection::open(agent.port()).await;
        connection.write(&[bytes(&legacy(&agent)), behind].concat()).await;
        let question = desktop.question().await;
        desktop.decide(&question, "allow", json!("nothing")).await;
        let call = application.call().await;
        application.answer(&call, DONE).await;
        assert!(connection.read().await.text().contains(r#""content":[]"#));
        for _ in 0..count {
            assert!(connection.read().await.text().contains(r#""result":{}"#));
        }
    }
}

// holds: leaving-words, revoke-cuts-agent
#[tokio::test]
async fn a_yes_after_an_agent_was_sent_away_sends_nothing() {
    let mut desktop = Desktop::start().await;
    let mut application = desktop.application(CLIENT, TOOLS).await;
    for spelling in &SPELLINGS {
        for word in WORDS.into_iter().filter(|word| spelling.legacy || !matches!(word, Word::Cancel)) {
            let case = format!("{}; {word:?}", spelling.name);
            let agent = Agent::new(desktop.port, &desktop.mint(CLIENT, "agent", Some("Editor")).await);
            let _stream = asks(&agent, spelling, b"\r\n").await;
            let question = desktop.question().await;
            let revoke =
                |which: Value| json!({"type": "revoke", "application": CLIENT, "role": "agent", "which": which});
            match word {
                Word::Cancel => {
                    let cancel = r#""requestId":1"#;
                    let cancel = agent.legacy("notifications/cancelled", cancel).swap(r#""id":1,"#, "");
                    cancel.header("Mcp-Session-Id", SESSION).send().await.accepted();
                }
                Word::RevokeLabel => desktop.done(revoke(json!({"label": "Editor"}))).await,
                Word::RevokeAll => desktop.done(revoke(json!("all"))).await,
            }
            too_late(&mut desktop, &mut application, &question, &case).await;
        }
    }
}
