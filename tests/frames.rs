//! WebSocket frames as RFC 6455 has them, and as it has not.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

use crate::support::{
    application::{Application, Upgrade},
    http::Connection,
    scene::Scene,
    serve::Serve,
    tokens, within,
};

/// A connected application's bare socket.
async fn socket(serve: &Serve) -> BufReader<TcpStream> {
    let token = tokens::client("alice-wallet");
    let upgraded = Upgrade::offering(serve.port, &format!("clientmcp.v1, {token}")).send().await;
    assert_eq!(upgraded.head.status, 101);
    upgraded.stream()
}

/// A frame of a client: first byte, and a payload under a mask of zeros.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    assert!(length < 126);
    [&[first, 0x80 | length, 0, 0, 0, 0], payload].concat()
}

/// The close frame that the bridge sends: its code and reason. Frames before it are passed over.
async fn close_frame(socket: &mut BufReader<TcpStream>) -> (u16, String) {
    loop {
        let mut head = [0; 2];
        within(socket.read_exact(&mut head)).await.expect("a close frame comes before the end");
        let mut payload = vec![0; usize::from(head[1])];
        within(socket.read_exact(&mut payload)).await.unwrap();
        if head[0] == 0x88 {
            let code = payload.get(..2).map_or(1005, |code| u16::from_be_bytes([code[0], code[1]]));
            return (code, String::from_utf8(payload.get(2..).unwrap_or_default().to_vec()).unwrap());
        }
    }
}

// holds: channel-close-answered
#[tokio::test]
async fn a_clean_close_is_answered() {
    let serve = Serve::start().await;
    for (payload, code) in [(&b""[..], 1005), (b"\x03\xe8", 1000), (b"\x03\xe8bye", 1000), (b"\x10\xe1", 4321)] {
        let mut socket = socket(&serve).await;
        within(socket.get_mut().write_all(&frame(0x88, payload))).await.unwrap();
        assert_eq!(close_frame(&mut socket).await.0, code, "{payload:?}");
        assert_eq!(within(socket.read(&mut [0])).await.unwrap(), 0, "then the connection ends");
    }
}

// holds: channel-frames
#[tokio::test]
async fn a_frame_that_breaks_the_rfc_is_told_so() {
    let serve = Serve::start().await;
    let long_ping = [&[0x89, 0xfe, 0, 126, 0, 0, 0, 0][..], &[b'x'; 126]].concat();
    for (what, bytes) in [
        ("not masked", vec![0x81, 2, b'{', b'}']),
        ("a reserved bit", frame(0xc1, b"{}")),
        ("a reserved opcode", frame(0x83, b"{}")),
        ("a continuation of nothing", frame(0x80, b"{}")),
        ("a message within a message", [frame(0x01, b"{"), frame(0x81, b"{}")].concat()),
        ("a ping in pieces", frame(0x09, b"x")),
        ("a ping that is too long", long_ping),
    ] {
        let mut socket = socket(&serve).await;
        within(socket.get_mut().write_all(&bytes)).await.unwrap();
        let (code, reason) = close_frame(&mut socket).await;
        assert_eq!(code, 4400, "{what}");
        assert!(reason.contains("RFC 6455"), "{what}: {reason}");
    }
}

// holds: limit-unread-pongs
#[tokio::test]
async fn pings_of_an_application_that_does_not_read_are_bounded_and_delay_nobody() {
    let serve = Serve::start().await;
    let mut other = Application::connect(&serve, "other").await;
    let mut flood = socket(&serve).await;
    let pings = frame(0x89, &[b'x'; 125]).repeat(1_000);
    let before = resident(serve.pid);
    for _ in 0..300 {
        if within(flood.get_mut().write_all(&pings)).await.is_err() {
            break;
        }
    }
    other.send(r#"{"type":"ping"}"#).await;
    assert_eq!(other.text().await, r#"{"type":"pong"}"#);
    let grown = resident(serve.pid).saturating_sub(before);
    assert!(grown < 24 * 1024, "{grown} KiB more for 37 MB of pings");
}

/// KiB of memory that a process holds; 0 where the system does not say.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

// holds: limit-http-unfinished
#[tokio::test]
async fn requests_that_are_never_finished_keep_nobody_out() {
    let scene = Scene::offline().await;
    let half = scene.agent.list().header("Content-Length", "100").body("");
    let mut connections = Vec::new();
    for _ in 0..520 {
        let mut connection = Connection::open(scene.agent.port()).await;
        connection.write(&half.head()).await;
        connections.push(connection);
    }
    scene.agent.list().send().await.result();
}

// holds: limit-lists-shared
#[tokio::test]
async fn one_list_is_held_once_however_many_agents_leave_it_unread() {
    let (scene, mut application) = Scene::online("[]").await;
    let description = "x".repeat(4_000);
    let tools: Vec<_> = (0..1_000)
        .map(|n| format!(r#"{{"name":"t{n}","description":"{description}","inputSchema":{{"type":"object"}}}}"#))
        .collect();
    application.register(&format!("[{}]", tools.join(","))).await;
    scene.agent.legacy_list().send().await.result();
    let before = resident(scene.serve.pid);
    let list = scene.agent.legacy_list().text().to_owned();
    let batch = format!("[{}]", vec![list; 64].join(","));
    let batch = scene.agent.legacy_list().header("MCP-Protocol-Version", "2025-03-26").body(batch);
    let mut unread = Vec::new();
    for _ in 0..4 {
        let mut connection = Connection::open(scene.agent.port()).await;
        connection.write(&[&batch.head(), batch.text().as_bytes()].concat()).await;
        unread.push(connection);
    }
    scene.agent.ping().send().await.result();
    let grown = resident(scene.serve.pid).saturating_sub(before);
    assert!(grown < 64 * 1024, "{grown} KiB more for 1 GB of unread lists");
}
