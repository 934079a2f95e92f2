//! What a person answers, and what may go with it.

use clientmcp_protocol::{
    control::{Also, ErrorCode, Millis, Verdict},
    ids::Fingerprint,
};

use crate::{
    app::until::until,
    wire::{AlsoFor, Always, Lasts, RefusedCode},
};

/// Why an answer does not count.
pub(crate) type NotNow = (RefusedCode, &'static str);

/// What a person answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    /// The definition that was shown.
    pub(crate) fingerprint: Fingerprint,
    /// Yes or no.
    pub(crate) verdict: Verdict,
    /// What else.
    pub(crate) also: AlsoFor,
}

/// It was not there for long enough.
pub(super) const EARLY: NotNow = (
    RefusedCode::Early,
    "the question has not been in view for long enough to be read: nothing was done, look at it and answer again",
);

/// What the display says of a yes at the last moment.
pub(crate) const COVERED: NotNow = (
    RefusedCode::Covered,
    "something lies on the question, so that it may not have been read: nothing was done, move that away and answer again",
);

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

/// What goes with an answer, as the bridge is told.
pub(super) fn also(also: AlsoFor, wall: Millis) -> Also {
    match also {
        AlsoFor::Nothing => Also::Nothing,
        AlsoFor::Tool { any_agent, lasts } => Also::Remember { any_agent, until: until(lasts, wall) },
        AlsoFor::Agent => Also::BlockAgent,
    }
}
