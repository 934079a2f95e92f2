//! The clipboard as it really is under X11: what another program finds there.
//!
//! Each test starts itself again under a display of its own, so that nobody's real clipboard is touched. What it needs
//! (`xvfb-run`, `xclip`) must be there: a test that is run does not pass without it.
#![cfg(target_os = "linux")]

use std::{
    env,
    io::Write as _,
    process::{Command, Stdio},
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
    let mut display = Command::new("xvfb-run");
    display.args(["-a", "-s", "-screen 0 640x480x24 -nolisten tcp"]).arg(env::current_exe().unwrap());
    again(&mut display, name);
}

fn again(command: &mut Command, name: &str) {
    let command = command.args(["--ignored", "--exact", "--nocapture", name]).env(INSIDE, name);
    let status = command.env_remove("WAYLAND_DISPLAY").status();
    assert!(status.expect("xvfb-run, of the package xvfb, can be started").success(), "{name}");
}
