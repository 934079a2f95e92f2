//! The transitions: no clock, no socket, no spawn. Whatever time it is comes in with the command.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use clientmcp_protocol::{
    client::FromBridge,
    codes::CloseCode,
    ids::ClientId,
    limits::{CALLS_IN_FLIGHT, FROZEN_SILENCE, FROZEN_TIME, MESSAGE_BYTES},
};
use tokio::{
    sync::{oneshot, watch},
    time::Instant,
};

use super::{
    Admitted, Answer, Close, Command, Farewell, Flight, Leave, Outbox, Sent, Settings, TooMany,
    apps::{Application, Applications, Served, View},
    calls::InFlight,
};
use crate::{
    approvals::Approved,
    call::{CallId, ConnectionId, HangUp, RequestKey, Routed},
    declaration::Declaration,
    refusal::{Ended, Limit, Outcome, Refusal},
    text::Text,
};

/// All there is to know of this bridge's peers.
pub(super) struct State {
    settings: Settings,
    applications: Applications,
    /// When each sent call is looked at.
    due: BTreeSet<(Instant, CallId)>,
    /// Sent calls by what a legacy cancel calls them, the newest last.
    keys: HashMap<RequestKey, Vec<CallId>>,
    view: watch::Sender<View>,
}

impl State {
    pub(super) fn new(settings: Settings, view: watch::Sender<View>) -> Self {
        Self { settings, applications: Applications::default(), due: BTreeSet::new(), keys: HashMap::new(), view }
    }

    /// When [`State::tick`] has something to do.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.due.first().map(|(deadline, _)| *deadline)
    }

    pub(super) fn apply(&mut self, now: Instant, command: Command) {
        match command {
            Command::Connect { application, outbox, leave, admitted } => {
                let _ = admitted.send(self.connect(application, outbox, leave));
            }
            Command::Register { connection, declaration, done } => {
                self.register(connection, declaration);
                drop(done);
            }
            Command::Result { call, result } => self.finish(call, result),
            Command::Disconnect { connection, done } => {
                self.disconnect(connection, None);
                drop(done);
            }
            Command::Send { approved, leave, sent } => {
                let _ = sent.send(self.send(now, &approved, leave));
            }
            Command::Cancel { call } => self.cancel(call),
            Command::CancelRequest { key } => self.cancel_request(&key),
            Command::Shutdown { done } => {
                self.shut_down();
                drop(done);
            }
        }
    }

    /// The newest connection wins, so that a reconnect is never blocked by one that is half gone. Whoever holds the
    /// client ID now frees the place it took.
    fn connect(&mut self, id: ClientId, outbox: Outbox, mut leave: Leave) -> Admitted {
        let holder = self.applications.holder(&id);
        if holder.is_none() && self.applications.len() >= self.settings.applications {
            return Err(TooMany);
        }
        if let Some(older) = holder {
            let close = Close { code: CloseCode::Replaced, reason: "a newer connection took this client ID" };
            self.disconnect(older, Some(close));
        }
        let connection = self.applications.insert(id, outbox);
        leave.say(Farewell::Disconnect(connection));
        Ok((connection, leave))
    }

    fn register(&mut self, connection: ConnectionId, declaration: Declaration) {
        let Some(application) = self.applications.get_mut(connection) else { return };
        let same = application.declaration.as_deref() == Some(&declaration);
        let declaration = match &application.declaration {
            // An approval given for the old text stays good for the same text.
            Some(served) if same => Arc::clone(served),
            _ => Arc::new(declaration),
        };
        application.declaration = Some(Arc::clone(&declaration));
        push(application, &FromBridge::Registered);
        if !same {
            let id = application.id.clone();
            self.view.send_modify(|view| view.serve(id, Served { connection, declaration }));
        }
    }

    /// Sends, if everything is still as it was when the call was routed and approved. An agent that has hung up by now
    /// drops the flight, and `leave` cancels the call.
    fn send(&mut self, now: Instant, approved: &Approved, mut leave: Leave) -> Sent {
        let (call, answer) = self.try_send(now, approved.routed())?;
        match approved.routed().call.hang_up {
            HangUp::Cancels => leave.say(Farewell::Cancel(call)),
            HangUp::Ignored => {}
        }
        Ok(Flight { answer, leave })
    }

    fn try_send(&mut self, now: Instant, routed: &Routed) -> Result<(CallId, oneshot::Receiver<Answer>), Refusal> {
        let deadline = now + self.settings.call_time;
        let application = self.reachable(routed)?;
        let structured = !routed.tool.has_output_schema;
        let busy = |limit| Ended { outcome: Outcome::Busy(limit), structured };
        if application.calls.len() >= CALLS_IN_FLIGHT {
            return Err(busy(Limit::CallsInFlight).into());
        }
        let number = application.calls.next_number();
        let frame = frame(&FromBridge::Call {
            id: &number.to_string(),
            name: &routed.call.tool,
            arguments: routed.call.arguments.raw(),
        });
        if frame.len() > MESSAGE_BYTES {
            return Err(busy(Limit::MessageBytes).into());
        }
        application.outbox.push(frame).map_err(|_| busy(Limit::UnsentBytes))?;
        let (answer, answered) = oneshot::channel();
        let due = if application.is_suspect(now) { deadline.min(now + FROZEN_TIME) } else { deadline };
        application.outbox.pulse().called();
        let key = routed.call.key.clone();
        let in_flight = InFlight { answer, sent: now, due, deadline, key: key.clone(), structured };
        let call = CallId { connection: routed.connection, number: application.calls.insert(in_flight) };
        self.due.insert((due, call));
        if let Some(key) = key {
            self.keys.entry(key).or_default().push(call);
        }
        Ok((call, answered))
    }

    /// The connection and the definition that were found must be the ones that are there now.
    fn reachable(&mut self, routed: &Routed) -> Result<&mut Application, Refusal> {
        let structured = !routed.tool.has_output_schema;
        let holder = self.applications.holder(&routed.call.agent.application);
        let Some(application) = self.applications.get_mut(routed.connection) else {
            let outcome = if holder.is_some() { Outcome::Changed } else { Outcome::Offline };
            return Err(Ended { outcome, structured }.into());
        };
        let declared = application.declaration.as_ref().and_then(|now| now.tool(&routed.call.tool));
        if declared.is_some_and(|tool| tool.text == routed.tool.text) {
            return Ok(application);
        }
        Err(Ended { outcome: Outcome::Changed, structured }.into())
    }

    /// A result for an unknown or finished call is ignored, so a race with `cancel` is harmless.
    fn finish(&mut self, call: CallId, result: Text) {
        if let Some((_, in_flight)) = self.take(call) {
            let _ = in_flight.answer.send(Ok(result));
        }
    }

    /// The call leaves the count before its answer is written.
    fn take(&mut self, call: CallId) -> Option<(&mut Application, InFlight)> {
        let application = self.applications.get_mut(call.connection)?;
        let in_flight = application.calls.take(call.number)?;
        forget(&mut self.due, &mut self.keys, call, &in_flight);
        Some((application, in_flight))
    }

    fn cancel(&mut self, call: CallId) {
        if let Some((application, _)) = self.take(call) {
            push(application, &FromBridge::Cancel { id: &call.number.to_string() });
        }
    }

    /// Of equal ids the newest call is meant.
    fn cancel_request(&mut self, key: &RequestKey) {
        let Some(call) = self.keys.get(key).and_then(|calls| calls.last()).copied() else { return };
        if let Some((application, in_flight)) = self.take(call) {
            push(application, &FromBridge::Cancel { id: &call.number.to_string() });
            let _ = in_flight.answer.send(Err(Refusal::Cancelled));
        }
    }

    /// Ends calls whose time is over, and those of applications that show no sign of life.
    pub(super) fn tick(&mut self, now: Instant) {
        while let Some((due, call)) = self.due.first().copied() {
            if due > now {
                return;
            }
            self.due.pop_first();
            self.look_at(now, call);
        }
    }

    fn look_at(&mut self, now: Instant, call: CallId) {
        let Some(application) = self.applications.get_mut(call.connection) else { return };
        let heard = application.outbox.pulse().last_heard();
        let Some(in_flight) = application.calls.get_mut(call.number) else { return };
        let outcome = if in_flight.deadline <= now {
            Outcome::Timeout(self.settings.call_time)
        } else if heard <= in_flight.sent {
            Outcome::Unresponsive
        } else {
            // It is awake after all: the call has its whole time.
            in_flight.due = in_flight.deadline;
            self.due.insert((in_flight.due, call));
            return;
        };
        if let Some((application, in_flight)) = self.take(call) {
            push(application, &FromBridge::Cancel { id: &call.number.to_string() });
            let ended = Ended { outcome, structured: in_flight.structured };
            let _ = in_flight.answer.send(Err(ended.into()));
        }
    }

    /// A connection has ended from the moment this returns: nothing of it is served, its calls are answered.
    fn disconnect(&mut self, connection: ConnectionId, close: Option<Close>) {
        let Some(mut application) = self.applications.remove(connection) else { return };
        self.view.send_if_modified(|view| view.withdraw(&application.id));
        for (number, in_flight) in application.calls.drain() {
            forget(&mut self.due, &mut self.keys, CallId { connection, number }, &in_flight);
            let ended = Ended { outcome: Outcome::Disconnected, structured: in_flight.structured };
            let _ = in_flight.answer.send(Err(ended.into()));
        }
        if let Some(close) = close {
            application.outbox.close(close);
        }
    }

    /// Applications are told to come back; calls that were sent end without an answer.
    pub(super) fn shut_down(&mut self) {
        self.due.clear();
        self.keys.clear();
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

/// Takes a call out of the indexes over all connections.
fn forget(
    due: &mut BTreeSet<(Instant, CallId)>,
    keys: &mut HashMap<RequestKey, Vec<CallId>>,
    call: CallId,
    in_flight: &InFlight,
) {
    due.remove(&(in_flight.due, call));
    let Some(key) = &in_flight.key else { return };
    if let Some(calls) = keys.get_mut(key) {
        calls.retain(|other| *other != call);
        if calls.is_empty() {
            keys.remove(key);
        }
    }
}

fn frame(message: &FromBridge<'_>) -> String {
    // Strings and a text that is JSON already: there is nothing that could fail.
    serde_json::to_string(message).unwrap_or_default()
}

/// Small messages. An application that leaves 16 MiB unread misses them, and hears the silence in return.
fn push(application: &Application, message: &FromBridge<'_>) {
    let _ = application.outbox.push(frame(message));
}
