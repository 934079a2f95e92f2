//! Offer the functions of a running application to AI agents as MCP tools.
//!
//! An application connects out to a bridge on the same machine and declares its tools. Agents call them
//! through the bridge over standard MCP; the handlers run here, on the application's own state. It opens no port.
//!
//! ```no_run
//! use clientmcp::{Application, Call, Tool, ToolError};
//!
//! async fn greet(call: Call) -> Result<String, ToolError> {
//!     let name = call.arguments::<serde_json::Value>()?["name"].as_str().ok_or("who?")?.to_owned();
//!     Ok(format!("Hello, {name}!"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let token = String::new();
//! let greet = Tool::new("greet").description("Greets somebody by name").handler(greet);
//! let application = Application::new(token).tool(greet).connect();
//! if let Err(ended) = application.online().await {
//!     // By `Display`, which says what to do; `Debug` does not.
//!     eprintln!("{ended}");
//! }
//! application.ended().await;
//! # }
//! ```
//!
//! * [`Application`] says what is offered, and [`Handle`] is the running application: its [`State`], other tools, the
//!   end.
//! * [`Tool`] has a definition and a handler. The handler gets a [`Call`] and returns what [`IntoAnswer`] knows.
//! * The connection is kept: it is pinged, and made again with growing waits. What ends it for good is an [`Ended`].
//!
//! Nothing here logs or prints a token, an argument or a result. The WebSocket library below logs its request, token
//! included, at level `trace` of its target `tungstenite`: leave that off.

mod answer;
mod application;
mod calls;
mod connection;
mod declaration;
mod error;
mod handle;
mod json;
mod life;
mod messages;
mod pings;
mod reconnect;
mod token;
mod tool;
mod wire;

pub use answer::{Answer, IntoAnswer, Json};
pub use application::{Application, DEFAULT_URL};
pub use error::{Ended, Malformed, Refusal, ToolError};
pub use handle::{Handle, State};
pub use token::Token;
pub use tool::{Call, Cancellation, Definition, Tool};
