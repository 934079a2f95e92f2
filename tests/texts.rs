//! What one side writes reaches the other as it was written, in both directions, through real sockets.

use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::value::RawValue;

use crate::support::{
    application::Application,
    post::{Agent, Answer, member, members},
    serve::Serve,
};

const TOOL: &str = r#"{"name":"t","inputSchema":{"type":"object"}}"#;

/// The text as it passes: CR and LF, which stand between tokens alone, are one space each.
fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

/// A list of tools as a modern agent, each definition as the text that it is.
async fn definitions(agent: &Agent) -> Vec<String> {
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let answer = agent.try_post_with(headers, body).await.unwrap();
    let tools = member(answer.result(), "tools").unwrap();
    let tools: Vec<Box<RawValue>> = serde_json::from_str(&tools).unwrap();
    tools.into_iter().map(|tool| tool.get().to_owned()).collect()
}

/// Passes one call: what reached the application as arguments, and what the agent was answered.
async fn pass(application: &mut Application, agent: &Agent, request: String, result: &str) -> (String, Answer) {
    let agent = agent.clone();
    let called = tokio::spawn(async move { agent.try_post(&request).await.unwrap() });
    let call = application.call().await;
    application.answer(&call, result).await;
    let answer = called.await.unwrap();
    assert!(!answer.body.contains(['\r', '\n']), "more than one line: {:?}", answer.body);
    (call.arguments, answer)
}

fn request(id: &str, arguments: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\r\n\"id\":{id},\"method\":\"tools/call\",\n\"params\":{{\"name\":\"t\"{arguments}}}}}"
    )
}

// holds: text-arguments, text-result, text-line-ends, outcome-answered
#[tokio::test]
async fn chosen_texts_pass_as_they_are() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app").unchecked("the application's content is not MCP's");
    let mut application = Application::serving(&serve, "app", &format!("[{TOOL}]")).await;
    let texts = [
        "{}",
        r#"{"z":1e400,"a":0.10,"a":12345678901234567890,"":-0}"#,
        r#"{"\u0061":"\ud800","a":"\/\u000A\u0000","é":"\u00e9😀\u007f"}"#,
        "{ \"a\" :\r\n[ 1 ,\t2\r]\n}",
        r#"{"type":"cancel","id":"x","jsonrpc":"1.0"}"#,
        "{\"a\":\"\u{2028}\u{2029}\u{85}\u{7f}\"}",
    ];
    for text in texts {
        let result = format!(r#"{{"content":[{text}],"isError":true,"x":{text},"x":{text}}}"#);
        let (arguments, answer) =
            pass(&mut application, &agent, request("1", &format!(r#","arguments":{text}"#)), &result).await;
        assert_eq!(arguments, one_line(text));
        assert_eq!(members(&answer.result()), members(&one_line(&result)), "{result}");
    }
    let (arguments, _) = pass(&mut application, &agent, request("1", ""), r#"{"content":[]}"#).await;
    assert_eq!(arguments, "{}", "absent arguments");
}

// holds: text-id
#[tokio::test]
async fn an_id_comes_back_as_it_was_written() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let mut application = Application::serving(&serve, "app", &format!("[{TOOL}]")).await;
    for id in [
        "1",
        "-0",
        "12345678901234567890",
        r#""\u0061""#,
        r#""\ud800""#,
        r#""""#,
        r#""a\/\"é""#,
        "-99999999999999999999999",
    ] {
        let (_, answer) = pass(&mut application, &agent, request(id, ""), r#"{"content":[]}"#).await;
        assert_eq!(answer.member("id").as_deref(), Some(id));
    }
}

// holds: text-definition, text-line-ends
#[tokio::test]
async fn a_definition_reaches_a_modern_agent_as_it_was_declared() {
    let serve = Serve::start().await;
    let agent = Agent::of(&serve, "app");
    let mut application = Application::connect(&serve, "app").await;
    let tools = [
        TOOL.to_owned(),
        "{ \"inputSchema\" : {\r\n \"properties\":{\"a\":true,\"b\":false},\"type\":\"obj\\u0065ct\"\n},\t\"name\":\"\\u0061\" }".to_owned(),
        r#"{"name":"o","x":1e400,"outputSchema":{"type":"array"},"inputSchema":{"type":"object","default":-0},"y":"\ud800"}"#
            .to_owned(),
    ];
    application.register(&format!("[{}]", tools.join(" ,\n"))).await;
    assert_eq!(definitions(&agent).await, tools.map(|tool| one_line(&tool)));
}

/// White space between tokens.
fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 1 => prop::sample::select(vec![" ", "\t", "\n", "\r", "\r\n", " \n\t "])]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "0",
            "-0",
            "1e400",
            "0.10",
            "12345678901234567890",
            "1E+2",
            "-0.0e-0",
            "9007199254740993"
        ])
        .prop_map(str::to_owned),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,4})?",
    ]
}

/// A string with its quotes: plain characters, escapes of every kind, lone surrogates among them.
fn string() -> impl Strategy<Value = String> {
    let escapes = vec![
        "\\\"",
        "\\\\",
        "\\/",
        "\\b",
        "\\f",
        "\\n",
        "\\r",
        "\\t",
        "\\u0000",
        "\\u000a",
        "\\u000D",
        "\\u0061",
        "\\uD800",
        "\\udc00",
        "\\udFfF\\ud800",
        "\\ud83d\\ude00",
    ];
    let piece = prop_oneof![
        "[^\\x00-\\x1f\"\\\\]{1,6}",
        prop::sample::select(escapes).prop_map(str::to_owned),
        prop::sample::select(vec!["\u{2028}", "\u{85}", "\u{7f}", "😀", "{", "]", ","]).prop_map(str::to_owned),
    ];
    vec(piece, 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// The members of an object in braces. Where names may repeat they often do, some of them only once decoded.
fn object(value: impl Strategy<Value = String>, repeats: bool) -> impl Strategy<Value = String> {
    let name = prop_oneof![
        2 => prop::sample::select(vec!["\"a\"", "\"\\u0061\"", "\"\"", "\"_meta\""]).prop_map(str::to_owned),
        1 => string(),
    ];
    let member = (space(), name, space(), space(), value, space());
    vec(member, 0..5).prop_map(move |members| {
        let members = members.into_iter().enumerate().map(|(number, (a, name, b, c, value, d))| {
            // A number of its own keeps a name from being repeated.
            let name = if repeats { name } else { format!("\"{number}{}", &name[1..]) };
            format!("{a}{name}{b}:{c}{value}{d}")
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    })
}

/// Any JSON text, without white space around it.
fn value(repeats: bool) -> impl Strategy<Value = String> {
    let literal = prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned);
    let leaf = prop_oneof![literal, number(), string()];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        let element = (space(), inner.clone(), space()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        let array = vec(element, 0..5).prop_map(|elements| format!("[{}]", elements.join(",")));
        prop_oneof![array, object(inner, repeats)]
    })
}

// holds: text-arguments, text-result, text-definition, text-line-ends
#[test]
fn any_text_passes_as_it_is() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let serve = runtime.block_on(Serve::start());
    let agent = Agent::of(&serve, "app").unchecked("the application's content is not MCP's");
    let mut runner = TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
    let texts = (object(value(true), true), value(false), value(true), value(true));
    let outcome = runner.run(&texts, |(arguments, definition, content, extra)| {
        let tool = format!(
            "{{\"name\":\"t\",\r\"x\":{definition},\n\"inputSchema\":{{\"type\":\"object\",\"default\":{definition}}}}}"
        );
        let result = format!("{{\"x\":{extra},\r\"content\":[{content}],\n\"x\":{content},\"isError\":{extra}}}");
        let request = request("7", &format!(",\"arguments\":\n{arguments}\r"));
        let (listed, received, answer) = runtime.block_on(async {
            // A new connection for each case: one that failed leaves nothing behind.
            let mut application = Application::serving(&serve, "app", &format!("[{tool}]")).await;
            let listed = definitions(&agent).await;
            let (received, answer) = pass(&mut application, &agent, request, &result).await;
            (listed, received, answer)
        });
        prop_assert_eq!(listed, [one_line(&tool)]);
        prop_assert_eq!(received, one_line(&arguments));
        prop_assert_eq!(members(&answer.result()), members(&one_line(&result)));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    drop(runtime);
}
