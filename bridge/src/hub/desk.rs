//! The desktop's side of the hub: the newest snapshot, what is to be written down, and calls that ended. All of it is
//! there to be fetched; a desktop that does not fetch costs nothing more.

use std::sync::Arc;

use clientmcp_protocol::{
    control::{
        ApplicationHead, CallHead, CallPart, Count, Cut, Ending, FinishedCall, Memory, Millis, QuestionHead,
        RefusedCounts, Snapshot, Via,
    },
    limits::SNAPSHOT_PAUSE,
    shown::shown,
};
use tokio::{sync::watch, time::Instant};

use super::{
    Answer,
    apps::Application,
    calls::Live,
    cut::cut,
    history::{Finished, History},
    state::State,
};
use crate::{
    approvals::Now,
    call::{Call, Routed},
    declaration::Declaration,
    refusal::Refusal,
};

/// Finished calls in one message.
const FINISHED: usize = 200;

/// See the module.
#[derive(Debug)]
pub(super) struct Desk {
    snapshot: watch::Sender<Arc<Snapshot>>,
    memory: watch::Sender<Arc<Memory>>,
    finished: watch::Sender<u64>,
    history: History,
    last: Option<Instant>,
    dirty: bool,
}

/// What the control channel watches.
#[derive(Clone, Debug)]
pub struct DeskView {
    /// The newest snapshot.
    pub snapshot: watch::Receiver<Arc<Snapshot>>,
    /// What is to be written down.
    pub memory: watch::Receiver<Arc<Memory>>,
    /// How many calls have ended.
    pub finished: watch::Receiver<u64>,
}

impl Desk {
    pub(super) fn new(memory: Memory) -> (Self, DeskView) {
        let (snapshot, snapshots) = watch::channel(Arc::default());
        let (memory, memories) = watch::channel(Arc::new(memory));
        let (finished, finishing) = watch::channel(0);
        let desk = Self { snapshot, memory, finished, history: History::default(), last: None, dirty: true };
        (desk, DeskView { snapshot: snapshots, memory: memories, finished: finishing })
    }

    /// When the next snapshot is to be made.
    pub(super) fn due(&self) -> Option<Instant> {
        // Never before the first tick: there is nothing to wait for.
        self.dirty.then(|| self.last.map(|last| last + SNAPSHOT_PAUSE))?
    }

    pub(super) fn record(
        &mut self,
        now: Now,
        number: u64,
        routed: &Routed,
        sent: Option<Millis>,
        began: Millis,
        answer: &Answer,
    ) {
        let call = &routed.call;
        let arguments = call.arguments.as_str();
        let result = answer.as_ref().map_or("", |text| text.as_str());
        let finished = FinishedCall {
            call: head(number, call, routed.tool.name.as_str(), sent, began),
            outcome: ending(answer),
            ended: now.wall,
            result_bytes: Count::from(result.len()),
        };
        self.keep(finished, arguments, result);
    }

    /// A call that never came to a tool.
    pub(super) fn note(&mut self, now: Now, number: u64, call: &Call, refusal: &Refusal) {
        let arguments = call.arguments.as_str();
        let finished = FinishedCall {
            call: head(number, call, &call.tool, None, now.wall),
            outcome: ending(&Err(refusal.clone())),
            ended: now.wall,
            result_bytes: Count(0),
        };
        self.keep(finished, arguments, "");
    }

    fn keep(&mut self, finished: FinishedCall, arguments: &str, result: &str) {
        self.history.push(finished, arguments, result);
        self.finished.send_replace(self.history.ended());
    }

    pub(super) fn finished_since(&self, seen: u64) -> Finished {
        self.history.since(seen, FINISHED)
    }

    pub(super) fn text(&self, number: Count, part: CallPart) -> Option<Arc<str>> {
        self.history.text(number, part)
    }

    pub(super) fn remember(&self, memory: Memory) {
        self.memory.send_if_modified(|remembered| {
            let changed = **remembered != memory;
            if changed {
                *remembered = memory.into();
            }
            changed
        });
    }
}

/// A call in few words. A tool's name is the agent's word until the tool was found.
pub(super) fn head(number: u64, call: &Call, tool: &str, sent: Option<Millis>, began: Millis) -> CallHead {
    CallHead {
        number: Count(number),
        application: call.agent.application.clone(),
        tool: shown(tool),
        agent: call.agent.label.clone(),
        via: call.credential.as_ref().map(|claims| claims.via()),
        own: call.credential.is_none(),
        sent,
        began,
        arguments_bytes: Count::from(call.arguments.as_str().len()),
    }
}

/// How a call ended, as far as it can be told.
pub fn ending(answer: &Answer) -> Ending {
    match answer {
        Ok(result) => {
            let failed = result.object().ok().and_then(|members| members.get("isError")).map(|raw| raw.get() == "true");
            if failed == Some(true) { Ending::Failed } else { Ending::Answered }
        }
        Err(Refusal::Ended(ended)) => Ending::Code(ended.outcome.code()),
        Err(Refusal::UnknownTool(_)) => Ending::UnknownTool,
        // The agent, its token or the bridge is gone: nobody reads an answer.
        Err(_) => Ending::Code(clientmcp_protocol::codes::OutcomeCode::Cancelled),
    }
}

impl State {
    /// Something may look different now.
    pub(super) fn touch(&mut self) {
        if let Some(desk) = &mut self.desk {
            desk.dirty = true;
        }
    }

    /// Publishes a snapshot when one is due and differs from the last one.
    pub(super) fn show(&mut self, now: Now) {
        let due = |desk: &Desk| desk.dirty && desk.last.is_none_or(|last| last + SNAPSHOT_PAUSE <= now.mono);
        if !self.desk.as_ref().is_some_and(due) {
            return;
        }
        let mut snapshot = self.snapshot(now);
        let Some(desk) = &mut self.desk else { return };
        desk.dirty = false;
        desk.last = Some(now.mono);
        desk.snapshot.send_if_modified(|shown| {
            snapshot.revision = shown.revision;
            if **shown == snapshot {
                return false;
            }
            snapshot.revision = Count(shown.revision.0 + 1);
            *shown = Arc::new(std::mem::take(&mut snapshot));
            true
        });
    }

    fn snapshot(&self, now: Now) -> Snapshot {
        let mut applications: Vec<_> = self.applications.iter().map(|one| self.application(now, one)).collect();
        applications.sort_by(|one, other| one.id.cmp(&other.id));
        let questions = self.calls.iter().filter_map(|(number, live)| self.question(number, live));
        let mut questions: Vec<_> = questions.collect();
        questions.sort_by_key(|question| (question.ends, question.number));
        let mut snapshot = Snapshot {
            revision: Count(0),
            paused: self.policy.paused(),
            settings: self.settings.borrow().clone(),
            applications,
            questions,
            calls: self.calls.iter().map(|(number, live)| live.head(number)).collect(),
            modes: self.policy.modes(),
            rules: self.policy.rules().cloned().collect(),
            rules_revision: Count(self.policy.rules_revision()),
            blocked: self.policy.blocked(),
            refused: self.refused.counts(),
            cut: Cut::default(),
            door: self.doorbell.head().clone(),
            door_questions: self.doorbell.questions(),
            pairs: self.access.borrow().pairs().to_vec(),
        };
        cut(&mut snapshot);
        snapshot
    }

    fn application(&self, now: Now, application: &Application) -> ApplicationHead {
        let declaration = application.declaration.as_deref();
        let tools = declaration.map_or(&[][..], |declaration| declaration.tools());
        let calls = || self.calls.on(application.connection).filter_map(|(_, live)| live.flying());
        let pulse = application.outbox.pulse();
        let waiting = calls().map(|flying| flying.at.mono).min();
        let limit = clientmcp_protocol::limits::FROZEN_TIME;
        let unresponsive = waiting.is_some_and(|sent| pulse.last_heard() <= sent && now.mono >= sent + limit);
        ApplicationHead {
            id: application.id.clone(),
            connection: Count(application.connection.0),
            label: application.claims.label.clone(),
            origin: shown(&application.origin),
            since: application.since,
            registered: declaration.is_some(),
            tools: Count::from(tools.len()),
            tools_bytes: Count::from(declaration.map_or(0, Declaration::tools_bytes)),
            instructions_bytes: Count::from(
                declaration.and_then(|it| it.instructions()).map_or(0, |text| text.as_str().len()),
            ),
            declaration: declaration.map(Declaration::fingerprint),
            in_flight: Count::from(calls().count()),
            unresponsive,
        }
    }

    fn question(&self, number: u64, live: &Live) -> Option<QuestionHead> {
        let question = live.question()?;
        let Routed { call, connection, tool } = &live.routed;
        Some(QuestionHead {
            id: question.id,
            number: Count(number),
            application: call.agent.application.clone(),
            origin: shown(&self.applications.get(*connection)?.origin),
            tool: tool.name.clone(),
            fingerprint: tool.fingerprint,
            title: tool.words.title.clone(),
            description: tool.words.description.clone(),
            agent: call.agent.label.clone(),
            // Only the person's own calls come with nothing, and they are never asked about: an unchecked name at worst.
            via: call.credential.as_ref().map_or(Via::Door, |claims| claims.via()),
            reported: call.reported.clone(),
            arguments_bytes: Count::from(call.arguments.as_str().len()),
            tool_bytes: Count::from(tool.text.as_str().len()),
            hints: tool.hints,
            risk: tool.words.risk.clone(),
            definition: question.definition,
            asked: question.asked,
            ends: question.ends.wall,
        })
    }
}

/// Requests refused at the door, counted by whoever refuses.
#[derive(Debug, Default)]
pub struct RefusedAtDoor {
    host: std::sync::atomic::AtomicU64,
    origin: std::sync::atomic::AtomicU64,
    token: std::sync::atomic::AtomicU64,
    client_origin: std::sync::atomic::AtomicU64,
}

/// Which check a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// `Host`.
    Host,
    /// `Origin` at the agents' endpoint.
    Origin,
    /// The token.
    Token,
    /// The origin an application connects from.
    ClientOrigin,
}

impl RefusedAtDoor {
    pub(super) fn count(&self, check: Check) {
        let counter = match check {
            Check::Host => &self.host,
            Check::Origin => &self.origin,
            Check::Token => &self.token,
            Check::ClientOrigin => &self.client_origin,
        };
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    fn counts(&self) -> RefusedCounts {
        let read = |counter: &std::sync::atomic::AtomicU64| Count(counter.load(std::sync::atomic::Ordering::Relaxed));
        RefusedCounts {
            host: read(&self.host),
            origin: read(&self.origin),
            token: read(&self.token),
            client_origin: read(&self.client_origin),
        }
    }
}
