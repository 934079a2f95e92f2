//! The handle: what a connected application can see and order while it runs.

use std::{fmt, sync::Arc};

use tokio::{sync::watch, time::Instant};

use crate::{
    declaration::{Declaration, Wanted},
    error::{Ended, Refusal},
    tool::Tool,
};

/// Where the application stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// A connection is being made, or waits for the bridge to accept the declaration.
    Connecting,
    /// The bridge accepted token and declaration: agents can call.
    Online,
    /// There is no connection; the next try is at this time.
    Waiting {
        /// When.
        next_try: Instant,
    },
    /// A newer connection took this client ID. Only [`Handle::take_over`] comes back from here.
    Replaced,
    /// Refused for good.
    Refused(Refusal),
    /// Closed by the application.
    Closed,
}

impl State {
    /// Why the application does not come back by itself, if that is so.
    pub fn ended(&self) -> Option<Ended> {
        match self {
            Self::Connecting | Self::Online | Self::Waiting { .. } => None,
            Self::Replaced => Some(Ended::Replaced),
            Self::Refused(refusal) => Some(Ended::Refused(refusal.clone())),
            Self::Closed => Some(Ended::Closed),
        }
    }
}

impl From<Ended> for State {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Replaced => Self::Replaced,
            Ended::Refused(refusal) => Self::Refused(refusal),
            Ended::Closed => Self::Closed,
        }
    }
}

/// A running application.
///
/// Dropping it ends the connection as [`close`](Self::close) does, without waiting for the end.
#[must_use = "dropping the handle ends the connection"]
pub struct Handle {
    wanted: watch::Sender<Wanted>,
    states: watch::Receiver<State>,
    accepted: watch::Receiver<u64>,
}

impl Handle {
    /// Declares other tools in place of all that were declared before.
    ///
    /// It returns at once. One `register` is in flight at a time, and of several changes meanwhile the newest alone is
    /// sent. A call is answered by the tools that the bridge had accepted when it sent the call.
    pub fn set_tools(&self, tools: impl IntoIterator<Item = Tool>) {
        self.declare(|declaration| declaration.with_tools(tools));
    }

    /// Declares other instructions, or none.
    pub fn set_instructions(&self, instructions: Option<String>) {
        self.declare(|declaration| declaration.with_instructions(instructions));
    }

    fn declare(&self, next: impl FnOnce(&Declaration) -> Declaration) {
        self.wanted.send_modify(|wanted| wanted.declaration = Arc::new(next(&wanted.declaration)));
    }

    /// Where the application stands now.
    pub fn state(&self) -> State {
        self.states.borrow().clone()
    }

    /// The states as they come; never two equal ones, and a slow reader sees the newest alone.
    pub fn states(&self) -> watch::Receiver<State> {
        self.states.clone()
    }

    /// Resolves when the application is online, or will not be.
    pub async fn online(&self) -> Result<(), Ended> {
        let state = self.until(|state| *state == State::Online || state.ended().is_some()).await;
        state.ended().map_or(Ok(()), Err)
    }

    /// Resolves when the bridge has accepted what is declared now, on any connection, or will not.
    pub async fn accepted(&self) -> Result<(), Ended> {
        let revision = self.wanted.borrow().declaration.revision;
        let mut accepted = self.accepted.clone();
        tokio::select! {
            biased;
            Ok(_) = accepted.wait_for(|accepted| *accepted >= revision) => Ok(()),
            ended = self.ended() => Err(ended),
        }
    }

    /// Resolves when the application does not come back by itself: replaced, refused or closed.
    pub async fn ended(&self) -> Ended {
        let state = self.until(|state| state.ended().is_some()).await;
        state.ended().unwrap_or(Ended::Closed)
    }

    async fn until(&self, wanted: impl FnMut(&State) -> bool) -> State {
        let mut states = self.states.clone();
        // Without a sender there is no task any more: its runtime has ended.
        states.wait_for(wanted).await.map_or(State::Closed, |state| state.clone())
    }

    /// Comes back after a replacement, and so replaces the other instance. In every other state it does nothing.
    pub fn take_over(&self) {
        self.wanted.send_modify(|wanted| wanted.take_overs += 1);
    }

    /// Ends the connection with close code 1000 and waits for the end, two seconds for the bridge's part in it. The
    /// futures of running handlers are dropped.
    pub async fn close(&self) {
        self.wanted.send_modify(|wanted| wanted.closing = true);
        self.until(|state| matches!(state, State::Closed | State::Refused(_))).await;
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("state", &self.state()).finish_non_exhaustive()
    }
}

/// The other end of a handle, held by the application's task.
pub(crate) struct Orders {
    pub(crate) wanted: watch::Receiver<Wanted>,
    pub(crate) reports: Reports,
}

/// Where the task says how things stand.
pub(crate) struct Reports {
    states: watch::Sender<State>,
    accepted: watch::Sender<u64>,
}

impl Reports {
    /// The state from now on.
    pub(crate) fn state(&self, state: State) {
        self.states.send_if_modified(|current| {
            let changed = *current != state;
            *current = state;
            changed
        });
    }

    /// The bridge accepted the declaration of this revision.
    pub(crate) fn accepted(&self, revision: u64) {
        self.accepted.send_replace(revision);
        self.state(State::Online);
    }
}

/// A handle and its other end.
pub(crate) fn channel(declaration: Declaration) -> (Handle, Orders) {
    let wanted = Wanted { declaration: Arc::new(declaration), take_overs: 0, closing: false };
    let (wanted, wanted_by) = watch::channel(wanted);
    let (states, states_of) = watch::channel(State::Connecting);
    let (accepted, accepted_of) = watch::channel(0);
    let handle = Handle { wanted, states: states_of, accepted: accepted_of };
    (handle, Orders { wanted: wanted_by, reports: Reports { states, accepted } })
}

#[cfg(test)]
mod tests {
    use super::*;

    // holds: sdk-states
    #[test]
    fn watchers_never_see_two_equal_states() {
        let (handle, orders) = channel(Declaration::default());
        let mut states = handle.states();
        states.mark_unchanged();
        orders.reports.state(State::Connecting);
        assert!(!states.has_changed().unwrap());
        orders.reports.accepted(1);
        assert_eq!(*states.borrow_and_update(), State::Online);
        orders.reports.accepted(2);
        assert!(!states.has_changed().unwrap());
    }

    // holds: sdk-states
    #[tokio::test]
    async fn a_handle_whose_task_is_gone_is_closed() {
        let (handle, orders) = channel(Declaration::default());
        drop(orders);
        assert_eq!(handle.online().await, Err(Ended::Closed));
        handle.close().await;
    }
}
