//! What is kept, as the text in the keychain's entry: JSON with a version, so that a later app can tell what it reads.

use clientmcp_settings::{SettingsId, secret};
use serde::{Deserialize, Serialize};

use super::Item;

/// The version of the text. It rises when an older app must not use what it does not know.
const VERSION: u64 = 1;

/// Why a text is none of ours. Nothing of it is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unlike {
    /// It does not say what ours say.
    Damaged,
    /// A newer version of the app wrote it.
    Newer(u64),
}

/// What every version has in common.
#[derive(Deserialize)]
struct AnyVersion {
    version: u64,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    version: u64,
    settings: Option<SettingsId>,
    secrets: Vec<String>,
    /// Entries from before there were seals have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<String>,
}

/// The text for an item.
pub(super) fn written(item: Item) -> Result<Vec<u8>, Unlike> {
    let kept = Kept { version: VERSION, settings: item.id, secrets: item.secrets, seal: item.seal };
    // What would not be read again is not written.
    check(&kept)?;
    serde_json::to_vec(&kept).map_err(|_| Unlike::Damaged)
}

/// The item that a text says.
pub(super) fn read(text: &[u8]) -> Result<Item, Unlike> {
    let AnyVersion { version } = serde_json::from_slice(text).map_err(|_| Unlike::Damaged)?;
    if version > VERSION {
        return Err(Unlike::Newer(version));
    }
    let kept: Kept = serde_json::from_slice(text).map_err(|_| Unlike::Damaged)?;
    check(&kept)?;
    Ok(Item { secrets: kept.secrets, id: kept.settings, seal: kept.seal })
}

fn check(kept: &Kept) -> Result<(), Unlike> {
    let secrets = !kept.secrets.is_empty() && kept.secrets.iter().all(|secret| secret::check(secret).is_ok());
    let seal = kept.seal.as_deref().is_none_or(|seal| secret::check(seal).is_ok());
    if kept.version == VERSION && secrets && seal { Ok(()) } else { Err(Unlike::Damaged) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "0123456789abcdef0123456789abcdef";
    const SEAL: &str = "fedcba9876543210fedcba9876543210";

    fn item(secrets: &[&str]) -> Item {
        let secrets = secrets.iter().map(ToString::to_string).collect();
        Item { secrets, id: SettingsId::new(&"0".repeat(32)).ok(), seal: Some(SEAL.to_owned()) }
    }

    // holds: desktop-keychain-entry
    #[test]
    fn an_item_is_read_as_it_was_written() {
        let text = written(item(&[SECRET])).unwrap();
        let expected = format!(
            r#"{{"version":1,"settings":"00000000000000000000000000000000","secrets":["{SECRET}"],"seal":"{SEAL}"}}"#
        );
        assert_eq!(std::str::from_utf8(&text).unwrap(), expected);
        let older = expected.replace(&format!(r#","seal":"{SEAL}""#), "");
        assert!(read(older.as_bytes()).unwrap() == Item { seal: None, ..item(&[SECRET]) });
        for kept in [item(&[SECRET]), item(&[" \"quoted\" and with spaces, ünïcode ", SECRET])] {
            assert!(read(&written(kept.clone()).unwrap()).unwrap() == kept);
        }
    }

    // holds: desktop-keychain-entry
    #[test]
    fn fifty_secrets_fit_into_an_entry_of_windows() {
        let secrets: Vec<_> = (0..50).map(|_| secret::generate().unwrap()).collect();
        let (id, seal) = (Some(SettingsId::random().unwrap()), Some(secret::generate().unwrap()));
        let text = written(Item { secrets, id, seal }).unwrap();
        assert!(text.len() <= 2_560, "{}", text.len());
    }

    // holds: desktop-keychain-entry
    #[test]
    fn what_is_not_ours_is_not_used() {
        let short = r#"{"version":1,"settings":null,"secrets":["hunter2"]}"#;
        let none = r#"{"version":1,"settings":null,"secrets":[]}"#;
        let old = format!(r#"{{"version":0,"secrets":["{SECRET}"]}}"#);
        let id = format!(r#"{{"version":1,"settings":"x","secrets":["{SECRET}"]}}"#);
        let twice = format!(r#"{{"version":1,"secrets":["{SECRET}"],"secrets":["{SECRET}"]}}"#);
        let seal = format!(r#"{{"version":1,"settings":null,"secrets":["{SECRET}"],"seal":"hunter2"}}"#);
        for text in ["", "\u{fffd}", SECRET, "{}", "[1]", short, none, &old, &id, &twice, &seal] {
            assert_eq!(read(text.as_bytes()).err(), Some(Unlike::Damaged), "{text}");
        }
        let newer = format!(r#"{{"version":2,"secrets":["{SECRET}"]}}"#);
        assert_eq!(read(newer.as_bytes()).err(), Some(Unlike::Newer(2)));
        assert_eq!(written(item(&["hunter2"])).err(), Some(Unlike::Damaged));
        assert_eq!(written(item(&[])).err(), Some(Unlike::Damaged));
    }

    // holds: desktop-keychain-entry
    proptest! {
        #[test]
        fn whatever_stands_there_is_read_whole_or_not_at_all(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(read(&bytes).is_err());
        }
    }
}
