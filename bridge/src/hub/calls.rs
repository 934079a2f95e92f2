//! Calls under way: waiting for the person's answer, or sent and not answered yet. One number stands for a call from its
//! first moment to its last; everything else by which one is found leads to that.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clientmcp_protocol::{
    control::{CallHead, Definition, Millis},
    ids::QuestionId,
};
use tokio::{sync::oneshot, time::Instant};

use super::{Answer, desk::head};
use crate::{
    approvals::Now,
    call::{CallId, ConnectionId, HangUp, RequestKey, Routed},
};

/// One call under way.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) routed: Routed,
    pub(super) answer: oneshot::Sender<Answer>,
    pub(super) began: Millis,
    pub(super) stage: Stage,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    Waiting(Question),
    Sent(Flying),
}

/// What the person is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub(super) id: QuestionId,
    pub(super) definition: Definition,
    pub(super) asked: Millis,
    /// By either clock, whichever is first.
    pub(super) ends: Now,
}

/// Where it flies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flying {
    pub(super) id: CallId,
    pub(super) at: Now,
    /// When its application is looked at, or the deadline.
    pub(super) due: Instant,
    pub(super) deadline: Instant,
}

impl Live {
    fn due(&self) -> Instant {
        match self.stage {
            Stage::Waiting(question) => question.ends.mono,
            Stage::Sent(flying) => flying.due,
        }
    }

    pub(super) fn question(&self) -> Option<Question> {
        match self.stage {
            Stage::Waiting(question) => Some(question),
            Stage::Sent(_) => None,
        }
    }

    pub(super) fn flying(&self) -> Option<Flying> {
        match self.stage {
            Stage::Waiting(_) => None,
            Stage::Sent(flying) => Some(flying),
        }
    }

    /// Whether it waits, and for nobody any more.
    pub(super) fn is_deserted(&self) -> bool {
        self.question().is_some() && (self.answer.is_closed() || self.routed.call.caller.has_left())
    }

    /// Whether the agent's hang-up ends it. A waiting call has been nowhere yet.
    pub(super) fn ends_with_agent(&self) -> bool {
        self.question().is_some() || self.routed.call.hang_up == HangUp::Cancels
    }

    pub(super) fn head(&self, number: u64) -> CallHead {
        let sent = self.flying().map(|flying| flying.at.wall);
        head(number, &self.routed.call, self.routed.tool.name.as_str(), sent, self.began)
    }
}

/// All calls under way.
#[derive(Debug, Default)]
pub(super) struct Calls {
    live: BTreeMap<u64, Live>,
    last: u64,
    due: BTreeSet<(Instant, u64)>,
    on: HashMap<ConnectionId, BTreeSet<u64>>,
    flying: HashMap<CallId, u64>,
    asked: HashMap<QuestionId, u64>,
    /// Ends of questions by the wall clock.
    ends: BTreeSet<(Millis, u64)>,
    keys: HashMap<RequestKey, BTreeSet<u64>>,
}

impl Calls {
    /// The number of the next call.
    pub(super) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub(super) fn insert(&mut self, number: u64, live: Live) {
        self.due.insert((live.due(), number));
        self.on.entry(live.routed.connection).or_default().insert(number);
        match live.stage {
            Stage::Waiting(question) => {
                self.asked.insert(question.id, number);
                self.ends.insert((question.ends.wall, number));
            }
            Stage::Sent(flying) => {
                self.flying.insert(flying.id, number);
            }
        }
        if let Some(key) = &live.routed.call.key {
            self.keys.entry(key.clone()).or_default().insert(number);
        }
        self.live.insert(number, live);
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<Live> {
        let live = self.live.remove(&number)?;
        self.due.remove(&(live.due(), number));
        take_out(&mut self.on, &live.routed.connection, number);
        match live.stage {
            Stage::Waiting(question) => {
                self.asked.remove(&question.id);
                self.ends.remove(&(question.ends.wall, number));
            }
            Stage::Sent(flying) => {
                self.flying.remove(&flying.id);
            }
        }
        if let Some(key) = &live.routed.call.key {
            take_out(&mut self.keys, key, number);
        }
        Some(live)
    }

    pub(super) fn get(&self, number: u64) -> Option<&Live> {
        self.live.get(&number)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Live)> {
        self.live.iter().map(|(number, live)| (*number, live))
    }

    /// Calls bound to a connection, in the order they came.
    pub(super) fn on(&self, connection: ConnectionId) -> impl Iterator<Item = (u64, &Live)> {
        let numbers = self.on.get(&connection).into_iter().flatten();
        numbers.filter_map(|number| Some((*number, self.live.get(number)?)))
    }

    /// The numbers of all calls for which this holds.
    pub(super) fn such_as(&self, holds: impl Fn(&Live) -> bool) -> Vec<u64> {
        self.iter().filter(|(_, live)| holds(live)).map(|(number, _)| number).collect()
    }

    /// The numbers of waiting calls for which this holds.
    pub(super) fn waiting(&self, holds: impl Fn(&Live) -> bool) -> Vec<u64> {
        let waiting = self.asked.values().filter(|number| self.live.get(number).is_some_and(&holds));
        let mut waiting: Vec<_> = waiting.copied().collect();
        waiting.sort_unstable();
        waiting
    }

    /// Waiting calls whose end has come, by either clock.
    pub(super) fn unanswered(&self, now: Now) -> BTreeSet<u64> {
        let waits = |number: &u64| self.live.get(number).is_some_and(|live| live.question().is_some());
        let by_mono = self.due.range(..=(now.mono, u64::MAX)).map(|(_, number)| *number).filter(waits);
        by_mono.chain(self.ends.range(..=(now.wall, u64::MAX)).map(|(_, number)| *number)).collect()
    }

    /// How many calls were sent and are not answered.
    pub(super) fn sent(&self) -> usize {
        self.flying.len()
    }

    pub(super) fn by_wire(&self, id: CallId) -> Option<u64> {
        self.flying.get(&id).copied()
    }

    pub(super) fn by_question(&self, id: QuestionId) -> Option<u64> {
        self.asked.get(&id).copied()
    }

    /// Of equal ids the newest call is meant.
    pub(super) fn by_key(&self, key: &RequestKey) -> Option<u64> {
        self.keys.get(key)?.last().copied()
    }

    /// Whether no call is under way, and nothing leads to one.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        let Self { live, last: _, due, ends, on, flying, asked, keys } = self;
        let found = [due.len(), ends.len(), on.len(), flying.len(), asked.len(), keys.len()];
        live.is_empty() && found.iter().all(|entries| *entries == 0)
    }

    /// The call that is looked at next.
    pub(super) fn first_due(&self) -> Option<(Instant, u64)> {
        self.due.first().copied()
    }
}

fn take_out<K: std::hash::Hash + Eq>(index: &mut HashMap<K, BTreeSet<u64>>, key: &K, number: u64) {
    if let Some(numbers) = index.get_mut(key) {
        numbers.remove(&number);
        if numbers.is_empty() {
            index.remove(key);
        }
    }
}
