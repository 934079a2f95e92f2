//! Secrets that are replaced, and everything that is forgotten.
//!
//! What is kept is changed first and the bridge is told after. The other way round a crash in between would bring back
//! what was revoked.

use std::{fs, io};

use clientmcp_protocol::control::{Command, Secrets};

use super::{
    opening::{Choice, arrived},
    state::{App, Asker},
    vault::Change,
};
use crate::{
    keys::{Place, Trouble},
    wire::{Answer, NoticeKind, RefusedCode},
};

impl App {
    /// Replaces secrets.
    pub(super) fn change_secrets(&mut self, change: Change, asker: Asker) {
        let planned = match self.vault.plan(change) {
            Ok(planned) => planned,
            Err(sentence) => return self.answer(asker, refused(sentence)),
        };
        let Some(place) = self.vault.place() else { return self.secrets_changed(change, planned, asker) };
        let item = self.vault.item(place, planned.clone(), self.book.id());
        self.later(arrived(self.keys.write(place, item)), move |app, written| match written {
            Ok(()) => app.secrets_changed(change, planned, asker),
            Err(Trouble { sentence, .. }) => {
                app.vault.changed(None);
                app.answer(asker, refused(format!("{sentence}; no secret was changed")));
            }
        });
    }

    fn secrets_changed(&mut self, change: Change, secrets: Vec<String>, asker: Asker) {
        self.vault.changed(Some(secrets.clone()));
        if let Some(Place::File(_)) = self.vault.place() {
            // Those beside a file are sealed with its secrets. A crash before that, after the old ones went, sets them aside.
            self.reseal();
        }
        if change == Change::RevokeAll {
            self.book.known.all_revoked();
            self.book.known_changed();
        }
        if self.engine.bridge().is_some() {
            self.forward_kept(Command::SetSecrets { secrets: Secrets(secrets) }, asker);
        } else {
            // The next bridge starts with them; one that was given up over the old ones may serve with these.
            self.answer(asker, Answer::Done);
        }
    }

    /// Settings beside a secret file are sealed with its first secret, which is another one now.
    fn reseal(&mut self) {
        let Some(place) = self.vault.place().cloned() else { return };
        let item = self.vault.secrets().map(|Secrets(secrets)| self.vault.item(&place, secrets, self.book.id()));
        if let Some(item) = item {
            self.seal_with(&place, &item);
            self.book.reseal();
        }
    }

    /// Back to the first start.
    pub(super) fn forget_everything(&mut self, asker: Asker) {
        if !self.vault.is_idle() {
            let sentence = "the secrets are not known, or are being changed: nothing was forgotten, try again";
            return self.answer(asker, refused(sentence.to_owned()));
        }
        self.vault.forgetting();
        let Some(place) = self.vault.place().cloned() else { return self.forgotten(asker) };
        self.later(arrived(self.keys.forget(&place)), move |app, forgotten| match forgotten {
            Ok(()) => {
                app.forget_other_place(&place);
                app.forgotten(asker);
            }
            Err(Trouble { sentence, .. }) => {
                app.vault.changed(None);
                app.answer(asker, refused(format!("{sentence}; nothing was forgotten")));
            }
        });
    }

    /// Secrets of an earlier time may be in the keychain. Where there is none, there is nothing to forget.
    fn forget_other_place(&self, place: &Place) {
        if let Place::File(_) = place {
            self.later(arrived(self.keys.forget(&Place::Keychain)), |_, _| {});
        }
    }

    /// The secrets are gone. What is being written just now would come back: it is waited for.
    fn forgotten(&mut self, asker: Asker) {
        self.book.close();
        if self.book.is_saving() {
            self.forgetting = Some(asker);
        } else {
            self.begin_anew(asker);
        }
    }

    /// Goes on once nothing is being written any more.
    pub(super) fn saved(&mut self) {
        self.book.saved();
        if let Some(asker) = self.forgetting.take() {
            self.begin_anew(asker);
        }
    }

    fn begin_anew(&mut self, asker: Asker) {
        self.notices.clear();
        let removed = self.book.file().map_or(Ok(()), |file| match fs::remove_file(file.path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        });
        if let Err(error) = removed {
            // It goes with no secret any more, so it is set aside at the start.
            self.notice(NoticeKind::Unsaved, None, Some(format!("the settings could not be removed ({error})")));
        }
        if self.book.settings().start_at_login {
            drop(self.shell.start_at_login(false));
        }
        self.paused = false;
        self.finished = super::finished::Finished::default();
        let session = self.vault.place().is_none();
        self.begin(&if session { Choice::Session } else { Choice::AsSet });
        self.answer(asker, Answer::Done);
    }
}

fn refused(sentence: String) -> Answer {
    Answer::Refused { code: RefusedCode::Keys, sentence }
}
