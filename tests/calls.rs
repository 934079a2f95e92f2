//! Calls in both eras: what reaches the application, what comes back, and how a call ends that was not answered
//! (`docs/protocol.md`, "Texts", "Results" and "Call outcomes").

use serde_json::{Value, json};

use crate::support::{
    agent::Agent,
    application::Application,
    http::{Request, Response},
    scene::{CLIENT, Scene, TOOLS, answered, heard_nothing, server_info},
};

/// Two tools, of which one says what its results look like.
const BOTH: &str = r#"[{"name":"plain","inputSchema":{"type":"object"}},
    {"name":"typed","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]"#;

/// What the bridge adds to `_meta` in the modern era, as it is written.
fn info() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let info = format!(r#"{{"name":"clientmcp","title":"{CLIENT}","version":"{version}"}}"#);
    format!(r#""io.modelcontextprotocol/serverInfo":{info}"#)
}

/// One call in each era.
fn calls(agent: &Agent, name: &str, arguments: &str) -> [Request; 2] {
    [agent.call(name, arguments), agent.legacy_call(name, arguments)]
}

/// Checks an error result of the bridge and takes it apart: its text, its outcome, its structured content.
#[track_caller]
fn error_result(response: &Response, modern: bool) -> (String, Value, Value) {
    let mut result = response.result_value();
    let taken = |value: &mut Value, name: &str| value.as_object_mut().unwrap().remove(name).unwrap_or_default();
    assert_eq!(taken(&mut result, "isError"), json!(true));
    let content = taken(&mut result, "content");
    let text = content[0]["text"].as_str().expect("a text").to_owned();
    assert_eq!(content, json!([{"type": "text", "text": text}]));
    let structured = taken(&mut result, "structuredContent");
    let mut meta = taken(&mut result, "_meta");
    if modern {
        assert_eq!(taken(&mut result, "resultType"), "complete");
        assert_eq!(taken(&mut meta, "io.modelcontextprotocol/serverInfo"), server_info());
    }
    let outcome = if meta.is_null() { meta.clone() } else { taken(&mut meta, "io.github.clientmcp/outcome") };
    assert_eq!(result, json!({}), "unexpected members");
    assert!(meta.is_null() || meta == json!({}), "unexpected members of _meta: {meta}");
    (text, outcome, structured)
}

/// Checks a result that says that nothing was done, and whether it is told as structured content too.
#[track_caller]
fn rejected(response: &Response, modern: bool, code: &str, structured: bool) {
    let (text, outcome, content) = error_result(response, modern);
    assert!(text.contains("Nothing was done") && !text.contains("may or may not"), "{text}");
    let detail = outcome["reason"]["detail"].as_str().expect("a detail");
    assert!(!detail.is_empty());
    assert_eq!(outcome, json!({"status": "rejected", "reason": {"code": code, "detail": detail}}));
    assert_eq!(content, if structured { outcome } else { Value::Null });
}

/// Checks a result that says that something may have been done.
#[track_caller]
fn uncertain(response: &Response, modern: bool) {
    let (text, outcome, content) = error_result(response, modern);
    assert!(text.contains("may or may not have happened") && !text.contains("Nothing was done"), "{text}");
    assert_eq!((outcome, content), (Value::Null, Value::Null));
}

// holds: text-arguments, text-line-ends, channel-call
#[tokio::test]
async fn arguments_reach_the_application_as_they_were_written() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    for arguments in [
        "{}",
        "{ }",
        r#"{"chainId":1}"#,
        r#"{"z":1e400,"a":0.10,"b":12345678901234567890,"c":-0,"d":1E+2}"#,
        r#"{"a":"\u0061\/\ud83d\ude00ä","a":null,"a":[ 1 , 2 ]}"#,
        r#"{"id":"x","type":"cancel","name":"other"}"#,
    ] {
        for request in calls(agent, "getBalance", arguments) {
            let (call, _) = answered(&request, &mut application, r#"{"content":[]}"#).await;
            assert_eq!((call.name.as_str(), call.arguments.as_str()), ("getBalance", arguments));
        }
    }
    for request in calls(agent, "getBalance", "{\"a\":\r\n[1,\n2],\r\t\"b\":3}") {
        let (call, _) = answered(&request, &mut application, r#"{"content":[]}"#).await;
        assert_eq!(call.arguments, "{\"a\":  [1, 2], \t\"b\":3}");
    }
    for request in calls(agent, "getBalance", "{}") {
        let request = request.swap(r#","arguments":{}"#, "");
        let (call, _) = answered(&request, &mut application, r#"{"content":[]}"#).await;
        assert_eq!(call.arguments, "{}");
    }
}

// holds: text-result, modern-own-meta, modern-result-type-replaced, legacy-structured-content, outcome-answered
#[tokio::test]
async fn a_result_reaches_the_agent_as_the_application_wrote_it() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let info = info();
    let own = format!(r#""_meta":{{{info}}}"#);
    let balance = r#""content":[{"type":"text","text":"100.50"}],"x":1e400"#;
    let odd = r#""content":[1,{"a":1,"a":2}],"b":0.10,"a":12345678901234567890,"c":-0,"d":"\u0061\/ä","e":[ 1 , 2 ]"#;
    for (members, modern, legacy) in [
        (
            format!(r#"{balance},"_meta":{{"a":1}}"#),
            format!(r#"{balance},"_meta":{{"a":1,{info}}}"#),
            format!(r#"{balance},"_meta":{{"a":1}}"#),
        ),
        (odd.into(), format!("{odd},{own}"), odd.into()),
        (r#""content":[],"_meta":{}"#.into(), format!(r#""content":[],{own}"#), r#""content":[],"_meta":{}"#.into()),
        (
            r#""_meta":{"b":[1e400]},"content":[]"#.into(),
            format!(r#""_meta":{{"b":[1e400],{info}}},"content":[]"#),
            r#""_meta":{"b":[1e400]},"content":[]"#.into(),
        ),
        (
            r#""content":[],"_meta":{"a":1},"_meta":{"b":2}"#.into(),
            format!(r#""content":[],"_meta":{{"a":1}},"_meta":{{"b":2,{info}}}"#),
            r#""content":[],"_meta":{"a":1},"_meta":{"b":2}"#.into(),
        ),
        (
            r#""content":[],"isError":true,"structuredContent":{"a":1e400}"#.into(),
            format!(r#""content":[],"isError":true,"structuredContent":{{"a":1e400}},{own}"#),
            r#""content":[],"isError":true,"structuredContent":{"a":1e400}"#.into(),
        ),
        (r#""resultType":"partial","content":[]"#.into(), format!(r#""content":[],{own}"#), r#""content":[]"#.into()),
        (r#""content":[],"r\u0065sultType":5"#.into(), format!(r#""content":[],{own}"#), r#""content":[]"#.into()),
        (
            r#""content":[],"structuredContent":[1],"a":1"#.into(),
            format!(r#""content":[],"structuredContent":[1],"a":1,{own}"#),
            r#""content":[],"a":1"#.into(),
        ),
        (
            r#""structuredContent":null,"content":[]"#.into(),
            format!(r#""structuredContent":null,"content":[],{own}"#),
            r#""content":[]"#.into(),
        ),
        (
            r#""content":[],"structuredContent":"text""#.into(),
            format!(r#""content":[],"structuredContent":"text",{own}"#),
            r#""content":[]"#.into(),
        ),
    ] {
        let result = format!("{{{members}}}");
        let requests = calls(agent, "getBalance", "{}");
        let [call, legacy_call] = if members == odd {
            requests.map(|request| request.unchecked("the application's content is not MCP's"))
        } else {
            requests
        };
        let (_, response) = answered(&call, &mut application, &result).await;
        assert_eq!(response.result(), format!(r#"{{"resultType":"complete",{modern}}}"#));
        let (_, response) = answered(&legacy_call, &mut application, &result).await;
        assert_eq!(response.result(), format!("{{{legacy}}}"));
    }
}

// holds: modern-own-meta, modern-result-shape
#[tokio::test]
async fn no_application_can_speak_for_the_bridge() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let name = "io.modelcontextprotocol/serverInfo";
    for members in [
        format!(r#""{name}":{{"name":"evil"}},"a":1"#),
        format!(r#""a":1,"{name}":null"#),
        format!(r#""{name}":1,"a":1,"{name}":2"#),
        format!(r#""a":1,"{}":5"#, name.replacen('i', "\\u0069", 1)),
    ] {
        let result = format!(r#"{{"_meta":{{{members}}},"content":[]}}"#);
        let (_, response) = answered(&agent.call("getBalance", "{}"), &mut application, &result).await;
        let expected = format!(r#"{{"resultType":"complete","_meta":{{"a":1,{}}},"content":[]}}"#, info());
        assert_eq!(response.result(), expected);
    }
}

// holds: text-result, text-line-ends
#[tokio::test]
async fn spaces_in_values_stay_and_line_ends_become_spaces() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let result = "{ \"content\" :\r\n[ {\t\"a\":\n1 } ] , \"_meta\" : { } }";
    for request in calls(agent, "getBalance", "{}") {
        let request = request.unchecked("the application's content is not MCP's");
        let (_, response) = answered(&request, &mut application, result).await;
        let text = response.result();
        assert!(text.contains("[ {\t\"a\": 1 } ]"), "{text}");
    }
}

// holds: outcome-unattended, outcome-structured, outcome-rejected-meta, outcome-error-result
#[tokio::test]
async fn where_asking_is_on_and_nobody_can_be_asked_nothing_is_done() {
    let asking = [Scene::with(&[]).await, Scene::with(&["--confirm", "ask"]).await];
    for scene in asking {
        let mut application = scene.application(BOTH).await;
        for (name, structured) in [("plain", true), ("typed", false)] {
            let [modern, legacy] = calls(&scene.agent, name, "{}");
            rejected(&modern.send().await, true, "unattended", structured);
            rejected(&legacy.send().await, false, "unattended", structured);
        }
        heard_nothing(&mut application).await;
    }
}

// holds: outcome-offline, outcome-structured, outcome-rejected-meta, outcome-error-result
#[tokio::test]
async fn an_application_that_is_not_there_did_nothing() {
    for arguments in [&["--confirm", "off"][..], &[]] {
        let scene = Scene::with(arguments).await;
        let offline = async || {
            let [modern, legacy] = calls(&scene.agent, "plain", "{}");
            rejected(&modern.send().await, true, "offline", false);
            rejected(&legacy.send().await, false, "offline", false);
        };
        offline().await;
        let mut application = Application::connect(&scene.serve, CLIENT).await;
        offline().await;
        application.register(BOTH).await;
        application.send("x").await;
        application.closed().await;
        offline().await;
    }
}

// holds: outcome-unknown-tool
#[tokio::test]
async fn an_unknown_tool_is_told_by_its_name() {
    for arguments in [&["--confirm", "off"][..], &["--confirm", "ask"]] {
        let scene = Scene::with(arguments).await;
        let mut application = scene.application(TOOLS).await;
        for name in ["getBalanse", "GetBalance", "", "a b"] {
            for request in calls(&scene.agent, name, "{}") {
                let error = request.send().await.refused(200, -32602, Some("1"));
                assert_eq!(error.message, format!("Unknown tool: {name}"));
            }
        }
        heard_nothing(&mut application).await;
        application.register("[]").await;
        for request in calls(&scene.agent, "getBalance", "{}") {
            request.send().await.refused(200, -32602, Some("1"));
        }
    }
}

// holds: outcome-disconnected, outcome-error-result
#[tokio::test]
async fn a_call_that_was_sent_and_lost_may_have_happened() {
    let scene = Scene::offline().await;
    for (era, request) in calls(&scene.agent, "plain", "{}").into_iter().enumerate() {
        let mut application = scene.application(BOTH).await;
        let lost = async {
            application.call().await;
            drop(application);
        };
        let ((), response) = tokio::join!(lost, request.send());
        uncertain(&response, era == 0);
    }
}

// holds: outcome-timeout, outcome-late-result, outcome-error-result
#[tokio::test]
async fn a_call_without_an_answer_in_time_may_have_happened() {
    let scene = Scene::with(&["--confirm", "off", "--call-timeout", "15"]).await;
    let mut application = scene.application(BOTH).await;
    for (era, request) in calls(&scene.agent, "plain", "{}").into_iter().enumerate() {
        let unanswered = async {
            let call = application.call().await;
            assert_eq!(application.text().await, format!(r#"{{"type":"cancel","id":"{}"}}"#, call.id));
            call
        };
        let (late, response) = tokio::join!(unanswered, request.send());
        uncertain(&response, era == 0);
        application.answer(&late, r#"{"content":[]}"#).await;
        heard_nothing(&mut application).await;
        let (_, response) = answered(&request, &mut application, r#"{"content":[]}"#).await;
        assert!(response.result().contains(r#""content":[]"#));
    }
}
