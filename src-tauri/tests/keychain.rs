//! The keychain as it really is: GNOME Keyring on a session bus of its own, and buses without one.
//!
//! Each test starts itself again on such a bus, with a home of its own, so that nobody's real keychain is touched. What it
//! needs (`dbus-run-session`, `gnome-keyring-daemon`, `secret-tool`) must be there: a test that is run does not pass
//! without it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where something is wrong")]

use std::{
    env, fs,
    io::Write as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use clientmcp_desktop::{
    keys::{Item, Keys as _, KeysThread, Later, Place, Trouble},
    wire::KeysCode,
};
use clientmcp_settings::SettingsId;
use secret_service::{EncryptionType, blocking::SecretService};

/// Says to a test which one it is inside its own bus.
const INSIDE: &str = "CLIENTMCP_TEST_INSIDE";

const PASSWORD: &str = "a password of the tests";
const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// What a test finds around it.
#[derive(Clone, Copy)]
enum Around {
    /// A session bus that starts what is installed.
    Bus,
    /// A session bus that knows no program to start.
    EmptyBus,
    Nothing,
}

// holds: desktop-keychain
#[test]
#[ignore = "needs a session bus and gnome-keyring: cargo xtask test desktop runs it"]
fn what_was_written_is_read_and_forgotten() {
    inside("what_was_written_is_read_and_forgotten", Around::Bus, || {
        let _keyring = Keyring::start(Some(PASSWORD));
        let keys = KeysThread::start();
        assert_eq!(answered(keys.read(&Place::Keychain)), Ok(None));
        for item in [item(&[SECRET]), item(&[" a new one, with spaces and ünïcode ", SECRET])] {
            answered(keys.write(&Place::Keychain, item.clone())).unwrap();
            assert_eq!(answered(keys.read(&Place::Keychain)), Ok(Some(item.clone())));
            assert_eq!(answered(KeysThread::start().read(&Place::Keychain)), Ok(Some(item.clone())));
            let text: serde_json::Value = serde_json::from_str(&looked_up()).unwrap();
            assert_eq!(text["version"], 1);
            assert_eq!(text["secrets"], serde_json::json!(item.secrets));
            assert_eq!(text["settings"], item.id.unwrap().as_str());
        }
        answered(keys.forget(&Place::Keychain)).unwrap();
        assert_eq!(looked_up(), "");
        assert_eq!(answered(keys.read(&Place::Keychain)), Ok(None));
        answered(keys.forget(&Place::Keychain)).unwrap();
    });
}

// holds: desktop-keychain-restart
#[test]
#[ignore = "needs a session bus and gnome-keyring: cargo xtask test desktop runs it"]
fn a_keychain_that_was_restarted_is_opened_once_more() {
    inside("a_keychain_that_was_restarted_is_opened_once_more", Around::Bus, || {
        let keyring = Keyring::start(Some(PASSWORD));
        let keys = KeysThread::start();
        answered(keys.write(&Place::Keychain, item(&[SECRET]))).unwrap();
        drop(keyring);
        let _keyring = Keyring::start(Some(PASSWORD));
        assert_eq!(answered(keys.read(&Place::Keychain)), Ok(Some(item(&[SECRET]))));
    });
}

// holds: desktop-keychain-restart
#[test]
#[ignore = "needs a session bus and gnome-keyring: cargo xtask test desktop runs it"]
fn after_a_restart_the_first_thing_may_be_a_write() {
    inside("after_a_restart_the_first_thing_may_be_a_write", Around::Bus, || {
        let keyring = Keyring::start(Some(PASSWORD));
        let keys = KeysThread::start();
        answered(keys.write(&Place::Keychain, item(&[SECRET]))).unwrap();
        drop(keyring);
        let keyring = Keyring::start(Some(PASSWORD));
        let rotated = item(&["the secret that came after a restart", SECRET]);
        answered(keys.write(&Place::Keychain, rotated.clone())).unwrap();
        assert_eq!(answered(keys.read(&Place::Keychain)), Ok(Some(rotated)));
        drop(keyring);
        let _keyring = Keyring::start(Some(PASSWORD));
        answered(keys.forget(&Place::Keychain)).unwrap();
        assert_eq!(looked_up(), "");
    });
}

// holds: desktop-keychain-sentences
#[test]
#[ignore = "needs a session bus and gnome-keyring: cargo xtask test desktop runs it"]
fn a_locked_keychain_says_so_and_keeps_what_it_holds() {
    inside("a_locked_keychain_says_so_and_keeps_what_it_holds", Around::Bus, || {
        let keyring = Keyring::start(Some(PASSWORD));
        let keys = KeysThread::start();
        answered(keys.write(&Place::Keychain, item(&[SECRET]))).unwrap();
        drop(keyring);
        let keyring = Keyring::start(None);
        // By the app that had it open, and by one that starts now.
        for keys in [&keys, &KeysThread::start()] {
            for refused in [
                answered(keys.read(&Place::Keychain)).map(drop),
                answered(keys.write(&Place::Keychain, item(&[SECRET]))),
                answered(keys.forget(&Place::Keychain)),
            ] {
                assert_trouble(refused, KeysCode::Locked, "The keychain is locked and was not unlocked");
            }
        }
        drop(keyring);
        let _keyring = Keyring::start(Some(PASSWORD));
        assert_eq!(answered(keys.read(&Place::Keychain)), Ok(Some(item(&[SECRET]))));
    });
}

// holds: desktop-keychain-hidden
#[test]
#[ignore = "needs a session bus and gnome-keyring: cargo xtask test desktop runs it"]
fn a_locked_keychain_without_our_entry_is_not_taken_for_empty() {
    inside("a_locked_keychain_without_our_entry_is_not_taken_for_empty", Around::Bus, || {
        drop(Keyring::start(Some(PASSWORD)));
        let _keyring = Keyring::start(None);
        let refused = answered(KeysThread::start().read(&Place::Keychain));
        assert_trouble(refused.map(drop), KeysCode::Locked, "The keychain is locked and was not unlocked");
    });
}

// holds: desktop-keychain-sentences
#[test]
#[ignore = "needs a session bus and gnome-keyring: cargo xtask test desktop runs it"]
fn a_keychain_without_a_keyring_says_so() {
    inside("a_keychain_without_a_keyring_says_so", Around::Bus, || {
        let _keyring = Keyring::start(None);
        let keys = KeysThread::start();
        assert_eq!(answered(keys.read(&Place::Keychain)), Ok(None));
        let refused = answered(keys.write(&Place::Keychain, item(&[SECRET])));
        assert_trouble(refused, KeysCode::Failed, "The keychain has no default keyring");
    });
}

// holds: desktop-keychain-entry
#[test]
#[ignore = "needs a session bus and gnome-keyring: cargo xtask test desktop runs it"]
fn an_entry_of_somebody_else_is_not_used_and_stays() {
    inside("an_entry_of_somebody_else_is_not_used_and_stays", Around::Bus, || {
        let _keyring = Keyring::start(Some(PASSWORD));
        store("theirs", &[], "not a thing we wrote");
        let keys = KeysThread::start();
        let refused = answered(keys.read(&Place::Keychain)).map(drop);
        assert_trouble(refused, KeysCode::Damaged, "does not say what this app writes there");
        assert_eq!(looked_up(), "not a thing we wrote");
        // The person chose the keychain again.
        answered(keys.write(&Place::Keychain, item(&[SECRET]))).unwrap();
        assert_eq!(answered(keys.read(&Place::Keychain)), Ok(Some(item(&[SECRET]))));
    });
}

// holds: desktop-keychain-entry
#[test]
#[ignore = "needs a session bus and gnome-keyring: cargo xtask test desktop runs it"]
fn of_two_entries_none_is_used_and_both_can_be_forgotten() {
    inside("of_two_entries_none_is_used_and_both_can_be_forgotten", Around::Bus, || {
        let _keyring = Keyring::start(Some(PASSWORD));
        let keys = KeysThread::start();
        answered(keys.write(&Place::Keychain, item(&[SECRET]))).unwrap();
        store("copy", &["kind", "copy"], "another one");
        for refused in
            [answered(keys.read(&Place::Keychain)).map(drop), answered(keys.write(&Place::Keychain, item(&[SECRET])))]
        {
            assert_trouble(refused, KeysCode::Damaged, "more than one entry");
        }
        answered(keys.forget(&Place::Keychain)).unwrap();
        assert_eq!(looked_up(), "");
    });
}

// holds: desktop-keychain-sentences
#[test]
#[ignore = "needs a session bus and gnome-keyring: cargo xtask test desktop runs it"]
fn without_a_bus_that_is_what_is_said() {
    inside("without_a_bus_that_is_what_is_said", Around::Nothing, || {
        assert_every(KeysCode::NoBus, "There is no session bus");
    });
}

// holds: desktop-keychain-sentences
#[test]
#[ignore = "needs a session bus and gnome-keyring: cargo xtask test desktop runs it"]
fn without_a_keychain_program_that_is_what_is_said() {
    inside("without_a_keychain_program_that_is_what_is_said", Around::EmptyBus, || {
        assert_every(KeysCode::NoProvider, "No keychain program answers");
    });
}

fn assert_every(code: KeysCode, words: &str) {
    let keys = KeysThread::start();
    assert_trouble(answered(keys.read(&Place::Keychain)).map(drop), code, words);
    assert_trouble(answered(keys.write(&Place::Keychain, item(&[SECRET]))), code, words);
    assert_trouble(answered(keys.forget(&Place::Keychain)), code, words);
}

fn assert_trouble(refused: Result<(), Trouble>, code: KeysCode, words: &str) {
    let trouble = refused.expect_err(words);
    assert_eq!(trouble.code, code, "{trouble}");
    assert!(trouble.sentence.contains(words) && !trouble.sentence.contains(SECRET), "{trouble}");
}

fn item(secrets: &[&str]) -> Item {
    let secrets = secrets.iter().map(ToString::to_string).collect();
    Item { secrets, id: SettingsId::new(&"a".repeat(32)).ok(), seal: Some("s".repeat(43)) }
}

fn answered<T>(later: Later<T>) -> Result<T, Trouble> {
    later.blocking_recv().expect("the thread answers")
}

/// Runs the test `name` again inside its surroundings; there, runs what it does.
fn inside(name: &str, around: Around, test: impl FnOnce()) {
    if env::var_os(INSIDE).is_some_and(|inside| inside == name) {
        return test();
    }
    let home = Home::new(name);
    let mut command = match around {
        Around::Bus => on_a_bus(&[]),
        Around::EmptyBus => on_a_bus(&[format!("--config-file={}", home.empty_bus().display())]),
        Around::Nothing => Command::new(env::current_exe().unwrap()),
    };
    let status = command
        .args(["--ignored", "--exact", "--nocapture", name])
        .env(INSIDE, name)
        .env("HOME", &home.0)
        .env("XDG_RUNTIME_DIR", &home.0)
        .env("XDG_DATA_HOME", home.0.join("data"))
        .env("XDG_CONFIG_HOME", home.0.join("config"))
        .env("XDG_CACHE_HOME", home.0.join("cache"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env_remove("GNOME_KEYRING_CONTROL")
        .status();
    assert!(status.expect("dbus-run-session, of the package dbus, can be started").success(), "{name}");
}

fn on_a_bus(options: &[String]) -> Command {
    let mut command = Command::new("dbus-run-session");
    command.args(options).arg("--").arg(env::current_exe().unwrap());
    command
}

/// A home for one test, gone afterwards.
struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        use std::os::unix::fs::DirBuilderExt as _;
        // A socket's path has a hundred characters at most, and the keyring's socket lies in here.
        let short: String = name.chars().take(24).collect();
        let path = env::temp_dir().join(format!("clientmcp-{short}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        fs::DirBuilder::new().mode(0o700).create(&path).unwrap();
        Self(path)
    }

    /// The configuration of a bus that starts nothing.
    fn empty_bus(&self) -> PathBuf {
        let path = self.0.join("bus.conf");
        let text = "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\" \
                    \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\"><busconfig><type>session</type>\
                    <listen>unix:tmpdir=/tmp</listen><policy context=\"default\"><allow send_destination=\"*\"/>\
                    <allow eavesdrop=\"false\"/><allow own=\"*\"/></policy></busconfig>";
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// A running keychain, ended with this.
struct Keyring(Child);

impl Keyring {
    /// With a password: unlocked, and with a keyring. Without one: locked, if there is a keyring at all.
    fn start(password: Option<&str>) -> Self {
        let mut command = Command::new("gnome-keyring-daemon");
        command.args(["--foreground", "--components=secrets"]).stdout(Stdio::null());
        command.args(password.map(|_| "--unlock")).stdin(Stdio::piped());
        let mut child = command.spawn().expect("gnome-keyring-daemon, of the package gnome-keyring, can be started");
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(password.unwrap_or_default().as_bytes()).unwrap();
        drop(stdin);
        let keyring = Self(child);
        wait_until("the keyring is there", || stands(password.is_some()));
        keyring
    }
}

impl Drop for Keyring {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
        wait_until("the keyring is gone", || !owned());
    }
}

/// Whether somebody on the bus keeps secrets. Asking must not start the program that could.
fn owned() -> bool {
    let bus = zbus::blocking::Connection::session().unwrap();
    let name = "org.freedesktop.secrets".try_into().unwrap();
    zbus::blocking::fdo::DBusProxy::new(&bus).unwrap().name_has_owner(name).unwrap()
}

fn stands(unlocked: bool) -> bool {
    if !owned() || !unlocked {
        return owned();
    }
    let service = SecretService::connect(EncryptionType::Plain).unwrap();
    service.get_default_collection().is_ok_and(|keyring| !keyring.is_locked().unwrap())
}

fn wait_until(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited 60 s in vain until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// What another program finds in our entry.
fn looked_up() -> String {
    let output = secret_tool(&["lookup", "service", "ClientMCP", "username", "bridge"]).output();
    String::from_utf8(output.expect("secret-tool, of the package libsecret-tools, can be started").stdout).unwrap()
}

/// Another program writes an entry under our name.
fn store(label: &str, more: &[&str], text: &str) {
    let mut command = secret_tool(&["store", "--label", label, "service", "ClientMCP", "username", "bridge"]);
    let mut child = command.args(more).stdin(Stdio::piped()).spawn().expect("secret-tool can be started");
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

fn secret_tool(arguments: &[&str]) -> Command {
    let mut command = Command::new("secret-tool");
    command.args(arguments);
    command
}
