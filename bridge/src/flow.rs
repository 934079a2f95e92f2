//! The road of one call, for every agent and every door: route, submit, answer.
//!
//! Each stage returns the next stage's only input. Approving and sending are one step of the hub, so that nothing can
//! change between them. A call is never queued for later and never retried.

use crate::{
    call::{Call, Routed},
    hub::Hub,
    refusal::Refusal,
    text::Text,
};

/// Brings a call to its application and the answer back: a `CallToolResult`, exactly as the application wrote it.
///
/// `agrees` sees the tool that was found before anybody is asked; a transport checks there what it repeats of the
/// arguments.
pub async fn call(hub: &Hub, call: Call, agrees: impl FnOnce(&Routed) -> Result<(), Refusal>) -> Result<Text, Refusal> {
    let routed = hub.route(call).await?;
    agrees(&routed)?;
    hub.submit(routed).await?.answer().await
}
