//! `cargo xtask run`: builds the bridge and starts its demo in this terminal, or serves an example.
//!
//! The program's exit code becomes ours. Ctrl-C is the program's to answer: we never end before it does.

use std::{
    ffi::OsString,
    process::{Command, ExitCode},
};

use crate::{
    bad_usage, packages,
    test::SDK_JS,
    tools::{self, CURL, NODE, NPM},
};

pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    match arguments {
        [option, rest @ ..] if option == "--example" => match rest {
            [name] if name == "notes" => example(),
            _ => bad_usage("which example? there is `--example notes`"),
        },
        _ => demo(arguments),
    }
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
    fn an_unknown_example_is_bad_usage() {
        for words in [["--example"].as_slice(), &["--example", "no-such"], &["--example", "notes", "more"]] {
            let words: Vec<OsString> = words.iter().map(Into::into).collect();
            assert_eq!(run(&words), ExitCode::from(2), "{words:?}");
        }
    }
}
