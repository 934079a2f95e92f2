//! The gate in the road of every call: judged, asked for, approved and sent in steps of the hub, so that nothing can come
//! between.

use clientmcp_protocol::{
    client::FromBridge,
    control::{Definition, Millis},
    ids::QuestionId,
    limits::{
        CALLS_IN_ALL, CALLS_IN_FLIGHT, FROZEN_SILENCE, FROZEN_TIME, MESSAGE_BYTES, QUESTIONS, QUESTIONS_OF_AGENT,
    },
};
use tokio::{
    sync::oneshot,
    time::{Duration, Instant},
};

use super::{
    Answer, Farewell, Flight, Leave,
    apps::Application,
    calls::{Flying, Live, Question, Stage},
    state::{State, ended, frame},
};
use crate::{
    approvals::{Approved, Departed, Judgement, Now, Permit, Situation},
    call::{CallId, Routed},
    refusal::{Limit, Outcome, Refusal},
};

impl State {
    /// Takes a call in: it is sent, put to the person, or refused, in this one step. `permit` is the person's own click.
    pub(super) fn submit(&mut self, now: Now, routed: Routed, permit: Option<Permit>, mut leave: Leave) -> Flight {
        let number = self.calls.next();
        let (answer, answered) = oneshot::channel();
        match self.judge(now, &routed, permit) {
            Ok(Judgement::Ask) if routed.call.caller.has_left() => {
                self.refuse(now, number, &routed, now, answer, Refusal::Cancelled);
            }
            Ok(Judgement::Allow(permit)) => {
                self.launch(now, number, permit, routed, answer, now);
            }
            Ok(Judgement::Ask) => self.ask(now, number, routed, answer),
            Ok(Judgement::Refuse(outcome)) => self.refuse(now, number, &routed, now, answer, ended(&routed, outcome)),
            Err(refusal) => self.refuse(now, number, &routed, now, answer, refusal),
        }
        leave.say(Farewell::GiveUp(number));
        Flight { number, answer: answered, leave }
    }

    /// In the order of `docs/protocol.md`, "Call outcomes".
    fn judge(&mut self, now: Now, routed: &Routed, permit: Option<Permit>) -> Result<Judgement, Refusal> {
        let agent = &routed.call.agent;
        // What let the agent in may have been revoked while its request was read.
        if routed.call.credential.as_ref().is_some_and(|claims| !self.access.borrow().stands(claims)) {
            return Err(Refusal::Revoked);
        }
        let barred = match permit {
            Some(_) => self.policy.halted(&agent.application, now),
            None => self.policy.barred(agent, now),
        };
        if let Some(outcome) = barred {
            return Ok(Judgement::Refuse(outcome));
        }
        let application = self.reachable(routed)?;
        let situation = Situation { agent, origin: &application.origin, tool: &routed.tool };
        let ruled = permit.is_none() && self.policy.ruled(situation, now);
        let judgement = match permit {
            Some(permit) => Judgement::Allow(permit),
            None => self.policy.judge(situation, now),
        };
        // A definition that a rule was made for has been looked at.
        if ruled && matches!(judgement, Judgement::Allow(_)) {
            let place = situation.place();
            self.policy.mark_seen(place, routed.tool.fingerprint);
            self.remember();
        }
        if !matches!(judgement, Judgement::Refuse(_)) {
            self.room_for(routed)?;
        }
        Ok(judgement)
    }

    fn room_for(&self, routed: &Routed) -> Result<(), Refusal> {
        let sent = self.calls.on(routed.connection).filter(|(_, live)| live.flying().is_some()).count();
        if sent >= CALLS_IN_FLIGHT {
            return Err(ended(routed, Outcome::Busy(Limit::CallsInFlight)));
        }
        if self.calls.sent() >= CALLS_IN_ALL {
            return Err(ended(routed, Outcome::Busy(Limit::CallsInAll)));
        }
        Ok(())
    }

    /// Puts a call to the person.
    fn ask(&mut self, now: Now, number: u64, routed: Routed, answer: oneshot::Sender<Answer>) {
        if let Some(limit) = self.too_many_questions(&routed) {
            let refusal = ended(&routed, Outcome::Busy(limit));
            return self.refuse(now, number, &routed, now, answer, refusal);
        }
        let time = self.question_time();
        let wall = now.wall.0.saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let question = Question {
            id: QuestionId(rand::random()),
            definition: self.definition(&routed),
            asked: now.wall,
            ends: Now { mono: now.mono + time, wall: Millis(wall) },
        };
        let stage = Stage::Waiting(question);
        self.calls.insert(number, Live { routed, answer, began: now.wall, stage });
    }

    fn too_many_questions(&self, routed: &Routed) -> Option<Limit> {
        let open = || self.calls.on(routed.connection).filter(|(_, live)| live.question().is_some());
        if open().filter(|(_, live)| live.routed.call.agent == routed.call.agent).count() >= QUESTIONS_OF_AGENT {
            return Some(Limit::QuestionsOfAgent);
        }
        (open().count() >= QUESTIONS).then_some(Limit::Questions)
    }

    fn definition(&self, routed: &Routed) -> Definition {
        let application = self.applications.get(routed.connection);
        let situation = |from: &Application| {
            Situation { agent: &routed.call.agent, origin: &from.origin, tool: &routed.tool }.place()
        };
        match application.map(situation).and_then(|place| self.policy.seen(&place)) {
            None => Definition::New,
            Some(seen) if seen == routed.tool.fingerprint => Definition::Seen,
            Some(_) => Definition::Changed,
        }
    }

    pub(super) fn question_time(&self) -> Duration {
        Duration::from_secs(self.settings.borrow().question_seconds.into())
    }

    /// The person said yes to a question: approved and sent in this one step, exactly as it was asked for. Whether somebody
    /// was still there to read its answer.
    pub(super) fn approve(&mut self, now: Now, number: u64, permit: Permit) -> bool {
        let Some(Live { routed, answer, began, .. }) = self.calls.remove(number) else { return false };
        let began = Now { mono: now.mono, wall: began };
        match self.policy.barred(&routed.call.agent, now).map(|outcome| ended(&routed, outcome)) {
            Some(refusal) => {
                self.refuse(now, number, &routed, began, answer, refusal);
                true
            }
            None => self.launch(now, number, permit, routed, answer, began),
        }
    }

    /// Approves and sends, if everything is still as it was when the call was routed and somebody is there to read its
    /// answer; whether somebody was.
    fn launch(
        &mut self,
        now: Now,
        number: u64,
        permit: Permit,
        routed: Routed,
        answer: oneshot::Sender<Answer>,
        began: Now,
    ) -> bool {
        // Whoever waited in this process has given up; that is on its way to us.
        if answer.is_closed() {
            self.refuse(now, number, &routed, began, answer, Refusal::Cancelled);
            return false;
        }
        let approved = match permit.approve(routed) {
            Ok(approved) => approved,
            Err(Departed(routed)) => {
                self.refuse(now, number, &routed, began, answer, Refusal::Cancelled);
                return false;
            }
        };
        let sent = self.room_for(approved.routed()).and_then(|()| self.put_on_the_wire(now, &approved));
        let routed = approved.into_routed();
        match sent {
            Err(refusal) => self.refuse(now, number, &routed, began, answer, refusal),
            Ok(flying) => {
                let stage = Stage::Sent(flying);
                self.calls.insert(number, Live { routed, answer, began: began.wall, stage });
            }
        }
        true
    }

    fn put_on_the_wire(&mut self, now: Now, approved: &Approved) -> Result<Flying, Refusal> {
        let routed = approved.routed();
        let deadline = now.mono + Duration::from_secs(self.settings.borrow().call_seconds.into());
        let busy = |limit| ended(routed, Outcome::Busy(limit));
        self.reachable(routed)?;
        let Some(application) = self.applications.get_mut(routed.connection) else {
            return Err(ended(routed, Outcome::Offline));
        };
        let id = CallId { connection: routed.connection, number: application.last_call + 1 };
        let frame = frame(&FromBridge::Call {
            id: &id.number.to_string(),
            name: &routed.call.tool,
            arguments: routed.call.arguments.raw(),
        });
        if frame.len() > MESSAGE_BYTES {
            return Err(busy(Limit::MessageBytes));
        }
        application.outbox.push(frame).map_err(|_| busy(Limit::UnsentBytes))?;
        application.last_call = id.number;
        let due = if application.is_suspect(now.mono) { deadline.min(now.mono + FROZEN_TIME) } else { deadline };
        application.outbox.pulse().called();
        Ok(Flying { id, at: now, due, deadline })
    }

    /// The connection and the definition that were found must be the ones that are there now.
    fn reachable(&self, routed: &Routed) -> Result<&Application, Refusal> {
        let Some(application) = self.applications.get(routed.connection) else {
            let replaced = self.applications.holder(&routed.call.agent.application).is_some();
            return Err(ended(routed, if replaced { Outcome::Changed } else { Outcome::Offline }));
        };
        let declared = application.declaration.as_ref().and_then(|now| now.tool(&routed.call.tool));
        if declared.is_some_and(|tool| tool.text == routed.tool.text) {
            return Ok(application);
        }
        Err(ended(routed, Outcome::Changed))
    }

    fn refuse(
        &mut self,
        now: Now,
        number: u64,
        routed: &Routed,
        began: Now,
        answer: oneshot::Sender<Answer>,
        refusal: Refusal,
    ) {
        let result = Err(refusal);
        if let Some(desk) = &mut self.desk {
            desk.record(now, number, routed, None, began.wall, &result);
        }
        let _ = answer.send(result);
    }
}

impl Application {
    /// Pings on calls, and has been silent for long: perhaps its page is frozen.
    fn is_suspect(&self, now: Instant) -> bool {
        let pulse = self.outbox.pulse();
        pulse.pings_on_call() && now.saturating_duration_since(pulse.last_heard()) >= FROZEN_SILENCE
    }
}
