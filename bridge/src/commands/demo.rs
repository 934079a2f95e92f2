//! `clientmcp demo`: a bridge, a small application and one agent's call, in one process.
//!
//! All of it is real: the application connects over its WebSocket, the agent calls over HTTP. Only nobody is asked, and
//! the secret lives in memory, which the command says.

use std::{
    io::{self, Write as _},
    time::{Duration, SystemTime},
};

use axum::body::Body;
use clientmcp_bridge::{
    approvals::Asking,
    hub::{Beginning, Hub},
    room::Room,
    server::Bridge,
    token::{Access, Grant, Secret, Secrets, mint},
};
use clientmcp_protocol::{
    control::{ClientOrigins, Memory, Settings},
    ids::{ClientId, Label, Role},
};
use http_body_util::BodyExt as _;
use hyper::{Request, client::conn::http1, header::HOST};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::shopping::{APPLICATION, shopping_list};
use crate::{Exit, complain, runtime, stop};

/// What `clientmcp demo` is asked: nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

/// The call that is shown, and printed to be pasted.
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_item","arguments":{"name":"oat milk","quantity":2}}}"#;

/// The same call in the modern era, where a request is complete in itself.
const MODERN_CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_item","arguments":{"name":"oat milk","quantity":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// Why the demo ended early.
type Failure = Box<dyn std::error::Error>;

pub(crate) fn run(_: Arguments) -> Exit {
    runtime::run(async {
        match demo().await {
            Ok(()) => Exit::Done,
            Err(failure) => {
                complain(format_args!("the demo ended early: {failure}"));
                Exit::Failed
            }
        }
    })
}

async fn demo() -> Result<(), Failure> {
    let stopped = stop::signal()?;
    let secrets = Secrets::from(Secret::generate()?);
    let (client, agent) = (token(&secrets, Role::Client)?, token(&secrets, Role::Agent)?);
    let bridge = Bridge::listen(0)?;
    let hub = Hub::start(Beginning {
        asking: Asking::Off,
        room: Room::FULL.applications,
        settings: Settings { client_origins: ClientOrigins::Any, ..Settings::default() },
        access: Access::new(secrets),
        memory: Memory::default(),
        paused: false,
    });
    let (mcp, connect) = (bridge.mcp_url(), bridge.connect_url());
    let show = async {
        let application = shopping_list(&connect, client).connect();
        application.online().await?;
        let answer = call(&mcp, &agent).await?;
        print(&screen(&mcp, &connect, &agent, &answer))?;
        application.ended().await;
        Ok::<_, Failure>(())
    };
    tokio::select! {
        () = bridge.serve(hub, Room::FULL, stopped) => Ok(()),
        shown = show => shown,
    }
}

fn token(secrets: &Secrets, role: Role) -> Result<String, Failure> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let grant = Grant {
        subject: ClientId::new(APPLICATION)?,
        role,
        label: Some(Label::new("demo")?),
        generation: 0,
        ttl: Some(DAY),
    };
    Ok(mint(secrets, &grant, SystemTime::now())?)
}

/// One agent's request over HTTP, as any MCP host would send it.
async fn call(mcp: &str, token: &str) -> Result<String, Failure> {
    let authority = mcp.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let stream = TcpStream::connect(&authority).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::post("/mcp")
        .header(HOST, authority)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(Body::from(CALL))?;
    let answer =
        async { Ok::<_, Failure>(sender.send_request(request).await?.into_body().collect().await?.to_bytes()) };
    tokio::pin!(answer);
    let answer = tokio::select! {
        answer = &mut answer => answer?,
        connection = connection => {
            connection?;
            answer.await?
        }
    };
    Ok(String::from_utf8(answer.to_vec())?)
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

fn screen(mcp: &str, connect: &str, token: &str, answer: &str) -> String {
    let headers = format!("\\\n    -H 'Authorization: Bearer {token}' \\\n    -H 'Content-Type: application/json'");
    let modern = r"-H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: add_item'";
    let entry = format!(r#"{{"type":"http","url":"{mcp}","headers":{{"Authorization":"Bearer {token}"}}}}"#);
    format!(
        "\
ClientMCP demo: a bridge, a shopping list application and an agent, in one process.
Nobody is asked before a call here. The token below is thrown away with this process.

One call, agent -> HTTP -> bridge -> WebSocket -> application, and back:

  application  {APPLICATION}, connected to {connect}
  agent        POST {mcp}
               {CALL}
  answer       {answer}

Make the same call yourself, while this runs. Legacy era (MCP 2025-03-26 to 2025-11-25):

  curl -s {mcp} {headers} \\
    -d '{CALL}'

Modern era (MCP 2026-07-28):

  curl -s {mcp} {headers} \\
    {modern} \\
    -d '{MODERN_CALL}'

Claude Code:

  claude mcp add --transport http clientmcp-demo {mcp} --header 'Authorization: Bearer {token}'

Other hosts that take a URL, in their MCP settings (VS Code calls the first key \"servers\"):

  {{\"mcpServers\":{{\"clientmcp-demo\":{entry}}}}}

The demo stays up. Ctrl-C ends it.
"
    )
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    #[test]
    fn it_takes_no_arguments() {
        let command = Arguments::augment_args(clap::Command::new("demo"));
        assert!(command.try_get_matches_from(["demo", "x"]).is_err());
    }
}
