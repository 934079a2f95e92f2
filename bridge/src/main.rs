//! The `clientmcp` command.

fn main() {}
