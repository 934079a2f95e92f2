//! For tests: what the policy should say, told another way. Everything that was ever said and every moment at which
//! somebody looked is kept in one list, and each answer is found by reading all of it.

#![allow(clippy::wildcard_enum_match_arm, reason = "each reader looks for its own kind of fact alone")]

use std::time::Duration;

use clientmcp_protocol::{
    control::{Millis, Mode, Rule, RuleAgent, Until, Verdict},
    ids::{ClientId, Fingerprint},
};

use super::{Asking, Now, Place, Situation};
use crate::{call::Agent, refusal::Outcome};

/// The longest that everything may be allowed.
const DAY: u64 = 24 * 60 * 60 * 1_000;

/// A wall clock that went back by more than this has jumped.
const JUMP: u64 = 5_000;

/// See the module.
pub(crate) struct Oracle {
    asking: Asking,
    history: Vec<Fact>,
}

/// Something that was said, or a look at the clocks.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    Looked(Now),
    Paused(bool),
    Mode(ClientId, Mode, Until),
    /// Voids all rules before it.
    Rules(Vec<Rule>),
    Rule(Rule),
    Blocked(Agent, Until),
    Unblocked(Agent),
    Seen(Place, Fingerprint),
}

/// What is to become of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Send,
    Ask,
    Refuse(Outcome),
}

impl Oracle {
    pub(crate) fn new(asking: Asking, now: Now) -> Self {
        Self { asking, history: vec![Fact::Looked(now)] }
    }

    pub(crate) fn learn(&mut self, fact: Fact) {
        self.history.push(fact);
    }

    /// Says whether this look could show anything new.
    pub(crate) fn look(&mut self, now: Now) -> bool {
        let last =
            self.history.iter().rev().find_map(|fact| if let Fact::Looked(at) = fact { Some(*at) } else { None });
        let new = last != Some(now);
        if new {
            self.learn(Fact::Looked(now));
        }
        new
    }

    /// What keeps an application's tools from being called by anybody.
    pub(crate) fn halted(&self, application: &ClientId, now: Now) -> Option<Outcome> {
        let mut paused = false;
        for fact in &self.history {
            if let Fact::Paused(said) = fact {
                paused = *said;
            }
        }
        match self.mode(application, now) {
            _ if paused => Some(Outcome::Paused),
            Mode::Block => Some(Outcome::Blocked),
            Mode::Ask | Mode::AskExceptReadOnly | Mode::AllowAll => None,
        }
    }

    /// What may never be sent, whatever the person says to a question.
    pub(crate) fn barred(&self, agent: &Agent, now: Now) -> Option<Outcome> {
        self.halted(&agent.application, now).or(self.is_blocked(agent, now).then_some(Outcome::Blocked))
    }

    pub(crate) fn fate(&self, situation: Situation<'_>, now: Now) -> Fate {
        if let Some(outcome) = self.barred(situation.agent, now) {
            return Fate::Refuse(outcome);
        }
        let said = |verdict| self.rules(now).iter().any(|rule| rule.verdict == verdict && fits(rule, situation));
        if said(Verdict::Deny) {
            return Fate::Refuse(Outcome::Declined);
        }
        let harmless = situation.tool.hints.read_only == Some(true) && self.was_seen(situation);
        let sent = match self.mode(&situation.agent.application, now) {
            Mode::AllowAll => true,
            Mode::AskExceptReadOnly => harmless,
            Mode::Ask | Mode::Block => false,
        };
        match self.asking {
            _ if said(Verdict::Allow) || sent => Fate::Send,
            Asking::Off => Fate::Send,
            Asking::Person => Fate::Ask,
            Asking::Nobody => Fate::Refuse(Outcome::Unattended),
        }
    }

    /// Whether an allow rule holds, so that its definition counts as seen.
    pub(crate) fn ruled(&self, situation: Situation<'_>, now: Now) -> bool {
        self.rules(now).iter().any(|rule| rule.verdict == Verdict::Allow && fits(rule, situation))
    }

    pub(crate) fn mode(&self, application: &ClientId, now: Now) -> Mode {
        let mut mode = Mode::Ask;
        for (at, fact) in self.history.iter().enumerate() {
            if let Fact::Mode(of, said, until) = fact
                && of == application
                && self.can_be(at, *said, *until)
            {
                let until = match (*said, *until) {
                    (Mode::AllowAll, Until::Quit) => Until::At(Millis(self.said(at).wall.0 + DAY)),
                    (_, until) => until,
                };
                mode = if self.holds(at, until, *said != Mode::Block, now) { *said } else { Mode::Ask };
            }
        }
        mode
    }

    pub(crate) fn is_blocked(&self, agent: &Agent, now: Now) -> bool {
        let mut blocked = false;
        for (at, fact) in self.history.iter().enumerate() {
            match fact {
                Fact::Blocked(other, until) if other == agent => blocked = self.holds(at, *until, false, now),
                Fact::Unblocked(other) if other == agent => blocked = false,
                _ => {}
            }
        }
        blocked
    }

    /// Rules in force.
    pub(crate) fn rules(&self, now: Now) -> Vec<&Rule> {
        let mut rules = Vec::new();
        for (at, fact) in self.history.iter().enumerate() {
            let said = match fact {
                Fact::Rules(all) => {
                    rules.clear();
                    all.as_slice()
                }
                Fact::Rule(rule) => std::slice::from_ref(rule),
                _ => continue,
            };
            let holds = |rule: &&Rule| self.holds(at, rule.until, rule.verdict == Verdict::Allow, now);
            rules.extend(said.iter().filter(holds));
        }
        rules
    }

    /// Whether a mode that was said at this place could be set at all.
    fn can_be(&self, at: usize, mode: Mode, until: Until) -> bool {
        match (mode, until) {
            (Mode::AllowAll, Until::Always) => false,
            (Mode::AllowAll, Until::At(end)) => end.0 <= self.said(at).wall.0 + DAY,
            _ => true,
        }
    }

    /// What the clocks showed when something was said.
    fn said(&self, at: usize) -> Now {
        let mut before = self.history[..at].iter().rev();
        before.find_map(|fact| if let Fact::Looked(at) = fact { Some(*at) } else { None }).unwrap()
    }

    fn was_seen(&self, situation: Situation<'_>) -> bool {
        let last = self.history.iter().rev().find_map(|fact| match fact {
            Fact::Seen(Place { application, tool, origin }, fingerprint)
                if *application == situation.agent.application
                    && *tool == situation.tool.name
                    && origin == situation.origin =>
            {
                Some(*fingerprint)
            }
            _ => None,
        });
        situation.origin != "null" && last == Some(situation.tool.fingerprint)
    }

    /// Whether what was said at this place still holds: no look at the clocks since then saw its end, by either clock,
    /// and, where it grants something, none saw the wall clock jump back.
    fn holds(&self, at: usize, until: Until, grants: bool, now: Now) -> bool {
        let Until::At(end) = until else { return true };
        let mut said = None;
        let mut before: Option<Now> = None;
        for (place, fact) in self.history.iter().enumerate() {
            let Fact::Looked(look) = fact else { continue };
            if place < at {
                said = Some(*look);
            } else if said.is_some_and(|said| is_over(said, end.0, *look)) || (grants && jumped(before, *look)) {
                return false;
            }
            before = Some(*look);
        }
        said.is_none_or(|said| !is_over(said, end.0, now))
    }
}

fn is_over(said: Now, end: u64, now: Now) -> bool {
    let length = Duration::from_millis(end.saturating_sub(said.wall.0));
    now.wall.0 >= end || now.mono.saturating_duration_since(said.mono) >= length
}

fn jumped(before: Option<Now>, now: Now) -> bool {
    before.is_some_and(|before| before.wall.0 > now.wall.0 && before.wall.0 - now.wall.0 > JUMP)
}

/// A deny rule narrows by what it names; an allow rule must name all.
fn fits(rule: &Rule, Situation { agent, origin, tool }: Situation<'_>) -> bool {
    let agents = match &rule.agent {
        RuleAgent::Any => true,
        RuleAgent::One(label) => agent.label == *label,
    };
    let unnamed = rule.verdict == Verdict::Deny;
    let definition = match rule.fingerprint {
        Some(fingerprint) => fingerprint == tool.fingerprint,
        None => unnamed,
    };
    let place = match &rule.origin {
        Some(named) => named == origin && (unnamed || named != "null"),
        None => unnamed,
    };
    agents && rule.application == agent.application && rule.tool == tool.name && definition && place
}
