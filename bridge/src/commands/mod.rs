//! One file per subcommand: what it is asked, and `run`, which does it and says how it ended.

pub(crate) mod demo;
pub(crate) mod headers;
pub(crate) mod secret;
pub(crate) mod serve;
mod shopping;
mod starter;
pub(crate) mod stdio;
pub(crate) mod token;
