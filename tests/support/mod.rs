//! What the tests speak with: a bridge as a process, and peers that can break every rule. Nothing here uses the bridge's code.

pub(crate) mod agent;
pub(crate) mod application;
pub(crate) mod desktop;
pub(crate) mod host;
pub(crate) mod http;
pub(crate) mod post;
pub(crate) mod scene;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod stream;
pub(crate) mod tokens;
pub(crate) mod waits;

pub(crate) use waits::{expecting, until, within};
