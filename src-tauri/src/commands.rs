//! What the windows can call: two commands, which hand on what is asked.
//!
//! Which question a small window asks about is read from the window's own label: a page names none.

use tauri::{AppHandle, Manager, WebviewWindow};
use tokio::sync::oneshot;

use crate::{
    app::Handle,
    desk::{MAIN, question_of},
    shell::Deed,
    wire::{AboutQuestion, Answer, Ask, RefusedCode},
};

/// The main window asks.
#[tauri::command]
pub(crate) async fn ask(window: WebviewWindow, ask: Ask) -> Answer {
    let is_main = window.label() == MAIN;
    answer(window.app_handle(), |reply| is_main.then_some(Deed::Asked(ask, reply))).await
}

/// The small window of a question asks.
#[tauri::command]
pub(crate) async fn ask_of(window: WebviewWindow, about: AboutQuestion) -> Answer {
    let question = question_of(window.label());
    answer(window.app_handle(), |reply| question.map(|id| Deed::AskedOf(id, about, reply))).await
}

/// Tells the app what was done, if it still runs.
pub(crate) fn tell(app: &AppHandle, deed: Deed) {
    if let Some(handle) = app.try_state::<Handle>() {
        handle.tell(deed);
    }
}

async fn answer(app: &AppHandle, deed: impl FnOnce(oneshot::Sender<Answer>) -> Option<Deed>) -> Answer {
    let (reply, answer) = oneshot::channel();
    if let Some(deed) = deed(reply) {
        tell(app, deed);
    }
    answer.await.unwrap_or_else(|_| Answer::Refused {
        code: RefusedCode::NoBridge,
        sentence: "The app does not answer, so nothing was done. It is starting or ending: try again in a moment."
            .into(),
    })
}
