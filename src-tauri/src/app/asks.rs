//! What the main window asks, and what it is answered.

use clientmcp_protocol::control::{Command, ErrorCode, Reply, Rule, Snapshot};
use tokio::{sync::oneshot, time::Instant};

use super::{
    preferences,
    questions::Surface,
    state::{App, Asker},
    tokens::{Kind, NewToken},
    until::{until, wall},
    vault::Change,
};
use crate::{
    bridge::Gone,
    wire::{Answer, Ask, Preferences, RefusedCode},
};

impl App {
    /// Answers a window, now or later.
    pub(super) fn asked(&mut self, ask: Ask, window: oneshot::Sender<Answer>) {
        let asker = Asker::Window(window);
        match ask {
            Ask::View => self.answer(asker, Answer::View(Box::new(self.view()))),
            Ask::Calls => self.answer(asker, Answer::Calls(self.finished.all())),
            Ask::Text { text, offset } => self.forward(Command::Get { text, offset }, asker),
            Ask::Question { id, about } => self.about(id, Surface::Main, &about, asker),
            Ask::DoorQuestion { id, about } => self.about_door(id, &about, asker),
            Ask::AllowPair { host, application } => self.forward(Command::AllowPair { host, application }, asker),
            Ask::ForgetPair { host, application } => self.forward(Command::ForgetPair { host, application }, asker),
            Ask::SetMode { application, mode, lasts } => {
                self.forward(Command::SetMode { application, mode, until: until(lasts, wall()) }, asker);
            }
            Ask::RemoveRule { id } => self.remove_rule(&id, asker),
            Ask::AddOrigin { application, origin } => self.forward(Command::AddOrigin { application, origin }, asker),
            Ask::Pause => self.pause(true, asker),
            Ask::Resume => self.pause(false, asker),
            Ask::Disconnect { application } => self.forward(Command::Disconnect { application }, asker),
            Ask::Revoke { application, role, which } => {
                self.revoke(Command::Revoke { application, role, which }, asker);
            }
            Ask::Unblock { application, label } => self.forward(Command::Unblock { application, label }, asker),
            Ask::TryTool { application, tool, fingerprint, arguments } => {
                self.forward(Command::TryTool { application, tool, fingerprint, arguments }, asker);
            }
            Ask::SetPreferences { preferences } => self.set_preferences(preferences, asker),
            Ask::CopyUrl => self.copy_url(asker),
            Ask::CopyToken { application, role, label, days } => {
                self.copy_token(NewToken { application, role, label, days, kind: Kind::Bare }, asker);
            }
            Ask::Snippets { application } => self.snippets(&application, asker),
            Ask::CopySnippet { application, host, by } => self.copy_snippet(application, &host, by, asker),
            Ask::Rotate => self.change_secrets(Change::Rotate, asker),
            Ask::DropOldSecrets => self.change_secrets(Change::DropOld, asker),
            Ask::RevokeAll => self.change_secrets(Change::RevokeAll, asker),
            Ask::ForgetEverything => self.forget_everything(asker),
            Ask::Keep { choice } => self.done(asker, |app| app.keep(&choice)),
            Ask::Retry => self.done(asker, App::retry),
            Ask::Diagnostics => self.answer(asker, Answer::Diagnostics(self.diagnostics())),
            Ask::CopyDiagnostics => self.copy_plain(self.diagnostics(), asker),
            Ask::Dismiss { number } => self.done(asker, |app| app.notices.dismiss(number)),
            Ask::Looking { page } => self.done(asker, |app| app.questions.looking(page, Instant::now())),
            Ask::Quit => self.done(asker, App::leave),
            Ask::Stay => self.done(asker, |app| app.window.quitting = false),
        }
    }

    fn done(&mut self, asker: Asker, act: impl FnOnce(&mut Self)) {
        act(self);
        self.answer(asker, Answer::Done);
    }

    fn remove_rule(&mut self, id: &str, asker: Asker) {
        let Some(snapshot) = &self.snapshot else { return self.answer(asker, no_bridge()) };
        let Some(mut rules) = all_rules(snapshot, &self.book.memory().rules) else {
            let sentence = "the rules are changing: look at them again, and take the rule back then";
            return self.answer(asker, refused(ErrorCode::Stale, sentence));
        };
        let (before, revision) = (rules.len(), snapshot.rules_revision);
        rules.retain(|rule| rule.id != id);
        if rules.len() == before {
            return self.answer(asker, refused(ErrorCode::NotFound, "there is no such rule any more"));
        }
        self.forward(Command::SetRules { revision, rules }, asker);
    }

    fn revoke(&mut self, command: Command, asker: Asker) {
        let Command::Revoke { application, role, which } = command.clone() else { return };
        self.command(command, move |app, reply| {
            if reply == Ok(Reply::Done) {
                app.book.known.revoked(&application, role, &which);
                app.book.known_changed();
            }
            app.answer(asker, answer(reply));
        });
    }

    fn set_preferences(&mut self, preferences: Preferences, asker: Asker) {
        if let Some(sentence) = preferences::fault(&preferences) {
            return self.answer(asker, Answer::Refused { code: RefusedCode::Bridge(ErrorCode::Value), sentence });
        }
        let before = preferences::shown(self.book.settings());
        if preferences.start_at_login != before.start_at_login
            && let Err(sentence) = self.shell.start_at_login(preferences.start_at_login)
        {
            return self.answer(asker, Answer::Refused { code: RefusedCode::System, sentence });
        }
        if preferences.port != before.port {
            // The person's choice counts from now on, not the command line's.
            self.options.port_override = None;
        }
        let (other_port, for_bridge) = (preferences.port != before.port, self.book.settings().for_bridge());
        self.book.set(|settings| preferences::set(settings, preferences));
        let settings = self.book.settings().for_bridge();
        if other_port {
            self.engine.forgive();
            self.launch();
            self.answer(asker, Answer::Done);
        } else if settings == for_bridge {
            self.answer(asker, Answer::Done);
        } else {
            self.forward_kept(Command::SetSettings { settings }, asker);
        }
    }
}

/// All rules of the snapshot's revision. Where it had to leave some out, they are taken from what is remembered, if that is
/// surely of the same revision.
fn all_rules(snapshot: &Snapshot, remembered: &[Rule]) -> Option<Vec<Rule>> {
    let left_out = usize::try_from(snapshot.cut.rules.0).ok()?;
    if left_out == 0 {
        return Some(snapshot.rules.clone());
    }
    let whole = remembered.len() == snapshot.rules.len() + left_out && remembered.starts_with(&snapshot.rules);
    whole.then(|| remembered.to_vec())
}

/// What a window is answered. A token is never among it.
pub(super) fn answer(reply: Result<Reply, Gone>) -> Answer {
    match reply {
        Ok(Reply::Done | Reply::Token { .. }) => Answer::Done,
        Ok(Reply::Text { piece, bytes }) => Answer::Text { piece, bytes },
        Ok(Reply::Tried { outcome, number }) => Answer::Tried { outcome, number },
        Ok(Reply::Refused { code, sentence }) => Answer::Refused { code: RefusedCode::Bridge(code), sentence },
        Err(Gone) => no_bridge(),
    }
}

pub(super) fn refused(code: ErrorCode, sentence: &str) -> Answer {
    Answer::Refused { code: RefusedCode::Bridge(code), sentence: sentence.to_owned() }
}

pub(super) fn no_bridge() -> Answer {
    let sentence = "the bridge does not run, so nothing was done: wait until it serves again, and try again";
    Answer::Refused { code: RefusedCode::NoBridge, sentence: sentence.to_owned() }
}
