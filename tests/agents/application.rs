//! The application that the agents of other people call, on the Rust SDK: one tool answers at once, one never does, one
//! changes the list.
//!
//! The connection's URL and the token come in `CLIENTMCP_CONNECT` and `CLIENTMCP_TOKEN`. What it saw it says on stdout, a
//! JSON object a line; it lives as long as its stdin.

#![allow(clippy::print_stdout, reason = "its lines are what it is for")]

use std::{
    env,
    future::pending,
    io::{Read, stdin},
    thread,
};

use clientmcp::{Application, Call, Tool};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (order, mut orders) = mpsc::unbounded_channel();
    let tools = [fast(), slow(), change(order)];
    let application = Application::new(env::var("CLIENTMCP_TOKEN")?)
        .url(env::var("CLIENTMCP_CONNECT")?)
        .instructions("Three tools for tests.")
        .tools(tools.clone())
        .connect();
    application.online().await?;
    saw(&json!({ "saw": "online" }));
    let mut end = end_of_input();
    loop {
        tokio::select! {
            _ = &mut end => break,
            ended = application.ended() => return Err(ended.into()),
            Some(()) = orders.recv() => application.set_tools(tools.iter().cloned().chain([new()])),
        }
    }
    application.close().await;
    Ok(())
}

fn fast() -> Tool {
    Tool::new("fast")
        .title("Fast")
        .description("Says what it was told, at once.")
        .input_schema(json!({
            "type": "object",
            "properties": { "text": { "type": "string", "x-mcp-header": "Text" } },
            "required": ["text"]
        }))
        .output_schema(json!({
            "type": "object",
            "properties": { "said": { "type": "string" } },
            "required": ["said"]
        }))
        .read_only(true)
        .handler(|call: Call| async move {
            saw_call(&call);
            let text = call.arguments::<Value>()?["text"].as_str().ok_or("`text` must be a string")?.to_owned();
            clientmcp::Answer::json(&json!({ "said": text }))
        })
}

fn slow() -> Tool {
    Tool::new("slow").description("Never answers; says when it was cancelled.").handler(|call: Call| async move {
        saw_call(&call);
        let cancellation = call.cancellation();
        tokio::spawn(async move {
            cancellation.cancelled().await;
            saw(&json!({ "saw": "cancel", "name": "slow" }));
        });
        pending::<String>().await
    })
}

fn change(order: mpsc::UnboundedSender<()>) -> Tool {
    Tool::new("change").description("Adds the tool `new` to the list.").handler(move |call: Call| {
        let order = order.clone();
        async move {
            saw_call(&call);
            order.send(()).map_err(|_| "the application is ending")?;
            Ok::<_, clientmcp::ToolError>("changed")
        }
    })
}

fn new() -> Tool {
    Tool::new("new").description("There only after a change.").handler(|call: Call| async move {
        saw_call(&call);
        "new"
    })
}

fn saw_call(call: &Call) {
    saw(&json!({ "saw": "call", "name": call.name(), "arguments": call.arguments_text() }));
}

fn saw(what: &Value) {
    println!("{what}");
}

/// Resolves when whoever started this program is gone or done with it.
fn end_of_input() -> oneshot::Receiver<()> {
    let (done, end) = oneshot::channel();
    thread::spawn(move || {
        // What comes does not matter, nor how it ends.
        let _ = stdin().read_to_end(&mut Vec::new());
        let _ = done.send(());
    });
    end
}
