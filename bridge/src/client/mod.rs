//! The client channel: what applications send, and what is made of it.

pub mod register;
pub mod schema;
