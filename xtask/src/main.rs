//! The project's own commands, `cargo xtask run | test | soak | bindings | audit`: what a stranger types after cloning.
//!
//! Reads arguments and makes exit codes: 0 for success, 1 for a failure, 2 for bad usage; `run` passes on the program's
//! own. It needs nothing but Rust, and never a C library: it is what a bare machine builds first.

mod audit;
mod failures;
mod front_end;
mod packages;
mod python;
mod run;
mod soak;
mod test;
mod tools;
mod watched;

use std::{env, ffi::OsString, process::ExitCode};

const HELP: &str = "\
The project's own commands.

  cargo xtask run [ARGUMENT]...   build and start the tray app; where there is no display, the demo in this terminal
  cargo xtask run --headless [ARGUMENT]...
                                  the demo, wherever it is
  cargo xtask run --example notes serve a web page that agents and you can work with, on this machine alone
  cargo xtask test [SUITE]...     run all suites, or only these; a summary stands at the end,
                                  and each test that failed with what it said last
  cargo xtask soak [ROUNDS]       run the randomised tests, each round with another seed and with more cases
  cargo xtask bindings            write the types that the web view shares with the app and the bridge anew
  cargo xtask audit               check licences, sources, duplicates and known vulnerabilities
  cargo xtask help                show this

What is missing on this machine is installed first, or named with the command that installs it.";

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let Some((command, rest)) = words.split_first() else { return bad_usage(&format!("which command?\n\n{HELP}")) };
    match command.to_str() {
        Some("run") => run::run(rest),
        Some("test") => test::run(rest),
        Some("soak") => soak::run(rest),
        Some("bindings") if rest.is_empty() => bindings(),
        Some("audit") if rest.is_empty() => audit::run(),
        Some("help" | "--help" | "-h") => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        _ => bad_usage(&format!("no such command: {}\n\n{HELP}", words.join(" ".as_ref()).display())),
    }
}

/// Writes `ui/src/bindings.ts` and `ui/src/desktop.ts`.
fn bindings() -> ExitCode {
    let mut command = tools::cargo();
    command.current_dir(tools::root()).args(test::BINDINGS).env("CLIENTMCP_WRITE_BINDINGS", "1");
    let provided = tools::provide(test::DESKTOP_TOOLS).and_then(|()| front_end::provide());
    match provided.and_then(|()| tools::finish(&mut command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("xtask: {fault}");
            ExitCode::FAILURE
        }
    }
}

/// Says what was wrong with the arguments.
fn bad_usage(fault: &str) -> ExitCode {
    eprintln!("xtask: {fault}");
    ExitCode::from(2)
}
