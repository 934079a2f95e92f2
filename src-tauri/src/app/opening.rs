//! The start: where the secrets are, what they are, what goes with them, and then the bridge
//! (`docs/desktop.md`, "Start").
//!
//! The bridge runs only when secrets and settings are known to belong together, or were made together.

use clientmcp_settings::{SecretStore, SettingsId, kept_in, open};

use super::{
    book::Book,
    lock,
    state::App,
    vault::{self, new_secret},
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
    /// In this place from now on, with the settings that there are.
    In(Place),
}

/// An attempt to read them.
struct Attempt {
    round: u64,
    place: Place,
    /// The settings that name this place, or are to.
    settings: Option<SettingsId>,
    /// The person named it, so that it may have no secret yet although there are settings.
    chosen: bool,
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
                self.vault.settle(None, vec![secret]);
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
        let is_chosen = chosen.is_some();
        let place = chosen.unwrap_or(match store {
            SecretStore::File(path) => Place::File(path),
            // Memory is never written down as a place: who finds it there edited the file.
            SecretStore::Keychain | SecretStore::Session => Place::Keychain,
        });
        let attempt = Attempt { round, place, settings, chosen: is_chosen };
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
        let expected = match (&attempt.place, &item) {
            (Place::Keychain, Some(item)) => item.id.clone(),
            // A file holds no id: the settings that name it go with it.
            (Place::File(_), Some(_)) => attempt.settings.clone(),
            (Place::File(_), None) => attempt.settings.clone().filter(|_| attempt.chosen),
            (Place::Keychain, None) => None,
        };
        let opened = open(&self.options.settings_path, expected.as_ref(), id);
        if let Some(trouble) = &opened.trouble {
            self.notice(NoticeKind::SettingsLost, None, Some(trouble.to_string()));
        }
        self.book = Book::new(opened.remembered, Some(opened.file));
        self.book.known.all_gone(super::until::wall());
        match item.map(|item| item.secrets).filter(|secrets| !opened.new_secret && !secrets.is_empty()) {
            Some(secrets) => self.opened(attempt.place, secrets),
            None => self.make_secret(attempt),
        }
    }

    /// The new secret is kept before anything relies on it.
    fn make_secret(&mut self, attempt: Attempt) {
        let secret = match new_secret() {
            Ok(secret) => secret,
            Err(sentence) => {
                return self.keys_trouble(Some(&attempt.place), Trouble { code: KeysCode::Failed, sentence });
            }
        };
        let item = vault::item(&attempt.place, vec![secret.clone()], self.book.id());
        let written = self.keys.write(&attempt.place, item);
        self.book.known.all_revoked();
        self.later(arrived(written), move |app, written| {
            if app.vault.is_current(attempt.round) {
                match written {
                    Ok(()) => app.opened_with_new(attempt.place, secret),
                    Err(trouble) => app.keys_trouble(Some(&attempt.place), trouble),
                }
            }
        });
    }

    fn opened_with_new(&mut self, place: Place, secret: String) {
        // The settings must say where it is, and under which id, before the next start.
        let store = vault::store(&place);
        self.book.set(|settings| settings.secret_store = store);
        self.opened(place, vec![secret]);
    }

    fn opened(&mut self, place: Place, secrets: Vec<String>) {
        let store = vault::store(&place);
        if self.book.settings().secret_store != store {
            self.book.set(|settings| settings.secret_store = store);
        }
        self.vault.settle(Some(place), secrets);
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
