//! What goes with an answer: what may, and what the bridge is told.

use clientmcp_protocol::control::{Also, ErrorCode, Millis};

use super::NotNow;
use crate::{
    app::until::until,
    wire::{AlsoFor, Always, Lasts, RefusedCode},
};

/// What may go with a yes.
pub(super) fn allowed(also: AlsoFor, all_seen: bool, always: Always) -> Result<(), NotNow> {
    match (also, always) {
        (AlsoFor::Tool { lasts: Lasts::Quit | Lasts::Always, .. }, _) if !all_seen => Err((
            RefusedCode::NotForAlways,
            "not all of the arguments were in view, so this cannot be allowed for longer than 15 minutes: unfold and scroll \
             through all of them, or allow it for a while",
        )),
        (AlsoFor::Tool { lasts: Lasts::Always, .. }, Always::Destructive) => Err((
            RefusedCode::NotForAlways,
            "this tool is marked destructive, so it cannot be allowed for good: allow it once or for a while",
        )),
        (AlsoFor::Agent, _) => Err((
            RefusedCode::Bridge(ErrorCode::Value),
            "an agent cannot be allowed and blocked in one answer: nothing was done",
        )),
        (AlsoFor::Nothing | AlsoFor::Tool { .. }, _) => Ok(()),
    }
}

/// What to tell the bridge beside a yes or a no.
pub(super) fn also(also: AlsoFor, wall: Millis) -> Also {
    match also {
        AlsoFor::Nothing => Also::Nothing,
        AlsoFor::Tool { any_agent, lasts } => Also::Remember { any_agent, until: until(lasts, wall) },
        AlsoFor::Agent => Also::BlockAgent,
    }
}
