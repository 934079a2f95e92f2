//! Whether there is a tray, on session buses of the test's own.
//!
//! What it needs (`dbus-run-session` and libayatana-appindicator3) must be there: a test that is run does not pass without
//! it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where something is wrong")]

use std::{env, process::Command, sync::mpsc, time::Duration};

use clientmcp_desktop::platform::{self, NoTray};

/// Says to a test which one it is inside its own bus.
const INSIDE: &str = "CLIENTMCP_TEST_INSIDE";

const WATCHER: &str = "org.kde.StatusNotifierWatcher";

// holds: desktop-no-tray
#[test]
#[ignore = "needs a session bus and the tray's library: cargo xtask test desktop runs it"]
fn a_tray_that_comes_and_goes_is_told() {
    let name = "a_tray_that_comes_and_goes_is_told";
    if env::var_os(INSIDE).is_none() {
        return again(Command::new("dbus-run-session").arg("--").arg(env::current_exe().unwrap()), name);
    }
    assert_unseen("nothing on this desktop shows one");
    let (told, changes) = mpsc::channel();
    platform::watch_tray(move |there| told.send(there).unwrap());
    let tray = zbus::blocking::Connection::session().unwrap();
    // The watch may not stand yet: the name comes and goes until it is seen, for a minute at least.
    let seen = (0..300).any(|_| {
        tray.request_name(WATCHER).unwrap();
        let seen = changes.recv_timeout(Duration::from_millis(200)) == Ok(true);
        if !seen {
            tray.release_name(WATCHER).unwrap();
        }
        seen
    });
    assert!(seen, "a tray that came was not told");
    assert_eq!(platform::tray_missing(), None);
    tray.release_name(WATCHER).unwrap();
    assert_eq!(changes.recv_timeout(Duration::from_secs(60)), Ok(false));
    assert_unseen("nothing on this desktop shows one");
}

// holds: desktop-no-tray
#[test]
#[ignore = "needs a session bus and the tray's library: cargo xtask test desktop runs it"]
fn without_a_bus_there_is_no_tray() {
    let name = "without_a_bus_there_is_no_tray";
    if env::var_os(INSIDE).is_none() {
        let mut command = Command::new(env::current_exe().unwrap());
        let nowhere = [("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus"), ("XDG_RUNTIME_DIR", "/nowhere")];
        return again(command.envs(nowhere), name);
    }
    assert_unseen("no session bus");
    platform::watch_tray(|_| panic!("nothing is told"));
}

fn assert_unseen(words: &str) {
    let no_tray = platform::tray_missing().unwrap();
    assert!(matches!(&no_tray, NoTray::Unseen(sentence) if sentence.contains(words)), "{no_tray:?}");
}

fn again(command: &mut Command, name: &str) {
    let status = command.args(["--ignored", "--exact", "--nocapture", name]).env(INSIDE, name).status();
    assert!(status.expect("dbus-run-session, of the package dbus, can be started").success(), "{name}");
}
