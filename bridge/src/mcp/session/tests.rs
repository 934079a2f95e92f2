//! Whatever an agent writes, what it reads are messages, and each of its requests is answered once.

use std::collections::BTreeMap;

use clientmcp_protocol::limits::LAST_ANSWERS_TIME;
use proptest::prelude::*;
use tokio::{io::BufReader, sync::watch};

use super::*;
use crate::mcp::{self, StandIn};

/// An agent that finds no bridge: everything is answered at once.
struct Alone(StandIn);

impl Answers for Alone {
    fn peer(&self, batches: bool) -> Peer<'_> {
        Peer::alone(&self.0, batches)
    }

    async fn answer(&self, request: &[u8], batches: bool) -> Answer {
        mcp::answer(&self.peer(batches), request).await
    }

    async fn over(&self) {
        std::future::pending::<()>().await;
    }

    fn has_left(&self) -> bool {
        false
    }

    async fn left(&self) {
        std::future::pending::<()>().await;
    }

    async fn ended(&self) {}
}

/// An agent whose calls are never answered.
struct Unanswered(Alone);

impl Answers for Unanswered {
    fn peer(&self, batches: bool) -> Peer<'_> {
        self.0.peer(batches)
    }

    async fn answer(&self, _: &[u8], _: bool) -> Answer {
        std::future::pending().await
    }

    async fn over(&self) {
        self.0.over().await;
    }

    fn has_left(&self) -> bool {
        false
    }

    async fn left(&self) {
        std::future::pending::<()>().await;
    }

    async fn ended(&self) {}
}

fn stand_in(list: watch::Receiver<u64>) -> StandIn {
    StandIn { title: "test".into(), instructions: String::new(), tools: "", list, result: r#"{"content":[]}"#.into() }
}

// holds: stdio-ends
#[tokio::test(start_paused = true)]
async fn what_is_not_answered_keeps_no_command_longer_than_a_second() {
    let (_sender, list) = watch::channel(0);
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
    let line = [&line[..], b"\n"].concat();
    let input = BufReader::new(line.as_slice());
    let (mut output, closed) = (Vec::new(), tokio::time::Instant::now());
    serve(&Unanswered(Alone(stand_in(list))), input, &mut output, LAST_ANSWERS_TIME).await;
    assert!(closed.elapsed() >= LAST_ANSWERS_TIME, "it was given its time: {:?}", closed.elapsed());
    assert!(closed.elapsed() < Duration::from_secs(1), "{:?}", closed.elapsed());
    assert_eq!(output, b"");
}

/// An agent that is known to leave when the test says so.
struct Leaves {
    alone: Alone,
    gone: watch::Sender<bool>,
    told: watch::Sender<bool>,
}

impl Leaves {
    /// One whose calls have a result of so many bytes.
    fn new(list: watch::Receiver<u64>, bytes: usize) -> Self {
        let result = format!(r#"{{"content":[],"x":"{}"}}"#, "x".repeat(bytes));
        let alone = Alone(StandIn { result, ..stand_in(list) });
        Self { alone, gone: watch::Sender::new(false), told: watch::Sender::new(false) }
    }
}

impl Answers for Leaves {
    fn peer(&self, batches: bool) -> Peer<'_> {
        self.alone.peer(batches)
    }

    async fn answer(&self, request: &[u8], batches: bool) -> Answer {
        self.alone.answer(request, batches).await
    }

    async fn over(&self) {
        self.alone.over().await;
    }

    fn has_left(&self) -> bool {
        false
    }

    async fn left(&self) {
        let _ = self.gone.subscribe().wait_for(|gone| *gone).await;
    }

    async fn ended(&self) {
        self.told.send_replace(true);
    }
}

fn calls(count: usize) -> String {
    let call = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"x"}}}}"#) + "\n";
    (0..count).map(call).collect()
}

// holds: leaving-stdio
#[tokio::test(start_paused = true)]
async fn that_an_agent_left_is_told_at_once_though_it_is_not_read() {
    let (_sender, list) = watch::channel(0);
    let answers = Leaves::new(list, UNREAD_BYTES / 4);
    // It reads nothing, and is not read itself when a few answers are there.
    let (_unread, output) = tokio::io::duplex(1);
    let (mut input, read) = tokio::io::duplex(64);
    let serving = serve(&answers, BufReader::with_capacity(64, read), output, LAST_ANSWERS_TIME);
    let leaving = async {
        let calls = calls(1_000);
        let written = input.write_all(calls.as_bytes());
        assert!(tokio::time::timeout(Duration::from_secs(60), written).await.is_err(), "it was read on");
        let (left, mut told) = (Instant::now(), answers.told.subscribe());
        answers.gone.send_replace(true);
        told.wait_for(|told| *told).await.unwrap();
        assert_eq!(left.elapsed(), Duration::ZERO);
        left
    };
    let ((), left) = tokio::join!(serving, leaving);
    assert!(left.elapsed() < Duration::from_secs(1), "{:?}", left.elapsed());
}

// holds: leaving-stdio, stdio-ends
#[tokio::test]
async fn what_an_agent_wrote_before_it_left_is_still_answered() {
    let (_sender, list) = watch::channel(0);
    let answers = Leaves::new(list, 1);
    // It is known that it left before anything is read.
    answers.gone.send_replace(true);
    let (input, mut output) = (calls(20), Vec::new());
    serve(&answers, BufReader::with_capacity(64, input.as_bytes()), &mut output, Duration::from_secs(60)).await;
    assert!(*answers.told.borrow());
    assert_eq!(String::from_utf8(output).unwrap().lines().count(), 20);
}

/// All that is said to this input until the agent goes.
fn said(input: &[u8], capacity: usize) -> Vec<String> {
    let (_sender, list) = watch::channel(0);
    let stand_in = stand_in(list);
    let mut output = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let input = BufReader::with_capacity(capacity, input);
    runtime.block_on(serve(&Alone(stand_in), input, &mut output, Duration::from_secs(60)));
    let output = String::from_utf8(output).unwrap();
    assert!(output.is_empty() || output.ends_with('\n'), "{output}");
    output.lines().map(String::from).collect()
}

/// A request with this id, of either era or of none.
fn request(id: usize) -> impl Strategy<Value = String> {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let methods = ["ping", "tools/list", "tools/call", "server/discover", "initialize", "none"];
    let params = ["", r#""name":"x","arguments":{"a":1e400}"#, r#""protocolVersion":"2025-03-26""#, r#""cursor":"x""#];
    (prop::sample::select(methods.to_vec()), prop::sample::select(params.to_vec()), any::<bool>()).prop_map(
        move |(method, params, modern)| {
            let params: Vec<_> =
                [params, if modern { meta } else { "" }].into_iter().filter(|it| !it.is_empty()).collect();
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{}}}}}"#, params.join(","))
        },
    )
}

/// A line that wants no answer with an id.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>().prop_filter("a line has no end within", |byte| *byte != b'\n'), 0..60),
        Just(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_vec()),
        Just(br#"{"jsonrpc":"2.0","id":"r","result":{}}"#.to_vec()),
        Just(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r"}}"#.to_vec()),
        Just(b"[]".to_vec()),
        Just(b"[1,{}]".to_vec()),
    ]
}

proptest! {
    // holds: lines-refused, lines-legacy, lines-modern
    #[test]
    fn each_request_is_answered_once_whatever_stands_between(
        requests in (1..12_usize).prop_flat_map(|count| (0..count).map(request).collect::<Vec<_>>()),
        noise in prop::collection::vec(noise(), 12),
        capacity in 1..200_usize,
    ) {
        let mut input = Vec::new();
        for (request, noise) in requests.iter().zip(&noise) {
            input.extend([noise, &b"\n"[..], request.as_bytes(), b"\n"].concat());
        }
        let mut answers = BTreeMap::<String, usize>::new();
        for line in said(&input, capacity) {
            prop_assert!(text::is_json(&line), "{line}");
            if let Some(id) = text::Object::parse(&line).ok().and_then(|members| members.get("id")) {
                *answers.entry(id.get().to_owned()).or_default() += 1;
            }
        }
        let expected: BTreeMap<_, _> = (0..requests.len()).map(|id| (id.to_string(), 1)).collect();
        prop_assert_eq!(answers, expected);
    }
}
