//! `cargo xtask test`: the suites one after another, each with its seconds, and at the end a table and what failed.
//!
//! A failing suite stops no other, and none is left out in silence. `.ci/run` is this command and nothing else.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use crate::{
    bad_usage,
    failures::{self, Failure, Runner},
    front_end, packages, python,
    tools::{self, CHROMIUM, CLIPPY, CURL, NODE, NPM, PYTHON, RUSTFMT, STAGE, Tool, WEB_VIEW},
    watched,
};

struct Suite {
    name: &'static str,
    /// What it needs beside cargo.
    tools: &'static [&'static Tool],
    /// It looks at the desktop app, so it needs what that is compiled with, and the pages that it embeds.
    desktop: bool,
    /// Why it cannot run on other systems than Linux, where that is so.
    linux_only: Option<&'static str>,
    /// Folders of the project whose npm packages it needs, as the lock files there pin them.
    packages: &'static [&'static str],
    /// A list of the Python packages that its scripts need.
    requirements: Option<&'static str>,
    /// One after another, until one fails.
    steps: &'static [Step],
    environment: &'static [(&'static str, &'static str)],
}

/// One command of a suite.
enum Step {
    /// Cargo, in the project's folder.
    Cargo(&'static [&'static str]),
    /// A script for Node, which is told where the programs are that cargo built, and the Python with the packages.
    Script(&'static str),
    /// The tests of an npm package, in its folder.
    Package(&'static str),
}

const SUITES: [Suite; 11] = [
    Suite { tools: &[&RUSTFMT], ..Suite::new("fmt", &[Step::Cargo(&["fmt", "--all", "--check"])]) },
    Suite { tools: &[&NODE, &NPM], packages: &[UI], ..Suite::new("ui", &[Step::Package(UI)]) },
    Suite {
        tools: &[&CLIPPY],
        desktop: true,
        ..Suite::new("clippy", &[Step::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])])
    },
    Suite {
        // The demo's lines are pasted into a shell, as a reader would.
        tools: &[&CURL],
        desktop: true,
        ..Suite::new("tests", &[Step::Cargo(&["test", "--workspace", "--no-fail-fast"])])
    },
    Suite { desktop: true, ..Suite::new("bindings", &[Step::Cargo(BINDINGS)]) },
    Suite {
        tools: &[&NODE, &NPM],
        packages: &["tests/conformance"],
        ..Suite::new("conformance", &[Step::Cargo(CONFORMANCE)])
    },
    Suite {
        tools: &[&NODE, &NPM, &PYTHON],
        packages: &["tests/agents"],
        requirements: Some("tests/agents/requirements.txt"),
        ..Suite::new(
            "agents",
            &[
                Step::Cargo(&["build", "--workspace", "--bin", "clientmcp", "--example", "agents-application"]),
                Step::Script("tests/agents/run.mjs"),
            ],
        )
    },
    Suite { tools: &[&NODE, &NPM], packages: &[SDK_JS], ..Suite::new("js", &[Step::Package(SDK_JS)]) },
    Suite {
        tools: &[&NODE, &NPM, &CHROMIUM],
        // The SDK brings what bundles the pages.
        packages: &[SDK_JS, "tests/browser"],
        ..Suite::new(
            "browser",
            &[
                // With a test: so the crates below have the features that they have for all other suites.
                Step::Cargo(&["build", "--workspace", "--bin", "clientmcp", "--test", "tests"]),
                Step::Script("tests/browser/run.mjs"),
            ],
        )
    },
    Suite {
        tools: &[&NODE, &NPM, &PYTHON, &STAGE],
        desktop: true,
        linux_only: Some("it drives a web view through X11 and D-Bus"),
        packages: &[SDK_JS],
        requirements: Some("tests/e2e/requirements.txt"),
        ..Suite::new("desktop", &[Step::Cargo(PROGRAMS), Step::Cargo(EDGES), Step::Script("tests/e2e/run.mjs")])
    },
    Suite {
        desktop: true,
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
        ..Suite::new("doc", &[Step::Cargo(&["doc", "--workspace", "--no-deps"])])
    },
];

/// What the desktop app and its pages are built with.
pub(crate) const DESKTOP_TOOLS: &[&Tool] = &[&NODE, &NPM, &WEB_VIEW];

/// The JavaScript SDK.
pub(crate) const SDK_JS: &str = "sdk/js";

/// The pages of the desktop app.
const UI: &str = front_end::FOLDER;

/// The types of the control channel and of the windows in TypeScript.
pub(crate) const BINDINGS: &[&str] = &[
    "test",
    "--workspace",
    "--features",
    "clientmcp-protocol/typescript,clientmcp-desktop/typescript",
    "--test",
    "bindings",
];

/// The desktop app, and the bridge that it starts, which must stand beside it. With a test, so that the crates below have
/// the features that they have for all other suites.
const PROGRAMS: &[&str] =
    &["build", "--workspace", "--bin", "clientmcp-desktop", "--bin", "clientmcp", "--test", "keychain"];

/// Against a real keychain and a real clipboard, each on a session bus or a display of its own.
const EDGES: &[&str] =
    &["test", "--workspace", "--test", "keychain", "--test", "clipboard", "--test", "tray", "--", "--ignored"];

/// One revision after the other: the suite gives a change of the list 800 ms to be heard of.
const CONFORMANCE: &[&str] =
    &["test", "--workspace", "--test", "tests", "--", "--ignored", "--nocapture", "--test-threads=1", "conformance_to"];

pub(crate) fn run(names: &[OsString]) -> ExitCode {
    let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
    if let Some(unknown) = names.iter().find(|name| !SUITES.iter().any(|suite| suite.name == **name)) {
        return bad_usage(&format!(
            "no such suite: {unknown:?}; there are {}",
            SUITES.map(|suite| suite.name).join(", ")
        ));
    }
    let asked = |suite: &Suite| names.is_empty() || names.iter().any(|name| name == suite.name);
    let needed: Vec<_> = SUITES.iter().filter(|suite| asked(suite)).flat_map(Suite::needed).collect();
    if let Err(lack) = tools::provide(&needed) {
        // Not the end: the suites that need none of it still run, and the others fail with this in the table.
        eprintln!("xtask: {lack}");
    }
    let rows: Vec<_> = SUITES
        .iter()
        .map(|suite| if asked(suite) { suite.run() } else { suite.row(Outcome::Skipped("not asked for".into())) })
        .collect();
    println!("\n{}", Table(&rows));
    let failed: Vec<_> = rows.iter().filter(|row| matches!(row.outcome, Outcome::Failed(..))).collect();
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nwhat failed:");
    for Row { suite, outcome, .. } in failed {
        if let Outcome::Failed(_, failures) = outcome {
            print!("{}", failures::List { suite, failures });
        }
    }
    ExitCode::FAILURE
}

impl Suite {
    /// One that needs nothing but cargo.
    const fn new(name: &'static str, steps: &'static [Step]) -> Self {
        Self {
            name,
            tools: &[],
            desktop: false,
            linux_only: None,
            packages: &[],
            requirements: None,
            steps,
            environment: &[],
        }
    }

    /// Its own tools, and those of the desktop app where it looks at that.
    fn needed(&self) -> impl Iterator<Item = &'static Tool> + use<> {
        let own = if self.impossible().is_some() { &[] } else { self.tools };
        own.iter().copied().chain(if self.desktop { DESKTOP_TOOLS } else { &[] }.iter().copied())
    }

    /// Why it cannot run here.
    fn impossible(&self) -> Option<&'static str> {
        self.linux_only.filter(|_| !cfg!(target_os = "linux"))
    }

    fn run(&self) -> Row {
        println!("\n== {}", self.name);
        let start = Instant::now();
        let outcome = self.outcome();
        let row = Row { time: start.elapsed(), ..self.row(outcome) };
        println!("== {}: {}, {:.1} s", self.name, row.outcome, row.time.as_secs_f64());
        row
    }

    fn outcome(&self) -> Outcome {
        if let Some(reason) = self.impossible() {
            return Outcome::Skipped(reason.into());
        }
        let python = match self.provide() {
            Ok(python) => python,
            Err(fault) => {
                let lack = Failure { name: fault.clone(), lines: Vec::new() };
                return Outcome::Failed(fault, vec![lack]);
            }
        };
        for step in self.steps {
            let mut command = step.command(python.as_deref());
            command.envs(self.environment.iter().copied());
            if let Err(failed) = watched::finish(command) {
                let failures = failures::read(step.runner(), &failed.command, &failed.output);
                return Outcome::Failed(failed.fault, failures);
            }
        }
        Outcome::Ok
    }

    /// What must be there before it starts; the Python is where its packages are.
    fn provide(&self) -> Result<Option<PathBuf>, String> {
        let lacks: Vec<_> = self.needed().filter_map(Tool::lacking).collect();
        if !lacks.is_empty() {
            return Err(lacks.join("; "));
        }
        for folder in self.packages {
            packages::provide(&tools::root().join(folder))?;
        }
        if self.desktop {
            front_end::provide()?;
        }
        self.requirements.map(|list| python::provide(&tools::root().join(list))).transpose()
    }

    fn row(&self, outcome: Outcome) -> Row {
        Row { suite: self.name, outcome, time: Duration::ZERO }
    }
}

impl Step {
    /// Who prints what failed.
    fn runner(&self) -> Runner {
        match self {
            Self::Cargo(_) => Runner::Cargo,
            Self::Script(_) => Runner::Node,
            Self::Package(_) => Runner::Vitest,
        }
    }

    fn command(&self, python: Option<&Path>) -> Command {
        let root = tools::root();
        match self {
            Self::Cargo(arguments) => {
                let mut cargo = tools::cargo();
                cargo.args(*arguments).current_dir(root);
                cargo
            }
            Self::Script(path) => {
                let mut node = Command::new("node");
                node.args(["--test-reporter=spec", path]).current_dir(root).env("CLIENTMCP_BUILT", tools::built());
                node.envs(python.map(|python| ("CLIENTMCP_PYTHON", python)));
                node
            }
            Self::Package(folder) => {
                let mut npm = tools::npm();
                npm.arg("test").current_dir(root.join(folder));
                npm
            }
        }
    }
}

/// What became of one suite.
struct Row {
    suite: &'static str,
    outcome: Outcome,
    time: Duration,
}

enum Outcome {
    Ok,
    /// With what went wrong, and the tests that failed.
    Failed(String, Vec<Failure>),
    /// It did not run, for this reason, and that is no failure.
    Skipped(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Failed(fault, _) => write!(f, "failed: {fault}"),
            Self::Skipped(reason) => write!(f, "skipped: {reason}"),
        }
    }
}

/// The summary. Seconds stand before the outcome, whose length nobody knows.
struct Table<'a>(&'a [Row]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<11} {:>8}  outcome", "suite", "seconds")?;
        for Row { suite, outcome, time } in self.0 {
            writeln!(f, "{suite:<11} {:>8.1}  {outcome}", time.as_secs_f64())?;
        }
        let total: Duration = self.0.iter().map(|row| row.time).sum();
        write!(f, "{:<11} {:>8.1}", "total", total.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_every_suite_with_its_outcome_and_the_sum() {
        let row = |suite, outcome, millis| Row { suite, outcome, time: Duration::from_millis(millis) };
        let rows = [
            row("fmt", Outcome::Ok, 400),
            row("clippy", Outcome::Failed("exit status: 101".into(), Vec::new()), 12_300),
            row("doc", Outcome::Skipped("not asked for".into()), 0),
        ];
        let expected = "\
suite        seconds  outcome
fmt              0.4  ok
clippy          12.3  failed: exit status: 101
doc              0.0  skipped: not asked for
total           12.7";
        assert_eq!(Table(&rows).to_string(), expected);
    }

    #[test]
    fn an_unknown_suite_is_bad_usage() {
        assert_eq!(run(&["no-such-suite".into()]), ExitCode::from(2));
    }
}
