//! What a person or the system did.

use clientmcp_protocol::ids::Role;
use tokio::time::Instant;

use super::{
    questions::Surface,
    state::{App, Asker},
};
use crate::{
    shell::{Action, Deed, Standing},
    wire::{NoticeKind, Page},
};

impl App {
    pub(super) fn deed(&mut self, deed: Deed) {
        let now = Instant::now();
        match deed {
            Deed::Asked(ask, window) => self.asked(ask, window),
            Deed::AskedOf(id, about, window) => self.about(id, Surface::Small, &about, Asker::Window(window)),
            Deed::Picked(action) => self.picked(action),
            Deed::Open(page) => self.open_main(page),
            Deed::Main(standing) => self.main_stands(standing, now),
            Deed::Small(id, standing) => self.questions.small_stands(id, standing, now),
            Deed::Cover(window, covered) => self.questions.cover(window, covered, now),
            Deed::SmallMoved(id) => self.questions.moved(id, Surface::Small, now),
            Deed::SmallClosed(id) => self.questions.put_off(id),
            Deed::NoTray(sentence) => {
                self.window.no_tray = Some(sentence);
                self.open_main(None);
            }
            Deed::TrayThere => {
                self.window.no_tray = None;
                self.showing.tray_is_new();
            }
            Deed::Ending => self.leave(),
        }
    }

    fn picked(&mut self, action: Action) {
        match action {
            Action::Open(page) => self.open_main(Some(page)),
            Action::NewClientToken => self.open_main(Some(Page::Connect)),
            Action::CopyUrl => self.copy_url(Asker::Tray(None)),
            Action::CopyAgentToken(application) => self.copy_from_tray(application, Role::Agent),
            Action::CopyClientToken(application) => self.copy_from_tray(application, Role::Client),
            Action::Pause => self.pause(true, Asker::Tray(None)),
            Action::Resume => self.pause(false, Asker::Tray(None)),
            Action::StartAtLogin(on) => self.start_at_login(on),
            Action::Retry => self.retry(),
            Action::Quit => self.quit(),
        }
    }

    /// Opens the main window, at a page if one is wanted.
    pub(super) fn open_main(&mut self, page: Option<Page>) {
        if let Some(page) = page {
            self.window.want(page);
        }
        self.shell.open_main();
    }

    fn main_stands(&mut self, standing: Standing, now: Instant) {
        if standing == Standing::Gone && self.window.standing != Standing::Gone {
            // Who closes the window that asks whether to quit has said no.
            self.window.quitting = false;
        }
        self.window.standing = standing;
        self.questions.main_stands(standing, now);
    }

    fn start_at_login(&mut self, on: bool) {
        match self.shell.start_at_login(on) {
            Ok(()) => self.book.set(|settings| settings.start_at_login = on),
            Err(sentence) => self.notice(NoticeKind::Trouble, None, Some(sentence)),
        }
    }

    /// Quits, but asks first when calls are under way.
    fn quit(&mut self) {
        if self.calls_under_way() == 0 {
            return self.leave();
        }
        self.window.quitting = true;
        self.open_main(None);
    }
}
