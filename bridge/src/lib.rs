//! The ClientMCP bridge: live applications connect on one side and declare tools, agents call them over MCP on the other.
//!
//! The library holds everything but the command line. Start reading at `flow`, which tells the product in three awaits.

pub mod agent;
pub mod approvals;
pub mod call;
pub mod client;
pub mod control;
pub mod declaration;
pub mod door;
pub mod flow;
pub mod guard;
pub mod hub;
pub mod lines;
pub mod local;
pub mod mcp;
pub use clientmcp_protocol::origin;
pub mod pieces;
pub mod port;
pub mod presence;
pub mod refusal;
pub mod respond;
pub mod revision;
pub mod room;
pub mod secret_file;
pub mod server;
pub mod shim;
#[cfg(test)]
mod steps;
pub mod text;
pub mod token;
