//! What passes between the bridge and one application, and how a connection ends.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::frame::coding::{Data, OpCode},
};

use crate::support::{
    application::{Application, Upgrade},
    post::Agent,
    serve::Serve,
    tokens, until, within,
};

const TOOLS: &str = r#"[{"name":"t","inputSchema":{"type":"object"}}]"#;
const PING: &str = r#"{"type":"ping"}"#;
const PONG: &str = r#"{"type":"pong"}"#;

/// The message closes a connection with 4400 and some reason.
async fn closes(serve: &Serve, message: &str) {
    let mut application = Application::serving(serve, "app", TOOLS).await;
    application.send(message).await;
    let (code, reason) = application.closed().await;
    assert_eq!(code, 4400, "{message}: {reason}");
    assert!(!reason.is_empty(), "{message}: the reason names no fault");
}

/// The message is taken without an answer, and the connection stays.
async fn ignored(application: &mut Application, message: &str) {
    application.send(message).await;
    application.send(PING).await;
    assert_eq!(application.text().await, PONG, "{message}");
}

// holds: channel-not-json
#[tokio::test]
async fn text_that_is_no_object_with_a_type_closes() {
    let serve = Serve::start().await;
    let cases = [
        "",
        " ",
        "nonsense",
        "null",
        "1",
        r#""ping""#,
        "[]",
        r#"[{"type":"ping"}]"#,
        "{",
        r#"{"type":"ping"} x"#,
        r#"{"type":"ping"}{"type":"ping"}"#,
        r#"{"type":"ping",}"#,
        r"{'type':'ping'}",
        "\u{feff}{\"type\":\"ping\"}",
        "{\"type\":\"pi\nng\"}",
        r#"{"type":"hello","x":01}"#,
        r#"{"type":"hello","x":NaN}"#,
        "{}",
        r#"{"Type":"ping"}"#,
        r#"{"type":null}"#,
        r#"{"type":1}"#,
        r#"{"type":["ping"]}"#,
    ];
    for message in cases {
        closes(&serve, message).await;
    }
}

// holds: channel-repeated-member
#[tokio::test]
async fn a_repeated_member_of_the_outermost_object_closes() {
    let serve = Serve::start().await;
    let cases = [
        r#"{"type":"ping","type":"ping"}"#,
        r#"{"type":"ping","\u0074ype":"ping"}"#,
        r#"{"type":"ping","x":1,"x":1}"#,
        r#"{"type":"hello","x":1,"\u0078":1}"#,
        r#"{"type":"hello","type":"ping"}"#,
        r#"{"type":"register","tools":[],"tools":[]}"#,
        r#"{"type":"result","id":"1","id":"1","result":{"content":[]}}"#,
        r#"{"type":"result","id":"1","result":{"content":[]},"result":{"content":[]}}"#,
    ];
    for message in cases {
        closes(&serve, message).await;
    }
}

// holds: channel-mistyped-member
#[tokio::test]
async fn a_missing_or_mistyped_member_closes() {
    let serve = Serve::start().await;
    let cases = [
        r#"{"type":"register"}"#,
        r#"{"type":"register","tools":null}"#,
        r#"{"type":"register","tools":{}}"#,
        r#"{"type":"register","tools":[],"instructions":null}"#,
        r#"{"type":"register","tools":[],"instructions":["a"]}"#,
        r#"{"type":"result","result":{"content":[]}}"#,
        r#"{"type":"result","id":null,"result":{"content":[]}}"#,
        r#"{"type":"result","id":1,"result":{"content":[]}}"#,
        r#"{"type":"result","id":"1"}"#,
        r#"{"type":"result","id":"1","result":null}"#,
    ];
    for message in cases {
        closes(&serve, message).await;
    }
}

// holds: channel-result-shape
#[tokio::test]
async fn a_result_that_is_no_call_tool_result_closes_whatever_its_id() {
    let serve = Serve::start().await;
    let wrong = [
        "[]",
        "1",
        r#""content""#,
        "{}",
        r#"{"Content":[]}"#,
        r#"{"content":null}"#,
        r#"{"content":{}}"#,
        r#"{"content":[],"_meta":null}"#,
        r#"{"content":[],"_meta":[]}"#,
        r#"{"content":[],"content":1}"#,
        r#"{"content":[],"_meta":{},"_meta":1}"#,
        r#"{"content":[],"\u0063ontent":1}"#,
    ];
    for result in wrong {
        closes(&serve, &format!(r#"{{"type":"result","id":"unknown","result":{result}}}"#)).await;
    }
}

// holds: channel-unknown-id, channel-result-shape
#[tokio::test]
async fn a_well_formed_result_of_an_unknown_id_is_ignored() {
    let serve = Serve::start().await;
    let mut application = Application::serving(&serve, "app", TOOLS).await;
    let right = [
        r#"{"content":[]}"#,
        r#"{"content":[null,1,{"type":7}],"isError":"no","structuredContent":[]}"#,
        r#"{"content":1,"content":[]}"#,
        r#"{"content":[],"_meta":null,"_meta":{}}"#,
        r#"{"\u0063ontent":[]}"#,
        r#"{"content":[],"x":{"a":1,"a":1}}"#,
    ];
    for result in right {
        ignored(&mut application, &format!(r#"{{"type":"result","id":"unknown","result":{result}}}"#)).await;
    }
}

// holds: channel-unknown-type, channel-ping
#[tokio::test]
async fn unknown_types_and_members_are_ignored() {
    let serve = Serve::start().await;
    let mut application = Application::connect(&serve, "app").await;
    let unknown = [
        r#"{"type":"hello","tools":null,"id":1}"#,
        r#"{"type":""}"#,
        r#"{"type":"PING"}"#,
        r#"{"type":"pong"}"#,
        r#"{"type":"call","id":1}"#,
        r#"{"type":"registered"}"#,
    ];
    for message in unknown {
        ignored(&mut application, message).await;
    }
    let pings = [
        PING,
        " { \"type\" : \"ping\" }\r\n",
        r#"{"id":null,"type":"ping","tools":1}"#,
        r#"{"\u0074ype":"ping"}"#,
        r#"{"type":"\u0070ing"}"#,
        r#"{"x":{"type":"a","type":"b"},"type":"ping"}"#,
    ];
    for ping in pings {
        application.send(ping).await;
        assert_eq!(application.text().await, PONG, "{ping}");
    }
    application.send(r#"{"result":1,"type":"register","x":[],"tools":[]}"#).await;
    assert_eq!(application.text().await, r#"{"type":"registered"}"#);
}

// holds: channel-binary
#[tokio::test]
async fn binary_closes_with_4400_and_text_that_is_not_utf8_with_1007() {
    let serve = Serve::start().await;
    let mut application = Application::connect(&serve, "app").await;
    application.send_message(Message::binary(PING)).await;
    assert_eq!(application.closed().await.0, 4400);
    for bytes in [&b"{\"type\":\"ping\",\"x\":\"\xff\"}"[..], b"{\"type\":\"ping\",\"x\":\"\xed\xa0\x80\"}", b"\xc3"] {
        let mut application = Application::connect(&serve, "app").await;
        application.send_frame(bytes, OpCode::Data(Data::Text), true).await;
        assert_eq!(application.closed().await.0, 1007, "{bytes:?}");
    }
}

// holds: channel-ping
#[tokio::test]
async fn frames_are_put_together_and_a_ping_frame_is_answered_between_them() {
    let serve = Serve::start().await;
    let mut application = Application::connect(&serve, "app").await;
    // The cut goes through a character.
    application.send_frame(*b"{\"type\":\"ping\",\"x\":\"\xc3", OpCode::Data(Data::Text), false).await;
    application.send_message(Message::Ping("are you there".into())).await;
    assert_eq!(application.recv().await, Message::Pong("are you there".into()));
    application.send_frame(*b"\xa4\"}", OpCode::Data(Data::Continue), true).await;
    assert_eq!(application.text().await, PONG);
}

// holds: channel-registered-order
#[tokio::test]
async fn each_register_is_answered_in_order_when_agents_see_it() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let mut application = Application::connect(&serve, "app").await;
    for name in ["a", "b", "c"] {
        let tool = format!(r#"[{{"name":"{name}","inputSchema":{{"type":"object"}}}}]"#);
        application.register(&tool).await;
        assert_eq!(agent.list().await, tool);
    }
    // Those sent at once are answered one by one, and the last holds.
    for tools in [TOOLS, "[]", TOOLS, "[]"] {
        application.send(format!(r#"{{"type":"register","tools":{tools}}}"#)).await;
    }
    for _ in 0..4 {
        assert_eq!(application.text().await, r#"{"type":"registered"}"#);
    }
    assert_eq!(agent.list().await, "[]");
}

// holds: channel-call, channel-any-order, outcome-never-retried
#[tokio::test]
async fn calls_run_side_by_side_and_each_answer_finds_its_agent() {
    let serve = Serve::start().await;
    let mut application = Application::serving(&serve, "app", TOOLS).await;
    let agents: Vec<_> = (0..8)
        .map(|number| {
            let agent = Agent::of(&serve, "app");
            tokio::spawn(async move { agent.call("t", &format!(r#"{{"n":{number}}}"#)).await })
        })
        .collect();
    let mut calls = Vec::new();
    for _ in 0..agents.len() {
        calls.push(application.call().await);
    }
    let mut ids: Vec<_> = calls.iter().map(|call| call.id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), calls.len(), "ids repeat: {calls:?}");
    for call in calls.iter().rev() {
        assert_eq!(call.name, "t");
        application.answer(call, &format!(r#"{{"content":[],"echo":{}}}"#, call.arguments)).await;
    }
    for (number, agent) in agents.into_iter().enumerate() {
        let expected = format!(r#"{{"content":[],"echo":{{"n":{number}}}}}"#);
        assert_eq!(agent.await.unwrap().result(), expected);
    }
    // No call came twice.
    ignored(&mut application, r#"{"type":"hello"}"#).await;
}

// holds: channel-closed-has-ended
#[tokio::test]
async fn a_connection_that_the_bridge_closes_has_ended_when_the_close_arrives() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let mut application = Application::serving(&serve, "app", TOOLS).await;
    let called = tokio::spawn(async move { agent.call("t", "{}").await });
    application.call().await;
    application.send("nonsense").await;
    assert!(application.recv().await.is_close());
    assert_eq!(Agent::of(&serve, "app").list().await, "[]");
    let text = called.await.unwrap().value()["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("may or may not have happened"), "{text}");
}

// holds: channel-fatal-code-arrives
#[tokio::test]
async fn the_close_code_arrives_although_the_application_sends_on() {
    let serve = Serve::start().await;
    let mut application = Application::connect(&serve, "app").await;
    let long = format!(r#"{{"type":"ping","x":"{}"}}"#, "x".repeat(4_000_000));
    application.send("nonsense").await;
    application.send(long.clone()).await;
    application.send(long).await;
    assert_eq!(application.closed().await.0, 4400);
}

// holds: channel-fatal-code-arrives
#[tokio::test]
async fn a_peer_that_never_answers_the_close_does_not_hold_the_connection() {
    let serve = Serve::start().await;
    let offers = format!("clientmcp.v1, {}", tokens::client("app"));
    let mut stream = Upgrade::offering(serve.port, &offers).send().await.stream();
    // A final text frame of one byte, masked with zeros.
    within(stream.write_all(&[0x81, 0x81, 0, 0, 0, 0, b'x'])).await.unwrap();
    let mut bytes = Vec::new();
    within(stream.read_to_end(&mut bytes)).await.unwrap();
    let [0x88, length, code @ ..] = &bytes[..] else { panic!("no close frame: {bytes:?}") };
    assert_eq!(code.len(), usize::from(*length), "the close frame is the last");
    assert_eq!(code[..2], 4400_u16.to_be_bytes());
}

// holds: channel-offline-until-register, outcome-offline
#[tokio::test]
async fn an_application_is_offline_until_it_registers_and_when_it_is_gone() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let offline = || async {
        assert_eq!(agent.list().await, "[]");
        assert_eq!(
            agent.call("t", "{}").await.value()["_meta"]["io.github.clientmcp/outcome"]["reason"]["code"],
            "offline"
        );
    };
    offline().await;
    let mut application = Application::connect(&serve, "app").await;
    ignored(&mut application, r#"{"type":"hello"}"#).await;
    offline().await;
    application.register(TOOLS).await;
    assert_eq!(agent.list().await, TOOLS);
    drop(application);
    // The bridge hears of it when it reads.
    until("the tools to be gone", async || match agent.list().await {
        list if list == "[]" => Ok(()),
        list => Err(list),
    })
    .await;
    offline().await;
}

// holds: channel-replace, channel-replace-calls-end, outcome-disconnected
#[tokio::test]
async fn the_newest_connection_of_a_client_id_wins() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let mut older = Application::serving(&serve, "app", TOOLS).await;
    let first = tokio::spawn({
        let agent = agent.clone();
        async move { agent.call("t", "{}").await }
    });
    older.call().await;
    let mut newer = Application::connect(&serve, "app").await;
    assert_eq!(older.closed().await.0, 4409);
    let result = first.await.unwrap().value();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(result["isError"] == true && text.contains("may or may not have happened"), "{result}");
    assert_eq!(agent.list().await, "[]", "the tools of the older are gone before the newer registers");
    newer.register(TOOLS).await;
    let second = tokio::spawn(async move { agent.call("t", r#"{"second":1}"#).await });
    let call = newer.call().await;
    assert_eq!(call.arguments, r#"{"second":1}"#, "the first call went to the newer connection");
    newer.answer(&call, r#"{"content":[]}"#).await;
    assert_eq!(second.await.unwrap().result(), r#"{"content":[]}"#);
}
