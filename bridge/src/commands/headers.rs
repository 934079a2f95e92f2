//! `clientmcp headers`: what a host asks for before it speaks HTTP, so that no token lies in its files.

use std::io::{self, Write as _};

use clientmcp_bridge::shim::{Away, knock};
use clientmcp_protocol::{
    door::{Said, Want},
    ids::{ClientId, Label},
};

use super::starter::while_there;
use crate::{Exit, complain, runtime};

/// What `clientmcp headers` is asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What the host is called: the person sees it, and may let it in
    #[arg(long, value_name = "LABEL", value_parser = Label::typed)]
    host: Label,
    /// The application whose tools are called
    #[arg(long, value_name = "CLIENT_ID")]
    app: ClientId,
    /// The port in the host's URL: for another one than the bridge listens on no token is printed
    #[arg(long, value_name = "N")]
    port: Option<u16>,
}

/// Prints the headers, if the bridge that listens gives a token.
pub(crate) fn run(arguments: Arguments) -> Exit {
    let Arguments { host, app: application, port } = arguments;
    runtime::run(async {
        match while_there(knock(Want::Headers { host, application, port }, || ())).await {
            Some(Ok((Said::Token { token, .. }, _))) => print(&token),
            Some(Ok(_)) => {
                complain("the bridge said something else");
                Exit::Failed
            }
            None => {
                complain("nobody waits for the headers any more");
                Exit::Failed
            }
            Some(Err(Away { sentence, .. })) => {
                complain(sentence);
                Exit::Failed
            }
        }
    })
}

/// A token needs no escapes in JSON.
fn print(token: &str) -> Exit {
    let mut stdout = io::stdout();
    let written = writeln!(stdout, r#"{{"Authorization":"Bearer {token}"}}"#).and_then(|()| stdout.flush());
    match written {
        Ok(()) => Exit::Done,
        Err(error) => {
            complain(format_args!("the headers could not be printed: {error}"));
            Exit::Failed
        }
    }
}
