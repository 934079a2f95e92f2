//! Who hears what. A window hands over the channel that it listens to, and what is sent into that reaches this window's page
//! alone: there is no event that another one could listen to.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use clientmcp_protocol::ids::QuestionId;
use tauri::{AppHandle, Manager, ipc::Channel};

use super::question_window;
use crate::wire::{TellMain, TellQuestion};

/// The channels of the windows that are there.
#[derive(Default)]
pub(crate) struct Ears {
    main: Mutex<Option<Channel<TellMain>>>,
    questions: Mutex<HashMap<QuestionId, Channel<TellQuestion>>>,
}

impl Ears {
    /// The main window listens to this from now on, in the place of what it listened to before: its page may be another.
    pub(crate) fn main_listens(&self, channel: Channel<TellMain>) {
        *lock(&self.main) = Some(channel);
    }

    /// The small window of this question listens to this. Those of windows that are gone are forgotten.
    pub(crate) fn question_listens(&self, app: &AppHandle, id: QuestionId, channel: Channel<TellQuestion>) {
        let mut questions = lock(&self.questions);
        questions.insert(id, channel);
        questions.retain(|id, _| app.get_webview_window(&question_window::label(id)).is_some());
    }

    /// Tells the main window, if it listens.
    pub(super) fn tell_main(&self, what: impl FnOnce() -> TellMain) {
        let channel = lock(&self.main).clone();
        // What cannot be sent was for a window that is gone.
        channel.map(|channel| channel.send(what()));
    }

    /// Tells the small window of this question, if it listens.
    pub(super) fn tell_question(&self, id: QuestionId, question: TellQuestion) {
        let channel = lock(&self.questions).get(&id).cloned();
        channel.map(|channel| channel.send(question));
    }
}

fn lock<T>(ears: &Mutex<T>) -> MutexGuard<'_, T> {
    ears.lock().unwrap_or_else(PoisonError::into_inner)
}
