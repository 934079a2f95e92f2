//! May this call be sent? Pure policy: no clock, no socket. The only place that makes an [`Approved`].
//!
//! What cannot be read or decided asks or denies; it never allows.

#[cfg(test)]
pub(crate) mod oracle;
mod policy;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use self::policy::{Asking, Now, Place, Policy};

use clientmcp_protocol::{
    control::{Mode, Rule, RuleAgent, Verdict},
    ids::ClientId,
    origin::NOBODY,
};

use crate::{
    call::{Agent, Routed},
    declaration::Tool,
    refusal::Outcome,
};

/// A call that may be sent, once. Its field is private: only this file can make one.
#[derive(Debug)]
pub struct Approved {
    routed: Routed,
}

impl Approved {
    /// What was approved.
    pub fn routed(&self) -> &Routed {
        &self.routed
    }

    /// What was approved, to be sent.
    pub fn into_routed(self) -> Routed {
        self.routed
    }
}

/// A call that may be sent, and whose agent is gone.
#[derive(Debug)]
pub struct Departed(pub Box<Routed>);

/// Why a call may be sent. Only this file can make one.
#[derive(Debug)]
pub struct Permit(());

impl Permit {
    /// The person said yes to the question about this very call.
    pub fn of_person() -> Self {
        Self(())
    }

    /// The person calls: the click is the approval.
    pub fn of_own_call() -> Self {
        Self(())
    }

    /// Lets one call pass, unless whoever made it is gone: nobody is left who wants it.
    pub fn approve(self, routed: Routed) -> Result<Approved, Departed> {
        if routed.call.caller.has_left() { Err(Departed(Box::new(routed))) } else { Ok(Approved { routed }) }
    }
}

/// What the policy says to a call.
#[derive(Debug)]
pub enum Judgement {
    /// Send it.
    Allow(Permit),
    /// Ask the person.
    Ask,
    /// Do not send it.
    Refuse(Outcome),
}

/// What is judged: who calls which definition, and where its application came from.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// An origin, or `native`.
    pub origin: &'a str,
    /// The tool.
    pub tool: &'a Tool,
}

impl Situation<'_> {
    /// Where the tool is met.
    pub fn place(&self) -> Place {
        Place {
            application: self.agent.application.clone(),
            tool: self.tool.name.clone(),
            origin: self.origin.to_owned(),
        }
    }
}

impl Policy {
    /// What keeps every call of this agent from being sent, whatever it calls.
    pub fn barred(&self, agent: &Agent, now: Now) -> Option<Outcome> {
        self.halted(&agent.application, now).or(self.is_blocked(agent, now).then_some(Outcome::Blocked))
    }

    /// What keeps every call of an application's tools from being sent, the person's own too.
    pub fn halted(&self, application: &ClientId, now: Now) -> Option<Outcome> {
        if self.paused() {
            return Some(Outcome::Paused);
        }
        (self.mode(application, now) == Mode::Block).then_some(Outcome::Blocked)
    }

    /// Whether a deny rule keeps this call from being sent.
    pub fn denied(&self, situation: Situation<'_>, now: Now) -> bool {
        self.rules_in_force(now).any(|rule| rule.verdict == Verdict::Deny && denies(rule, situation))
    }

    /// Whether an allow rule holds for this call.
    pub fn ruled(&self, situation: Situation<'_>, now: Now) -> bool {
        self.rules_in_force(now).any(|rule| rule.verdict == Verdict::Allow && allows(rule, situation))
    }

    /// Deny beats allow, a rule beats the mode.
    pub fn judge(&self, situation: Situation<'_>, now: Now) -> Judgement {
        if let Some(outcome) = self.barred(situation.agent, now) {
            return Judgement::Refuse(outcome);
        }
        if self.denied(situation, now) {
            return Judgement::Refuse(Outcome::Declined);
        }
        if self.ruled(situation, now) || self.asking() == Asking::Off {
            return Judgement::Allow(Permit(()));
        }
        match self.mode(&situation.agent.application, now) {
            Mode::AllowAll => Judgement::Allow(Permit(())),
            Mode::AskExceptReadOnly if self.is_harmless(situation) => Judgement::Allow(Permit(())),
            Mode::Ask | Mode::AskExceptReadOnly => self.ask(),
            Mode::Block => Judgement::Refuse(Outcome::Blocked),
        }
    }

    fn ask(&self) -> Judgement {
        match self.asking() {
            Asking::Person => Judgement::Ask,
            Asking::Nobody | Asking::Off => Judgement::Refuse(Outcome::Unattended),
        }
    }

    /// The application's own claim, for a definition that the person has seen.
    fn is_harmless(&self, situation: Situation<'_>) -> bool {
        let tool = situation.tool;
        tool.hints.read_only == Some(true) && self.seen(&situation.place()) == Some(tool.fingerprint)
    }
}

/// An allow rule is bound to everything it was given for; what it does not name, it does not allow.
fn allows(rule: &Rule, situation: Situation<'_>) -> bool {
    concerns(rule, situation)
        && rule.fingerprint == Some(situation.tool.fingerprint)
        // Who comes from there may be anybody.
        && situation.origin != NOBODY
        && rule.origin.as_deref() == Some(situation.origin)
}

/// A deny rule holds for all that it does not narrow.
fn denies(rule: &Rule, situation: Situation<'_>) -> bool {
    concerns(rule, situation)
        && rule.fingerprint.is_none_or(|fingerprint| fingerprint == situation.tool.fingerprint)
        && rule.origin.as_deref().is_none_or(|origin| origin == situation.origin)
}

fn concerns(rule: &Rule, situation: Situation<'_>) -> bool {
    let Situation { agent, tool, .. } = situation;
    let agent_fits = match &rule.agent {
        RuleAgent::Any => true,
        RuleAgent::One(label) => *label == agent.label,
    };
    agent_fits && rule.application == agent.application && rule.tool == tool.name
}
