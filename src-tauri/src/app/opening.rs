//! The start: where the secrets are, what they are, what goes with them, and then the bridge
//! (`docs/desktop.md`, "Start").
//!
//! The bridge runs only when secrets and settings are known to belong together, or were made together.

use clientmcp_settings::{Sealed, SecretStore, SettingsId, kept_in, open};

use super::{
    book::Book,
    lock,
    state::App,
    vault::{self, new_secret, seal_keys},
};
use crate::{
    keys::{Item, Later, Place, Trouble},
    shell::Notification,
    wire::{Keep, KeysCode, NoticeKind, Page},
};

/// Where the secrets are to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Where the settings say.
    AsSet,
    /// In memory alone: nothing is read and nothing is written.
    Session,
    /// In this place from now on.
    In(Place),
}

/// An attempt to read them.
struct Attempt {
    round: u64,
    place: Place,
    /// The settings that there are.
    settings: Option<SettingsId>,
    /// The settings name it themselves, so that what is kept there goes with them.
    named: bool,
}

impl App {
    /// The person's choice where secrets are to be kept.
    pub(super) fn keep(&mut self, keep: &Keep) {
        let choice = match keep {
            Keep::Again => Choice::AsSet,
            Keep::Session => Choice::Session,
            Keep::File => Choice::In(vault::file(&self.options.settings_path)),
        };
        self.begin(&choice);
    }

    /// Begins with nothing known. A bridge that runs ends.
    pub(super) fn begin(&mut self, choice: &Choice) {
        self.engine.hold();
        let round = self.vault.begin();
        match choice {
            Choice::Session => self.keep_in_memory(),
            Choice::AsSet => self.read(round, None),
            Choice::In(place) => self.read(round, Some(place.clone())),
        }
    }

    fn keep_in_memory(&mut self) {
        let made = new_secret().and_then(|secret| Ok((secret, fresh_id()?)));
        match made {
            Ok((secret, id)) => {
                self.book = Book::new(clientmcp_settings::Remembered::strictest(id), None);
                self.vault.settle(None, vec![secret], None);
                self.launch();
            }
            Err(sentence) => self.keys_trouble(None, Trouble { code: KeysCode::Failed, sentence }),
        }
    }

    fn read(&mut self, round: u64, chosen: Option<Place>) {
        if self.lock.is_none() {
            match lock::lock(&self.options.settings_path) {
                Ok(lock) => self.lock = Some(lock),
                Err(sentence) => return self.keys_trouble(None, Trouble { code: KeysCode::Failed, sentence }),
            }
        }
        let kept = kept_in(&self.options.settings_path);
        let (store, settings) = kept.map_or((SecretStore::Keychain, None), |(store, id)| (store, Some(id)));
        let of_settings = match store {
            SecretStore::File(path) => Place::File(path),
            // Memory is never written down as a place: who finds it there edited the file.
            SecretStore::Keychain | SecretStore::Session => Place::Keychain,
        };
        let place = chosen.unwrap_or_else(|| of_settings.clone());
        let attempt = Attempt { round, named: place == of_settings, place, settings };
        self.later(arrived(self.keys.read(&attempt.place)), |app, read| {
            if app.vault.is_current(attempt.round) {
                match read {
                    Ok(item) => app.open(attempt, item),
                    Err(trouble) => app.keys_trouble(Some(&attempt.place), trouble),
                }
            }
        });
    }

    /// Reads the settings that go with what is kept, and makes a secret where there is none that does.
    fn open(&mut self, attempt: Attempt, item: Option<Item>) {
        let id = match fresh_id() {
            Ok(id) => id,
            Err(sentence) => {
                return self.keys_trouble(Some(&attempt.place), Trouble { code: KeysCode::Failed, sentence });
            }
        };
        // A file that is left from other settings: tokens that they revoked must not come back.
        let item = item.filter(|_| attempt.named);
        let expected = match (&attempt.place, &item) {
            (Place::Keychain, Some(item)) => item.id.clone(),
            // A file holds no id: the settings that name it go with it, if they have its seal.
            (Place::File(_), Some(_)) => attempt.settings.clone(),
            // Without what they were sealed with nobody can tell whether they are the person's.
            (Place::File(_) | Place::Keychain, None) => None,
        };
        let keys = item.as_ref().map_or_else(|| Some(Vec::new()), |item| seal_keys(&attempt.place, item));
        let sealed = keys.as_deref().map_or(Sealed::NotYet, Sealed::With);
        let opened = open(&self.options.settings_path, expected.as_ref(), sealed, id);
        if let Some(trouble) = &opened.trouble {
            self.notice(NoticeKind::SettingsLost, None, Some(trouble.to_string()));
        }
        self.book = Book::new(opened.remembered, Some(opened.file));
        self.book.known.all_gone(super::until::wall());
        match item.filter(|item| !opened.new_secret && !item.secrets.is_empty()) {
            Some(item) => self.take(attempt, item, opened.reseal),
            None => self.make_secret(attempt),
        }
    }

    /// Settings and what is kept go together.
    fn take(&mut self, attempt: Attempt, item: Item, reseal: bool) {
        if attempt.place == Place::Keychain && item.seal.is_none() {
            return self.take_unsealed(attempt, item);
        }
        self.seal_with(&attempt.place, &item);
        if reseal {
            self.book.reseal();
        }
        self.opened(attempt.place, item);
    }

    /// They go together, and are from before there were seals. The file gets its first one before the entry names the key:
    /// an entry with a key says that the file has its seal. Until both are done, each start tries again.
    fn take_unsealed(&mut self, attempt: Attempt, item: Item) {
        let seal = match new_secret() {
            Ok(seal) => seal,
            Err(sentence) => {
                return self.keys_trouble(Some(&attempt.place), Trouble { code: KeysCode::Failed, sentence });
            }
        };
        let sealed = Item { seal: Some(seal), ..item.clone() };
        self.seal_with(&attempt.place, &sealed);
        if !self.book.save_at_once() {
            return self.opened(attempt.place, item);
        }
        self.later(arrived(self.keys.write(&attempt.place, sealed.clone())), |_, written| {
            if let Err(Trouble { sentence, .. }) = written {
                tracing::warn!("what seals the settings is not in the keychain yet: {sentence}");
            }
        });
        self.opened(attempt.place, sealed);
    }

    /// What is written from now on is sealed with the first key of what is kept there.
    pub(super) fn seal_with(&mut self, place: &Place, item: &Item) {
        self.book.seal_with(seal_keys(place, item).and_then(|keys| keys.into_iter().next()));
    }

    /// The new secret is kept before anything relies on it.
    fn make_secret(&mut self, attempt: Attempt) {
        let (secret, seal) = match new_secret().and_then(|secret| Ok((secret, new_secret()?))) {
            Ok(made) => made,
            Err(sentence) => {
                return self.keys_trouble(Some(&attempt.place), Trouble { code: KeysCode::Failed, sentence });
            }
        };
        let item = vault::item(&attempt.place, vec![secret], self.book.id(), Some(seal));
        let written = self.keys.write(&attempt.place, item.clone());
        self.book.known.all_revoked();
        self.later(arrived(written), move |app, written| {
            if app.vault.is_current(attempt.round) {
                match written {
                    Ok(()) => app.opened_with_new(attempt.place, item),
                    Err(trouble) => app.keys_trouble(Some(&attempt.place), trouble),
                }
            }
        });
    }

    fn opened_with_new(&mut self, place: Place, item: Item) {
        self.seal_with(&place, &item);
        // The settings must say where it is, and under which id, before the next start.
        let store = vault::store(&place);
        self.book.set(|settings| settings.secret_store = store);
        self.opened(place, item);
    }

    fn opened(&mut self, place: Place, item: Item) {
        let store = vault::store(&place);
        if self.book.settings().secret_store != store {
            self.book.set(|settings| settings.secret_store = store);
        }
        self.vault.settle(Some(place), item.secrets, item.seal);
        self.daily = tokio::time::Instant::now();
        self.launch();
    }

    fn keys_trouble(&mut self, place: Option<&Place>, trouble: Trouble) {
        tracing::warn!("the secrets cannot be had: {}", trouble.sentence);
        self.vault.trouble(place, trouble);
        self.shell.open_main();
        self.shell.notify(&Notification {
            title: "ClientMCP needs your choice".to_owned(),
            body: "The secrets cannot be read, so nothing is served yet.".to_owned(),
            opens: Page::Applications,
        });
    }
}

fn fresh_id() -> Result<SettingsId, String> {
    SettingsId::random().map_err(|error| format!("{error}, so nothing can be set up: try again"))
}

/// What came back. A thread that is gone answers nothing, which must not look like an empty place.
pub(super) async fn arrived<T>(later: Later<T>) -> Result<T, Trouble> {
    later.await.unwrap_or_else(|_| {
        let sentence = "what reads the secrets has ended, so they cannot be had: quit ClientMCP and start it again";
        Err(Trouble { code: KeysCode::Failed, sentence: sentence.to_owned() })
    })
}
