use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;

use super::*;
use crate::remembered::tests::any_remembered;

mod sealing;

const EXAMPLE: &str = include_str!("../../fixtures/version-2.json");
const ID: &str = "000102030405060708090a0b0c0d0e0f";

/// The example as the app writes it: sealed.
fn example_text() -> Vec<u8> {
    sealed_text(EXAMPLE)
}

fn sealed_text(object: &str) -> Vec<u8> {
    seal::sealed(object.trim_end().as_bytes(), &key()).unwrap()
}

fn key() -> SealKey {
    SealKey::of("kept beside the secrets, and long enough").unwrap()
}

/// A folder for one test, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("clientmcp-settings-{}-{number}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("settings.json")
    }

    /// With a file for us alone.
    fn with(bytes: &[u8]) -> Self {
        let folder = Self::new();
        new_file(&folder.file()).unwrap().write_all(bytes).unwrap();
        folder
    }

    fn open(&self) -> Opened {
        self.open_sealed(Sealed::With(&[key()]))
    }

    fn open_sealed(&self, sealed: Sealed<'_>) -> Opened {
        open(&self.file(), Some(&id()), sealed, fresh())
    }

    /// The names in it, in order.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn id() -> SettingsId {
    SettingsId::new(ID).unwrap()
}

fn fresh() -> SettingsId {
    SettingsId::new(&"f".repeat(32)).unwrap()
}

fn example() -> Remembered {
    serde_json::from_str(EXAMPLE).unwrap()
}

/// Checks that nothing of the file is used and that it is kept; gives the sentence.
fn assert_set_aside(folder: &Folder, opened: &Opened, bytes: &[u8]) -> String {
    assert_eq!(opened.remembered, Remembered::strictest(fresh()));
    assert!(opened.new_secret);
    let trouble = opened.trouble.as_ref().unwrap();
    assert_eq!(trouble.set_aside(), Some(folder.0.join("settings.json.damaged-1").as_path()));
    assert_eq!(fs::read(folder.0.join("settings.json.damaged-1")).unwrap(), bytes);
    assert_eq!(folder.names(), ["settings.json.damaged-1"]);
    trouble.to_string()
}

// holds: settings-kept
#[test]
fn what_was_saved_is_there_at_the_next_start() {
    let folder = Folder::new();
    let first = open(&folder.file(), None, Sealed::With(&[]), id());
    assert!(first.new_secret && first.trouble.is_none(), "{:?}", first.trouble);
    assert_eq!(first.remembered, Remembered::strictest(id()));
    first.file.save(&example(), &key()).unwrap();
    let again = folder.open();
    assert!(again.trouble.is_none() && !again.new_secret);
    assert_eq!(again.remembered, example());
    again.file.save(&Remembered::strictest(id()), &key()).unwrap();
    assert_eq!(folder.open().remembered, Remembered::strictest(id()));
    assert_eq!(folder.names(), ["settings.json"]);
}

// holds: settings-crash
#[test]
fn a_write_that_fails_at_any_byte_changes_nothing() {
    let folder = Folder::with(&example_text());
    let new = serde_json::to_vec_pretty(&Remembered::strictest(id())).unwrap();
    for length in 0..=new.len() {
        let failed = private::replace(&folder.file(), NEW, |file| {
            file.write_all(&new[..length])?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(folder.file()).unwrap(), example_text());
        assert_eq!(folder.names(), ["settings.json"]);
    }
}

// holds: settings-crash
#[test]
fn a_crash_at_any_byte_of_a_write_loses_nothing() {
    let folder = Folder::with(&example_text());
    let new = serde_json::to_vec_pretty(&Remembered::strictest(id())).unwrap();
    for length in 0..=new.len() {
        // What a process that ends there leaves behind.
        fs::write(folder.0.join("settings.json.new"), &new[..length]).unwrap();
        let opened = folder.open();
        assert!(opened.trouble.is_none());
        assert_eq!(opened.remembered, example());
    }
    folder.open().file.save(&Remembered::strictest(id()), &key()).unwrap();
    assert_eq!(folder.open().remembered, Remembered::strictest(id()));
    assert_eq!(folder.names(), ["settings.json"]);
}

// holds: settings-damaged, settings-aside
#[test]
fn a_file_cut_at_any_byte_is_set_aside_and_never_half_read() {
    let whole = example_text();
    for length in 0..whole.len() {
        let folder = Folder::with(&whole[..length]);
        let sentence = assert_set_aside(&folder, &folder.open(), &whole[..length]);
        // Without its last line end it is whole JSON, and not what was sealed.
        let words = if length + 1 < whole.len() { ": not settings (line " } else { ": another program changed it" };
        assert!(sentence.contains(words), "{sentence}");
    }
    assert_eq!(Folder::with(&whole).open().remembered, example());
}

// holds: settings-damaged
#[test]
fn the_sentence_says_what_happened_what_it_means_and_what_to_do() {
    let folder = Folder::with(b"{\"version\": 1,\n \"\x1b\xe2\x80\xae\": }");
    let sentence = assert_set_aside(&folder, &folder.open(), b"{\"version\": 1,\n \"\x1b\xe2\x80\xae\": }");
    let file = folder.file();
    let file = file.display();
    assert_eq!(
        sentence,
        format!(
            "{file}: not settings (line 2, column 3), so rules, modes and revocations are unknown: every call is asked \
             for, and with a new secret all tokens end; the file is kept as {file}.damaged-1; connect agents and \
             applications again"
        )
    );
}

// holds: settings-foreign
#[test]
fn a_file_of_other_secrets_is_set_aside() {
    for (expected, words) in [(Some(fresh()), "goes with another secret"), (None, "the secret that goes with it is")] {
        let folder = Folder::with(&example_text());
        let opened = open(&folder.file(), expected.as_ref(), Sealed::With(&[key()]), fresh());
        let sentence = assert_set_aside(&folder, &opened, &example_text());
        assert!(sentence.contains(words), "{sentence}");
    }
}

// holds: settings-foreign
#[test]
fn a_missing_file_that_secrets_go_with_is_told() {
    let folder = Folder::new();
    let opened = folder.open();
    assert_eq!(opened.remembered, Remembered::strictest(fresh()));
    assert!(opened.new_secret);
    let sentence = opened.trouble.unwrap().to_string();
    assert!(sentence.contains("the settings file that goes with the secret is missing, so rules"), "{sentence}");
    assert!(sentence.ends_with("all tokens end; connect agents and applications again"), "{sentence}");
    opened.file.save(&opened.remembered, &key()).unwrap();
    assert_eq!(folder.names(), ["settings.json"]);
}

// holds: settings-newer
#[test]
fn a_newer_file_is_set_aside() {
    for (version, words) in [("3", "newer version of the app (format 3)"), ("0", "no such version"), ("-1", "(line ")] {
        let text = EXAMPLE.replacen("\"version\": 2", &format!("\"version\": {version}, \"rules\": \"all\""), 1);
        let folder = Folder::with(text.as_bytes());
        let sentence = assert_set_aside(&folder, &folder.open(), text.as_bytes());
        assert!(sentence.contains(words), "{sentence}");
    }
}

// holds: settings-aside
#[test]
fn nothing_that_was_set_aside_is_overwritten() {
    let folder = Folder::new();
    for number in 1..=12 {
        let text = format!("damaged {number}");
        new_file(&folder.file()).unwrap().write_all(text.as_bytes()).unwrap();
        let opened = folder.open();
        let name = folder.0.join(format!("settings.json.damaged-{number}"));
        assert_eq!(opened.trouble.unwrap().set_aside(), Some(name.as_path()));
    }
    for number in 1..=12 {
        let name = folder.0.join(format!("settings.json.damaged-{number}"));
        assert_eq!(fs::read_to_string(name).unwrap(), format!("damaged {number}"));
    }
}

// holds: settings-aside
#[test]
fn what_cannot_be_set_aside_is_not_replaced() {
    // A folder is no file of ours.
    let folder = Folder::new();
    fs::create_dir(folder.file()).unwrap();
    let opened = folder.open();
    assert_eq!(opened.remembered, Remembered::strictest(fresh()));
    let sentence = opened.trouble.unwrap().to_string();
    assert!(sentence.contains("nothing is saved; move it yourself and start again"), "{sentence}");
    let refused = opened.file.save(&opened.remembered, &key()).unwrap_err().to_string();
    assert!(refused.ends_with("could not be read or moved; move it and start again"), "{refused}");
    assert!(folder.file().is_dir());

    // No name is free.
    let folder = Folder::with(b"damaged");
    for number in 1..=ASIDE {
        fs::write(folder.0.join(format!("settings.json.damaged-{number}")), "older").unwrap();
    }
    let opened = folder.open();
    assert!(opened.file.save(&opened.remembered, &key()).is_err());
    assert_eq!(fs::read(folder.file()).unwrap(), b"damaged");
}

// holds: settings-size
#[test]
fn the_size_has_a_limit_to_the_byte() {
    let limit = usize::try_from(SETTINGS_BYTES).unwrap();
    for (length, fits) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
        let spaces = " ".repeat(length - example_text().len());
        let text = sealed_text(&EXAMPLE.replacen('{', &format!("{{{spaces}"), 1));
        assert_eq!(text.len(), length);
        let folder = Folder::with(&text);
        let opened = folder.open();
        if fits {
            assert_eq!(opened.remembered, example());
        } else {
            let sentence = assert_set_aside(&folder, &opened, &text);
            assert!(sentence.contains("larger than 4194304 bytes"), "{sentence}");
        }
    }
    let folder = Folder::with(&example_text());
    let opened = folder.open();
    let mut large = example();
    let mut memory = large.memory();
    memory.rules[0].id = "x".repeat(limit);
    large.set_memory(memory);
    let refused = opened.file.save(&large, &key()).unwrap_err().to_string();
    assert!(refused.contains("larger than 4194304 bytes"), "{refused}");
    assert_eq!(folder.open().remembered, example());
}

// holds: settings-kept
#[test]
fn what_would_not_be_read_again_is_not_saved() {
    let folder = Folder::with(&example_text());
    let opened = folder.open();
    let mut wrong = example();
    wrong.settings.allow_origins = vec!["null".into()];
    let refused = opened.file.save(&wrong, &key()).unwrap_err().to_string();
    assert!(refused.ends_with("not saved, as an origin is none; correct it and save again"), "{refused}");
    assert_eq!(folder.open().remembered, example());
}

// holds: settings-kept-in
#[test]
fn where_the_secrets_are_is_told_by_a_file_that_can_be_used() {
    let mut remembered = example();
    for store in [SecretStore::Keychain, SecretStore::Session, SecretStore::File("/home/me/secret".into())] {
        remembered.settings.secret_store = store.clone();
        let folder = Folder::with(&serde_json::to_vec(&remembered).unwrap());
        assert_eq!(kept_in(&folder.file()), Some((store, id())));
        assert_eq!(folder.names(), ["settings.json"]);
    }
}

// holds: settings-kept-in
#[test]
fn where_the_secrets_are_is_told_by_no_other_file_and_it_stays_where_it_is() {
    let newer = EXAMPLE.replacen("\"version\": 2", "\"version\": 3", 1);
    let fault = EXAMPLE.replacen("\"version\": 2", "\"version\": 0", 1);
    for text in ["", "damaged", &newer, &fault] {
        let folder = Folder::with(text.as_bytes());
        assert_eq!(kept_in(&folder.file()), None, "{text}");
        assert_eq!(folder.names(), ["settings.json"]);
        assert_eq!(fs::read_to_string(folder.file()).unwrap(), text);
    }
    let folder = Folder::new();
    assert_eq!(kept_in(&folder.file()), None);
    assert!(folder.names().is_empty());
}

#[test]
fn a_byte_order_mark_is_no_damage() {
    let folder = Folder::with(format!("\u{feff}{EXAMPLE}").as_bytes());
    assert_eq!(folder.open_sealed(Sealed::NotYet).remembered, example());
}

#[test]
fn the_file_is_in_a_folder_of_our_own() {
    let path = default_path().unwrap();
    assert!(path.is_absolute() && path.ends_with("settings.json"), "{path:?}");
    assert!(path.parent().unwrap().to_string_lossy().to_lowercase().contains("clientmcp"), "{path:?}");
}

#[cfg(unix)]
mod access {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    // holds: settings-foreign
    #[test]
    fn a_file_that_others_may_touch_is_set_aside() {
        for bits in [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o666] {
            let folder = Folder::with(&example_text());
            fs::set_permissions(folder.file(), fs::Permissions::from_mode(bits)).unwrap();
            let sentence = assert_set_aside(&folder, &folder.open(), &example_text());
            assert!(sentence.contains(&format!("other users have access to it (mode {bits:03o})")), "{sentence}");
        }
    }

    // holds: settings-foreign
    #[test]
    fn a_file_of_another_user_is_not_used() {
        if rustix::process::geteuid().is_root() {
            let folder = Folder::with(&example_text());
            chown(folder.file(), Some(65_534), None).unwrap();
            let sentence = assert_set_aside(&folder, &folder.open(), &example_text());
            assert!(sentence.contains("another user owns it"), "{sentence}");
        } else {
            // Only root gives files away, but it has some that everybody can open.
            assert!(matches!(read(Path::new("/etc/passwd")), Err(Problem::OtherOwner)));
        }
    }

    // holds: settings-kept-in
    #[test]
    fn a_file_that_others_may_touch_does_not_say_where_the_secrets_are() {
        let folder = Folder::with(&example_text());
        assert!(kept_in(&folder.file()).is_some());
        fs::set_permissions(folder.file(), fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(kept_in(&folder.file()), None);
    }

    // holds: settings-private
    #[test]
    fn file_and_folder_are_for_us_alone() {
        let folder = Folder::new();
        let file = folder.0.join("a/b/settings.json");
        let opened = open(&file, None, Sealed::With(&[]), id());
        opened.file.save(&opened.remembered, &key()).unwrap();
        assert_eq!((mode(&folder.0.join("a")), mode(&folder.0.join("a/b")), mode(&file)), (0o700, 0o700, 0o600));
        // Also a file that was set aside, and one that replaces what a crash left open to others.
        fs::write(folder.0.join("a/b/settings.json.new"), "").unwrap();
        opened.file.save(&opened.remembered, &key()).unwrap();
        assert_eq!(mode(&file), 0o600);
    }

    // holds: settings-link
    #[test]
    fn a_link_stays_and_what_it_points_at_is_replaced() {
        let folder = Folder::new();
        let kept = folder.0.join("kept");
        fs::create_dir(&kept).unwrap();
        symlink("kept/link", folder.file()).unwrap();
        symlink("real.json", kept.join("link")).unwrap();
        // It points at nothing yet.
        let first = open(&folder.file(), None, Sealed::With(&[]), id());
        assert_eq!(first.file.path(), kept.join("real.json"));
        first.file.save(&example(), &key()).unwrap();
        assert_eq!(folder.open().remembered, example());
        assert!(fs::symlink_metadata(folder.file()).unwrap().is_symlink());
        assert!(!fs::symlink_metadata(kept.join("real.json")).unwrap().is_symlink());
        // What is damaged stays with the file.
        fs::write(kept.join("real.json"), "damaged").unwrap();
        let opened = folder.open();
        assert_eq!(opened.trouble.unwrap().set_aside(), Some(kept.join("real.json.damaged-1").as_path()));
        opened.file.save(&example(), &key()).unwrap();
        assert_eq!(folder.open().remembered, example());
    }

    // holds: settings-link
    #[test]
    fn links_in_a_circle_end() {
        let folder = Folder::new();
        symlink("settings.json", folder.file()).unwrap();
        let opened = folder.open();
        assert!(opened.trouble.unwrap().to_string().contains(": not read ("));
        opened.file.save(&example(), &key()).unwrap();
        assert_eq!(folder.open().remembered, example());
    }

    // holds: settings-aside
    #[test]
    fn a_pipe_or_a_device_keeps_nobody_waiting() {
        let folder = Folder::new();
        let made = std::process::Command::new("mkfifo").arg("-m").arg("600").arg(folder.file()).status();
        assert!(made.unwrap().success());
        let opened = folder.open();
        assert!(opened.trouble.unwrap().to_string().contains(": not a regular file, so"));
        assert!(opened.file.save(&example(), &key()).is_err());
        assert!(matches!(read(Path::new("/dev/null")), Err(Problem::Irregular)));
    }
}

// holds: settings-kept, settings-damaged
proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_can_be_saved_is_read_again_and_the_rest_changes_nothing(remembered in any_remembered()) {
        let folder = Folder::with(&example_text());
        let saved = folder.open().file.save(&remembered, &key());
        let opened = folder.open();
        prop_assert!(opened.trouble.is_none());
        prop_assert_eq!(opened.remembered, if saved.is_ok() { remembered } else { example() });
    }

    #[test]
    fn whatever_stands_there_nothing_is_half_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = Folder::with(&bytes);
        assert_set_aside(&folder, &folder.open(), &bytes);
    }

    #[test]
    fn a_byte_that_flipped_is_never_used(at in any::<prop::sample::Index>(), flip in 1..=u8::MAX) {
        let mut bytes = example_text();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let folder = Folder::with(&bytes);
        assert_set_aside(&folder, &folder.open(), &bytes);
    }
}
