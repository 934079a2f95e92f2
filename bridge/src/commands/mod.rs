//! One file per subcommand: what it is asked, and `run`, which does it and says how it ended.

pub(crate) mod secret;
pub(crate) mod token;

// Arguments of commands that are not served yet. To serve one: write its `pub(crate) async fn run(Arguments) -> Exit`, give
// it a variant in `main.rs`, and take the attribute away.
pub(crate) mod demo;
#[cfg_attr(not(test), expect(dead_code, reason = "not served yet"))]
pub(crate) mod serve;
