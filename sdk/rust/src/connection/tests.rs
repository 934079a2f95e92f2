//! One connection over a pipe in memory, with a clock that stands still until everybody waits.

use std::{future::pending, time::Duration};

use clientmcp_protocol::client::{PING, PONG};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{io::DuplexStream, task::JoinHandle};
use tokio_tungstenite::tungstenite::{
    self,
    protocol::{CloseFrame, Role},
};

use super::*;
use crate::{
    handle::{self, Handle, State},
    tool::Tool,
};

const REGISTERED: &str = r#"{"type":"registered"}"#;

/// The bridge's end.
struct Bridge(WebSocketStream<DuplexStream>);

impl Bridge {
    async fn send(&mut self, text: impl Into<String>) {
        self.0.send(tungstenite::Message::text(text.into())).await.unwrap();
    }

    async fn call(&mut self, id: &str, name: &str) {
        self.send(json!({ "type": "call", "id": id, "name": name, "arguments": {} }).to_string()).await;
    }

    async fn text(&mut self) -> String {
        self.0.next().await.unwrap().unwrap().into_text().unwrap().as_str().to_owned()
    }

    async fn message(&mut self) -> Value {
        serde_json::from_str(&self.text().await).unwrap()
    }

    /// The names of the tools in the `register` that comes now.
    async fn register(&mut self) -> Vec<String> {
        let register = self.message().await;
        assert_eq!(register["type"], "register");
        register["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    async fn close(&mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame { code: code.into(), reason: reason.into() };
        self.0.close(Some(frame)).await.unwrap();
    }
}

/// A tool that answers with its own name.
fn tool(name: &'static str) -> Tool {
    Tool::new(name).handler(move |_| async move { name })
}

/// A connection with these tools, not registered yet; the pipe holds so many bytes.
async fn open(pipe: usize, tools: impl IntoIterator<Item = Tool>) -> (Handle, Bridge, JoinHandle<Served>) {
    let (ours, theirs) = tokio::io::duplex(pipe);
    let socket = WebSocketStream::from_raw_socket(ours, Role::Client, None).await;
    let bridge = Bridge(WebSocketStream::from_raw_socket(theirs, Role::Server, None).await);
    let (handle, mut orders) = handle::channel(Declaration::new(None, tools));
    let served = tokio::spawn(async move { serve(socket, &mut orders).await });
    (handle, bridge, served)
}

/// A connection that the bridge has accepted.
async fn online(tools: impl IntoIterator<Item = Tool>) -> (Handle, Bridge, JoinHandle<Served>) {
    let (handle, mut bridge, served) = open(1 << 16, tools).await;
    bridge.register().await;
    bridge.send(REGISTERED).await;
    handle.online().await.unwrap();
    (handle, bridge, served)
}

// holds: sdk-ping-on-call
#[tokio::test(start_paused = true)]
async fn a_ping_goes_out_before_a_call_is_worked_on() {
    let (_handle, mut bridge, _served) = online([tool("a")]).await;
    bridge.call("7", "a").await;
    assert_eq!(bridge.text().await, PING);
    assert_eq!(bridge.message().await["id"], "7");
}

// holds: sdk-ping-on-call
#[tokio::test(start_paused = true)]
async fn a_ping_overtakes_what_waits() {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let mut wire = Wire::new(WebSocketStream::from_raw_socket(ours, Role::Client, None).await);
    let mut bridge = Bridge(WebSocketStream::from_raw_socket(theirs, Role::Server, None).await);
    wire.push("1".into());
    wire.push("2".into());
    wire.ping();
    let writing = tokio::spawn(async move { wire.next().await });
    assert_eq!([bridge.text().await, bridge.text().await, bridge.text().await], [PING, "1", "2"]);
    writing.abort();
}

// holds: sdk-ping-idle
#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_pinged_and_dies_of_silence() {
    let (_handle, mut bridge, served) = online([]).await;
    let start = Instant::now();
    assert_eq!(bridge.text().await, PING);
    assert_eq!(start.elapsed().as_secs(), 25);
    bridge.send(PONG).await;
    assert_eq!(bridge.text().await, PING);
    assert_eq!(start.elapsed().as_secs(), 50);

    let served = served.await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 60);
    assert_eq!((served.ending, served.accepted), (Ending::Lost, true));
}

// holds: sdk-ping-idle
#[tokio::test(start_paused = true)]
async fn anything_that_arrives_after_a_ping_is_life() {
    let (_handle, mut bridge, served) = online([]).await;
    let start = Instant::now();
    assert_eq!(bridge.text().await, PING);
    tokio::time::advance(Duration::from_secs(9)).await;
    bridge.send(r#"{"type":"news"}"#).await;
    assert_eq!(bridge.text().await, PING);
    assert_eq!(start.elapsed().as_secs(), 50);
    assert!(!served.is_finished());
}

// holds: sdk-ping-idle
#[tokio::test(start_paused = true)]
async fn a_bridge_that_reads_nothing_is_dead_too() {
    let (_handle, _bridge, served) = open(16, [tool("a")]).await;
    let start = Instant::now();
    assert_eq!(served.await.unwrap().ending, Ending::Lost);
    assert_eq!(start.elapsed().as_secs(), 35);
}

// holds: sdk-register-coalesced
#[tokio::test(start_paused = true)]
async fn one_register_is_in_flight_and_the_newest_wins() {
    let (handle, mut bridge, _served) = open(1 << 16, [tool("a")]).await;
    assert_eq!(bridge.register().await, ["a"]);
    for name in ["b", "c", "d"] {
        handle.set_tools([tool(name)]);
    }
    // The idle ping comes next: nothing was registered meanwhile.
    assert_eq!(bridge.text().await, PING);
    bridge.send(REGISTERED).await;
    assert_eq!(bridge.register().await, ["d"]);
    bridge.send(REGISTERED).await;
    handle.accepted().await.unwrap();
    assert_eq!(bridge.text().await, PING);
}

// holds: sdk-register-coalesced
#[tokio::test(start_paused = true)]
async fn calls_are_for_the_tools_that_the_bridge_has_accepted() {
    let (handle, mut bridge, _served) = online([tool("old")]).await;
    handle.set_tools([tool("new")]);
    assert_eq!(bridge.register().await, ["new"]);
    for (id, name, fails) in [("1", "old", false), ("2", "new", true)] {
        bridge.call(id, name).await;
        assert_eq!(bridge.text().await, PING);
        assert_eq!(bridge.message().await["result"]["isError"] == true, fails);
    }
    bridge.send(REGISTERED).await;
    for (id, name, fails) in [("3", "old", true), ("4", "new", false)] {
        bridge.call(id, name).await;
        assert_eq!(bridge.text().await, PING);
        assert_eq!(bridge.message().await["result"]["isError"] == true, fails);
    }
}

// holds: sdk-breach
#[tokio::test(start_paused = true)]
async fn what_breaks_the_protocol_ends_the_connection() {
    let call = r#"{"type":"call","id":"1","name":"slow","arguments":{}}"#;
    let texts = ["{", r#"{"type":"cancel"}"#, REGISTERED, call];
    for breach in texts.map(tungstenite::Message::text).into_iter().chain([tungstenite::Message::binary("x")]) {
        let (_handle, mut bridge, served) = online([Tool::new("slow").handler(|_| pending::<()>())]).await;
        bridge.send(call).await;
        bridge.send(r#"{"type":"news","id":{}}"#).await;
        bridge.0.send(breach).await.unwrap();
        assert_eq!(served.await.unwrap().ending, Ending::Lost);
    }
}

// holds: sdk-backoff
#[tokio::test(start_paused = true)]
async fn a_close_code_is_told_with_its_reason() {
    for code in [1000, 1001, 1007, 4400, 4401, 4409] {
        let (_handle, mut bridge, served) = online([]).await;
        bridge.close(code, "why").await;
        // The bridge gets its close frame back.
        assert!(bridge.0.next().await.unwrap().unwrap().is_close());
        assert_eq!(served.await.unwrap().ending, Ending::Closed { code, reason: "why".into() });
    }
}

#[tokio::test(start_paused = true)]
async fn a_close_frame_is_answered_before_the_connection_is_dropped() {
    let frame = |code: u16| Some(CloseFrame { code: code.into(), reason: "".into() });
    for (sent, code) in [(frame(1001), 1001), (frame(4409), 4409), (None, 1005)] {
        let (_handle, mut bridge, served) = online([]).await;
        let start = Instant::now();
        bridge.0.send(tungstenite::Message::Close(sent.clone())).await.unwrap();
        let Some(Ok(tungstenite::Message::Close(answer))) = bridge.0.next().await else {
            panic!("no answer to {code}")
        };
        assert_eq!(answer, sent);
        assert!(bridge.0.next().await.is_none());
        assert_eq!(served.await.unwrap().ending, Ending::Closed { code, reason: String::new() });
        assert_eq!(start.elapsed(), Duration::ZERO, "nobody waits for anybody");
    }
}

#[tokio::test(start_paused = true)]
async fn a_close_frame_is_answered_behind_what_could_not_be_written() {
    // The pipe is too small for the register, so writing it waits for a bridge that only closes.
    let name = "x".repeat(100);
    let (_handle, mut bridge, served) = open(64, [Tool::new(name).handler(|_| async {})]).await;
    let start = Instant::now();
    bridge.close(1001, "").await;
    while let Some(frame) = bridge.0.next().await {
        if frame.unwrap().is_close() {
            assert_eq!(served.await.unwrap().ending, Ending::Closed { code: 1001, reason: String::new() });
            assert_eq!(start.elapsed(), Duration::ZERO);
            return;
        }
    }
    panic!("no answer");
}

// holds: sdk-backoff
#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_off_is_lost_and_was_not_accepted() {
    let (handle, bridge, served) = open(1 << 16, []).await;
    drop(bridge);
    let served = served.await.unwrap();
    assert_eq!((served.ending, served.accepted), (Ending::Lost, false));
    assert_eq!(handle.state(), State::Connecting);
}

// holds: sdk-close-graceful
#[tokio::test(start_paused = true)]
async fn dropping_the_handle_closes_with_1000() {
    let (handle, mut bridge, served) = online([]).await;
    drop(handle);
    let Some(Ok(tungstenite::Message::Close(Some(frame)))) = bridge.0.next().await else { panic!("no close frame") };
    assert_eq!(u16::from(frame.code), 1000);
    drop(bridge);
    assert_eq!(served.await.unwrap().ending, Ending::Left);
}

// holds: sdk-close-graceful
#[tokio::test(start_paused = true)]
async fn a_bridge_that_does_not_answer_a_close_is_waited_for_2_s() {
    let (handle, _bridge, served) = online([]).await;
    let start = Instant::now();
    drop(handle);
    assert_eq!(served.await.unwrap().ending, Ending::Left);
    assert_eq!(start.elapsed().as_secs(), 2);
}
