//! What the bridge tells, and what follows.

use clientmcp_protocol::{
    codes::OutcomeCode,
    control::{Command, Ending, Event, FinishedCall, Memory, Reply, Snapshot, Start},
    shown::{SHOWN_CHARS, shown_again},
};
use tokio::time::Instant;

use super::{
    asks,
    engine::After,
    known::News as KnownNews,
    state::{App, Asker, News},
    until::wall,
    words,
};
use crate::{
    bridge::{Bridge, End, Gone, Told, Why},
    shell::Notification,
    sidecar::supervision::Failure,
    wire::{Answer, BridgeState, FinishedCalls, NoticeKind, Page},
};

impl App {
    /// The port to be served on.
    pub(super) fn port(&self) -> u16 {
        self.options.port_override.unwrap_or(self.book.settings().port)
    }

    /// Starts the bridge; one that is ending is waited for.
    pub(super) fn launch(&mut self) {
        let Some(secrets) = self.vault.secrets() else { return };
        if self.is_leaving() || !self.engine.wish() {
            return;
        }
        let run = self.engine.begin();
        let start = Start {
            port: self.port(),
            secrets,
            settings: self.book.settings().for_bridge(),
            memory: self.book.memory().clone(),
            paused: self.paused,
        };
        match self.bridges.spawn() {
            Ok(process) => {
                let news = self.news();
                let bridge = Bridge::talk(process, start, move |told| drop(news.send(News::Told(run, told))));
                self.engine.runs(bridge);
            }
            Err(unspawned) => self.ended(&End { why: Why::Unspawned(unspawned), code: None }),
        }
    }

    /// The person wants it tried again.
    pub(super) fn retry(&mut self) {
        match self.engine.state {
            BridgeState::Held => self.begin(&super::opening::Choice::AsSet),
            BridgeState::Failed { .. } | BridgeState::Waiting { .. } => {
                self.engine.forgive();
                self.launch();
            }
            BridgeState::Starting | BridgeState::Running { .. } => {}
        }
    }

    pub(super) fn told(&mut self, told: Told) {
        match told {
            Told::Hello(version) => self.engine.version = Some(version),
            Told::Listening { mcp, connect } => self.serves(mcp, connect),
            Told::Ended(end) => self.ended(&end),
            Told::Event(Event::Snapshot(snapshot)) => self.see(snapshot),
            Told::Event(Event::Finished { calls, missed }) => {
                for call in &calls {
                    self.finished(call);
                }
                let calls = self.finished.add(calls, missed);
                self.shell.show_finished(&calls);
            }
            Told::Event(Event::Remember(memory)) => self.remember(*memory),
            Told::Event(Event::Error { code: _, sentence }) => {
                self.notice(NoticeKind::Trouble, None, Some(shown_again(&sentence, SHOWN_CHARS)));
            }
            // These are the channel's own, and end there.
            Told::Event(Event::Hello(_) | Event::Listening { .. } | Event::Reply { .. }) => {}
        }
    }

    fn serves(&mut self, mcp: String, connect: String) {
        self.engine.serves(mcp, connect, Instant::now());
        self.finished.begin(self.engine.number());
        self.shell.show_finished(&FinishedCalls { run: self.engine.number(), ..FinishedCalls::default() });
    }

    fn remember(&mut self, memory: Memory) {
        if *self.book.memory() != memory {
            self.book.remember(memory);
        }
    }

    fn see(&mut self, snapshot: Box<Snapshot>) {
        // One that was on its way while its bridge was told to end shows what is no more.
        if self.engine.bridge().is_none() {
            return;
        }
        self.questions.see(&snapshot.questions, snapshot.cut.questions, Instant::now());
        self.questions.see_door(&snapshot.door_questions, Instant::now());
        self.paused = snapshot.paused;
        let before = self.snapshot.as_ref().map_or(0, |before| before.refused.client_origin.0);
        if snapshot.refused.client_origin.0 > before {
            let count = snapshot.refused.client_origin.0.to_string();
            self.notice(NoticeKind::OriginRefused, None, Some(count));
        }
        for call in &snapshot.calls {
            if !call.own && self.book.known.called(&call.application, call.agent.as_ref(), call.began) {
                self.book.used(Instant::now());
            }
        }
        self.see_applications(&snapshot);
        self.snapshot = Some(snapshot);
    }

    fn see_applications(&mut self, snapshot: &Snapshot) {
        let connections =
            |snapshot: &Snapshot| -> Vec<_> { snapshot.applications.iter().map(|head| head.connection).collect() };
        let same = self.snapshot.as_ref().is_some_and(|before| connections(before) == connections(snapshot));
        let news = self.book.known.see(&snapshot.applications, wall());
        if news.iter().any(|news| matches!(news, KnownNews::First(..))) {
            self.book.known_changed();
        } else if !same {
            // Only when somebody was seen last, which an application that comes and goes may change all the time.
            self.book.used(Instant::now());
        }
        for news in news {
            let (kind, application, origin) = match news {
                KnownNews::First(application, origin) => (NoticeKind::FirstConnection, application, origin),
                KnownNews::Replaced(application, origin) => (NoticeKind::Replaced, application, origin),
            };
            self.notice(kind, Some(application), Some(shown_again(&origin, SHOWN_CHARS)));
        }
    }

    fn finished(&mut self, finished: &FinishedCall) {
        let call = &finished.call;
        if call.own {
            return;
        }
        let agent = || (call.application.clone(), call.agent.clone());
        match finished.outcome {
            Ending::Code(OutcomeCode::Unanswered) => self.questions.unanswered(agent()),
            // A rule or a mode sends a call at once: whatever was not sent by then was asked about.
            Ending::Code(OutcomeCode::Cancelled) if call.sent.is_none() => self.questions.taken_back(agent()),
            Ending::Answered | Ending::Failed | Ending::UnknownTool | Ending::Code(_) => {}
        }
        if self.book.known.called(&call.application, call.agent.as_ref(), call.began) {
            self.book.used(Instant::now());
        }
    }

    fn ended(&mut self, end: &End) {
        tracing::info!("the bridge ended: {:?}, exit code {:?}", end.why, end.code);
        self.snapshot = None;
        self.questions.clear();
        if self.book.known.all_gone(wall()) {
            self.book.known_changed();
        }
        let port = self.port();
        match self.engine.ended(end, port, Instant::now()) {
            After::Nothing => {}
            After::Start => self.launch(),
            After::Soon { told } => self.tell_end(told),
            After::GaveUp => {
                // One that could not begin did not end: what is shown of the bridge says why there is none.
                self.tell_end(words::failure(&end.why) == Failure::Ended);
                self.shell.notify(&Notification {
                    title: "ClientMCP does not serve".to_owned(),
                    body: "Agents get no answer before you do something. Click to see what.".to_owned(),
                    opens: Page::Applications,
                });
            }
        }
    }

    fn tell_end(&mut self, told: bool) {
        if let BridgeState::Waiting { sentence } | BridgeState::Failed { sentence, .. } = &self.engine.state
            && told
        {
            let sentence = sentence.clone();
            self.notice(NoticeKind::BridgeEnded, None, Some(sentence));
        }
    }

    /// Pauses, or ends that; also while no bridge runs, for the next one.
    pub(super) fn pause(&mut self, paused: bool, asker: Asker) {
        self.paused = paused;
        let command = if paused { Command::Pause } else { Command::Resume };
        self.forward_kept(command, asker);
    }

    /// Gives the bridge what the next one starts with anyway: where there is none, it is done.
    pub(super) fn forward_kept(&self, command: Command, asker: Asker) {
        self.command(command, |app, reply: Result<Reply, Gone>| {
            app.answer(asker, reply.map_or(Answer::Done, |reply| asks::answer(Ok(reply))));
        });
    }

    /// How many calls are under way.
    pub(super) fn calls_under_way(&self) -> usize {
        self.snapshot.as_ref().map_or(0, |snapshot| {
            snapshot.calls.len() + usize::try_from(snapshot.cut.calls.0).unwrap_or(usize::MAX / 2)
        })
    }
}
