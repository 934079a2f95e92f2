//! Heads and bodies of agents' requests: size, arrival, text, nesting (`docs/protocol.md`, "The ladder", rungs 9 to 12).

use crate::support::{
    agent::Agent,
    http::{Connection, Request},
    scene::{Scene, ping_deep},
};

const MESSAGE_BYTES: usize = 4_194_304;

const HEAD_BYTES: usize = 65_536;

/// A legacy ping whose body has exactly this many bytes.
fn ping_of(agent: &Agent, bytes: usize) -> Request {
    let ping = agent.legacy("ping", r#""pad":"""#);
    let pad = "x".repeat(bytes - ping.text().len());
    ping.swap(r#""pad":"""#, &format!(r#""pad":"{pad}""#))
}

/// A ping whose head has exactly this many bytes.
fn ping_with_head(agent: &Agent, bytes: usize) -> Request {
    let ping = agent.ping();
    let pad = bytes - ping.clone().header("X-Pad", "").head().len();
    ping.header("X-Pad", "x".repeat(pad))
}

// holds: limit-head
#[tokio::test]
async fn a_head_of_the_limit_is_served_and_one_much_longer_is_not() {
    let Scene { agent, .. } = &Scene::offline().await;
    ping_with_head(agent, HEAD_BYTES).send().await.result();
    let mut connection = Connection::open(agent.port()).await;
    assert_eq!(connection.send(&ping_with_head(agent, HEAD_BYTES * 3)).await.status, 431);
    connection.closed().await;
}

// holds: limit-head
#[tokio::test]
async fn a_head_one_byte_longer_is_refused_however_it_arrives() {
    let Scene { agent, .. } = &Scene::offline().await;
    let longer = ping_with_head(agent, HEAD_BYTES + 1);
    assert_eq!(longer.send().await.status, 431);
}

// holds: limit-head
#[tokio::test]
async fn a_head_has_256_lines_at_most() {
    const HEAD_LINES: usize = 256;
    let Scene { agent, .. } = &Scene::offline().await;
    // The request line and the empty one are none of them.
    let own = agent.list().head().split(|byte| *byte == b'\n').count() - 3;
    let with = |lines| (own..lines).fold(agent.list(), |list, n| list.header(&format!("Mcp-Param-P{n}"), "x"));
    with(HEAD_LINES).send().await.result();
    assert_eq!(with(HEAD_LINES + 1).send().await.status, 431);
}

#[tokio::test]
async fn one_connection_serves_one_request_after_another() {
    let Scene { agent, .. } = &Scene::offline().await;
    let mut connection = Connection::open(agent.port()).await;
    connection.send(&agent.list()).await.result();
    connection.send(&agent.ping().chunked()).await.result();
    connection.send(&agent.modern("nope", "")).await.refused(404, -32601, Some("1"));
    connection.send(&agent.list().body("{")).await.refused(400, -32700, None);
    connection.send(&agent.ping()).await.result();
}

// holds: limit-agent-body, ladder-early-refusal-body
#[tokio::test]
async fn a_body_of_the_limit_is_served_and_one_byte_more_is_not() {
    let Scene { agent, .. } = &Scene::offline().await;
    ping_of(agent, MESSAGE_BYTES).send().await.result();
    ping_of(agent, MESSAGE_BYTES).chunked().send().await.result();
    for request in [ping_of(agent, MESSAGE_BYTES + 1), ping_of(agent, MESSAGE_BYTES + 1).chunked()] {
        let mut connection = Connection::open(agent.port()).await;
        connection.send(&request).await.refused_early(413);
        connection.closed().await;
    }
    // Told by the head alone: nothing of the body is sent.
    for length in ["4194305", "99999999999"] {
        let mut connection = Connection::open(agent.port()).await;
        connection.write(&agent.ping().header("Content-Length", length).head()).await;
        connection.read().await.refused_early(413);
        connection.closed().await;
    }
}

// holds: limit-agent-body
#[tokio::test]
async fn a_refused_head_is_never_asked_for_its_body() {
    let Scene { agent, .. } = &Scene::offline().await;
    let expects = agent.ping().header("Expect", "100-continue").header("Content-Length", "4194305");
    for (request, status) in [(expects.clone(), 413), (expects.without("Authorization"), 401)] {
        let mut connection = Connection::open(agent.port()).await;
        connection.write(&request.head()).await;
        let response = connection.read().await;
        assert_eq!((response.status, response.interim), (status, vec![]));
    }
    let mut connection = Connection::open(agent.port()).await;
    connection.write(&agent.ping().header("Expect", "100-continue").head()).await;
    connection.continues().await;
    connection.write(agent.ping().text().as_bytes()).await;
    connection.read().await.result();
}

// holds: ladder-body-time, ladder-early-refusal-body
#[tokio::test]
async fn a_body_that_does_not_arrive_is_408() {
    let Scene { agent, .. } = &Scene::offline().await;
    let mut connection = Connection::open(agent.port()).await;
    connection.write(&agent.ping().header("Content-Length", "100").head()).await;
    // What arrives is no JSON, which would be a later rung.
    connection.write(b"}").await;
    connection.read().await.refused_early(408);
    connection.closed().await;
}

// holds: ladder-parse-error
#[tokio::test]
async fn what_is_no_json_in_utf8_is_a_parse_error() {
    let Scene { agent, .. } = &Scene::offline().await;
    let ping = agent.ping().text().to_owned();
    let mut texts: Vec<Vec<u8>> = [
        "",
        " ",
        "{",
        "}",
        "nul",
        "{} {}",
        "{},",
        "[1,]",
        r#"{"a":1,}"#,
        "{a:1}",
        "{'a':1}",
        "01",
        "1.",
        "+1",
        ".5",
        "1e",
        "NaN",
        "\"\t\"",
        r#""\x""#,
        r#""\u12""#,
        "\"a",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    texts.push(format!("\u{feff}{ping}").into_bytes());
    texts.push(ping.replace("ping", "p\u{0}ing").into_bytes());
    texts.push([ping.as_bytes(), b"\xff"].concat());
    texts.push(ping.replace("ping", "XX").bytes().map(|byte| if byte == b'X' { 0xc3 } else { byte }).collect());
    for text in texts {
        agent.ping().body(text).send().await.refused(400, -32700, None);
    }
    agent.ping().body(format!(" \r\n\t{ping}\n")).send().await.result();
}

// holds: limit-nesting-agent
#[tokio::test]
async fn nesting_counts_over_the_whole_message() {
    let Scene { agent, .. } = &Scene::offline().await;
    ping_deep(agent, 128).send().await.result();
    ping_deep(agent, 129).send().await.refused(400, -32600, None);
    ping_deep(agent, 100_000).send().await.refused(400, -32600, None);
    let objects = format!("{}1{}", r#"{"a":"#.repeat(127), "}".repeat(127));
    agent.legacy("ping", &format!(r#""deep":{objects}"#)).send().await.refused(400, -32600, None);
    let text = "[{".repeat(500);
    agent.legacy("ping", &format!(r#""text":"\"{text}""#)).send().await.result();
    agent.ping().body(format!("{}{}", "[".repeat(129), "]".repeat(129))).send().await.refused(400, -32600, None);
}
