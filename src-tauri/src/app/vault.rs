//! Where the secrets are and what they are. They are handed to the bridge and to the place that keeps them, and nowhere
//! else.

use std::path::{Path, PathBuf};

use clientmcp_protocol::control::{Count, Secrets};
use clientmcp_settings::{SealKey, SecretStore, SettingsId, secret};

use crate::{
    keys::{Item, Place, Trouble},
    wire::{Keep, KeysCode, KeysState},
};

/// Secrets that are kept at a time: what a small keychain entry holds, and more than one ever needs.
const MOST: usize = 10;

/// The secrets.
#[derive(Default)]
pub(super) struct Vault {
    /// What the person is shown.
    pub(super) state: KeysState,
    /// None keeps them in memory alone.
    place: Option<Place>,
    secrets: Vec<String>,
    /// What the key of the settings' seal is derived from, beside secrets in the keychain.
    seal: Option<String>,
    /// They are being replaced, one change at a time.
    changing: bool,
    /// Counts attempts to read them, so that a late answer to an earlier one is none.
    round: u64,
}

/// What is to be done with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// A new one signs; the others verify.
    Rotate,
    /// The newest alone.
    DropOld,
    /// A new one alone.
    RevokeAll,
}

impl Vault {
    /// Begins anew. The number of this attempt.
    pub(super) fn begin(&mut self) -> u64 {
        self.round += 1;
        (self.place, self.seal, self.changing) = (None, None, false);
        self.secrets.clear();
        self.state = KeysState::Reading;
        self.round
    }

    /// Whether this attempt is the newest.
    pub(super) fn is_current(&self, round: u64) -> bool {
        self.round == round
    }

    /// They are known.
    pub(super) fn settle(&mut self, place: Option<Place>, secrets: Vec<String>, seal: Option<String>) {
        self.state = match &place {
            None => KeysState::Session,
            Some(Place::Keychain) => KeysState::Keychain,
            // A name that is no text could not be shown at all.
            Some(Place::File(path)) => KeysState::File { path: PathBuf::from(path.to_string_lossy().into_owned()) },
        };
        (self.place, self.secrets, self.seal) = (place, secrets, seal);
    }

    /// What is kept at a place when these are the secrets: a file holds secrets alone.
    pub(super) fn item(&self, place: &Place, secrets: Vec<String>, id: &SettingsId) -> Item {
        item(place, secrets, id, self.seal.clone())
    }

    /// They cannot be had from there.
    pub(super) fn trouble(&mut self, place: Option<&Place>, trouble: Trouble) {
        let Trouble { code, sentence } = trouble;
        self.state = KeysState::Trouble { code, sentence, choices: choices(place, code) };
    }

    /// Where they are kept; nothing for memory alone.
    pub(super) fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// For the bridge; nothing while they are not known.
    pub(super) fn secrets(&self) -> Option<Secrets> {
        (!self.secrets.is_empty()).then(|| Secrets(self.secrets.clone()))
    }

    /// How many there are beside the newest.
    pub(super) fn old(&self) -> Count {
        Count::from(self.secrets.len().saturating_sub(1))
    }

    /// Whether they are known and nothing is being done with them.
    pub(super) fn is_idle(&self) -> bool {
        !self.changing && !self.secrets.is_empty()
    }

    /// They are being forgotten: nothing else is done with them until [`Vault::changed`] or [`Vault::begin`].
    pub(super) fn forgetting(&mut self) {
        self.changing = true;
    }

    /// What they will be. Nothing is changed before [`Vault::changed`].
    pub(super) fn plan(&mut self, change: Change) -> Result<Vec<String>, String> {
        if !self.is_idle() {
            return Err(
                "the secrets are not known, or are being changed already: nothing was done, try again".to_owned()
            );
        }
        let newest = self.secrets.first().cloned();
        let planned = match change {
            Change::Rotate if self.secrets.len() >= MOST => {
                return Err(format!(
                    "{MOST} secrets are kept already: forget the old ones first, which ends the tokens that they signed"
                ));
            }
            Change::Rotate => std::iter::once(new_secret()?).chain(self.secrets.iter().cloned()).collect(),
            Change::DropOld => newest.into_iter().collect(),
            Change::RevokeAll => vec![new_secret()?],
        };
        self.changing = true;
        Ok(planned)
    }

    /// What was planned is kept now, or nothing has changed.
    pub(super) fn changed(&mut self, secrets: Option<Vec<String>>) {
        self.changing = false;
        if let Some(secrets) = secrets {
            self.secrets = secrets;
        }
    }
}

/// What is kept at a place: a file holds secrets alone.
pub(super) fn item(place: &Place, secrets: Vec<String>, id: &SettingsId, seal: Option<String>) -> Item {
    match place {
        Place::Keychain => Item { secrets, id: Some(id.clone()), seal },
        Place::File(_) => Item { secrets, id: None, seal: None },
    }
}

/// What the settings can be sealed with that go with what is kept at a place, the one for new seals first: the keychain
/// keeps a text for that alone, beside a file it is the secrets. Nothing for an entry from before there were seals.
pub(super) fn seal_keys(place: &Place, item: &Item) -> Option<Vec<SealKey>> {
    let of = |texts: &[String]| texts.iter().filter_map(|text| SealKey::of(text).ok()).collect();
    match place {
        Place::Keychain => item.seal.as_ref().map(|seal| of(std::slice::from_ref(seal))),
        Place::File(_) => Some(of(&item.secrets)),
    }
}

/// How the settings name a place.
pub(super) fn store(place: &Place) -> SecretStore {
    match place {
        Place::Keychain => SecretStore::Keychain,
        Place::File(path) => SecretStore::File(path.clone()),
    }
}

/// The file that is offered where there is no keychain.
pub(super) fn file(settings: &Path) -> Place {
    Place::File(settings.with_file_name("bridge.secret"))
}

/// 32 bytes of the system's random source, as one line of text.
pub(super) fn new_secret() -> Result<String, String> {
    secret::generate().map_err(|fault| format!("{fault}, so no secret can be made: nothing was done, try again"))
}

/// The best first. Where there is no keychain at all, trying again is the last that helps.
fn choices(place: Option<&Place>, code: KeysCode) -> Vec<Keep> {
    match (place, code) {
        // Without a place not even the app's own folder can be used, where the file would be.
        (Some(Place::File(_)) | None, _) => vec![Keep::Again, Keep::Session],
        (Some(Place::Keychain), KeysCode::NoBus | KeysCode::NoProvider) => {
            vec![Keep::Session, Keep::File, Keep::Again]
        }
        (
            Some(Place::Keychain),
            KeysCode::Locked | KeysCode::Refused | KeysCode::Damaged | KeysCode::Failed | KeysCode::File,
        ) => {
            vec![Keep::Again, Keep::Session, Keep::File]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vault(secrets: &[&str]) -> Vault {
        let mut vault = Vault::default();
        vault.settle(Some(Place::Keychain), secrets.iter().map(|&secret| secret.to_owned()).collect(), None);
        vault
    }

    // holds: desktop-rotation
    #[test]
    fn a_rotation_puts_a_new_secret_first_and_the_others_stay() {
        let mut kept = vault(&["one", "two"]);
        let planned = kept.plan(Change::Rotate).expect("possible");
        assert_eq!((planned.len(), &planned[1..]), (3, &["one".to_owned(), "two".to_owned()][..]));
        assert_eq!(planned[0].len(), 43);
        assert_eq!(kept.secrets().expect("known").0, ["one", "two"], "nothing changed yet");
        assert!(kept.plan(Change::Rotate).is_err(), "one change at a time");
        kept.changed(None);
        assert_eq!(kept.plan(Change::DropOld).expect("possible"), ["one"]);
        kept.changed(None);
        let alone = kept.plan(Change::RevokeAll).expect("possible");
        assert!(alone.len() == 1 && alone[0] != "one");
        kept.changed(Some(alone.clone()));
        assert_eq!((kept.secrets().expect("known").0, kept.old()), (alone, Count(0)));
    }

    #[test]
    fn there_are_never_more_than_ten_secrets() {
        let mut full = vault(&["x"; MOST]);
        assert!(full.plan(Change::Rotate).is_err() && full.is_idle());
        assert!(full.plan(Change::RevokeAll).is_ok());
    }

    // holds: desktop-keys-trouble
    #[test]
    fn a_place_in_trouble_is_never_offered_as_the_way_out() {
        let file = Place::File(PathBuf::from("/x"));
        assert_eq!(choices(Some(&file), KeysCode::File), [Keep::Again, Keep::Session]);
        assert_eq!(choices(None, KeysCode::Failed), [Keep::Again, Keep::Session]);
        assert_eq!(choices(Some(&Place::Keychain), KeysCode::Locked)[0], Keep::Again);
        assert_eq!(choices(Some(&Place::Keychain), KeysCode::NoBus)[0], Keep::Session);
    }
}
