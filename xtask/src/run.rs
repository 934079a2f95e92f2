//! `cargo xtask run`: builds and starts the tray app; without a display, the bridge's demo in this terminal; or serves an
//! example.
//!
//! The program's exit code becomes ours. Ctrl-C is the program's to answer: we never end before it does.

use std::{
    env,
    ffi::OsString,
    process::{Command, ExitCode},
};

use crate::{
    bad_usage, front_end, packages,
    test::{DESKTOP_TOOLS, SDK_JS},
    tools::{self, CURL, NODE, NPM},
};

pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    match arguments {
        [option, rest @ ..] if option == "--example" => match rest {
            [name] if name == "notes" => example(),
            _ => bad_usage("which example? there is `--example notes`"),
        },
        [option, rest @ ..] if option == "--headless" => demo(rest),
        _ if has_display(env::var_os::<&str>) => desktop(arguments),
        _ => {
            println!("There is no display here for the tray app, so this is the demo, which asks nobody.");
            demo(arguments)
        }
    }
}

/// Whether windows can be opened. Elsewhere than on Linux whoever has a terminal has a desktop, too.
fn has_display(variable: impl Fn(&'static str) -> Option<OsString>) -> bool {
    let set = |name| variable(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// The tray app, with its window open. It starts the bridge that stands beside it.
fn desktop(arguments: &[OsString]) -> ExitCode {
    let mut build = tools::cargo();
    build.current_dir(tools::root());
    build.args(["build", "--workspace", "--bin", "clientmcp-desktop", "--bin", "clientmcp"]);
    let done =
        tools::provide(DESKTOP_TOOLS).and_then(|()| front_end::provide()).and_then(|()| tools::finish(&mut build));
    if let Err(fault) = done {
        eprintln!("xtask: {fault}\nxtask: `cargo xtask run --headless` needs none of the desktop");
        return ExitCode::FAILURE;
    }
    let mut app = Command::new(tools::built().join("clientmcp-desktop"));
    app.arg("--window").args(arguments);
    hand_over(app)
}

fn demo(arguments: &[OsString]) -> ExitCode {
    // The demo prints a line for curl; whoever cannot get it still sees the rest.
    if let Err(lack) = tools::provide(&[&CURL]) {
        eprintln!("xtask: {lack}; the demo runs without it, and only its `curl` lines cannot be tried");
    }
    // The bridge alone, without what only tests need: it is what a bare machine builds first. After `cargo xtask test`,
    // whose programs share more features, this builds a few crates once more, and then never again.
    let mut demo = tools::cargo();
    demo.args(["run", "--package", "clientmcp-bridge", "--bin", "clientmcp"]);
    // The caller's folder stays, so that file names among the arguments mean what they say.
    demo.arg("--manifest-path").arg(tools::root().join("Cargo.toml")).args(["--", "demo"]).args(arguments);
    hand_over(demo)
}

/// The notes: a page on the JavaScript SDK, whose packages bundle it.
fn example() -> ExitCode {
    let provided = tools::provide(&[&NODE, &NPM]).and_then(|()| packages::provide(&tools::root().join(SDK_JS)));
    if let Err(fault) = provided {
        eprintln!("xtask: {fault}");
        return ExitCode::FAILURE;
    }
    let mut node = Command::new("node");
    node.arg(tools::root().join("examples/notes/serve.mjs"));
    hand_over(node)
}

/// Becomes the program, so that signals, terminal and exit code are its own. Cargo in turn does the same.
#[cfg(unix)]
fn hand_over(mut program: Command) -> ExitCode {
    use std::os::unix::process::CommandExt as _;

    let fault = program.exec();
    eprintln!("xtask: {} does not start: {fault}", tools::shown(&program));
    ExitCode::FAILURE
}

/// Waits for the program. Ctrl-C reaches every process of the console; a listener keeps it from ending this one.
#[cfg(windows)]
fn hand_over(mut program: Command) -> ExitCode {
    let _listener = tokio::signal::windows::ctrl_c();
    match program.status() {
        Ok(status) => status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(u8::try_from(code).unwrap_or(1))),
        Err(fault) => {
            eprintln!("xtask: {} does not start: {fault}", tools::shown(&program));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_display_is_one_that_x_or_wayland_names() {
        let with = |set: &'static str, value: &'static str| move |name| (name == set).then(|| value.into());
        assert!(has_display(with("DISPLAY", ":0")));
        assert!(has_display(with("WAYLAND_DISPLAY", "wayland-0")));
        assert!(!has_display(with("DISPLAY", "")));
        assert!(!has_display(with("TERM", "xterm")));
    }

    #[test]
    fn an_unknown_example_is_bad_usage() {
        for words in [["--example"].as_slice(), &["--example", "no-such"], &["--example", "notes", "more"]] {
            let words: Vec<OsString> = words.iter().map(Into::into).collect();
            assert_eq!(run(&words), ExitCode::from(2), "{words:?}");
        }
    }
}
