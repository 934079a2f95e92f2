use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use clientmcp_settings::SettingsId;
use keyring_core::{CredentialStore, mock};

use super::*;
use crate::wire::KeysCode;

const SECRET: &str = "hunter2-0123456789abcdef0123456789";

/// A keychain in memory. Clones are the same one.
#[derive(Clone)]
struct FakeSystem {
    store: Arc<CredentialStore>,
    opened: Arc<AtomicUsize>,
    /// Shows its entry only once it was asked to reveal it.
    hides: bool,
}

impl FakeSystem {
    fn new() -> Self {
        Self { store: mock::Store::new().unwrap(), opened: Arc::default(), hides: false }
    }

    fn entry(&self) -> Entry {
        self.store.build(SERVICE, ACCOUNT, None).unwrap()
    }

    /// What the next thing that is done with the entry comes to.
    fn fail(&self, error: Error) {
        self.entry().as_any().downcast_ref::<mock::Cred>().unwrap().set_error(error);
    }

    fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }
}

impl System for FakeSystem {
    fn open(&self) -> keyring_core::Result<Entry> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(self.entry())
    }

    fn reveal(&self) -> keyring_core::Result<bool> {
        if self.hides {
            self.entry().set_secret(&item::written(item()).unwrap())?;
        }
        Ok(self.hides)
    }

    fn cause(&self, _: &Error) -> Option<Cause> {
        None
    }
}

fn item() -> Item {
    Item { secrets: vec![SECRET.into()], id: SettingsId::new(&"a".repeat(32)).ok(), seal: Some("hunter2".repeat(5)) }
}

fn failure(words: &str) -> Error {
    Error::PlatformFailure(words.into())
}

// holds: desktop-keychain
#[test]
fn what_was_written_is_read_and_forgotten() {
    let system = FakeSystem::new();
    let mut keychain = Keychain::new(system.clone());
    assert_eq!(system.opened(), 0);
    assert_eq!(keychain.read(), Ok(None));
    keychain.write(item()).unwrap();
    assert_eq!(keychain.read(), Ok(Some(item())));
    assert_eq!(Keychain::new(system.clone()).read(), Ok(Some(item())));
    keychain.forget().unwrap();
    assert_eq!(keychain.read(), Ok(None));
    keychain.forget().unwrap();
    assert_eq!(system.opened(), 2);
}

// holds: desktop-keychain-restart
#[test]
fn a_keychain_that_was_restarted_is_opened_once_more() {
    let system = FakeSystem::new();
    let mut keychain = Keychain::new(system.clone());
    keychain.write(item()).unwrap();
    system.fail(failure("no such session"));
    assert_eq!(keychain.read(), Ok(Some(item())));
    system.fail(failure("no such session"));
    keychain.write(item()).unwrap();
    assert_eq!(system.opened(), 3);
}

// holds: desktop-keychain-restart
#[test]
fn a_failure_of_a_keychain_just_opened_is_not_tried_again() {
    let system = FakeSystem::new();
    let mut keychain = Keychain::new(system.clone());
    system.fail(failure("broken"));
    assert_eq!(keychain.read().unwrap_err().code, KeysCode::Failed);
    assert_eq!(system.opened(), 1);
    assert_eq!(keychain.read(), Ok(None));
    assert_eq!(system.opened(), 2);
}

// holds: desktop-keychain-restart
#[test]
fn a_person_who_said_no_is_not_asked_again() {
    let system = FakeSystem::new();
    let mut keychain = Keychain::new(system.clone());
    keychain.write(item()).unwrap();
    system.fail(Error::NoStorageAccess("dismissed".into()));
    assert_eq!(keychain.read().unwrap_err().code, KeysCode::Refused);
    assert_eq!(system.opened(), 1);
}

// holds: desktop-keychain-hidden
#[test]
fn an_entry_that_a_locked_keychain_hides_is_not_taken_for_missing() {
    let system = FakeSystem { hides: true, ..FakeSystem::new() };
    assert_eq!(Keychain::new(system).read(), Ok(Some(item())));
}

// holds: desktop-keychain-sentences
#[test]
fn each_failure_has_its_code_and_no_secret_in_what_is_said() {
    let bytes = || SECRET.as_bytes().to_vec();
    let held = FakeSystem::new().entry();
    held.set_password(SECRET).unwrap();
    let cases = [
        (Error::BadEncoding(bytes()), KeysCode::Damaged),
        (Error::BadDataFormat(bytes(), SECRET.into()), KeysCode::Damaged),
        (Error::Ambiguous(vec![held]), KeysCode::Damaged),
        (Error::NoStorageAccess("denied".into()), KeysCode::Refused),
        (Error::TooLong("secret".into(), 2_560), KeysCode::Failed),
        (Error::BadStoreFormat(SECRET.into()), KeysCode::Failed),
        (Error::Invalid("secret".into(), SECRET.into()), KeysCode::Failed),
        (Error::NotSupportedByStore(SECRET.into()), KeysCode::Failed),
        (failure("broken \u{1b}[31m"), KeysCode::Failed),
    ];
    for (error, code) in cases {
        let log = told(&error);
        assert!(!log.contains("hunter2") && !log.contains('\u{1b}'), "{log}");
        let system = FakeSystem::new();
        system.fail(error);
        let trouble = Keychain::new(system).read().unwrap_err();
        assert_eq!(trouble.code, code, "{trouble}");
        assert!(trouble.sentence.ends_with('.') && !trouble.sentence.contains("hunter2"), "{trouble}");
    }
}

// holds: desktop-keychain-sentences
#[test]
fn no_two_causes_have_the_same_sentence() {
    let causes = [
        Cause::NoBus,
        Cause::NoProvider,
        Cause::NoKeyring,
        Cause::Locked,
        Cause::Refused,
        Cause::Damaged,
        Cause::Newer(2),
        Cause::Ambiguous,
        Cause::Full(2_560),
        Cause::Failed,
    ];
    let sentences: HashMap<_, _> = causes.iter().map(|cause| (cause.trouble().sentence, cause)).collect();
    assert_eq!(sentences.len(), causes.len());
}

// holds: desktop-keychain-entry
#[test]
fn an_entry_of_somebody_else_is_not_used_and_stays() {
    let system = FakeSystem::new();
    for (text, words) in [(SECRET.as_bytes(), "does not say what this app writes"), (b"\xff\xfe", "does not say")] {
        system.entry().set_secret(text).unwrap();
        let trouble = Keychain::new(system.clone()).read().unwrap_err();
        assert!(trouble.code == KeysCode::Damaged && trouble.sentence.contains(words), "{trouble}");
        assert_eq!(system.entry().get_secret().unwrap(), text);
    }
    let newer = format!(r#"{{"version":2,"secrets":["{SECRET}"]}}"#);
    system.entry().set_password(&newer).unwrap();
    let trouble = Keychain::new(system.clone()).read().unwrap_err();
    assert!(trouble.sentence.contains("by a newer version of this app (format 2)"), "{trouble}");
    // The person chose to make a new one.
    Keychain::new(system.clone()).write(item()).unwrap();
    assert_eq!(Keychain::new(system).read(), Ok(Some(item())));
}

#[test]
fn what_cannot_be_read_again_is_not_written() {
    let system = FakeSystem::new();
    let short = Item { secrets: vec!["hunter2".into()], id: None, seal: None };
    let trouble = Keychain::new(system.clone()).write(short).unwrap_err();
    assert!(!trouble.sentence.contains("hunter2"));
    assert!(matches!(system.entry().get_secret(), Err(Error::NoEntry)));
}

#[test]
fn debug_shows_nothing_of_an_entry() {
    let mut keychain = Keychain::new(FakeSystem::new());
    keychain.write(item()).unwrap();
    assert!(!format!("{keychain:?} {:?}", item()).contains("hunter2"));
}
