//! What the desktop asks of the hub, and what follows from it at once for everything under way.

use std::{collections::HashSet, sync::Arc, time::Duration};

use clientmcp_protocol::{
    codes::CloseCode,
    control::{
        Also, ApplicationPart, CallPart, Command, Count, Decide, ErrorCode, Floor, Generation, Memory, Mode, Pin,
        QuestionPart, Reply, Rule, RuleAgent, Settings, TextRef, Until, Verdict, Which,
    },
    ids::{ClientId, Role},
    limits::{BLOCK_TIME, CALL_TIME_RANGE, GENERATION, ORIGINS, PIECE_BYTES, QUESTION_TIME_RANGE, RULES},
    origin,
};

use super::{
    Close,
    calls::Live,
    command::Wanted,
    memory::{harmless, harmless_rule},
    state::{Gone, State},
};
use crate::{
    approvals::{Judgement, Now, Permit, Place, Situation},
    call::{Agent, Routed},
    refusal::{Outcome, Refusal},
    token::{Access, Claims, LAST_END, MintError, Minted, NumericDate, Secret, Secrets},
};

/// An end that is none.
const TOO_FAR: &str = "an end is beyond the year 9999";

const GONE: &str = "the agent that asked has gone meanwhile: nothing was done";

impl State {
    /// Does what was asked. What the hub does not know of is answered by the channel.
    pub(super) fn obey(&mut self, now: Now, command: Command) -> Reply {
        match command {
            Command::Decide(decide) => self.decide(now, &decide),
            Command::SetMode { application, mode, until } => self.set_mode(now, application, mode, until),
            Command::SetRules { revision, rules } => self.set_rules(now, revision, rules),
            Command::AddOrigin { application, origin } => self.add_origin(application, &origin),
            Command::Pause => self.set_paused(now, true),
            Command::Resume => self.set_paused(now, false),
            Command::Disconnect { application } => self.close_application(now, &application),
            Command::Revoke { application, role, which: Which::Label(label) } => {
                self.revoke(now, application, role, Which::Label(harmless(label)))
            }
            Command::Revoke { application, role, which: Which::All } => self.revoke(now, application, role, Which::All),
            Command::Unblock { application, label } => {
                self.unblock(now, &Agent { application, label: harmless(label) })
            }
            Command::SetSecrets { secrets } => self.set_secrets(now, &secrets.0),
            Command::SetSettings { settings } => self.set_settings(settings),
            Command::AllowPair { host, application } => self.allow_pair(now, &host, application),
            Command::ForgetPair { host, application } => self.forget_pair(now, &host.harmless(), application.as_ref()),
            Command::DecideDoor { question, verdict } => self.decide_door(now, question, verdict),
            Command::Get { text, offset } => self.piece(&text, offset),
            Command::Start(_)
            | Command::Mint { .. }
            | Command::TryTool { .. }
            | Command::SampleStart
            | Command::SampleStop
            | Command::Shutdown => refused(ErrorCode::NotACommand, "this is not for the hub"),
        }
    }

    fn decide(&mut self, now: Now, decide: &Decide) -> Reply {
        if (decide.verdict, &decide.also) == (Verdict::Allow, &Also::BlockAgent) {
            return refused(ErrorCode::Value, "an agent cannot be allowed and blocked in one answer");
        }
        if matches!(decide.also, Also::Remember { until, .. } if !until.can_be_told()) {
            return refused(ErrorCode::Value, TOO_FAR);
        }
        let question =
            self.calls.by_question(decide.question).and_then(|number| Some((number, self.calls.get(number)?)));
        let fits = |live: &Live| live.routed.tool.fingerprint == decide.fingerprint;
        let Some((number, live)) = question.filter(|(_, live)| fits(live)) else {
            return refused(
                ErrorCode::NoSuchQuestion,
                "this question is not open any more, or its tool has changed: nothing was done",
            );
        };
        // A no, and what goes with it, is for the next time too.
        if decide.verdict == Verdict::Allow && live.is_deserted() {
            self.stop(now, number, Refusal::Cancelled);
            return refused(ErrorCode::NoSuchQuestion, GONE);
        }
        let agent = live.routed.call.agent.clone();
        let (tool, fingerprint) = (live.routed.tool.name.clone(), live.routed.tool.fingerprint);
        let origin = self.applications.get(live.routed.connection).map(|application| application.origin.clone());
        let rule = match &decide.also {
            Also::Remember { any_agent, until } => match self.new_rule(now, live, decide.verdict, *any_agent, *until) {
                Some(rule) => Some(rule),
                None => return refused(ErrorCode::Value, "there are as many rules as there can be: remove some first"),
            },
            Also::Nothing | Also::BlockAgent => None,
        };
        match decide.verdict {
            Verdict::Allow => {
                if !self.approve(now, number, Permit::of_person()) {
                    return refused(ErrorCode::NoSuchQuestion, GONE);
                }
                // What was refused has been looked at too, but a no to one call is no reason to send others unasked.
                if let Some(origin) = origin {
                    self.policy.mark_seen(Place { application: agent.application.clone(), tool, origin }, fingerprint);
                }
            }
            Verdict::Deny => self.end(now, number, Outcome::Declined),
        }
        if let Some(rule) = rule {
            self.policy.add_rule(rule, now);
        }
        if decide.also == Also::BlockAgent {
            self.policy.block(agent, Until::At(now.wall.after(BLOCK_TIME)), now);
        }
        self.policy_changed(now);
        Reply::Done
    }

    /// An allow rule is bound to all that the person saw; a deny rule holds for whatever the tool becomes.
    fn new_rule(&self, now: Now, live: &Live, verdict: Verdict, any_agent: bool, until: Until) -> Option<Rule> {
        if self.policy.rules().count() >= RULES {
            return None;
        }
        let Routed { call, connection, tool } = &live.routed;
        let origin = self.applications.get(*connection).map(|application| application.origin.clone());
        let bound = verdict == Verdict::Allow;
        Some(Rule {
            id: format!("{:032x}", rand::random::<u128>()),
            application: call.agent.application.clone(),
            tool: tool.name.clone(),
            agent: if any_agent { RuleAgent::Any } else { RuleAgent::One(call.agent.label.clone()) },
            verdict,
            fingerprint: bound.then_some(tool.fingerprint),
            origin: origin.filter(|_| bound),
            until,
            made: now.wall,
        })
    }

    fn set_mode(&mut self, now: Now, application: ClientId, mode: Mode, until: Until) -> Reply {
        if !until.can_be_told() {
            return refused(ErrorCode::Value, TOO_FAR);
        }
        if !self.policy.set_mode(application, mode, until, now) {
            return refused(
                ErrorCode::Value,
                "allowing everything ends within 24 hours: at a time until then, or when the app quits",
            );
        }
        self.policy_changed(now);
        Reply::Done
    }

    fn set_rules(&mut self, now: Now, revision: Count, mut rules: Vec<Rule>) -> Reply {
        if revision.0 != self.policy.rules_revision() {
            return refused(ErrorCode::Stale, "the rules have changed meanwhile: look at them again");
        }
        if let Some(fault) = rules_fault(&rules) {
            return refused(ErrorCode::Value, fault);
        }
        rules.iter_mut().for_each(harmless_rule);
        self.policy.set_rules(rules, now);
        self.policy_changed(now);
        Reply::Done
    }

    fn set_paused(&mut self, now: Now, paused: bool) -> Reply {
        self.policy.set_paused(paused);
        self.policy_changed(now);
        Reply::Done
    }

    fn unblock(&mut self, now: Now, agent: &Agent) -> Reply {
        if !self.policy.unblock(agent) {
            return refused(ErrorCode::NotFound, "this agent is not blocked");
        }
        self.policy_changed(now);
        Reply::Done
    }

    fn add_origin(&mut self, application: ClientId, origin: &str) -> Reply {
        if let Err(fault) = origin::check_pin(origin) {
            return refused(ErrorCode::Value, fault);
        }
        let origins = self.pins.entry(application).or_default();
        if !origins.iter().any(|pinned| pinned == origin) {
            if origins.len() >= ORIGINS {
                return refused(ErrorCode::Value, "there are as many origins of this application as there can be");
            }
            origins.push(origin.to_owned());
        }
        self.remember();
        Reply::Done
    }

    fn close_application(&mut self, now: Now, application: &ClientId) -> Reply {
        let Some(connection) = self.applications.holder(application) else {
            return refused(ErrorCode::NotFound, "this application is not connected");
        };
        let close = Close { code: CloseCode::GoingAway, reason: "disconnected by the user" };
        self.disconnect(now, connection, Gone::Left, Some(close));
        Reply::Done
    }

    fn revoke(&mut self, now: Now, application: ClientId, role: Role, which: Which) -> Reply {
        self.keep_moment();
        let pairs = match role {
            Role::Agent => self.pairs_without(&application, &which),
            Role::Client => self.access.borrow().pairs().to_vec(),
        };
        match which {
            Which::All => {
                let before = self.access.borrow().standing().generation(&application, role);
                let generation = before.saturating_add(1).min(GENERATION);
                self.generations.retain(|other| (&other.application, other.role) != (&application, role));
                self.generations.push(Generation { application, role, generation });
            }
            Which::Label(label) => {
                // What is here now is meant, even if there was no room to tell of its token when it came.
                for claims in self.claims() {
                    if (&claims.subject, claims.role, &claims.label) == (&application, role, &label) {
                        self.issued(&claims);
                    }
                }
                let same =
                    |floor: &Floor| (&floor.application, floor.role, &floor.label) == (&application, role, &label);
                // A floor never falls, even when the clock was set back.
                let before = self.floors.iter().find(|floor| same(floor)).map(|floor| floor.issued_before);
                self.floors.retain(|floor| !same(floor));
                // What was made in this very millisecond was made before, and so was what names a later one.
                let newest = self.issued.newest(&application, role, label.as_ref()).max(now.wall);
                let issued_before = before.unwrap_or_default().max(newest.next());
                self.floors.push(Floor { application, role, label, issued_before });
            }
        }
        let access = self.access.borrow().with_revoked(&self.generations, &self.floors);
        let access = access.with_pairs(pairs);
        self.set_access(now, access);
        self.remember();
        Reply::Done
    }

    /// Makes a token. What it says of its beginning is remembered before it is given out.
    pub(super) fn mint(&mut self, now: Now, wanted: Wanted) -> Result<Minted, MintError> {
        let Wanted { subject, role, label, ttl } = wanted;
        let minted = self.access.borrow().mint(now.wall, subject.clone(), role, label.clone(), ttl)?;
        if self.issued.note(subject, role, label, minted.issued) {
            self.remember();
        }
        Ok(minted)
    }

    /// What everything that is connected or under way was let in by.
    fn claims(&self) -> Vec<Arc<Claims>> {
        let applications = self.applications.iter().map(|application| Arc::clone(&application.claims));
        let calls = self.calls.iter().filter_map(|(_, live)| live.routed.call.credential.clone());
        applications.chain(calls).collect()
    }

    /// A token of somebody else's is known of. One that is beyond all calendars is refused by every floor, unless the floor
    /// itself came to be there.
    pub(super) fn issued(&mut self, claims: &Claims) {
        let floor = self.access.borrow().standing().floor(&claims.subject, claims.role, claims.label.as_ref());
        let known = |at: &NumericDate| at.seconds() <= LAST_END || floor.is_some_and(|floor| *at <= floor);
        let Some(at) = claims.issued_at.filter(known) else { return };
        if self.issued.note(claims.subject.clone(), claims.role, claims.label.clone(), at.millis()) {
            self.remember();
        }
    }

    fn set_secrets(&mut self, now: Now, secrets: &[String]) -> Reply {
        let secrets: Result<Vec<_>, _> = secrets.iter().map(|secret| Secret::new(secret)).collect();
        let secrets = match secrets {
            Ok(secrets) => Secrets::new(secrets),
            Err(fault) => return refused(ErrorCode::Secret, &format!("a secret cannot be used: it is {fault}")),
        };
        let Some(secrets) = secrets else { return refused(ErrorCode::Secret, "at least one secret is needed") };
        let access = self.access.borrow().with_secrets(secrets);
        self.set_access(now, access);
        Reply::Done
    }

    /// What was let in before is looked at again, and cut off where it would not be let in now.
    pub(super) fn set_access(&mut self, now: Now, access: Access) {
        let stands = |live: &Live| live.routed.call.credential.as_ref().is_none_or(|claims| access.stands(claims));
        for number in self.calls.such_as(|live| !stands(live)) {
            self.stop(now, number, Refusal::Revoked);
        }
        // Agents first: one that is cut off with its application is not told what became of its call.
        for connection in self.applications.connections(|application| !access.stands(&application.claims)) {
            let close = Close { code: CloseCode::Unauthorized, reason: "the token was revoked" };
            self.disconnect(now, connection, Gone::Left, Some(close));
        }
        self.access.send_replace(access.into());
    }

    fn set_settings(&mut self, settings: Settings) -> Reply {
        if let Some(fault) = settings_fault(&settings) {
            return refused(ErrorCode::Value, fault);
        }
        self.settings.send_replace(settings);
        Reply::Done
    }

    /// Withdraws what waits for agents that are gone.
    pub(super) fn withdraw(&mut self, now: Now) {
        for number in self.calls.waiting(Live::is_deserted) {
            self.stop(now, number, Refusal::Cancelled);
        }
    }

    /// Whatever the policy says now holds for calls that wait: they end, or are sent, or go on waiting.
    pub(super) fn policy_changed(&mut self, now: Now) {
        for number in self.calls.waiting(|_| true) {
            let Some(live) = self.calls.get(number) else { continue };
            let Some(application) = self.applications.get(live.routed.connection) else { continue };
            let situation =
                Situation { agent: &live.routed.call.agent, origin: &application.origin, tool: &live.routed.tool };
            match self.policy.judge(situation, now) {
                Judgement::Allow(permit) => {
                    self.approve(now, number, permit);
                }
                Judgement::Refuse(outcome) => self.end(now, number, outcome),
                Judgement::Ask => {}
            }
        }
        self.show_policy(now);
        self.remember();
    }

    /// Readers see at once what keeps calls from being sent.
    pub(super) fn show_policy(&mut self, now: Now) {
        let paused = self.policy.paused();
        let modes = self.policy.modes().into_iter();
        let blocked = modes.filter(|of| self.policy.mode(&of.application, now) == Mode::Block);
        let blocked: Vec<_> = blocked.map(|mode| mode.application).collect();
        let agents = self.policy.blocked().into_iter();
        let agents: Vec<_> = agents.map(|agent| Agent { application: agent.application, label: agent.label }).collect();
        self.view.send_modify(|view| view.bar(paused, blocked, agents));
    }

    /// Hands the desktop what is to be written down, if it changed.
    pub(super) fn remember(&mut self) {
        let Some(desk) = &self.desk else { return };
        let mut memory = Memory {
            pins: self
                .pins
                .iter()
                .map(|(application, origins)| Pin { application: application.clone(), origins: origins.clone() })
                .collect(),
            generations: self.generations.clone(),
            floors: self.floors.clone(),
            issued: self.issued.entries(),
            pairs: self.access.borrow().pairs().to_vec(),
            ..Memory::default()
        };
        self.policy.write_down(&mut memory);
        desk.remember(memory);
    }

    fn piece(&self, text: &TextRef, offset: Count) -> Reply {
        let Some(text) = self.text(text) else {
            return refused(ErrorCode::NotFound, "this text is not kept any more");
        };
        let from = usize::try_from(offset.0).unwrap_or(usize::MAX);
        let Some(rest) = text.get(from..) else {
            return refused(ErrorCode::Value, "the offset is beyond the text's end, or within a character");
        };
        let mut end = rest.len().min(PIECE_BYTES);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        Reply::Text { piece: rest.get(..end).unwrap_or_default().to_owned(), bytes: Count::from(text.len()) }
    }

    fn text(&self, text: &TextRef) -> Option<std::sync::Arc<str>> {
        match text {
            TextRef::Question { id, part } => {
                let live = self.calls.get(self.calls.by_question(*id)?)?;
                Some(match part {
                    QuestionPart::Arguments => live.routed.call.arguments.as_str().into(),
                    QuestionPart::Tool => live.routed.tool.text.as_str().into(),
                })
            }
            TextRef::Call { number, part } => self.text_of_call(*number, *part),
            TextRef::Application { id, part } => {
                let application = self.applications.get(self.applications.holder(id)?)?;
                let declaration = application.declaration.as_ref()?;
                Some(match part {
                    ApplicationPart::Tools => {
                        let tools: Vec<_> = declaration.tools().iter().map(|tool| tool.text.as_str()).collect();
                        format!("[{}]", tools.join(",")).into()
                    }
                    ApplicationPart::Instructions => {
                        declaration.instructions().map_or("null", |text| text.as_str()).into()
                    }
                })
            }
        }
    }

    fn text_of_call(&self, number: Count, part: CallPart) -> Option<std::sync::Arc<str>> {
        if let (Some(live), CallPart::Arguments) = (self.calls.get(number.0), part) {
            return Some(live.routed.call.arguments.as_str().into());
        }
        self.desk.as_ref()?.text(number, part)
    }
}

/// What is wrong with a set of rules, if anything.
pub(super) fn rules_fault(rules: &[Rule]) -> Option<&'static str> {
    if rules.len() > RULES {
        return Some("there are more rules than there can be");
    }
    if !rules.iter().all(|rule| rule.until.can_be_told()) {
        return Some(TOO_FAR);
    }
    let ids: HashSet<_> = rules.iter().map(|rule| &rule.id).collect();
    (ids.len() < rules.len()).then_some("two rules have the same id")
}

/// What is out of bounds, if anything.
pub fn settings_fault(settings: &Settings) -> Option<&'static str> {
    let within = |seconds: u32, (shortest, longest): (Duration, Duration)| {
        (shortest..=longest).contains(&Duration::from_secs(seconds.into()))
    };
    if !within(settings.call_seconds, CALL_TIME_RANGE) {
        return Some("an application's time for a call is 1 to 3600 seconds");
    }
    if !within(settings.question_seconds, QUESTION_TIME_RANGE) {
        return Some("the time for an answer is 10 to 600 seconds");
    }
    if settings.allow_origins.len() > ORIGINS {
        return Some("more origins are allowed than can be");
    }
    settings.allow_origins.iter().find_map(|origin| origin::check(origin).err())
}

pub(super) fn refused(code: ErrorCode, sentence: &str) -> Reply {
    Reply::Refused { code, sentence: sentence.to_owned() }
}
