//! One file per subcommand: what it is asked, and `run`, which does it and says how it ended.

pub(crate) mod secret;
// Arguments of a command that is not served yet: write its `run`, and give it a variant in `main.rs`.
pub(crate) mod demo;
pub(crate) mod serve;
pub(crate) mod token;
