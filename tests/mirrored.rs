//! Headers that repeat parts of a modern body (`docs/protocol.md`, "Mirrored headers").

use serde_json::Value;

use crate::support::{
    agent::Agent,
    application::Application,
    http::{Request, Response},
    scene::{Scene, answered, heard_nothing},
};

/// A tool with an annotation of each type, one of them nested. Its arguments may hold anything.
const TOOLS: &str = r#"[{"name":"t","inputSchema":{"type":"object","properties":{
    "text":{"type":"string","x-mcp-header":"Text"},
    "count":{"type":"integer","x-mcp-header":"Count"},
    "dry":{"type":"boolean","x-mcp-header":"Dry"},
    "deep":{"type":"object","properties":{"er":{"type":"object","properties":{
        "zone":{"type":"string","x-mcp-header":"Zone-1"}}}}}}}}]"#;

/// Asks before every call and can ask nobody: what passed the headers ends as `unattended` and no application has to answer.
async fn scene() -> (Scene, Application) {
    let scene = Scene::with(&["--confirm", "ask"]).await;
    let application = scene.application(TOOLS).await;
    (scene, application)
}

#[track_caller]
fn passed(response: &Response) {
    let result: Value = response.result_value();
    assert_eq!(result["_meta"]["io.github.clientmcp/outcome"]["reason"]["code"], "unattended", "{result}");
}

#[track_caller]
fn mismatched(response: &Response) {
    response.refused(400, -32020, Some("1"));
}

/// A call whose argument is mirrored in one header.
fn call(agent: &Agent, argument: &str, value: &str, header: &str, mirrored: impl AsRef<[u8]>) -> Request {
    agent.call("t", &format!(r#"{{"{argument}":{value}}}"#)).header(header, mirrored)
}

// holds: mirror-method
#[tokio::test]
async fn the_method_stands_once_and_is_equal() {
    let (Scene { agent, .. }, _application) = &scene().await;
    for request in [agent.list(), agent.discover(), agent.call("t", "{}")] {
        mismatched(&request.clone().without("Mcp-Method").send().await);
        for other in ["", "tools/List", "TOOLS/LIST", "ping", "=?base64?dG9vbHMvbGlzdA==?=", "tools/list,tools/list"] {
            mismatched(&request.clone().header("Mcp-Method", other).send().await);
        }
    }
    mismatched(&agent.list().also("Mcp-Method", "tools/list").send().await);
    mismatched(&agent.list().header("Mcp-Method", b"tools/list\xe4").send().await);
    agent.list().header("Mcp-Method", "\t tools/list  ").send().await.result();
}

// holds: mirror-name
#[tokio::test]
async fn the_name_of_a_call_stands_once_and_is_equal() {
    let (scene, mut application) = scene().await;
    let agent = &scene.agent;
    let call = agent.call("t", "{}");
    passed(&call.send().await);
    passed(&call.clone().header("mcp-name", " t ").send().await);
    mismatched(&call.clone().without("Mcp-Name").send().await);
    mismatched(&call.clone().also("Mcp-Name", "t").send().await);
    for other in ["", "T", "tt", "t,t", "\"t\""] {
        mismatched(&call.clone().header("Mcp-Name", other).send().await);
    }
    mismatched(&call.header("Mcp-Name", b"t\xff").send().await);
    for request in [agent.list(), agent.discover()] {
        request.clone().header("Mcp-Name", "x").send().await.result();
        request.header("Mcp-Name", "x").also("Mcp-Name", "=?base64?!?=").send().await.result();
    }
    heard_nothing(&mut application).await;
}

// holds: mirror-name-not-string
#[tokio::test]
async fn a_name_that_is_no_string_is_compared_with_nothing() {
    let (Scene { agent, .. }, _application) = &scene().await;
    for members in [r#""arguments":{}"#, r#""name":null"#, r#""name":5"#, r#""name":{}"#] {
        let call = agent.modern("tools/call", members);
        mismatched(&call.send().await);
        for name in ["t", "5", "null"] {
            call.clone().header("Mcp-Name", name).send().await.refused(400, -32602, Some("1"));
        }
    }
}

// holds: mirror-sentinel
#[tokio::test]
async fn a_sentinel_means_the_text_that_it_encodes() {
    let (Scene { agent, .. }, _application) = &scene().await;
    passed(&agent.call("t", "{}").header("Mcp-Name", "=?base64?dA==?=").send().await);
    for (header, text) in [
        ("us-west1", "us-west1"),
        ("=?base64?SGVsbG8=?=", "Hello"),
        ("=?base64?SGVsbG8=?=", r"\u0048ello"),
        ("=?base64?w6Q=?=", "ä"),
        ("=?base64?w6Q=?=", r"\u00e4"),
        ("=?base64?8J+YgA==?=", r"\ud83d\ude00"),
        ("=?base64??=", ""),
        ("=?base64?IGEg?=", " a "),
        ("=?base64?YQpi?=", r"a\nb"),
        // The text looks like a sentinel itself.
        ("=?base64?PT9iYXNlNjQ/YT89?=", "=?base64?a?="),
        ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
        ("SGVsbG8=?=", "SGVsbG8=?="),
        ("x=?base64?SGVsbG8=?=", "x=?base64?SGVsbG8=?="),
        ("=?base64?=", "=?base64?="),
        ("  us-west1\t", "us-west1"),
        ("a b\tc", r"a b\tc"),
        ("a, b", "a, b"),
        ("null", "null"),
    ] {
        let response = call(agent, "text", &format!("\"{text}\""), "Mcp-Param-Text", header).send().await;
        println!("{header} for {text}");
        passed(&response);
    }
    passed(&call(agent, "text", r#""a""#, "mcp-param-TEXT", "a").send().await);
}

// holds: mirror-sentinel-bad
#[tokio::test]
async fn a_broken_sentinel_is_refused() {
    let (Scene { agent, .. }, _application) = &scene().await;
    for (header, text) in [
        ("=?base64?SGVsbG8?=", "Hello"),
        ("=?base64?SGVsbG9=?=", "Hello"),
        ("=?base64?SGVsbG8==?=", "Hello"),
        ("=?base64?SGVs bG8=?=", "Hello"),
        ("=?base64? SGVsbG8= ?=", "Hello"),
        ("=?base64?=?=", ""),
        ("=?base64?/w==?=", r"\ufffd"),
        ("=?base64?7aCA?=", r"\ufffd"),
        // The alphabet of URLs, of a text that differs by it.
        ("=?base64?8J-YgA==?=", r"\ud83d\ude00"),
        ("=?base64?SGVsbG8=?=?=", "Hello"),
    ] {
        mismatched(&call(agent, "text", &format!("\"{text}\""), "Mcp-Param-Text", header).send().await);
        mismatched(&agent.call("t", "{}").header("Mcp-Name", header).send().await);
        // Nor is it the literal text.
        mismatched(&call(agent, "text", &format!("\"{header}\""), "Mcp-Param-Text", header).send().await);
    }
}

// holds: mirror-param-required
#[tokio::test]
async fn an_annotated_argument_needs_its_header() {
    let (Scene { agent, .. }, _application) = &scene().await;
    for arguments in
        [r#"{"text":"a"}"#, r#"{"text":""}"#, r#"{"count":0}"#, r#"{"dry":false}"#, r#"{"deep":{"er":{"zone":"z"}}}"#]
    {
        mismatched(&agent.call("t", arguments).send().await);
    }
    let two = agent.call("t", r#"{"text":"a","count":1}"#).header("Mcp-Param-Text", "a");
    mismatched(&two.send().await);
    passed(&two.header("Mcp-Param-Count", "1").send().await);
}

// holds: mirror-param-none
#[tokio::test]
async fn without_a_value_there_is_no_header() {
    let (Scene { agent, .. }, _application) = &scene().await;
    let bare = agent.modern("tools/call", r#""name":"t""#).header("Mcp-Name", "t");
    let mut calls = vec![bare];
    calls.extend(
        [
            "{}",
            r#"{"text":null,"count":null,"dry":null,"deep":null}"#,
            r#"{"deep":{}}"#,
            r#"{"deep":{"er":{"zone":null}}}"#,
            r#"{"deep":5}"#,
            r#"{"deep":[{"er":{"zone":"z"}}]}"#,
            r#"{"deep":{"er":"zone"}}"#,
            r#"{"zone":"z","er":{"zone":"z"},"Text":"a"}"#,
            r#"{"x":1,"x":2}"#,
        ]
        .map(|arguments| agent.call("t", arguments)),
    );
    for call in calls {
        passed(&call.send().await);
        for (header, value) in
            [("Text", "a"), ("Text", ""), ("Text", "null"), ("Count", "0"), ("Dry", "false"), ("Zone-1", "z")]
        {
            mismatched(&call.clone().header(&format!("Mcp-Param-{header}"), value).send().await);
        }
    }
}

// holds: mirror-param-string
#[tokio::test]
async fn strings_and_booleans_are_compared_exactly() {
    let (Scene { agent, .. }, _application) = &scene().await;
    for (header, text) in
        [("A", "a"), ("aa", "a"), ("", "a"), ("a", ""), ("\"a\"", "a"), ("a", " a"), (r"\u0061", r"\u0061")]
    {
        mismatched(&call(agent, "text", &format!("\"{text}\""), "Mcp-Param-Text", header).send().await);
    }
    // One letter, and the same look made of two.
    mismatched(&call(agent, "text", r#""a\u0308""#, "Mcp-Param-Text", "=?base64?w6Q=?=").send().await);
    for raw in [&b"\xc3\xa4"[..], b"\xe4", b"\xff"] {
        mismatched(&call(agent, "text", "\"ä\"", "Mcp-Param-Text", raw).send().await);
    }
    passed(&call(agent, "text", r#""""#, "Mcp-Param-Text", "").send().await);
    for value in ["true", "false"] {
        passed(&call(agent, "dry", value, "Mcp-Param-Dry", value).send().await);
        for header in ["True", "TRUE", "1", "0", "yes", "", "\"true\""] {
            mismatched(&call(agent, "dry", value, "Mcp-Param-Dry", header).send().await);
        }
    }
    mismatched(&call(agent, "dry", "true", "Mcp-Param-Dry", "false").send().await);
    mismatched(&call(agent, "dry", "false", "Mcp-Param-Dry", "true").send().await);
}

// holds: mirror-param-integer
#[tokio::test]
async fn integers_are_compared_by_value() {
    let (Scene { agent, .. }, _application) = &scene().await;
    for (header, value) in [
        ("42", "42"),
        ("42.0", "42"),
        ("42", "42.000"),
        ("4.2e1", "42"),
        ("42", "4.2E+1"),
        ("420e-1", "42"),
        ("-0", "0"),
        ("0", "-0"),
        ("0.0", "0e5"),
        ("0e99999999999", "0"),
        ("-7", "-7.0"),
        ("9007199254740991", "9007199254740991"),
        ("-9007199254740991", "-9.007199254740991e15"),
    ] {
        println!("{header} for {value}");
        passed(&call(agent, "count", value, "Mcp-Param-Count", header).send().await);
    }
    for (header, value) in [
        ("43", "42"),
        ("-42", "42"),
        ("+42", "42"),
        ("042", "42"),
        ("0x2a", "42"),
        ("42.", "42"),
        (".42e2", "42"),
        ("42e", "42"),
        ("4 2", "42"),
        ("4_2", "42"),
        ("\"42\"", "42"),
        ("", "0"),
        ("NaN", "0"),
        ("42.5", "42.5"),
        ("1e-1", "1e-1"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740993", "9007199254740992"),
        ("-9007199254740992", "-9007199254740992"),
        ("1e400", "1e400"),
        ("1e99999999999", "1e99999999999"),
        ("9007199254740991", "9007199254740990.9999999999"),
        ("42.00000000000000000001", "42"),
    ] {
        mismatched(&call(agent, "count", value, "Mcp-Param-Count", header).send().await);
    }
}

// holds: mirror-param-type
#[tokio::test]
async fn a_value_of_another_type_is_a_mismatch() {
    let (Scene { agent, .. }, _application) = &scene().await;
    for (argument, header, value, mirrored) in [
        ("text", "Text", "5", "5"),
        ("text", "Text", "true", "true"),
        ("text", "Text", "[]", "[]"),
        ("text", "Text", "{}", "{}"),
        ("count", "Count", r#""5""#, "5"),
        ("count", "Count", "true", "1"),
        ("count", "Count", "[5]", "5"),
        ("dry", "Dry", r#""true""#, "true"),
        ("dry", "Dry", "1", "true"),
        ("dry", "Dry", "{}", "true"),
    ] {
        let call = call(agent, argument, value, &format!("Mcp-Param-{header}"), mirrored);
        mismatched(&call.send().await);
        mismatched(&call.without(&format!("Mcp-Param-{header}")).send().await);
    }
}

// holds: mirror-param-nested
#[tokio::test]
async fn an_argument_is_read_at_its_exact_path() {
    let (Scene { agent, .. }, _application) = &scene().await;
    let zone = agent.call("t", r#"{"deep":{"er":{"zone":"z","other":1,"other":2}},"x":{"zone":"y"}}"#);
    passed(&zone.clone().header("Mcp-Param-Zone-1", "z").send().await);
    passed(&zone.clone().swap("zone", r"z\u006fne").header("Mcp-Param-Zone-1", "z").send().await);
    mismatched(&zone.clone().header("Mcp-Param-Zone-1", "y").send().await);
    mismatched(&zone.header("Mcp-Param-Zone-1", "z").also("Mcp-Param-Zone-1", "z").send().await);
    for arguments in [
        r#"{"deep":{"er":{"zone":"z","zone":"z"}}}"#,
        r#"{"deep":{"er":{"zone":"z","z\u006fne":"z"}}}"#,
        r#"{"deep":{"er":{"zone":"z"},"er":{"zone":"z"}}}"#,
        r#"{"deep":{"er":{"zone":"z"}},"deep":{"er":{"zone":"z"}}}"#,
        r#"{"deep":null,"deep":{"er":{"zone":"z"}}}"#,
    ] {
        mismatched(&agent.call("t", arguments).header("Mcp-Param-Zone-1", "z").send().await);
        mismatched(&agent.call("t", arguments).send().await);
    }
    mismatched(&agent.call("t", r#"{"text":null,"text":null}"#).send().await);
}

// holds: mirror-legacy-none
#[tokio::test]
async fn what_nobody_asked_for_is_ignored() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    let wrong = agent
        .legacy_call("t", r#"{"text":"a"}"#)
        .header("Mcp-Method", "other")
        .header("Mcp-Name", "=?base64?!?=")
        .header("Mcp-Param-Text", "b")
        .also("Mcp-Param-Text", "c");
    let other = agent.call("t", "{}").header("Mcp-Param-Other", "x").also("Mcp-Param-Other", "=?base64?!?=");
    for call in [wrong, other] {
        answered(&call, &mut application, r#"{"content":[]}"#).await.1.result();
    }
    let listing = agent.list().header("Mcp-Param-Text", "x");
    listing.send().await.result();
    let unknown =
        agent.call("unknown", r#"{"text":"a"}"#).header("Mcp-Param-Text", "b").header("Mcp-Param-Zone-1", "b");
    unknown.send().await.refused(200, -32602, Some("1"));

    let Scene { agent, .. } = &Scene::offline().await;
    let offline = agent.call("t", r#"{"text":"a"}"#).header("Mcp-Param-Text", "b").send().await.result_value();
    assert_eq!(offline["_meta"]["io.github.clientmcp/outcome"]["reason"]["code"], "offline");
}
