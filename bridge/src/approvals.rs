//! May this call be sent? Pure policy: no clock, no socket. The only place that makes an [`Approved`].

use crate::{
    call::Routed,
    refusal::{Ended, Outcome, Refusal},
};

/// Whether the person is asked before a call is sent (`docs/protocol.md`, "Command line": `--confirm`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirm {
    /// Each call needs an answer.
    Ask,
    /// Calls are sent without asking.
    Off,
}

/// A call that may be sent, once. Its field is private: only this file can make one.
#[derive(Debug)]
pub struct Approved {
    routed: Routed,
}

impl Approved {
    /// What was approved.
    pub fn routed(&self) -> &Routed {
        &self.routed
    }
}

/// The gate. Where asking is needed, nobody can be asked yet: the call is refused as `unattended`.
pub fn approve(confirm: Confirm, routed: Routed) -> Result<Approved, Refusal> {
    match confirm {
        Confirm::Off => Ok(Approved { routed }),
        Confirm::Ask => Err(Ended { outcome: Outcome::Unattended, structured: !routed.tool.has_output_schema }.into()),
    }
}
