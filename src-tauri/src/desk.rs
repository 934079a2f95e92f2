//! The real desktop: windows, tray, notifications, clipboard, start at login.
//!
//! Everything that touches a window or the tray runs on the main thread, in the order in which it was asked for; nothing
//! here waits for it.

#[cfg(target_os = "linux")]
mod cover;
mod ears;
mod main_window;
mod notices;
mod paper;
mod question_window;

use std::sync::{Arc, Mutex, PoisonError};

use clientmcp_protocol::ids::QuestionId;
use tauri::{AppHandle, Manager};
use tauri_plugin_autostart::ManagerExt;
use tokio::sync::oneshot;

pub(crate) use self::{ears::Ears, main_window::MAIN, notices::on_click, question_window::question_of};
use crate::{
    clipboard::Clipboard,
    shell::{AppWindow, Copied, Notification, Shell, ToCopy},
    tray::{menu::Tray, native::NativeTray},
    wire::{DoorQuestionView, FinishedCalls, QuestionView, TellMain, TellQuestion, Theme, View},
};

/// The desktop.
pub(crate) struct Desk {
    app: AppHandle,
    tray: Arc<NativeTray>,
    clipboard: Clipboard,
    #[cfg(target_os = "linux")]
    display: Option<cover::Display>,
    /// As the app said last.
    theme: Mutex<Theme>,
}

impl Desk {
    /// The desktop of this app. On the main thread.
    pub(crate) fn new(app: AppHandle, tray: Arc<NativeTray>) -> Self {
        app.manage(Ears::default());
        #[cfg(target_os = "linux")]
        let display = cover::begin(&app);
        Self {
            app,
            tray,
            clipboard: Clipboard::start(),
            #[cfg(target_os = "linux")]
            display,
            theme: Mutex::default(),
        }
    }

    /// Runs this on the main thread, soon. It only fails while the app ends.
    fn soon(&self, act: impl FnOnce(&AppHandle) + Send + 'static) {
        let app = self.app.clone();
        let _ = self.app.run_on_main_thread(move || act(&app));
    }

    fn theme(&self) -> Theme {
        *self.theme.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Windows that are open have the new colour too: it is seen where they grow faster than their page.
    fn paint(&self, theme: Theme) {
        let before = std::mem::replace(&mut *self.theme.lock().unwrap_or_else(PoisonError::into_inner), theme);
        if before != theme {
            self.soon(move |app| app.webview_windows().values().for_each(|window| drop(paper::lay(window, theme))));
        }
    }

    /// A window that is gone is told nothing.
    fn tell_main(&self, what: impl FnOnce() -> TellMain) {
        if self.app.get_webview_window(MAIN).is_some() {
            self.app.state::<Ears>().tell_main(what);
        }
    }
}

impl Shell for Desk {
    fn show_view(&self, view: &View) {
        self.paint(view.preferences.theme);
        self.tell_main(|| TellMain::View(Box::new(view.clone())));
    }

    fn show_finished(&self, calls: &FinishedCalls) {
        self.tell_main(|| TellMain::Finished(calls.clone()));
    }

    fn show_question(&self, question: &QuestionView) {
        let id = question.question.id;
        self.app.state::<Ears>().tell_question(id, TellQuestion::Question(Box::new(question.clone())));
    }

    fn show_door_question(&self, question: &DoorQuestionView) {
        let id = question.question.id;
        self.app.state::<Ears>().tell_question(id, TellQuestion::DoorQuestion(Box::new(question.clone())));
    }

    fn show_tray(&self, tray: &Tray) {
        let (native, tray) = (Arc::clone(&self.tray), tray.clone());
        self.soon(move |app| native.show(app, &tray));
    }

    fn open_main(&self) {
        let theme = self.theme();
        self.soon(move |app| main_window::open(app, theme));
    }

    fn ask(&self, question: Option<&QuestionId>) {
        let (question, theme) = (question.copied(), self.theme());
        self.soon(move |app| question_window::ask(app, question, theme));
    }

    fn look_at(&self, window: AppWindow, covered: oneshot::Sender<bool>) {
        #[cfg(target_os = "linux")]
        if let Some(display) = &self.display {
            return display.look(window, covered);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = window;
        let _ = covered.send(false);
    }

    fn notify(&self, notification: &Notification) {
        notices::show(&self.app, notification);
    }

    fn copy(&self, text: ToCopy, copied: oneshot::Sender<Result<Copied, String>>) {
        self.clipboard.copy(text, copied);
    }

    fn start_at_login(&self, on: bool) -> Result<(), String> {
        let login = self.app.autolaunch();
        if on { login.enable() } else { login.disable() }.map_err(|fault| fault.to_string())
    }

    fn exit(&self, code: i32) {
        self.clipboard.clear_if_ours_and_stop();
        self.app.exit(code);
    }
}

/// Whether a window may go there: the app's own pages, and nowhere else.
fn is_own(url: &tauri::Url) -> bool {
    match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        // The same, as Windows has it.
        "http" | "https" => cfg!(windows) && url.host_str() == Some("tauri.localhost"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_own;

    // holds: desktop-own-pages
    #[test]
    fn a_window_shows_the_apps_own_pages_alone() {
        let own = |url: &str| is_own(&url.parse().unwrap());
        assert!(own("tauri://localhost/index.html"));
        for foreign in [
            "https://example.org/",
            "http://127.0.0.1:27182/mcp",
            "file:///etc/passwd",
            "data:text/html,x",
            "javascript:alert(1)",
            "about:blank",
            "tauri://example.org/",
            "http://localhost/",
        ] {
            assert!(!own(foreign), "{foreign}");
        }
    }
}
