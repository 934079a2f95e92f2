//! The stdio command: MCP on stdin and stdout for hosts that start a program (`docs/protocol.md`, "stdio").
//!
//! What can be answered without the bridge is answered at once; everything else goes through the local door, as it was
//! written. It holds no token, owns no port and keeps nothing.

mod all;
mod knock;
mod link;
mod message;
mod one;
mod tools;

use clientmcp_protocol::{
    door::DoorCode,
    ids::{ClientId, Label},
    limits::LAST_ANSWERS_TIME,
};
use tokio::io::{AsyncBufRead, AsyncWrite};

pub use self::knock::{Away, Open, knock};
use self::{all::All, one::One};
use crate::{mcp::session, respond};

/// What the command was started for.
#[derive(Clone, Debug)]
pub struct Shim {
    /// What the host calls itself.
    pub host: Label,
    /// Whose tools; none for all that the host may call.
    pub application: Option<ClientId>,
    /// For hosts that never read a list again.
    pub static_tools: bool,
}

impl Shim {
    /// Serves until the host says no more.
    pub async fn serve(self, input: impl AsyncBufRead + Unpin, output: impl AsyncWrite + Unpin) {
        let Self { host, application, static_tools } = self;
        match application {
            Some(application) => {
                session::serve(&One::new(host, application, static_tools), input, output, LAST_ANSWERS_TIME).await;
            }
            None => session::serve(&All::new(host), input, output, LAST_ANSWERS_TIME).await,
        }
    }
}

/// The result of a call that came to nobody.
fn not_reached(away: &Away) -> String {
    let advice = match away.code {
        None => "Ask the user to open the ClientMCP app, then try again.",
        Some(DoorCode::Declined) => "Do not try again unless the user asks for it.",
        Some(DoorCode::Unanswered) => "Try again when the user has answered.",
        Some(DoorCode::Busy | DoorCode::Closing) => "Try again later.",
        Some(DoorCode::Version | DoorCode::Hello | DoorCode::Port | DoorCode::Value) => "Tell the user.",
    };
    respond::not_reached(&format!("{}.", away.sentence), advice)
}
