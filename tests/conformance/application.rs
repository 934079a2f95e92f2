//! The application that the official suite's server scenarios expect, on the Rust SDK.
//!
//! Names, schemas and answers are the suite's. What needs a feature that the bridge leaves out is declared where a
//! scenario would otherwise find no tool to call, and answers as an application can: with a result.

use std::time::Duration;

use clientmcp::{Answer, Application, Call, Handle, Tool, ToolError};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::support::{serve::Serve, tokens, within};

/// The client ID of the application.
pub(super) const NAME: &str = "conformance";

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/// Two samples of silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==";

/// Connects the application, which is online when this returns and lives as long as the runtime.
pub(super) async fn connect(serve: &Serve) {
    let (trigger, mut triggered) = unbounded_channel();
    let tools = tools(&trigger);
    let application = Application::new(tokens::client(NAME)).url(serve.connect.as_str()).tools(tools.clone()).connect();
    within(application.online()).await.unwrap();
    tokio::spawn(async move {
        let mut changed = false;
        while triggered.recv().await.is_some() {
            changed = !changed;
            change(&application, &tools, changed);
        }
    });
}

/// Declares one tool more, or all as they were.
fn change(application: &Handle, tools: &[Tool], changed: bool) {
    let more = answering("test_changed_tool", "There only after a change of the list", &json!({ "content": [] }));
    application.set_tools(tools.iter().cloned().chain(changed.then_some(more)));
}

fn tools(trigger: &UnboundedSender<()>) -> Vec<Tool> {
    let others = [trigger_tool_change(trigger), json_schema_2020_12(), headers(), greet(), slow_compute()];
    // The first tool is called without arguments by scenarios that look at headers alone.
    [contents(), plain(), unable(), others.into()].concat()
}

/// One for each kind of content.
fn contents() -> Vec<Tool> {
    let content = |name, description, content: &[Value]| answering(name, description, &json!({ "content": content }));
    let sound = json!({ "type": "audio", "data": WAV, "mimeType": "audio/wav" });
    let embedded = resource("test://embedded-resource", "text/plain", "This is an embedded resource content.");
    let mixed = [
        text("Multiple content types test:"),
        image(),
        resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
    ];
    vec![
        content("test_simple_text", "Answers one text", &[text("This is a simple text response for testing.")]),
        content("test_image_content", "Answers an image", &[image()]),
        content("test_audio_content", "Answers a sound", &[sound]),
        content("test_embedded_resource", "Answers a resource within the result", &[embedded]),
        content("test_multiple_content_types", "Answers a text, an image and a resource", &mixed),
        failing("test_error_handling", "Fails, always", "This tool intentionally returns an error for testing"),
    ]
}

/// What needs more than a result only in passing: it works all the same.
fn plain() -> Vec<Tool> {
    [
        ("test_tool_with_progress", "Works without reporting progress"),
        ("test_tool_with_logging", "Works without sending log messages"),
        ("test_logging_tool", "Works without sending log messages"),
        ("test_streaming_elicitation", "Works without asking the agent's person"),
        ("test_reconnection", "Answers on the connection that asked"),
    ]
    .map(|(name, description)| answering(name, description, &done()))
    .into()
}

/// What cannot be done without the agent's part in it.
fn unable() -> Vec<Tool> {
    const MODEL: &str = "An application cannot ask the agent's model.";
    const PERSON: &str = "An application cannot ask the agent's person.";
    vec![
        failing("test_missing_capability", "Would need the agent's model", MODEL),
        failing("test_sampling", "Would need the agent's model", MODEL),
        failing("test_elicitation", "Would need the agent's person", PERSON),
        failing("test_elicitation_sep1034_defaults", "Would need the agent's person", PERSON),
        failing("test_elicitation_sep1330_enums", "Would need the agent's person", PERSON),
        failing("confirm_delete", "Would need the agent's person", PERSON),
        failing("failing_job", "Fails, always", "The job failed."),
    ]
}

fn trigger_tool_change(trigger: &UnboundedSender<()>) -> Tool {
    let trigger = trigger.clone();
    Tool::new("test_trigger_tool_change").description("Adds a tool, or takes it away again").handler(move |_| {
        let sent = trigger.send(());
        async move { sent.map(|()| "The list of tools changes.").map_err(|_| "The test has ended.") }
    })
}

fn headers() -> Tool {
    let schema = json!({ "type": "object", "required": ["region"], "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" },
        "priority": { "type": "integer", "x-mcp-header": "Priority" },
        "verbose": { "type": "boolean", "x-mcp-header": "Verbose" },
    } });
    Tool::new("test_headers")
        .description("Has arguments that headers repeat")
        .input_schema(schema)
        .handler(|_| async { "Done." })
}

fn greet() -> Tool {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    Tool::new("greet").description("Greets somebody by name").input_schema(schema).handler(|call: Call| async move {
        let name = call.arguments::<Value>()?["name"].as_str().ok_or("who?")?.to_owned();
        Ok::<_, ToolError>(format!("Hello, {name}!"))
    })
}

/// Takes the seconds that it is told, up to what turns an answer into a stream: nothing here waits for it as a task.
fn slow_compute() -> Tool {
    const LONGEST: f64 = 1.2;
    let schema = json!({ "type": "object", "properties": {
        "seconds": { "type": "number" },
        "label": { "type": "string" },
    } });
    Tool::new("slow_compute").description("Answers after some seconds").input_schema(schema).handler(
        |call: Call| async move {
            let seconds = call.arguments::<Value>()?["seconds"].as_f64().ok_or("how many seconds?")?;
            tokio::time::sleep(Duration::from_secs_f64(seconds.clamp(0.0, LONGEST))).await;
            Ok::<_, ToolError>("Done.")
        },
    )
}

/// A tool without arguments that answers this, always.
fn answering(name: &str, description: &str, result: &Value) -> Tool {
    let result = result.to_string();
    Tool::new(name).description(description).handler(move |_| {
        let answer = Answer::raw(result.as_str());
        async { answer }
    })
}

/// A tool without arguments that fails with these words, always.
fn failing(name: &str, description: &str, words: &str) -> Tool {
    answering(name, description, &json!({ "isError": true, "content": [text(words)] }))
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

fn resource(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime_type, "text": text } })
}

fn done() -> Value {
    json!({ "content": [text("Done.")] })
}

/// The suite looks for every member of this schema in the list.
fn json_schema_2020_12() -> Tool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
        } },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    Tool::new("json_schema_2020_12_tool")
        .description("Tool with JSON Schema 2020-12 features")
        .input_schema(schema)
        .handler(|_| async { "Done." })
}
