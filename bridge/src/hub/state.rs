//! The transitions: no clock, no socket, no spawn. Whatever time it is comes in with the command.

use std::{collections::BTreeMap, sync::Arc};

use clientmcp_protocol::{
    client::FromBridge,
    codes::CloseCode,
    control::{ClientOrigins, Definition, Floor, Generation, Memory, Settings},
    ids::{ClientId, QuestionId},
    limits::{CALLS_IN_FLIGHT, FROZEN_SILENCE, FROZEN_TIME, MESSAGE_BYTES, QUESTIONS, QUESTIONS_OF_AGENT},
};
use tokio::{
    sync::{oneshot, watch},
    time::{Duration, Instant},
};

use super::{
    Admitted, Answer, Arrival, Beginning, Close, Command, Farewell, Flight, Leave, NotAdmitted, RefusedAtDoor, Sent,
    apps::{Application, Applications, Served, View},
    calls::{Calls, Flying, Live, Question, Stage},
    desk::Desk,
};
use crate::{
    approvals::{Approved, Judgement, Now, Permit, Policy, Situation},
    call::{CallId, ConnectionId, RequestKey, Routed},
    declaration::Declaration,
    refusal::{Ended, Limit, Outcome, Refusal},
    token::Access,
};

/// All there is to know of this bridge's peers, and all that is in force.
pub(super) struct State {
    pub(super) room: usize,
    pub(super) settings: watch::Sender<Settings>,
    pub(super) access: watch::Sender<Arc<Access>>,
    pub(super) policy: Policy,
    pub(super) generations: Vec<Generation>,
    pub(super) floors: Vec<Floor>,
    pub(super) pins: BTreeMap<ClientId, Vec<String>>,
    pub(super) applications: Applications,
    pub(super) calls: Calls,
    pub(super) view: watch::Sender<View>,
    pub(super) refused: Arc<RefusedAtDoor>,
    pub(super) desk: Option<Desk>,
}

/// How a connection came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// It ended, or was ended.
    Left,
    /// A newer one took its place.
    Replaced,
}

impl State {
    /// What begins empty but for what was remembered.
    pub(super) fn new(beginning: Beginning, ends: super::Ends, now: Now) -> Self {
        let Beginning { asking, room, memory, paused, .. } = beginning;
        let mut policy = Policy::new(asking);
        policy.remember(&memory, now);
        policy.set_paused(paused);
        let Memory { pins, generations, floors, .. } = memory;
        let mut state = Self {
            room,
            settings: ends.settings,
            access: ends.access,
            policy,
            generations,
            floors,
            pins: pins.into_iter().map(|pin| (pin.application, pin.origins)).collect(),
            applications: Applications::default(),
            calls: Calls::default(),
            view: ends.view,
            refused: ends.refused,
            desk: ends.desk,
        };
        state.show_policy(now);
        state.remember();
        state
    }

    /// When [`State::tick`] has something to do.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let call = self.calls.first_due().map(|(due, _)| due);
        let desk = self.desk.as_ref().and_then(Desk::due);
        [call, self.policy.next_end(), desk].into_iter().flatten().min()
    }

    pub(super) fn apply(&mut self, now: Now, command: Command) {
        // What is over is over before anything else is looked at: no answer counts late.
        self.expire(now);
        match command {
            Command::Connect { arrival, leave, admitted } => {
                let _ = admitted.send(self.connect(now, *arrival, leave));
            }
            Command::Register { connection, declaration, done } => {
                self.register(now, connection, declaration);
                drop(done);
            }
            Command::Result { call, result } => {
                if let Some(number) = self.calls.by_wire(call) {
                    self.finish(now, number, Ok(result));
                }
            }
            Command::Disconnect { connection, done } => {
                self.disconnect(now, connection, Gone::Left, None);
                drop(done);
            }
            Command::Submit { routed, own, leave, sent } => {
                let permit = own.then(Permit::of_own_call);
                let _ = sent.send(self.submit(now, *routed, permit, leave));
            }
            Command::Note { call, refusal } => {
                let number = self.calls.next();
                if let Some(desk) = &mut self.desk {
                    desk.note(now, number, &call, &refusal);
                }
            }
            Command::GiveUp { number } => self.give_up(now, number),
            Command::CancelRequest { key } => self.cancel_request(now, &key),
            Command::Desktop { command, reply } => {
                let _ = reply.send(self.obey(now, *command));
            }
            Command::Finished { seen, reply } => {
                let _ = reply.send(self.desk.as_ref().map(|desk| desk.finished_since(seen)).unwrap_or_default());
            }
            Command::Shutdown { done } => {
                self.shut_down(now);
                drop(done);
            }
        }
        self.touch();
    }

    /// The newest connection wins, so that a reconnect is never blocked by one that is half gone. Whoever holds the
    /// client ID now frees the place it took.
    fn connect(&mut self, now: Now, arrival: Arrival, mut leave: Leave) -> Admitted {
        let id = arrival.claims.subject.clone();
        // Its token was looked at when it came to the door, and much may have been revoked since.
        if !self.access.borrow().stands(&arrival.claims) {
            return Err(NotAdmitted::Revoked);
        }
        let origin = self.admit_origin(&id, arrival.origin.as_deref()).ok_or(NotAdmitted::Origin)?;
        let holder = self.applications.holder(&id);
        if holder.is_none() && self.applications.len() >= self.room {
            return Err(NotAdmitted::TooMany);
        }
        self.pin(&id, &origin);
        if let Some(older) = holder {
            let close = Close { code: CloseCode::Replaced, reason: "a newer connection took this client ID" };
            self.disconnect(now, older, Gone::Replaced, Some(close));
        }
        let connection = self.applications.insert(id, origin, arrival, now.wall);
        leave.say(Farewell::Disconnect(connection));
        Ok((connection, leave))
    }

    /// The origin to be shown; nothing where it may not connect.
    fn admit_origin(&self, id: &ClientId, origin: Option<&str>) -> Option<String> {
        if self.settings.borrow().client_origins == ClientOrigins::Any {
            return Some(origin.unwrap_or(super::NO_ORIGIN).to_owned());
        }
        let origin = origin.filter(|origin| *origin != super::NO_ORIGIN)?;
        let pinned = self.pins.get(id);
        pinned.is_none_or(|pinned| pinned.iter().any(|pin| pin == origin)).then(|| origin.to_owned())
    }

    /// The first origin that comes in is remembered.
    fn pin(&mut self, id: &ClientId, origin: &str) {
        let pinning = self.settings.borrow().client_origins == ClientOrigins::Pinned;
        if pinning && !self.pins.contains_key(id) {
            self.pins.insert(id.clone(), vec![origin.to_owned()]);
            self.remember();
        }
    }

    fn register(&mut self, now: Now, connection: ConnectionId, declaration: Declaration) {
        let Some(application) = self.applications.get_mut(connection) else { return };
        let same = application.declaration.as_deref() == Some(&declaration);
        let declaration = match &application.declaration {
            // An approval given for the old text stays good for the same text.
            Some(served) if same => Arc::clone(served),
            _ => Arc::new(declaration),
        };
        application.declaration = Some(Arc::clone(&declaration));
        push(application, &FromBridge::Registered);
        if same {
            return;
        }
        let changed = |(_, live): &(u64, &Live)| {
            let declared = declaration.tool(&live.routed.call.tool);
            live.question().is_some() && declared.is_none_or(|tool| tool.text != live.routed.tool.text)
        };
        let changed: Vec<_> = self.calls.on(connection).filter(changed).map(|(number, _)| number).collect();
        for number in changed {
            self.end(now, number, Outcome::Changed);
        }
        let Some(application) = self.applications.get(connection) else { return };
        let id = application.id.clone();
        self.view.send_modify(|view| view.serve(id, Served { connection, declaration }));
    }

    /// Takes a call in: it is sent, put to the person, or refused, in this one step. `permit` is the person's own click.
    fn submit(&mut self, now: Now, routed: Routed, permit: Option<Permit>, mut leave: Leave) -> Sent {
        let number = self.calls.next();
        let (answer, answered) = oneshot::channel();
        match self.judge(now, &routed, permit) {
            Ok(Judgement::Allow(permit)) => self.launch(now, number, permit.approve(routed), answer, now),
            Ok(Judgement::Ask) => self.ask(now, number, routed, answer),
            Ok(Judgement::Refuse(outcome)) => self.refuse(now, number, &routed, now, answer, ended(&routed, outcome)),
            Err(refusal) => self.refuse(now, number, &routed, now, answer, refusal),
        }
        leave.say(Farewell::GiveUp(number));
        Ok(Flight { number, answer: answered, leave })
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
        let judgement = match permit {
            Some(permit) => Judgement::Allow(permit),
            None => self.policy.judge(situation, now),
        };
        // A definition that a rule was made for has been looked at.
        if matches!(judgement, Judgement::Allow(_)) && self.policy.ruled(situation, now) {
            let (application, tool) = (agent.application.clone(), routed.tool.name.clone());
            self.policy.mark_seen(application, tool, routed.tool.fingerprint);
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
            ends: Now { mono: now.mono + time, wall: clientmcp_protocol::control::Millis(wall) },
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
        match self.policy.seen(&routed.call.agent.application, &routed.tool.name) {
            None => Definition::New,
            Some(seen) if seen == routed.tool.fingerprint => Definition::Seen,
            Some(_) => Definition::Changed,
        }
    }

    pub(super) fn question_time(&self) -> Duration {
        Duration::from_secs(self.settings.borrow().question_seconds.into())
    }

    /// The person said yes to a question: approved and sent in this one step, exactly as it was asked for.
    pub(super) fn approve(&mut self, now: Now, number: u64, permit: Permit) {
        let Some(Live { routed, answer, began, .. }) = self.calls.remove(number) else { return };
        let began = Now { mono: now.mono, wall: began };
        match self.policy.barred(&routed.call.agent, now).map(|outcome| ended(&routed, outcome)) {
            Some(refusal) => self.refuse(now, number, &routed, began, answer, refusal),
            None => self.launch(now, number, permit.approve(routed), answer, began),
        }
    }

    /// Sends, if everything is still as it was when the call was routed and approved.
    fn launch(&mut self, now: Now, number: u64, approved: Approved, answer: oneshot::Sender<Answer>, began: Now) {
        let routed = approved.into_routed();
        match self.room_for(&routed).and_then(|()| self.put_on_the_wire(now, &routed)) {
            Err(refusal) => self.refuse(now, number, &routed, began, answer, refusal),
            Ok(flying) => {
                let stage = Stage::Sent(flying);
                self.calls.insert(number, Live { routed, answer, began: began.wall, stage });
            }
        }
    }

    fn put_on_the_wire(&mut self, now: Now, routed: &Routed) -> Result<Flying, Refusal> {
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

    /// A call is over. The call leaves the count before its answer is written.
    pub(super) fn finish(&mut self, now: Now, number: u64, answer: Answer) {
        let Some(live) = self.calls.remove(number) else { return };
        if let Some(desk) = &mut self.desk {
            let sent = live.flying().map(|flying| flying.at.wall);
            desk.record(now, number, &live.routed, sent, live.began, &answer);
        }
        let _ = live.answer.send(answer);
    }

    /// A call is over without the application's answer; one that was sent is told to stop.
    pub(super) fn stop(&mut self, now: Now, number: u64, refusal: Refusal) {
        if let Some(flying) = self.calls.get(number).and_then(Live::flying)
            && let Some(application) = self.applications.get_mut(flying.id.connection)
        {
            push(application, &FromBridge::Cancel { id: &flying.id.number.to_string() });
        }
        self.finish(now, number, Err(refusal));
    }

    pub(super) fn end(&mut self, now: Now, number: u64, outcome: Outcome) {
        let Some(live) = self.calls.get(number) else { return };
        let refusal = ended(&live.routed, outcome);
        self.stop(now, number, refusal);
    }

    /// The agent is gone. What that means for a call that was sent depends on its era.
    fn give_up(&mut self, now: Now, number: u64) {
        if self.calls.get(number).is_some_and(Live::ends_with_agent) {
            self.stop(now, number, Refusal::Cancelled);
        }
    }

    fn cancel_request(&mut self, now: Now, key: &RequestKey) {
        if let Some(number) = self.calls.by_key(key) {
            self.stop(now, number, Refusal::Cancelled);
        }
    }

    /// Ends calls whose time is over, and those of applications that show no sign of life.
    pub(super) fn tick(&mut self, now: Now) {
        self.expire(now);
        while let Some((due, number)) = self.calls.first_due() {
            if due > now.mono {
                break;
            }
            self.look_at(now, number);
        }
        self.show(now);
    }

    /// Questions that nobody answered in time, by either clock, and grants that are over.
    fn expire(&mut self, now: Now) {
        let time = self.question_time();
        let over = |live: &Live| {
            live.question().is_some_and(|question| question.ends.mono <= now.mono || question.ends.wall <= now.wall)
        };
        for number in self.calls.waiting(over) {
            self.end(now, number, Outcome::Unanswered(time));
        }
        if self.policy.tick(now) {
            self.policy_changed(now);
        }
    }

    fn look_at(&mut self, now: Now, number: u64) {
        let Some(flying) = self.calls.get(number).and_then(Live::flying) else { return };
        if flying.deadline <= now.mono {
            let time = Duration::from_secs(self.settings.borrow().call_seconds.into());
            return self.end(now, number, Outcome::Timeout(time));
        }
        let application = self.applications.get(flying.id.connection);
        if application.is_some_and(|application| application.outbox.pulse().last_heard() <= flying.at.mono) {
            return self.end(now, number, Outcome::Unresponsive);
        }
        // It is awake after all: the call has its whole time.
        if let Some(live) = self.calls.remove(number) {
            let stage = Stage::Sent(Flying { due: flying.deadline, ..flying });
            self.calls.insert(number, Live { stage, ..live });
        }
    }

    /// A connection has ended from the moment this returns: nothing of it is served, its calls are answered.
    pub(super) fn disconnect(&mut self, now: Now, connection: ConnectionId, gone: Gone, close: Option<Close>) {
        let Some(mut application) = self.applications.remove(connection) else { return };
        self.view.send_if_modified(|view| view.withdraw(&application.id));
        let calls: Vec<_> = self.calls.on(connection).map(|(number, live)| (number, live.flying().is_some())).collect();
        for (number, sent) in calls {
            let outcome = match (sent, gone) {
                (true, _) => Outcome::Disconnected,
                (false, Gone::Left) => Outcome::Offline,
                (false, Gone::Replaced) => Outcome::Changed,
            };
            self.end(now, number, outcome);
        }
        if let Some(close) = close {
            application.outbox.close(close);
        }
    }

    /// The machine slept: silence is counted anew, for nobody could be heard.
    pub(super) fn woke(&mut self, now: Now) {
        self.expire(now);
        for application in self.applications.iter() {
            application.outbox.pulse().restart(now.mono);
        }
        self.view.send_modify(View::wake);
    }

    /// Calls that wait are answered, applications are told to come back, calls that were sent end without an answer.
    pub(super) fn shut_down(&mut self, now: Now) {
        for number in self.calls.waiting(|_| true) {
            self.end(now, number, Outcome::Unattended);
        }
        for number in self.calls.such_as(|_| true) {
            self.finish(now, number, Err(Refusal::ShuttingDown));
        }
        self.view.send_modify(View::close);
        for mut application in self.applications.drain() {
            application.outbox.close(Close { code: CloseCode::GoingAway, reason: "the bridge shuts down" });
        }
    }
}

impl Application {
    /// Pings on calls, and has been silent for long: perhaps its page is frozen.
    fn is_suspect(&self, now: Instant) -> bool {
        let pulse = self.outbox.pulse();
        pulse.pings_on_call() && now.saturating_duration_since(pulse.last_heard()) >= FROZEN_SILENCE
    }
}

pub(super) fn ended(routed: &Routed, outcome: Outcome) -> Refusal {
    Ended { outcome, structured: !routed.tool.has_output_schema }.into()
}

fn frame(message: &FromBridge<'_>) -> String {
    // Strings and a text that is JSON already: there is nothing that could fail.
    serde_json::to_string(message).unwrap_or_default()
}

/// Small messages. An application that leaves 16 MiB unread misses them, and hears the silence in return.
fn push(application: &Application, message: &FromBridge<'_>) {
    let _ = application.outbox.push(frame(message));
}
