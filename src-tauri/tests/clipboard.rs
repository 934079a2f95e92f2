//! The clipboard as it really is under X11: what another program finds there.
//!
//! Each test starts itself again under a display of its own, so that nobody's real clipboard is touched. What it needs
//! (`Xvfb`, `xclip`) must be there: a test that is run does not pass without it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where something is wrong")]

use std::{
    env,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use clientmcp_desktop::{
    clipboard::Clipboard,
    shell::{Copied, ToCopy},
};
use tokio::sync::oneshot;

/// Says to a test which one it is under its own display.
const INSIDE: &str = "CLIENTMCP_TEST_INSIDE";

// holds: desktop-clipboard-cleared, desktop-clipboard-history
#[test]
#[ignore = "needs Xvfb and xclip: cargo xtask test desktop runs it"]
fn a_token_is_there_marked_as_a_secret_and_gone_at_quit() {
    inside("a_token_is_there_marked_as_a_secret_and_gone_at_quit", || {
        let clipboard = Clipboard::start();
        assert_eq!(copied(&clipboard, "a token", true), Ok(Copied::Passing));
        assert_eq!(pasted("UTF8_STRING").as_deref(), Some("a token"));
        assert_eq!(pasted("x-kde-passwordManagerHint").as_deref(), Some("secret"));
        clipboard.clear_if_ours_and_stop();
        assert_eq!(pasted("UTF8_STRING"), None);
    });
}

// holds: desktop-clipboard-theirs
#[test]
#[ignore = "needs Xvfb and xclip: cargo xtask test desktop runs it"]
fn what_somebody_copied_since_is_still_there_after_quit() {
    inside("what_somebody_copied_since_is_still_there_after_quit", || {
        let clipboard = Clipboard::start();
        assert_eq!(copied(&clipboard, "a token", true), Ok(Copied::Passing));
        let mut theirs = xclip(&["-i"]).stdin(Stdio::piped()).spawn().expect("xclip can be started");
        theirs.stdin.take().unwrap().write_all(b"theirs").unwrap();
        assert!(theirs.wait().unwrap().success());
        // It says so before the display knows.
        let start = Instant::now();
        while pasted("UTF8_STRING").as_deref() != Some("theirs") {
            assert!(start.elapsed() < Duration::from_secs(60), "waited 60 s in vain for what xclip copied");
            thread::yield_now();
        }
        clipboard.clear_if_ours_and_stop();
        assert_eq!(pasted("UTF8_STRING").as_deref(), Some("theirs"));
    });
}

// holds: desktop-clipboard-history
#[test]
#[ignore = "needs Xvfb and xclip: cargo xtask test desktop runs it"]
fn a_url_is_a_text_like_any_other() {
    inside("a_url_is_a_text_like_any_other", || {
        let clipboard = Clipboard::start();
        assert_eq!(copied(&clipboard, "http://127.0.0.1:27182/mcp", false), Ok(Copied::Plainly));
        assert_eq!(pasted("UTF8_STRING").as_deref(), Some("http://127.0.0.1:27182/mcp"));
        assert_eq!(pasted("x-kde-passwordManagerHint"), None);
    });
}

// holds: desktop-clipboard-failure
#[test]
#[ignore = "needs Xvfb and xclip: cargo xtask test desktop runs it"]
fn without_a_display_that_is_what_is_said() {
    let name = "without_a_display_that_is_what_is_said";
    if env::var_os(INSIDE).is_none() {
        return again(Command::new(env::current_exe().unwrap()).env_remove("DISPLAY"), name);
    }
    let sentence = copied(&Clipboard::start(), "a token", true).unwrap_err();
    assert!(sentence.starts_with("The clipboard cannot be used (") && !sentence.contains("a token"), "{sentence}");
}

fn copied(clipboard: &Clipboard, text: &str, concealed: bool) -> Result<Copied, String> {
    let (copied, answer) = oneshot::channel();
    clipboard.copy(ToCopy { text: text.into(), concealed }, copied);
    answer.blocking_recv().expect("the thread answers")
}

/// What another program finds, as this target; nothing when there is none.
fn pasted(target: &str) -> Option<String> {
    let output = xclip(&["-o", "-t", target]).stderr(Stdio::null()).output().expect("xclip can be started");
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

fn xclip(arguments: &[&str]) -> Command {
    let mut command = Command::new("xclip");
    command.args(["-selection", "clipboard"]).args(arguments);
    command
}

/// Runs the test `name` again under a display of its own; there, runs what it does.
fn inside(name: &str, test: impl FnOnce()) {
    if env::var_os(INSIDE).is_some_and(|inside| inside == name) {
        return test();
    }
    let display = Display::start();
    again(Command::new(env::current_exe().unwrap()).env("DISPLAY", &display.name), name);
}

fn again(command: &mut Command, name: &str) {
    let command = command.args(["--ignored", "--exact", "--nocapture", name]).env(INSIDE, name);
    assert!(command.env_remove("WAYLAND_DISPLAY").status().unwrap().success(), "{name}");
}

/// An X server, ended with this. It picks a free number itself: `xvfb-run` gives two that start together the same.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    fn start() -> Self {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"]).stdout(Stdio::piped());
        let mut server = command.spawn().expect("Xvfb, of the package xvfb, can be started");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        Self { server, name: format!(":{}", number.trim()) }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}
