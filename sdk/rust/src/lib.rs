//! Offer the functions of a running application to AI agents as MCP tools.
