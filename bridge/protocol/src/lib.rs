//! Wire types of the ClientMCP protocol: identities, messages, codes and limits.
//!
//! Shared by the bridge, the desktop app and the Rust SDK. It parses and prints; it never opens a socket, reads a clock
//! or decides anything. The rules behind the types are in `docs/protocol.md`.

pub mod client;
pub mod codes;
pub mod control;
pub mod door;
pub mod ids;
pub mod limits;
pub mod origin;
pub mod shown;
pub mod strict;
