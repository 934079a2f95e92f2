//! What must come of each command, said another way: calls in a list, looked through from the start each time, and a policy
//! that is an oracle. It shares no code with the hub's transitions.

#![allow(clippy::wildcard_enum_match_arm, reason = "what the world never asks for ends the test")]

mod obey;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use clientmcp_protocol::{
    codes::CloseCode,
    control::{self, Also, Decide, ErrorCode, Millis, Mode, Rule, RuleAgent, Until, Verdict, Which},
    ids::{ClientId, Label, QuestionId, Role},
};

use crate::hub::{Answer, Command, NATIVE, NO_ORIGIN, bench::START};
use crate::{
    approvals::{
        Asking, Now, Place, Situation,
        oracle::{Fact, Fate, Oracle},
    },
    call::{Agent, CallId, ConnectionId, HangUp, RequestKey, Routed},
    declaration::{Declaration, Tool},
    refusal::{Ended, Limit, Outcome, Refusal},
    text::Text,
    token::Claims,
};

const QUESTION_TIME: Duration = Duration::from_secs(120);
const CALL_TIME: Duration = Duration::from_secs(120);
const BLOCK_MILLIS: u64 = 15 * 60 * 1_000;

/// See the module.
pub(super) struct Model {
    oracle: Oracle,
    now: Now,
    pub(super) connected: Vec<Connected>,
    connections: u64,
    /// In the order they were taken in.
    pub(super) calls: Vec<Told>,
    revision: u64,
    rules: usize,
    /// Which secret signed what.
    signed: Vec<(Arc<Claims>, usize)>,
    secrets: Vec<usize>,
    generations: BTreeMap<(ClientId, bool), u64>,
    /// In milliseconds.
    floors: BTreeMap<(ClientId, bool, Option<Label>), u64>,
}

/// An application that holds its client ID.
pub(super) struct Connected {
    pub(super) id: ConnectionId,
    pub(super) application: ClientId,
    origin: String,
    claims: Arc<Claims>,
    declared: Option<Vec<Arc<Tool>>>,
    sent: u64,
}

/// A call that was taken in.
pub(super) struct Told {
    agent: Agent,
    name: String,
    tool: Arc<Tool>,
    connection: ConnectionId,
    arguments: Text,
    hang_up: HangUp,
    key: Option<RequestKey>,
    credential: Option<Arc<Claims>>,
    pub(super) stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Waiting { ends: Now, question: Option<QuestionId> },
    Sent { wire: u64, deadline: tokio::time::Instant },
    Over,
}

/// What must come out of one step.
#[derive(Debug, Default)]
pub(super) struct Expected {
    pub(super) frames: Vec<(ConnectionId, String)>,
    pub(super) closed: Vec<(ConnectionId, CloseCode)>,
    pub(super) answers: Vec<(Text, Answer)>,
    pub(super) admitted: Option<bool>,
    pub(super) reply: Option<Result<(), ErrorCode>>,
}

impl Told {
    pub(super) fn is_live(&self) -> bool {
        self.stage != Stage::Over
    }

    pub(super) fn waits(&self) -> bool {
        matches!(self.stage, Stage::Waiting { .. })
    }

    pub(super) fn is_sent(&self) -> bool {
        matches!(self.stage, Stage::Sent { .. })
    }

    pub(super) fn arguments(&self) -> &Text {
        &self.arguments
    }

    pub(super) fn fingerprint(&self) -> clientmcp_protocol::ids::Fingerprint {
        self.tool.fingerprint
    }
}

impl Model {
    pub(super) fn new(now: Now) -> Self {
        Self {
            oracle: Oracle::new(Asking::Person, now),
            now,
            connected: Vec::new(),
            connections: 0,
            calls: Vec::new(),
            revision: 1,
            rules: 0,
            signed: Vec::new(),
            secrets: vec![0],
            generations: BTreeMap::new(),
            floors: BTreeMap::new(),
        }
    }

    pub(super) fn knows(&mut self, claims: Arc<Claims>, secret: usize) {
        self.signed.push((claims, secret));
    }

    /// Which secret signs now.
    pub(super) fn signer(&self) -> usize {
        self.secrets[0]
    }

    pub(super) fn generation(&self, application: &ClientId, role: Role) -> u64 {
        self.generations.get(&(application.clone(), role == Role::Agent)).copied().unwrap_or(0)
    }

    /// What may be sent without anybody's word at this moment: the last line against a frame.
    pub(super) fn forbids(&self, call: &Told) -> Option<String> {
        let barred = match call.credential {
            Some(_) => self.oracle.barred(&call.agent, self.now),
            None => self.oracle.halted(&call.agent.application, self.now),
        };
        let Some(at) = self.connected.iter().find(|at| at.id == call.connection) else { return Some("gone".into()) };
        let denied = call.credential.is_some()
            && self.oracle.fate(situation(call, &at.origin), self.now) == Fate::Refuse(Outcome::Declined);
        let stale = !at.declares(&call.name, &call.tool);
        (barred.is_some() || denied || stale).then(|| format!("{barred:?}, denied {denied}, stale {stale}"))
    }

    /// Somebody looks at the clocks.
    pub(super) fn look(&mut self, now: Now, expected: &mut Expected) {
        self.now = now;
        for at in 0..self.calls.len() {
            if let Stage::Waiting { ends, .. } = self.calls[at].stage
                && (ends.mono <= now.mono || ends.wall <= now.wall)
            {
                self.end(at, Outcome::Unanswered(QUESTION_TIME), expected);
            }
        }
        let new = self.oracle.look(now);
        if !new && self.oracle.rules(now).len() == self.rules {
            return;
        }
        let rules = self.oracle.rules(now).len();
        if rules != self.rules {
            (self.rules, self.revision) = (rules, self.revision + 1);
        }
        self.settle(expected);
        let mut late: Vec<_> = (0..self.calls.len()).filter_map(|at| Some((self.deadline(at)?, at))).collect();
        late.sort_unstable();
        for (deadline, at) in late {
            if deadline <= now.mono {
                self.end(at, Outcome::Timeout(CALL_TIME), expected);
            }
        }
    }

    fn deadline(&self, at: usize) -> Option<tokio::time::Instant> {
        match self.calls[at].stage {
            Stage::Sent { deadline, .. } => Some(deadline),
            Stage::Waiting { .. } | Stage::Over => None,
        }
    }

    /// Waiting calls end or are sent as the policy says now.
    fn settle(&mut self, expected: &mut Expected) {
        for at in 0..self.calls.len() {
            if !self.calls[at].waits() {
                continue;
            }
            let call = &self.calls[at];
            let Some(holder) = self.connected.iter().find(|holder| holder.id == call.connection) else { continue };
            match self.oracle.fate(situation(call, &holder.origin), self.now) {
                Fate::Ask => {}
                Fate::Send => self.send(at, expected),
                Fate::Refuse(outcome) => self.end(at, outcome, expected),
            }
        }
    }

    /// What the command must do.
    pub(super) fn apply(&mut self, command: &Command, expected: &mut Expected) {
        match command {
            Command::Connect { arrival, .. } => {
                expected.admitted = Some(self.connect(&arrival.claims, arrival.origin.as_deref(), expected));
            }
            Command::Register { connection, declaration, .. } => self.register(*connection, declaration, expected),
            Command::Result { call, result } => self.result(*call, result, expected),
            Command::Disconnect { connection, .. } => self.gone(*connection, Outcome::Offline, None, expected),
            Command::Submit { routed, own, .. } => self.submit(routed, *own, expected),
            Command::GiveUp { number } => {
                let at = usize::try_from(number - 1).unwrap();
                let call = &self.calls[at];
                if call.waits() || (call.is_sent() && call.hang_up == HangUp::Cancels) {
                    self.stop(at, Refusal::Cancelled, expected);
                }
            }
            Command::CancelRequest { key } => {
                let newest = self.calls.iter().rposition(|call| call.is_live() && call.key.as_ref() == Some(key));
                if let Some(at) = newest {
                    self.stop(at, Refusal::Cancelled, expected);
                }
            }
            Command::Desktop { command, .. } => expected.reply = Some(self.obey(command, expected)),
            // The world notes nothing: what leads nowhere is no call here.
            Command::Finished { .. }
            | Command::Note { .. }
            | Command::Knock { .. }
            | Command::Unknock { .. }
            | Command::Door { .. } => {}
            Command::Shutdown { .. } => self.shut_down(expected),
        }
    }

    fn connect(&mut self, claims: &Arc<Claims>, origin: Option<&str>, expected: &mut Expected) -> bool {
        if !self.stands(claims) {
            return false;
        }
        let application = claims.subject.clone();
        if let Some(older) = self.connected.iter().find(|holder| holder.application == application) {
            self.gone(older.id, Outcome::Changed, Some(CloseCode::Replaced), expected);
        }
        self.connections += 1;
        let origin = origin.unwrap_or(NO_ORIGIN).to_owned();
        let (id, claims) = (ConnectionId(self.connections), Arc::clone(claims));
        self.connected.push(Connected { id, application, origin, claims, declared: None, sent: 0 });
        true
    }

    fn register(&mut self, connection: ConnectionId, declaration: &Declaration, expected: &mut Expected) {
        let Some(holder) = self.connected.iter_mut().find(|holder| holder.id == connection) else { return };
        holder.declared = Some(declaration.tools().to_vec());
        expected.frames.push((connection, r#"{"type":"registered"}"#.into()));
        for at in 0..self.calls.len() {
            let call = &self.calls[at];
            let holder = self.connected.iter().find(|holder| holder.id == call.connection);
            if call.waits() && holder.is_some_and(|holder| !holder.declares(&call.name, &call.tool)) {
                self.end(at, Outcome::Changed, expected);
            }
        }
    }

    fn result(&mut self, id: CallId, result: &Text, expected: &mut Expected) {
        let sent = |call: &Told| {
            call.connection == id.connection && matches!(call.stage, Stage::Sent { wire, .. } if wire == id.number)
        };
        if let Some(at) = self.calls.iter().position(sent) {
            self.calls[at].stage = Stage::Over;
            expected.answers.push((self.calls[at].arguments.clone(), Ok(result.clone())));
        }
    }

    fn gone(&mut self, connection: ConnectionId, waiting: Outcome, close: Option<CloseCode>, expected: &mut Expected) {
        let Some(holder) = self.connected.iter().position(|holder| holder.id == connection) else { return };
        self.connected.remove(holder);
        for at in 0..self.calls.len() {
            let call = &self.calls[at];
            if call.connection == connection && call.is_live() {
                let outcome = if call.waits() { waiting } else { Outcome::Disconnected };
                self.end(at, outcome, expected);
            }
        }
        expected.closed.extend(close.map(|code| (connection, code)));
    }

    fn submit(&mut self, routed: &Routed, own: bool, expected: &mut Expected) {
        let Routed { call, connection, tool } = routed;
        self.calls.push(Told {
            agent: call.agent.clone(),
            name: call.tool.clone(),
            tool: Arc::clone(tool),
            connection: *connection,
            arguments: call.arguments.clone(),
            hang_up: call.hang_up,
            key: call.key.clone(),
            credential: call.credential.clone(),
            stage: Stage::Over,
        });
        let at = self.calls.len() - 1;
        if call.credential.as_ref().is_some_and(|claims| !self.stands(claims)) {
            return self.answer(at, Err(Refusal::Revoked), expected);
        }
        let barred = if own {
            self.oracle.halted(&call.agent.application, self.now)
        } else {
            self.oracle.barred(&call.agent, self.now)
        };
        if let Some(outcome) = barred.or_else(|| self.unreachable(at)) {
            return self.answer(at, self.ended(at, outcome), expected);
        }
        let origin = &self.connected.iter().find(|holder| holder.id == *connection).unwrap().origin;
        let asked = situation(&self.calls[at], origin);
        let fate = if own { Fate::Send } else { self.oracle.fate(asked, self.now) };
        if !own && fate == Fate::Send && self.oracle.ruled(asked, self.now) {
            let seen = Fact::Seen(asked.place(), tool.fingerprint);
            self.oracle.learn(seen);
        }
        match fate {
            Fate::Refuse(outcome) => self.answer(at, self.ended(at, outcome), expected),
            Fate::Send => self.send(at, expected),
            Fate::Ask => self.ask(at, expected),
        }
    }

    fn ask(&mut self, at: usize, expected: &mut Expected) {
        let call = &self.calls[at];
        let here = |other: &&Told| other.connection == call.connection;
        let open = || self.calls.iter().filter(here).filter(|other| other.waits());
        let busy = if self.calls.iter().filter(here).filter(|other| other.is_sent()).count() >= 64 {
            Some(Limit::CallsInFlight)
        } else if open().filter(|other| other.agent == call.agent).count() >= 8 {
            Some(Limit::QuestionsOfAgent)
        } else {
            (open().count() >= 32).then_some(Limit::Questions)
        };
        if let Some(limit) = busy {
            return self.answer(at, self.ended(at, Outcome::Busy(limit)), expected);
        }
        let wall = Millis(self.now.wall.0 + 120_000);
        self.calls[at].stage =
            Stage::Waiting { ends: Now { mono: self.now.mono + QUESTION_TIME, wall }, question: None };
    }

    fn unreachable(&self, at: usize) -> Option<Outcome> {
        let call = &self.calls[at];
        match self.connected.iter().find(|holder| holder.application == call.agent.application) {
            None => Some(Outcome::Offline),
            Some(holder) if holder.id == call.connection && holder.declares(&call.name, &call.tool) => None,
            Some(_) => Some(Outcome::Changed),
        }
    }

    fn send(&mut self, at: usize, expected: &mut Expected) {
        if let Some(outcome) = self.unreachable(at) {
            return self.end(at, outcome, expected);
        }
        let connection = self.calls[at].connection;
        if self.calls.iter().filter(|call| call.connection == connection && call.is_sent()).count() >= 64 {
            return self.end(at, Outcome::Busy(Limit::CallsInFlight), expected);
        }
        let holder = self.connected.iter_mut().find(|holder| holder.id == connection).unwrap();
        holder.sent += 1;
        let (call, wire) = (&mut self.calls[at], holder.sent);
        call.stage = Stage::Sent { wire, deadline: self.now.mono + CALL_TIME };
        let (name, arguments) = (&call.name, call.arguments.as_str());
        let frame = format!(r#"{{"type":"call","id":"{wire}","name":"{name}","arguments":{arguments}}}"#);
        expected.frames.push((connection, frame));
    }

    fn ended(&self, at: usize, outcome: Outcome) -> Answer {
        Err(Ended { outcome, structured: !self.calls[at].tool.has_output_schema }.into())
    }

    fn end(&mut self, at: usize, outcome: Outcome, expected: &mut Expected) {
        let Err(refusal) = self.ended(at, outcome) else { return };
        self.stop(at, refusal, expected);
    }

    fn stop(&mut self, at: usize, refusal: Refusal, expected: &mut Expected) {
        let call = &self.calls[at];
        if let Stage::Sent { wire, .. } = call.stage
            && self.connected.iter().any(|holder| holder.id == call.connection)
        {
            expected.frames.push((call.connection, format!(r#"{{"type":"cancel","id":"{wire}"}}"#)));
        }
        self.answer(at, Err(refusal), expected);
    }

    fn answer(&mut self, at: usize, answer: Answer, expected: &mut Expected) {
        self.calls[at].stage = Stage::Over;
        expected.answers.push((self.calls[at].arguments.clone(), answer));
    }

    fn shut_down(&mut self, expected: &mut Expected) {
        for at in 0..self.calls.len() {
            if self.calls[at].waits() {
                self.end(at, Outcome::Unattended, expected);
            }
        }
        for at in 0..self.calls.len() {
            if self.calls[at].is_live() {
                self.answer(at, Err(Refusal::ShuttingDown), expected);
            }
        }
        expected.closed.extend(self.connected.drain(..).map(|holder| (holder.id, CloseCode::GoingAway)));
    }

    /// No more is under way than may be.
    pub(super) fn within_limits(&self) -> bool {
        self.connected.iter().all(|holder| {
            let here = || self.calls.iter().filter(|call| call.connection == holder.id);
            let waiting: Vec<_> = here().filter(|call| call.waits()).collect();
            let of_one = |call: &&Told| waiting.iter().filter(|other| other.agent == call.agent).count();
            here().filter(|call| call.is_sent()).count() <= 64
                && waiting.len() <= 32
                && waiting.iter().map(of_one).all(|open| open <= 8)
        })
    }
}

impl Connected {
    fn declares(&self, name: &str, tool: &Tool) -> bool {
        let declared = self.declared.iter().flatten().rfind(|declared| declared.name.as_str() == name);
        declared.is_some_and(|declared| declared.text == tool.text)
    }
}

fn situation<'a>(call: &'a Told, origin: &'a str) -> Situation<'a> {
    Situation { agent: &call.agent, origin, tool: &call.tool }
}

/// Where applications come from.
pub(super) const ORIGINS: [Option<&str>; 4] = [Some(NATIVE), Some(NATIVE), Some("https://a.example"), None];
