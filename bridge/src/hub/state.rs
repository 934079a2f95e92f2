//! The transitions: no clock, no socket, no spawn. Whatever time it is comes in with the command.

use std::{collections::BTreeMap, sync::Arc};

use clientmcp_protocol::{
    client::FromBridge,
    codes::CloseCode,
    control::{ClientOrigins, Floor, Generation, Memory, Settings},
    ids::ClientId,
    origin,
};
use tokio::{
    sync::watch,
    time::{Duration, Instant},
};

use super::{
    Admitted, Answer, Arrival, Beginning, Close, Command, Farewell, Leave, NotAdmitted, RefusedAtDoor,
    apps::{Application, Applications, Served, View},
    calls::{Calls, Flying, Live, Stage},
    desk::Desk,
    doorbell::Doorbell,
    issued::Issued,
};
use crate::{
    approvals::{Now, Permit, Policy},
    call::{ConnectionId, RequestKey, Routed},
    declaration::Declaration,
    presence::Caller,
    refusal::{Ended, Outcome, Refusal},
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
    pub(super) issued: Issued,
    pub(super) pins: BTreeMap<ClientId, Vec<String>>,
    pub(super) applications: Applications,
    pub(super) calls: Calls,
    pub(super) view: watch::Sender<View>,
    pub(super) refused: Arc<RefusedAtDoor>,
    pub(super) desk: Option<Desk>,
    pub(super) doorbell: Doorbell,
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
        let Memory { pins, generations, floors, issued, .. } = memory;
        let mut state = Self {
            room,
            settings: ends.settings,
            access: ends.access,
            policy,
            generations,
            floors,
            issued: Issued::new(issued),
            pins: pins.into_iter().map(|pin| (pin.application, pin.origins)).collect(),
            applications: Applications::default(),
            calls: Calls::default(),
            view: ends.view,
            refused: ends.refused,
            desk: ends.desk,
            doorbell: Doorbell::default(),
        };
        state.show_policy(now);
        state.remember();
        state
    }

    /// When [`State::tick`] has something to do.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let call = self.calls.first_due().map(|(due, _)| due);
        let desk = self.desk.as_ref().and_then(Desk::due);
        [call, self.policy.next_end(), desk, self.doorbell.next_end()].into_iter().flatten().min()
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
                let (permit, mut routed) = (own.then(Permit::of_own_call), routed);
                // Who gave up on the way here is as gone as one whose connection ended.
                if sent.is_closed() {
                    routed.call.caller = Caller::nobody();
                }
                let _ = sent.send(Ok(self.submit(now, *routed, permit, leave)));
            }
            Command::Note { call, refusal, number } => {
                let next = self.calls.next();
                if let Some(desk) = &mut self.desk {
                    desk.note(now, next, &call, &refusal);
                }
                let _ = number.send(next);
            }
            Command::GiveUp { number } => self.give_up(now, number),
            Command::Withdraw => self.withdraw(now),
            Command::CancelRequest { key } => self.cancel_request(now, &key),
            Command::Desktop { command, reply } => {
                let _ = reply.send(self.obey(now, *command));
            }
            Command::Mint { wanted, minted } => {
                let _ = minted.send(self.mint(now, *wanted));
            }
            Command::Issued { claims } => self.issued(&claims),
            Command::Knock { knock, leave, heard } => {
                let _ = heard.send(self.knock(now, *knock, leave));
            }
            Command::Unknock { number } => self.doorbell.leave(number),
            Command::Door { door } => self.doorbell.stands(door),
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
        let origin = origin.filter(|origin| origin::check_pin(origin).is_ok())?;
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
        for number in self.calls.unanswered(now) {
            self.end(now, number, Outcome::Unanswered(time));
        }
        if self.policy.tick(now) {
            self.policy_changed(now);
        }
        if self.doorbell.expire(now) {
            self.touch();
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
        self.doorbell.close();
        self.view.send_modify(View::close);
        for mut application in self.applications.drain() {
            application.outbox.close(Close { code: CloseCode::GoingAway, reason: "the bridge shuts down" });
        }
    }
}

pub(super) fn ended(routed: &Routed, outcome: Outcome) -> Refusal {
    Ended { outcome, structured: !routed.tool.has_output_schema }.into()
}

pub(super) fn frame(message: &FromBridge<'_>) -> String {
    // Strings and a text that is JSON already: there is nothing that could fail.
    serde_json::to_string(message).unwrap_or_default()
}

/// Small messages. An application that leaves 16 MiB unread misses them, and hears the silence in return.
fn push(application: &Application, message: &FromBridge<'_>) {
    let _ = application.outbox.push(frame(message));
}
