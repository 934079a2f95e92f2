//! The one owner of state, and the loop that tells it what happens.

use std::{fs::File, future, sync::Arc};

use clientmcp_protocol::{
    control::{Command, Millis, Reply},
    ids::ClientId,
};
use clientmcp_settings::{Remembered, SettingsId};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Duration, Instant, sleep_until},
};

use super::{
    Options, asks,
    book::Book,
    engine::Engine,
    finished::Finished,
    notices::Notices,
    opening::Choice,
    questions::Questions,
    showing::{Showing, Window},
    until::{DAY, wall},
    vault::Vault,
};
use crate::{
    bridge::{Gone, Told},
    keys::Keys,
    shell::{Deed, Shell},
    sidecar::Spawn,
    wire::{Answer, NoticeKind},
};

/// How long the app waits at its end, for the bridge and for what is to be written. The bridge is killed before that.
pub(super) const LEAVE_TIME: Duration = Duration::from_secs(7);

/// All there is.
pub(super) struct App {
    pub(super) shell: Arc<dyn Shell>,
    pub(super) keys: Box<dyn Keys>,
    pub(super) bridges: Box<dyn Spawn>,
    pub(super) options: Options,
    pub(super) vault: Vault,
    pub(super) book: Book,
    pub(super) engine: Engine,
    pub(super) questions: Questions,
    pub(super) notices: Notices,
    pub(super) finished: Finished,
    pub(super) window: Window,
    pub(super) showing: Showing,
    /// The newest of the bridge that runs.
    pub(super) snapshot: Option<Box<clientmcp_protocol::control::Snapshot>>,
    /// Whether calls are answered `paused`, with or without a bridge.
    pub(super) paused: bool,
    /// Held while the settings file is used.
    pub(super) lock: Option<File>,
    /// Who wants everything forgotten, while something is still being written.
    pub(super) forgetting: Option<Asker>,
    /// The app is quitting, and waits no longer than this.
    leaving: Option<Instant>,
    /// When ends of tokens are looked at.
    pub(super) daily: Instant,
    news: mpsc::UnboundedSender<News>,
    heard: mpsc::UnboundedReceiver<News>,
}

/// What the app hears from its own tasks. Without a bound: each task tells a bounded number of things, and the bridge is
/// read no faster than its limits let it speak.
pub(super) enum News {
    /// A bridge told something: which one, and what.
    Told(u64, Told),
    /// Something that was waited for is there; this goes on with it.
    Then(Box<dyn FnOnce(&mut App) + Send>),
}

/// Who asked, and is to be answered.
pub(super) enum Asker {
    /// A window.
    Window(oneshot::Sender<Answer>),
    /// The tray's menu, about this application if it is about one.
    Tray(Option<ClientId>),
}

impl App {
    pub(super) fn new(shell: Arc<dyn Shell>, keys: Box<dyn Keys>, bridges: Box<dyn Spawn>, options: Options) -> Self {
        let (news, heard) = mpsc::unbounded_channel();
        Self {
            shell,
            keys,
            bridges,
            vault: Vault::default(),
            // Before anything was read. Nothing is written before there is a file.
            book: Book::new(Remembered::strictest(SettingsId::nobodys()), None),
            engine: Engine::default(),
            questions: Questions::new(options.question_windows),
            notices: Notices::default(),
            finished: Finished::default(),
            window: Window::default(),
            showing: Showing::default(),
            snapshot: None,
            paused: false,
            lock: None,
            forgetting: None,
            leaving: None,
            daily: Instant::now(),
            options,
            news,
            heard,
        }
    }

    /// Lives until it quits.
    pub(super) async fn live(mut self, mut deeds: mpsc::UnboundedReceiver<Deed>) {
        self.begin(&Choice::AsSet);
        loop {
            self.settle(Instant::now());
            if self.is_over(Instant::now()) {
                return;
            }
            let due = self.due();
            tokio::select! {
                Some(deed) = deeds.recv() => self.deed(deed),
                Some(news) = self.heard.recv() => self.hear(news),
                () = until(due) => {}
            }
        }
    }

    fn hear(&mut self, news: News) {
        match news {
            News::Told(run, told) if run == self.engine.run => self.told(told),
            News::Told(..) => {}
            News::Then(then) => then(self),
        }
    }

    /// What follows from how things stand, and from the time.
    fn settle(&mut self, now: Instant) {
        if self.engine.due().is_some_and(|due| due <= now) {
            self.launch();
        }
        if self.daily <= now {
            self.daily = now + Duration::from_millis(DAY);
            self.warn_of_ends();
        }
        self.save(now);
        self.settle_questions(now);
        self.show(now);
    }

    /// The next moment at which something happens by itself.
    fn due(&self) -> Option<Instant> {
        [
            self.engine.due(),
            self.book.due(),
            Some(self.daily),
            self.leaving,
            self.showing.due(),
            self.showing.question_due(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Tells the app, from a task.
    pub(super) fn news(&self) -> mpsc::UnboundedSender<News> {
        self.news.clone()
    }

    /// Waits on a task of its own, and goes on here with what came of it.
    pub(super) fn later<T: Send + 'static>(
        &self,
        wait: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut Self, T) + Send + 'static,
    ) {
        let news = self.news.clone();
        tokio::spawn(async move {
            let came = wait.await;
            drop(news.send(News::Then(Box::new(move |app| then(app, came)))));
        });
    }

    /// Gives the bridge a command, and goes on here with its reply.
    pub(super) fn command(&self, command: Command, then: impl FnOnce(&mut Self, Result<Reply, Gone>) + Send + 'static) {
        match self.engine.bridge() {
            Some(bridge) => self.later(bridge.ask(command), then),
            None => self.later(future::ready(Err(Gone)), then),
        }
    }

    /// Gives the bridge a command, and the reply to who asked.
    pub(super) fn forward(&self, command: Command, asker: Asker) {
        self.command(command, |app, reply| app.answer(asker, asks::answer(reply)));
    }

    /// Answers.
    pub(super) fn answer(&mut self, asker: Asker, answer: Answer) {
        match asker {
            Asker::Window(window) => drop(window.send(answer)),
            Asker::Tray(application) => self.answer_tray(application, answer),
        }
    }

    /// Writes down what is to be written.
    fn save(&mut self, now: Instant) {
        let Some((file, remembered, key)) = self.book.take_unsaved(now) else { return };
        let saving =
            tokio::task::spawn_blocking(move || file.save(&remembered, &key).map_err(|error| error.to_string()));
        self.later(saving, |app, saved| {
            app.saved();
            match saved {
                Ok(Ok(())) => app.notices.withdraw(NoticeKind::Unsaved),
                Ok(Err(sentence)) => app.notice(NoticeKind::Unsaved, None, Some(sentence)),
                Err(error) => app.notice(NoticeKind::Unsaved, None, Some(format!("not saved: {error}"))),
            }
        });
    }

    /// Something for the person to know.
    pub(super) fn notice(&mut self, kind: NoticeKind, application: Option<ClientId>, detail: Option<String>) {
        self.notices.add(wall(), kind, application, detail);
    }

    fn warn_of_ends(&mut self) {
        for (application, label) in self.book.known.ending(wall()) {
            self.notice(NoticeKind::TokenEnds, Some(application), label.map(|label| label.to_string()));
        }
    }

    /// Quits: what is to be written is written, and the bridge is asked to end and waited for.
    pub(super) fn leave(&mut self) {
        if self.leaving.is_some() {
            return;
        }
        self.leaving = Some(Instant::now() + LEAVE_TIME);
        self.engine.hold();
        self.book.hurry();
        self.shell.ask(None);
    }

    /// Whether the app is quitting.
    pub(super) fn is_leaving(&self) -> bool {
        self.leaving.is_some()
    }

    fn is_over(&self, now: Instant) -> bool {
        let done = !self.engine.is_alive() && self.book.is_written();
        self.leaving.is_some_and(|at_last| done || at_last <= now)
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => future::pending().await,
    }
}

/// Now, by both clocks.
pub(super) fn clocks() -> (Instant, Millis) {
    (Instant::now(), wall())
}
