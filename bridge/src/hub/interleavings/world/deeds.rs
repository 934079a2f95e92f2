//! What somebody does: agents, applications, the person and the clocks. Each only queues what it says.

use clientmcp_protocol::control::{Also, Decide, Mode, Rule, RuleAgent, Secrets, Until, Verdict, Which};

use super::{super::model::ORIGINS, *};
use crate::call::{RequestId, RequestKey};

impl World {
    pub(super) fn queue(&self, command: Command) {
        assert!(self.bench.hub.commands.try_send(command).is_ok(), "there is room in the queue");
    }

    pub(super) fn ask(&mut self, command: Ask) {
        let (reply, answer) = oneshot::channel();
        self.replies.push_back(answer);
        self.queue(Command::Desktop { command: Box::new(command), reply });
    }

    /// A token's words: those it had before, which may be refused by now, or new ones.
    pub(super) fn pass(&mut self, application: &'static str, role: Role, label: Option<&'static str>) -> Arc<Claims> {
        let fits = |key: &PassKey| (key.1, key.2, key.3) == (application, role, label);
        if let Some((_, claims)) = self.passes.iter().rfind(|(key, _)| fits(key))
            && self.dice.percent(if self.model.stands(claims) { 95 } else { 40 })
        {
            return Arc::clone(claims);
        }
        let secret = self.model.signer();
        let key = (secret, application, role, label);
        // The person's own step, which nothing can come before: what is made is known from then on.
        let wanted = Wanted { subject: client(application), role, label: label.map(self::label), ttl: None };
        let minted = self.bench.state.mint(self.bench.now, wanted).unwrap();
        let claims = self.bench.hub.admit(&minted.token, role).unwrap();
        assert_eq!(claims.generation, self.model.generation(&claims.subject, role));
        self.model.knows(self.bench.now.wall, Arc::clone(&claims), secret);
        self.tally.ahead += u64::from(minted.issued > self.bench.now.wall);
        self.passes.push((key, Arc::clone(&claims)));
        claims
    }

    pub(super) fn arrive(&mut self, application: &'static str) {
        let (claims, origin) = (self.pass(application, Role::Client, None), self.dice.of(&ORIGINS));
        let (command, admitted, inbox) = self.bench.arrival(claims, origin);
        self.arriving.push_back((!self.dice.percent(5)).then_some((admitted, inbox)));
        self.queue(command);
    }

    /// An application that is there, or was, ends its connection.
    pub(super) fn leave(&mut self) {
        let Some(id) = self.some_peer() else { return };
        if self.dice.percent(50) {
            self.queue(Command::Disconnect { connection: id, done: None });
        } else {
            self.peers.remove(&id);
        }
    }

    pub(super) fn some_peer(&mut self) -> Option<ConnectionId> {
        let mut ids: Vec<_> = self.peers.keys().copied().collect();
        ids.sort_unstable();
        (!ids.is_empty()).then(|| self.dice.of(&ids))
    }

    pub(super) fn register(&mut self) {
        let Some(connection) = self.some_peer() else { return };
        let mut tools = Vec::new();
        for name in 0..3 {
            if !self.dice.percent(12) {
                tools.push(copy(&TOOLS[2 * name + usize::from(self.dice.percent(25))]));
            }
        }
        let (done, _) = oneshot::channel();
        self.queue(Command::Register { connection, declaration: Declaration::new(tools, None), done });
    }

    /// An agent asks for a tool that it was shown. What was found may be brought to the gate much later.
    pub(super) fn call(&mut self) {
        let (application, label) = (self.dice.of(&APPLICATIONS), self.dice.of(&LABELS));
        let application = if self.dice.percent(70) { "a" } else { application };
        let own = self.dice.percent(5);
        let label = label.filter(|_| !own);
        self.calls += 1;
        let hang_up = if self.dice.percent(50) { HangUp::Cancels } else { HangUp::Ignored };
        let agent = agent(application, label);
        let id = self.dice.of(&["1", "2", "3"]);
        let key = RequestKey { agent: agent.clone(), session: "s".into(), id: RequestId::Integer(id.into()) };
        let key = (hang_up == HangUp::Ignored).then_some(key);
        self.keys.extend(key.clone());
        let leaver = Leaver::default();
        let call = Call {
            agent,
            tool: self.dice.of(&["go", "peek", "stop"]).into(),
            arguments: json(&format!(r#"{{"n":{}, "x":1e400,"x":0.10}}"#, self.calls)),
            hang_up,
            key,
            reported: None,
            credential: if own { None } else { Some(self.pass(application, Role::Agent, label)) },
            caller: leaver.caller(),
        };
        self.leavers.push((call.arguments.clone(), leaver));
        if let Ok((connection, tool)) = self.bench.hub.find(&call) {
            self.hands.push((Routed { call, connection, tool }, own));
        }
        while !self.hands.is_empty() && self.dice.percent(75) {
            let place = self.dice.place(self.hands.len());
            let (routed, own) = self.hands.swap_remove(place);
            self.submit(routed, own);
        }
    }

    pub(super) fn submit(&mut self, routed: Routed, own: bool) {
        let arguments = routed.call.arguments.clone();
        let (command, sent) = self.bench.submission(routed, own);
        self.submitted.push_back((arguments, (!self.dice.percent(4)).then_some(sent)));
        self.queue(command);
    }

    /// Many calls at once: enough to reach the limits, now and then.
    pub(super) fn burst(&mut self) {
        let flood = self.dice.percent(1);
        if flood {
            self.ask(Ask::Resume);
            let mode = self.dice.of(&[Mode::Ask, Mode::AllowAll]);
            self.ask(Ask::SetMode { application: client("a"), mode, until: Until::Quit });
        }
        for _ in 0..if flood { 110 } else { self.dice.below(12) } {
            self.call();
        }
    }

    /// An agent gives up: its farewell is in the queue, and may be looked at late.
    pub(super) fn hang_up(&mut self) {
        if !self.flights.is_empty() {
            let place = self.dice.place(self.flights.len());
            let (arguments, flight) = self.flights.swap_remove(place);
            drop(flight);
            self.model.gone.insert(arguments.as_str().to_owned());
        }
    }

    /// An agent's connection ends behind bytes that nobody has read: only who asks the system knows. Mostly it is one that
    /// waits.
    pub(super) fn desert(&mut self) {
        let waiting = self.model.calls.iter().rev().filter(|call| call.waits()).map(|call| call.arguments().clone());
        let waiting: Vec<_> = waiting.take(8).collect();
        let arguments = if waiting.is_empty() || self.dice.percent(20) {
            if self.leavers.is_empty() {
                return;
            }
            self.leavers[self.dice.place(self.leavers.len())].0.clone()
        } else {
            waiting[self.dice.place(waiting.len())].clone()
        };
        let leaver = self.leavers.iter().find(|(of, _)| *of == arguments).expect("everybody may leave");
        leaver.1.leave();
        self.tally.deserted += 1;
        self.model.gone.insert(arguments.as_str().to_owned());
        if self.dice.percent(30) {
            self.queue(Command::Withdraw);
        }
    }

    /// An application is loaded anew: it goes, and comes again with the same or other tools.
    pub(super) fn reload(&mut self) {
        let application = self.dice.of(&APPLICATIONS);
        if self.dice.percent(60) {
            self.leave();
        }
        self.arrive(application);
        if self.dice.percent(80) {
            self.process(usize::MAX);
            self.register();
        }
    }

    pub(super) fn cancel(&mut self) {
        if !self.keys.is_empty() {
            let place = self.dice.place(self.keys.len());
            self.queue(Command::CancelRequest { key: self.keys[place].clone() });
        }
    }

    /// A result for a call that was sent, or was once, or never.
    pub(super) fn result(&mut self) {
        let Some(connection) = self.some_peer() else { return };
        let last = self.numbers.get(&connection).copied().unwrap_or(0);
        let number = self.dice.below(last + 2);
        self.results += 1;
        let result = json(&format!(r#"{{"content":[],"r":{}}}"#, self.results));
        self.queue(Command::Result { call: CallId { connection, number }, result });
    }

    pub(super) fn decide(&mut self) {
        let open: Vec<_> = self
            .model
            .calls
            .iter()
            .filter_map(|call| match call.stage {
                Stage::Waiting { question, .. } => Some((question?, call.fingerprint())),
                Stage::Sent { .. } | Stage::Over => None,
            })
            .collect();
        let among = if open.is_empty() || self.dice.percent(8) { &self.questions } else { &open };
        if among.is_empty() {
            return;
        }
        let (mut question, mut fingerprint) = self.dice.of(among);
        match self.dice.below(40) {
            0 => question.0 ^= 1,
            1 => fingerprint = TOOLS[self.dice.place(TOOLS.len())].fingerprint,
            _ => {}
        }
        let verdict = if self.dice.percent(75) { Verdict::Allow } else { Verdict::Deny };
        let also = match self.dice.below(10) {
            0..6 => Also::Nothing,
            6..9 => Also::Remember { any_agent: self.dice.percent(30), until: self.until() },
            _ => Also::BlockAgent,
        };
        self.ask(Ask::Decide(Decide { question, fingerprint, verdict, also }));
    }

    pub(super) fn until(&mut self) -> Until {
        let end = self.bench.now.wall.0 + self.dice.of(&[0, 1_000, 5_000, 60_000, 600_000]);
        self.dice.of(&[Until::Always, Until::Quit, Until::At(Millis(end)), Until::At(Millis(end))])
    }

    /// What else the person does.
    pub(super) fn wish(&mut self) -> Ask {
        let (name, label) = (self.dice.of(&APPLICATIONS), self.dice.of(&LABELS).map(label));
        let application = client(name);
        match self.dice.below(40) {
            0 => Ask::Pause,
            1..9 => Ask::Resume,
            9..21 => {
                let ask = [Mode::Ask, Mode::Ask, Mode::AskExceptReadOnly, Mode::AskExceptReadOnly];
                let other = self.dice.of(&[Mode::AllowAll, Mode::AllowAll, Mode::Block]);
                let mode = if self.dice.percent(70) { self.dice.of(&ask) } else { other };
                Ask::SetMode { application, mode, until: self.until() }
            }
            21..28 => {
                let now = self.bench.state.policy.rules_revision();
                let revision = Count(if self.dice.percent(10) { now + 1 } else { now });
                let rules = (0..self.dice.below(4)).map(|id| self.rule(id)).collect();
                Ask::SetRules { revision, rules }
            }
            28 => Ask::Disconnect { application },
            29..33 => Ask::Unblock { application, label },
            33..37 => {
                let which = if self.dice.percent(30) { Which::All } else { Which::Label(label) };
                Ask::Revoke { application, role: self.dice.of(&[Role::Agent, Role::Agent, Role::Client]), which }
            }
            _ => {
                let letters = self.dice.of(&["s", "t", "st", "ts", "ts"]);
                let secrets = letters.chars().map(|letter| letter.to_string().repeat(32)).collect();
                Ask::SetSecrets { secrets: Secrets(secrets) }
            }
        }
    }

    pub(super) fn rule(&mut self, id: u64) -> Rule {
        let tool = &TOOLS[self.dice.place(TOOLS.len())];
        let label = self.dice.of(&LABELS).map(label);
        Rule {
            id: id.to_string(),
            application: client(self.dice.of(&APPLICATIONS)),
            tool: tool.name.clone(),
            agent: if self.dice.percent(40) { RuleAgent::Any } else { RuleAgent::One(label) },
            verdict: if self.dice.percent(70) { Verdict::Allow } else { Verdict::Deny },
            fingerprint: self.dice.percent(80).then_some(tool.fingerprint),
            origin: self.dice.of(&[Some(NATIVE), Some(NATIVE), Some("https://a.example"), None]).map(str::to_owned),
            until: self.until(),
            made: Millis(START),
        }
    }

    /// Clocks go on, or one of them jumps; the hub may have slept meanwhile.
    pub(super) fn time(&mut self) {
        let millis = self.dice.of(&[1, 1, 500, 5_000, 5_000, 60_000, 120_000, 600_000]);
        let wall = &mut self.bench.now.wall.0;
        match self.dice.below(10) {
            0 => *wall += self.dice.of(&[millis, millis, 3_600_000]),
            1 => *wall -= self.dice.of(&[1, 5_000, 5_001, 3_600_000]),
            2 => self.bench.now.mono += Duration::from_millis(millis),
            _ => self.bench.pass(Duration::from_millis(millis)),
        }
        if self.dice.percent(70) {
            let mut expected = Expected::default();
            self.model.look(self.bench.now, &mut expected);
            if self.dice.percent(30) {
                self.bench.state.woke(self.bench.now);
            }
            self.bench.state.tick(self.bench.now);
            self.check(expected);
        }
    }
}
