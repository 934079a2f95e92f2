//! What the person's words must do.

use super::*;

impl Model {
    pub(super) fn obey(&mut self, command: &control::Command, expected: &mut Expected) -> Result<(), ErrorCode> {
        match command {
            control::Command::Decide(decide) => return self.decide(decide, expected),
            control::Command::SetMode { mode: Mode::AllowAll, until: Until::Always, .. } => {
                return Err(ErrorCode::Value);
            }
            control::Command::SetMode { application, mode, until } => {
                self.oracle.learn(Fact::Mode(application.clone(), *mode, *until));
            }
            control::Command::SetRules { revision, rules } => {
                if revision.0 != self.revision {
                    return Err(ErrorCode::Stale);
                }
                self.oracle.learn(Fact::Rules(rules.clone()));
                self.ruled(rules.len());
            }
            control::Command::Pause => self.oracle.learn(Fact::Paused(true)),
            control::Command::Resume => self.oracle.learn(Fact::Paused(false)),
            control::Command::Disconnect { application } => {
                let holder = self.connected.iter().find(|holder| holder.application == *application);
                let connection = holder.ok_or(ErrorCode::NotFound)?.id;
                self.gone(connection, Outcome::Offline, Some(CloseCode::GoingAway), expected);
            }
            control::Command::Unblock { application, label } => {
                let agent = Agent { application: application.clone(), label: label.clone() };
                if !self.oracle.is_blocked(&agent, self.now) {
                    return Err(ErrorCode::NotFound);
                }
                self.oracle.learn(Fact::Unblocked(agent));
            }
            control::Command::Revoke { application, role, which } => {
                self.revoke(application, *role, which);
                self.cut_off(expected);
            }
            control::Command::SetSecrets { secrets } => {
                self.secrets = secrets.0.iter().map(|secret| usize::from(secret.starts_with('t'))).collect();
                self.cut_off(expected);
            }
            other => panic!("{other:?} is not part of this"),
        }
        self.settle(expected);
        Ok(())
    }

    fn ruled(&mut self, rules: usize) {
        self.revision += 1;
        self.rules = rules;
    }

    fn decide(&mut self, decide: &Decide, expected: &mut Expected) -> Result<(), ErrorCode> {
        if decide.verdict == Verdict::Allow && decide.also == Also::BlockAgent {
            return Err(ErrorCode::Value);
        }
        let asked =
            |call: &Told| matches!(call.stage, Stage::Waiting { question, .. } if question == Some(decide.question));
        let at = self.calls.iter().position(asked).ok_or(ErrorCode::NoSuchQuestion)?;
        if self.calls[at].tool.fingerprint != decide.fingerprint {
            return Err(ErrorCode::NoSuchQuestion);
        }
        if decide.verdict == Verdict::Allow && self.is_gone(at) {
            self.stop(at, Refusal::Cancelled, expected);
            return Err(ErrorCode::NoSuchQuestion);
        }
        let call = &self.calls[at];
        let (agent, tool, connection) = (call.agent.clone(), Arc::clone(&call.tool), call.connection);
        let origin = self.connected.iter().find(|holder| holder.id == connection).map(|holder| holder.origin.clone());
        if decide.verdict == Verdict::Allow {
            let origin = origin.clone().unwrap();
            let place = Place { application: agent.application.clone(), tool: tool.name.clone(), origin };
            self.oracle.learn(Fact::Seen(place, tool.fingerprint));
        }
        match decide.verdict {
            Verdict::Allow => self.send(at, expected),
            Verdict::Deny => self.end(at, Outcome::Declined, expected),
        }
        match &decide.also {
            Also::Nothing => {}
            Also::BlockAgent => {
                self.oracle.learn(Fact::Blocked(agent, Until::At(Millis(self.now.wall.0 + BLOCK_MILLIS))));
            }
            Also::Remember { any_agent, until } => {
                let allow = decide.verdict == Verdict::Allow;
                self.oracle.learn(Fact::Rule(Rule {
                    id: String::new(),
                    application: agent.application,
                    tool: tool.name.clone(),
                    agent: if *any_agent { RuleAgent::Any } else { RuleAgent::One(agent.label) },
                    verdict: decide.verdict,
                    fingerprint: allow.then_some(tool.fingerprint),
                    origin: origin.filter(|_| allow),
                    until: *until,
                    made: Millis(START),
                }));
                self.ruled(self.rules + 1);
            }
        }
        self.settle(expected);
        Ok(())
    }

    fn revoke(&mut self, application: &ClientId, role: Role, which: &Which) {
        let (application, agent) = (application.clone(), role == Role::Agent);
        match which {
            Which::All => *self.generations.entry((application, agent)).or_default() += 1,
            Which::Label(label) => {
                let key = (application, agent, label.clone());
                let newest = self.issued.get(&key).copied().unwrap_or_default();
                let floor = self.floors.entry(key).or_default();
                *floor = (self.now.wall.0.max(newest) + 1).max(*floor);
            }
        }
    }

    fn cut_off(&mut self, expected: &mut Expected) {
        for at in 0..self.calls.len() {
            let call = &self.calls[at];
            if call.is_live() && call.credential.as_ref().is_some_and(|claims| !self.stands(claims)) {
                self.stop(at, Refusal::Revoked, expected);
            }
        }
        let fallen = self.connected.iter().filter(|holder| !self.stands(&holder.claims));
        for connection in fallen.map(|holder| holder.id).collect::<Vec<_>>() {
            self.gone(connection, Outcome::Offline, Some(CloseCode::Unauthorized), expected);
        }
    }

    /// Whether a token would be taken now.
    pub(in crate::hub::interleavings) fn stands(&self, claims: &Arc<Claims>) -> bool {
        let signed = self.signed.iter().find(|(known, _)| Arc::ptr_eq(known, claims));
        let agent = claims.role == Role::Agent;
        let floor = self.floors.get(&(claims.subject.clone(), agent, claims.label.clone()));
        #[expect(clippy::cast_precision_loss, reason = "a date of our time")]
        let after = floor.is_none_or(|floor| claims.issued_at.unwrap().seconds() >= *floor as f64 / 1_000.0);
        signed.is_some_and(|(_, secret)| self.secrets.contains(secret))
            && claims.generation == self.generation(&claims.subject, claims.role)
            && after
    }
}
