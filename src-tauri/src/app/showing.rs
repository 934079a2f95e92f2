//! What is shown of all this: the view of the main window, the small window and the tray. Never two equal ones, and views
//! no faster than a person can look.

use std::time::Duration;

use clientmcp_protocol::control::Count;
use tokio::time::Instant;

use super::{
    preferences,
    questions::{Asked, Surface, Turns},
    state::App,
};
use crate::{
    shell::Standing,
    tray::menu::{Tray, tray},
    wire::{DoorQuestionView, Page, QuestionView, View},
};

/// The shortest time between two views.
const PAUSE: Duration = Duration::from_millis(100);

/// Finished calls in the tray's menu.
const RECENT: usize = 5;

/// The main window, as far as the app needs to know of it.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) standing: Standing,
    pub(super) no_tray: Option<String>,
    /// It asks whether to quit.
    pub(super) quitting: bool,
    wanted: (Page, Count),
}

impl Default for Window {
    fn default() -> Self {
        Self { standing: Standing::Gone, no_tray: None, quitting: false, wanted: (Page::default(), Count(0)) }
    }
}

impl Window {
    /// This page is to be shown.
    pub(super) fn want(&mut self, page: Page) {
        self.wanted = (page, Count(self.wanted.1.0 + 1));
    }
}

/// What was shown last.
#[derive(Debug, Default)]
pub(super) struct Showing {
    view: Option<View>,
    tray: Option<Tray>,
    last: Option<Instant>,
    /// Something happened since.
    later: bool,
    question: Option<(Asked, Turns)>,
    question_due: Option<Instant>,
}

impl Showing {
    /// When there is something to show.
    pub(super) fn due(&self) -> Option<Instant> {
        self.last.filter(|_| self.later).map(|last| last + PAUSE)
    }

    /// When an answer counts in the small window that does not yet.
    pub(super) fn question_due(&self) -> Option<Instant> {
        self.question_due
    }

    /// A tray that shows nothing yet.
    pub(super) fn tray_is_new(&mut self) {
        self.tray = None;
    }
}

impl App {
    /// Shows what changed, or later.
    pub(super) fn show(&mut self, now: Instant) {
        if self.showing.last.is_some_and(|last| now < last + PAUSE) {
            self.showing.later = true;
            return;
        }
        self.showing.later = false;
        let view = self.view();
        let tray = tray(&view, &self.finished.newest(RECENT));
        if self.showing.tray.as_ref() != Some(&tray) {
            self.shell.show_tray(&tray);
            self.showing.tray = Some(tray);
        }
        if self.showing.view.as_ref() != Some(&view) {
            self.shell.show_view(&view);
            self.showing.view = Some(view);
            self.showing.last = Some(now);
        }
    }

    /// All there is to see.
    pub(super) fn view(&self) -> View {
        let calls = self.calls_under_way();
        View {
            version: self.options.version.clone(),
            bridge: self.engine.state.clone(),
            keys: self.vault.state.clone(),
            snapshot: self.snapshot.clone(),
            known: self.book.known.shown(),
            pins: self.book.memory().pins.clone(),
            preferences: preferences::shown(self.book.settings()),
            old_secrets: self.vault.old(),
            notices: self.notices.all(),
            no_tray: self.window.no_tray.clone(),
            question_windows: self.options.question_windows,
            quitting: self.window.quitting.then(|| Count::from(calls)),
            wanted: self.window.wanted,
        }
    }

    /// Tells the small window what is new there. The countdown runs by itself.
    pub(super) fn show_question(&mut self, now: Instant) {
        let theme = preferences::theme(self.book.settings().theme);
        let id = self.questions.in_small_window();
        let Some((asked, turns)) = id.and_then(|id| self.questions.view(id, Surface::Small, theme, now)) else {
            (self.showing.question, self.showing.question_due) = (None, None);
            return;
        };
        self.showing.question_due = turns.into_iter().flatten().filter(|at| *at > now).min();
        let told = (without_countdown(asked.clone()), turns);
        if self.showing.question.as_ref() != Some(&told) {
            match &asked {
                Asked::Call(view) => self.shell.show_question(view),
                Asked::Door(view) => self.shell.show_door_question(view),
            }
            self.showing.question = Some(told);
        }
    }
}

fn without_countdown(asked: Asked) -> Asked {
    let still = |left: Option<Count>| left.map(|left| Count(left.0.min(1)));
    match asked {
        Asked::Call(view) => {
            Asked::Call(QuestionView { armed_in: still(view.armed_in), deny_in: still(view.deny_in), ..view })
        }
        Asked::Door(view) => {
            Asked::Door(DoorQuestionView { armed_in: still(view.armed_in), deny_in: still(view.deny_in), ..view })
        }
    }
}
