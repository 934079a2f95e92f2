//! The limits of the agent endpoint and of connections: exactly the limit is served, one more is not, and others are
//! served meanwhile (`docs/protocol.md`, "Limits").

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::sleep,
};

use crate::support::{
    agent::Agent,
    application::Application,
    expecting,
    http::{Connection, Request, Response},
    scene::{Scene, TOOLS, answered, heard_nothing},
    serve::Serve,
    stream::{CHANGES, Piece, Sent},
    tokens, until, within,
};

const DONE: &str = r#"{"content":[]}"#;

/// An application of its own, and its agent.
async fn pair(serve: &Serve, sub: &str) -> (Application, Agent) {
    (Application::serving(serve, sub, TOOLS).await, Agent::new(serve.port, &tokens::agent(sub)))
}

/// Checks that this application and its agent are served.
async fn served((application, agent): &mut (Application, Agent)) {
    let (_, response) = answered(&agent.call("getBalance", "{}"), application, DONE).await;
    response.result();
}

#[track_caller]
fn busy(response: &Response) {
    let result = response.result_value();
    assert_eq!(result["_meta"]["io.github.clientmcp/outcome"]["reason"]["code"], "busy", "{result}");
}

/// Reads until the bridge closes; what it wrote before.
async fn until_closed(connection: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A reset closes, too.
    drop(expecting("the end of the connection", connection.read_to_end(&mut bytes)).await);
    bytes
}

// holds: limit-streams-application
#[tokio::test]
async fn one_application_has_64_streams() {
    let serve = Serve::start().await;
    let (mut one, mut other) = (pair(&serve, "one").await, pair(&serve, "other").await);
    let mut streams = Vec::new();
    for _ in 0..32 {
        streams.push(one.1.listening().await);
        streams.push(one.1.getting().await);
    }
    let full = one.1.listen(CHANGES).swap(r#""id":1"#, r#""id":"a""#);
    full.send().await.refused(429, -32600, Some(r#""a""#));
    one.1.get().send().await.refused_early(429);
    // Slow answers are none of them, and others are served.
    let sent = one.1.sent(&one.1.call("getBalance", "{}")).await;
    let call = one.0.call().await;
    let mut slow = sent.stream().await;
    assert_eq!(slow.next().await, Some(Piece::Comment));
    one.0.answer(&call, DONE).await;
    slow.event().await;
    served(&mut one).await;
    served(&mut other).await;
    other.1.listening().await;
    // Whoever leaves makes room.
    drop(streams.pop());
    until("a place for a stream", async || match one.1.sent(&full).await.answer().await.unwrap().head.status {
        429 => Err("429".to_owned()),
        _ => Ok(()),
    })
    .await;
    other.0.register("[]").await;
    one.0.register("[]").await;
    for mut stream in streams {
        assert!(stream.event().await.contains("list_changed"));
    }
}

// holds: limit-streams
#[tokio::test]
async fn all_applications_together_have_256_streams() {
    let serve = Serve::start().await;
    let mut last = pair(&serve, "last").await;
    let mut streams = Vec::new();
    for sub in ["a", "b", "c", "d"] {
        let agent = Agent::new(serve.port, &tokens::agent(sub));
        for _ in 0..32 {
            streams.push(agent.listening().await);
            streams.push(agent.getting().await);
        }
    }
    last.1.listen(CHANGES).send().await.refused(429, -32600, Some("1"));
    last.1.get().send().await.refused_early(429);
    served(&mut last).await;
    drop(streams.pop());
    let mut stream = until("a place for a stream", async || {
        let stream = last.1.sent(&last.1.get()).await.answer().await.unwrap();
        if stream.head.status == 429 { Err("429".to_owned()) } else { Ok(stream) }
    })
    .await;
    assert_eq!(stream.next().await, Some(Piece::Comment));
    last.1.listen(CHANGES).send().await.refused(429, -32600, Some("1"));
    served(&mut last).await;
}

// holds: limit-calls-all
#[tokio::test]
async fn all_applications_together_have_4096_unanswered_calls() {
    let serve = Serve::start().await;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getBalance"}}"#;
    let mut last = pair(&serve, "last").await;
    let (mut pairs, mut waiting) = (Vec::new(), Vec::new());
    for number in 0..64 {
        let (mut application, agent) = pair(&serve, &format!("app{number}")).await;
        let count = if number == 63 { 63 } else { 64 };
        let request = agent.legacy("ping", "").header("MCP-Protocol-Version", "2025-03-26");
        let request = request.header("Accept", "application/json").body(format!("[{}]", vec![call; count].join(",")));
        waiting.push(agent.sent(&request).await);
        let mut calls = Vec::new();
        for _ in 0..count {
            calls.push(application.call().await);
        }
        pairs.push((application, agent, calls));
    }
    // One place is left, whoever takes it.
    served(&mut last).await;
    let (application, agent, _) = &mut pairs[63];
    waiting.push(agent.sent(&agent.legacy_call("getBalance", "{}")).await);
    let newest = application.call().await;
    busy(&last.1.call("getBalance", "{}").send().await);
    busy(&last.1.legacy_call("getBalance", "{}").send().await);
    heard_nothing(&mut last.0).await;
    assert_eq!(last.1.tool_names().await, ["getBalance"]);
    // An answered call leaves its place before its answer is there.
    pairs[63].0.answer(&newest, DONE).await;
    assert_eq!(waiting.pop().unwrap().answer().await.unwrap().head.status, 200);
    served(&mut last).await;
    for (application, _, calls) in &mut pairs {
        for call in calls {
            application.answer(call, DONE).await;
        }
    }
    for sent in waiting {
        assert_eq!(sent.answer().await.unwrap().head.status, 200);
    }
}

// holds: limit-http
#[tokio::test]
async fn the_longest_idle_of_512_connections_makes_room() {
    let serve = Serve::start().await;
    let mut other = pair(&serve, "other").await;
    let list = other.1.list();
    // Idle connections have 30 s, so little is said on them: a busy machine takes seconds for so many requests.
    let mut connections = Vec::new();
    for _ in 0..512 {
        connections.push(Connection::open(serve.port).await);
    }
    // The first has been idle for the shortest time then, and the second for the longest.
    connections[0].send(&list).await.result();
    let mut newer = Connection::open(serve.port).await;
    newer.send(&list).await.result();
    connections[1].closed().await;
    for at in [0, 2, 3, 256, 510, 511] {
        connections[at].send(&list).await.result();
    }
    newer.send(&list).await.result();
    assert_eq!(connections.iter().filter(|connection| connection.is_open()).count(), 511);
    served(&mut other).await;
}

/// Whether a new connection is served, not closed unanswered.
async fn is_served(port: u16, request: &Request) -> bool {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let bytes = [&request.head(), request.text().as_bytes()].concat();
    let mut status = [0; 12];
    // A reset is an answer to neither.
    let read = connection.write_all(&bytes).await.is_ok() && connection.read_exact(&mut status).await.is_ok();
    assert!(!read || &status == b"HTTP/1.1 200");
    read
}

// holds: limit-http
#[tokio::test]
async fn where_none_of_512_connections_is_idle_a_new_one_is_closed() {
    let serve = Serve::start().await;
    let mut other = pair(&serve, "other").await;
    let (mut pairs, mut waiting): (Vec<_>, Vec<Sent>) = (Vec::new(), Vec::new());
    for number in 0..8 {
        let (mut application, agent) = pair(&serve, &format!("app{number}")).await;
        let mut calls = Vec::new();
        for _ in 0..64 {
            waiting.push(agent.sent(&agent.legacy_call("getBalance", "{}")).await);
            calls.push(application.call().await);
        }
        pairs.push((application, calls));
    }
    let list = other.1.list();
    for _ in 0..3 {
        assert!(!within(is_served(serve.port, &list)).await);
    }
    // Applications are counted apart.
    heard_nothing(&mut other.0).await;
    other.0.register(TOOLS).await;
    let (application, calls) = &mut pairs[0];
    application.answer(&calls[0], DONE).await;
    let first = waiting.remove(0).answer().await.unwrap();
    assert_eq!(first.head.status, 200);
    // Its connection is idle as soon as the bridge has written all of it, and is the one that makes room.
    until("a new connection to be served", async || {
        let served = within(is_served(serve.port, &list)).await;
        if served { Ok(()) } else { Err("closed unanswered".to_owned()) }
    })
    .await;
    for (application, calls) in &mut pairs {
        for call in calls {
            application.answer(call, DONE).await;
        }
    }
    for sent in waiting {
        assert_eq!(sent.answer().await.unwrap().head.status, 200);
    }
}

// holds: limit-head
#[tokio::test]
async fn a_head_of_the_limit_is_served_and_one_byte_more_is_431() {
    let (Scene { agent, .. }, application) = &mut Scene::online(TOOLS).await;
    let padded = |bytes: usize| {
        let request =
            agent.list().header("X-Padding", "").header("Content-Length", agent.list().text().len().to_string());
        let missing = bytes - request.head().len();
        request.header("X-Padding", "x".repeat(missing))
    };
    for bytes in [65_535, 65_536] {
        assert_eq!(padded(bytes).head().len(), bytes);
        padded(bytes).send().await.result();
    }
    for bytes in [65_537, 100_000] {
        let mut connection = Connection::open(agent.port()).await;
        assert_eq!(connection.send(&padded(bytes)).await.status, 431, "{bytes}");
        connection.closed().await;
    }
    heard_nothing(application).await;
}

// holds: limit-applications
#[tokio::test]
async fn a_thousand_applications_are_connected() {
    let serve = Serve::start().await;
    let mut applications = Vec::new();
    for number in 0..1_000 {
        applications.push(Application::connect(&serve, &format!("app{number}")).await);
    }
    assert_eq!(Application::connect(&serve, "one-more").await.closed().await.0, 4400);
    // Who takes the place of itself is no more.
    let mut again = pair(&serve, "app500").await;
    assert_eq!(applications[500].closed().await.0, 4409);
    served(&mut again).await;
    applications[999].register(TOOLS).await;
    heard_nothing(&mut applications[0]).await;
    drop(again.0);
    until("a place for an application", async || {
        let mut more = Application::connect(&serve, "one-more").await;
        more.send(format!(r#"{{"type":"register","tools":{TOOLS}}}"#)).await;
        let answer = more.recv().await;
        if answer.is_text() { Ok(()) } else { Err(format!("{answer:?}")) }
    })
    .await;
}

// holds: limit-mirrored
#[tokio::test]
async fn the_paths_of_mirrored_parameters_have_a_limit() {
    let serve = Serve::start().await;
    // 256 annotations at the end of two names each: 16,384 bytes an annotation, of which 24 are for each name.
    let tools = |more: &str| {
        let (outer, mut inner) = ("x".repeat(16_384 - 48 - 8), Vec::new());
        for number in 0..256 {
            let name = if number == 0 { format!("{number:08}{more}") } else { format!("{number:08}") };
            inner.push(format!(r#""{name}":{{"type":"string","x-mcp-header":"H{number}"}}"#));
        }
        let properties = format!(r#"{{"{outer}":{{"properties":{{{}}}}}}}"#, inner.join(","));
        format!(r#"[{{"name":"t","inputSchema":{{"type":"object","properties":{properties}}}}}]"#)
    };
    let mut application = Application::serving(&serve, "app", &tools("")).await;
    let mut other = pair(&serve, "other").await;
    application.send(format!(r#"{{"type":"register","tools":{}}}"#, tools("y"))).await;
    let (code, reason) = application.closed().await;
    assert_eq!(code, 4400);
    assert!(reason.contains("x-mcp-header"), "{reason}");
    served(&mut other).await;
}

/// Waits for the end of a connection that the bridge must not have closed before its 30 s were over.
async fn closed_after_30_s(port: u16, bytes: &[u8]) -> Vec<u8> {
    let begin = Instant::now();
    let mut connection = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    connection.write_all(bytes).await.unwrap();
    let read = until_closed(&mut connection).await;
    assert!(begin.elapsed() >= Duration::from_secs(29), "closed after {:?}", begin.elapsed());
    read
}

/// A request is served after a silence of this length on its connection.
async fn served_after(request: &Request, port: u16, silence: Duration) {
    let mut connection = Connection::open(port).await;
    connection.send(request).await.result();
    // The time is what is tested: nothing is waited for. It is far from its end, for a busy machine makes more of it;
    // that nothing is closed before is seen where the end comes.
    sleep(silence).await;
    connection.send(request).await.result();
}

// holds: limit-times, ladder-body-time, outcome-not-frozen
#[tokio::test]
async fn heads_bodies_and_idle_connections_have_30_s() {
    let serve = Serve::start().await;
    let ((mut application, agent), mut other) = (pair(&serve, "app").await, pair(&serve, "other").await);
    let (port, list) = (serve.port, agent.list());
    let whole = [&list.head(), list.text().as_bytes()].concat();
    let short = list.clone().header("Content-Length", "1000");
    let half = [&short.head(), b"{".as_slice()].concat();
    // A call that the application answers late is no idle connection. It said that it is alive when the call came, and
    // it was not silent before the call, so it is not taken for frozen.
    let waiting = agent.sent(&agent.call("getBalance", "{}")).await;
    let call = application.call().await;
    heard_nothing(&mut application).await;
    let again = agent.sent(&agent.legacy_call("getBalance", "{}").header("Accept", "application/json")).await;
    let second = application.call().await;
    let (idle, nothing, head, body, (), ()) = tokio::join!(
        closed_after_30_s(port, &whole),
        closed_after_30_s(port, b""),
        closed_after_30_s(port, b"POST /mcp HTTP/1.1\r\nHost: "),
        closed_after_30_s(port, &half),
        served_after(&list, port, Duration::from_secs(10)),
        async {
            sleep(Duration::from_secs(31)).await;
            served(&mut other).await;
        },
    );
    assert!(idle.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&idle));
    assert_eq!((nothing, head), (vec![], vec![]));
    assert!(body.starts_with(b"HTTP/1.1 408 "), "{}", String::from_utf8_lossy(&body));
    for (sent, call) in [(waiting, call), (again, second)] {
        application.answer(&call, DONE).await;
        let mut answer = sent.answer().await.unwrap();
        assert_eq!(answer.head.status, 200);
        assert!(answer.rest().await.contains(r#""content":[]"#));
    }
}
