//! What the bridge itself answers: discovery, initialization, lists (`docs/protocol.md`, "Results").

use serde_json::{Value, json};

use crate::support::{
    agent::{LEGACY, MODERN},
    application::Application,
    http::Response,
    scene::{CLIENT, Scene, TOOLS, server_info},
};

const INSTRUCTIONS: &str = "Amounts are decimal strings in ETH.";

/// Registers the tool of `TOOLS` with these instructions.
async fn instruct(application: &mut Application, instructions: &str) {
    application.send(format!(r#"{{"type":"register","tools":{TOOLS},"instructions":"{instructions}"}}"#)).await;
    assert_eq!(application.text().await, r#"{"type":"registered"}"#);
}

/// A modern result, checked for its first member.
#[track_caller]
fn modern(response: &Response) -> Value {
    let text = response.result();
    assert!(text.starts_with(r#"{"resultType":"complete","#), "{text}");
    serde_json::from_str(&text).unwrap()
}

fn discovery(instructions: Option<&str>) -> Value {
    let mut result = json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"],
        "capabilities": {"tools": {"listChanged": true}},
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": server_info()},
    });
    if let Some(text) = instructions {
        result["instructions"] = text.into();
    }
    result
}

fn initialization(revision: &str, instructions: Option<&str>) -> Value {
    let capabilities = json!({"tools": {"listChanged": true}});
    let mut result = json!({"protocolVersion": revision, "capabilities": capabilities, "serverInfo": server_info()});
    if let Some(text) = instructions {
        result["instructions"] = text.into();
    }
    result
}

/// The tools that a legacy agent sees, as they stand.
async fn legacy_tools(scene: &Scene) -> String {
    let result = scene.agent.legacy_list().send().await.result();
    result.strip_prefix(r#"{"tools":"#).and_then(|rest| rest.strip_suffix('}')).expect(&result).to_owned()
}

// holds: modern-discover, legacy-initialize
#[tokio::test]
async fn both_eras_are_told_what_the_application_says_of_itself() {
    let (scene, mut application) = Scene::online(TOOLS).await;
    let agent = &scene.agent;
    assert_eq!(modern(&agent.discover().send().await), discovery(None));
    assert_eq!(agent.initialize(LEGACY).send().await.result_value(), initialization(LEGACY, None));
    instruct(&mut application, INSTRUCTIONS).await;
    assert_eq!(modern(&agent.discover().send().await), discovery(Some(INSTRUCTIONS)));
    assert_eq!(agent.initialize(LEGACY).send().await.result_value(), initialization(LEGACY, Some(INSTRUCTIONS)));
    instruct(&mut application, r#"\u0041 \"word\"\n"#).await;
    assert_eq!(modern(&agent.discover().send().await), discovery(Some("A \"word\"\n")));
    application.register(TOOLS).await;
    assert_eq!(modern(&agent.discover().send().await), discovery(None));
}

// holds: legacy-initialize
#[tokio::test]
async fn initialize_answers_a_legacy_revision() {
    let (Scene { agent, .. }, _application) = &Scene::online(TOOLS).await;
    for (asked, answered) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2025-11-25"),
        (MODERN, "2025-11-25"),
        ("", "2025-11-25"),
        ("x", "2025-11-25"),
    ] {
        for request in [agent.initialize(asked), agent.initialize(asked).header("MCP-Protocol-Version", "2025-06-18")] {
            assert_eq!(request.send().await.result_value(), initialization(answered, None));
        }
    }
}

// holds: modern-instructions-offline
#[tokio::test]
async fn while_nobody_is_there_the_instructions_say_so() {
    let scene = Scene::offline().await;
    let mut application = Application::connect(&scene.serve, CLIENT).await;
    for _ in ["before a register", "after the end"] {
        let discovered = modern(&scene.agent.discover().send().await);
        let sentence = discovered["instructions"].as_str().expect("instructions").to_owned();
        assert!(sentence.contains("not connected"), "{sentence}");
        assert_eq!(discovered, discovery(Some(&sentence)));
        let initialized = scene.agent.initialize(LEGACY).send().await.result_value();
        assert_eq!(initialized, initialization(LEGACY, Some(&sentence)));
        instruct(&mut application, INSTRUCTIONS).await;
        assert_eq!(modern(&scene.agent.discover().send().await), discovery(Some(INSTRUCTIONS)));
        // The bridge closes for what is no JSON, and has forgotten before the close arrives.
        application.send("x").await;
        application.closed().await;
        application = Application::connect(&scene.serve, CLIENT).await;
    }
}

// holds: legacy-ping
#[tokio::test]
async fn ping_is_empty() {
    let Scene { agent, .. } = &Scene::offline().await;
    assert_eq!(agent.ping().send().await.text(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
}

// holds: modern-list-offline, channel-offline-until-register
#[tokio::test]
async fn the_list_is_empty_while_the_application_is_offline() {
    let scene = Scene::offline().await;
    let empty = json!({
        "resultType": "complete",
        "tools": [],
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": server_info()},
    });
    assert_eq!(modern(&scene.agent.list().send().await), empty);
    assert_eq!(legacy_tools(&scene).await, "[]");
    let mut application = Application::connect(&scene.serve, CLIENT).await;
    assert_eq!(modern(&scene.agent.list().send().await), empty);
    application.register("[]").await;
    assert_eq!(modern(&scene.agent.list().send().await), empty);
    application.register(TOOLS).await;
    assert_eq!(legacy_tools(&scene).await, TOOLS);
    application.send("x").await;
    application.closed().await;
    assert_eq!(modern(&scene.agent.list().send().await), empty);
    assert_eq!(legacy_tools(&scene).await, "[]");
}

// holds: text-definition, text-line-ends, modern-list-offline
#[tokio::test]
async fn definitions_are_listed_as_declared_and_in_order() {
    let strange = concat!(
        r#"{"zz":0.10,"inputSchema":{ "x":1e400,"properties":{"b":true,"a":{"default":-0}} , "type" : "obj\u0065ct"},"#,
        r#""n\u0061me":"b","title":"\/\u00e4ä","outputSchema":{"type":"object"},"m":12345678901234567890}"#
    );
    let many: Vec<_> =
        (0..300).rev().map(|n| format!(r#"{{"name":"t{n}","inputSchema":{{"type":"object"}}}}"#)).collect();
    let tools = format!("[{strange},{}]", many.join(","));
    let (scene, mut application) = Scene::online(&tools).await;
    let result = scene.agent.list().send().await.result();
    assert!(result.contains(&format!(r#""tools":{tools}"#)), "{result}");
    assert!(!result.contains("nextCursor"));

    let lines = "{\"name\":\"a\",\r\n\"inputSchema\":{\n\"type\":\r\"object\"}}";
    application.register(&format!("[{lines}]")).await;
    let one_line = lines.replace(['\r', '\n'], " ");
    let result = scene.agent.list().send().await.result();
    assert!(result.contains(&format!(r#""tools":[{one_line}]"#)), "{result}");
    assert_eq!(legacy_tools(&scene).await, format!("[{one_line}]"));
}

// holds: modern-result-shape
#[tokio::test]
async fn a_modern_list_says_how_long_it_may_be_kept() {
    let (scene, _application) = Scene::online(TOOLS).await;
    let mut tools = discovery(None);
    for absent in ["supportedVersions", "capabilities"] {
        tools.as_object_mut().unwrap().remove(absent);
    }
    tools["tools"] = serde_json::from_str(TOOLS).unwrap();
    assert_eq!(modern(&scene.agent.list().send().await), tools);
}

// holds: legacy-result-shape
#[tokio::test]
async fn a_legacy_result_has_nothing_of_the_modern_era() {
    let (Scene { agent, .. }, _application) = &Scene::online(TOOLS).await;
    for request in [agent.initialize(LEGACY), agent.ping(), agent.legacy_list()] {
        let result = request.send().await.result_value();
        for modern in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            assert_eq!(result.get(modern), None, "{result}");
        }
    }
}

// holds: legacy-output-schema
#[tokio::test]
async fn what_legacy_sdks_reject_is_adapted_for_them_alone() {
    let tool = |members: &str| format!(r#"{{"name":"t",{members}}}"#);
    let input = r#""inputSchema":{"type":"object"}"#;
    for (declared, legacy) in [
        (format!(r#"{input},"outputSchema":{{"type":"array","items":{{}}}}"#), input.to_owned()),
        (format!(r#"{input},"outputSchema":{{}}"#), input.to_owned()),
        (format!(r#"{input},"outputSchema":{{"type":["object"]}}"#), input.to_owned()),
        (
            format!(r#"{input},"outputSchema":{{"type":"object"}}"#),
            format!(r#"{input},"outputSchema":{{"type":"object"}}"#),
        ),
        (
            r#""inputSchema":{"type":"object","properties":{"a":true,"b":false,"c":{"properties":{"d":true}}}}"#.into(),
            r#""inputSchema":{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{"properties":{"d":true}}}}"#
                .into(),
        ),
        (
            format!(r#"{input},"outputSchema":{{"properties":{{"a":true,"b":{{}}}},"type":"object"}}"#),
            format!(r#"{input},"outputSchema":{{"properties":{{"a":{{}},"b":{{}}}},"type":"object"}}"#),
        ),
        (
            r#""inputSchema":{"type":"object","additionalProperties":false,"$defs":{"a":true}},"x":[true, 1e400]"#
                .into(),
            r#""inputSchema":{"type":"object","additionalProperties":false,"$defs":{"a":true}},"x":[true, 1e400]"#
                .into(),
        ),
    ] {
        let (scene, _application) = Scene::online(&format!("[{}]", tool(&declared))).await;
        assert_eq!(legacy_tools(&scene).await, format!("[{}]", tool(&legacy)));
        let result = scene.agent.list().send().await.result();
        assert!(result.contains(&format!(r#""tools":[{}]"#, tool(&declared))), "{result}");
    }
}
