//! `clientmcp stdio`: what a host starts that knows commands alone. Nothing but MCP is on stdout.

use clientmcp_bridge::shim::Shim;
use clientmcp_protocol::ids::{ClientId, Label};
use tokio::io::{BufReader, stdin, stdout};

use super::starter::while_there;
use crate::{Exit, runtime, stop};

/// What `clientmcp stdio` is asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What the host is called: the person sees it, and may let it in
    #[arg(long, value_name = "LABEL", value_parser = Label::typed)]
    host: Label,
    /// The application whose tools are served; without it, all that the person let the host call, behind three tools
    #[arg(long, value_name = "CLIENT_ID")]
    app: Option<ClientId>,
    /// Adds tools that list and call, for hosts that never read a list of tools again; only with --app
    #[arg(long)]
    static_tools: bool,
}

/// Serves until the host is gone.
pub(crate) fn run(arguments: Arguments) -> Exit {
    let Arguments { host, app, static_tools } = arguments;
    let shim = Shim { host, application: app, static_tools };
    runtime::run(async move {
        // Without signals the end of stdin still ends it.
        let stopped = stop::signal().ok();
        let stopped = async {
            match stopped {
                Some(stopped) => stopped.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // Another process may hold the other end of stdin still when the host is gone.
            _ = while_there(shim.serve(BufReader::new(stdin()), stdout())) => {}
            () = stopped => {}
        }
        Exit::Done
    })
}
