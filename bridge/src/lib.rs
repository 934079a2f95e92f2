//! The ClientMCP bridge: live applications connect on one side and declare tools, agents call them over MCP on the other.
//!
//! The library holds everything but the command line. Start reading at `flow`, which tells the product in three awaits.

pub mod client;
pub mod declaration;
pub mod mcp;
pub mod text;
