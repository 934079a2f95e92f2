//! `cargo xtask test`: the suites one after another, each with its seconds, and a table at the end.
//!
//! A failing suite stops no other, and none is left out in silence. `.ci/run` is this command and nothing else.

use std::{
    ffi::OsString,
    fmt,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use crate::{
    bad_usage, packages, python,
    tools::{self, CLIPPY, CURL, NODE, NPM, PYTHON, RUSTFMT, Tool},
};

struct Suite {
    name: &'static str,
    /// What it needs beside cargo.
    tools: &'static [&'static Tool],
    /// A folder of the project whose npm packages it needs, as the lock file there pins them.
    packages: Option<&'static str>,
    /// For cargo.
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    /// Run once cargo is done.
    script: Option<&'static Script>,
}

/// A script for Node, which is told where the programs are that cargo built, and a Python with the packages it needs.
struct Script {
    path: &'static str,
    /// The list of the Python packages.
    requirements: &'static str,
}

const SUITES: [Suite; 7] = [
    Suite { tools: &[&RUSTFMT], ..Suite::cargo("fmt", &["fmt", "--all", "--check"]) },
    Suite {
        tools: &[&CLIPPY],
        ..Suite::cargo("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    },
    // The demo's lines are pasted into a shell, as a reader would.
    Suite { tools: &[&CURL], ..Suite::cargo("tests", &["test", "--workspace", "--no-fail-fast"]) },
    Suite::cargo("bindings", BINDINGS),
    Suite { packages: Some("tests/conformance"), tools: &[&NODE, &NPM], ..Suite::cargo("conformance", CONFORMANCE) },
    Suite {
        packages: Some("tests/agents"),
        tools: &[&NODE, &NPM, &PYTHON],
        script: Some(&Script { path: "tests/agents/run.mjs", requirements: "tests/agents/requirements.txt" }),
        ..Suite::cargo("agents", &["build", "--workspace", "--bin", "clientmcp", "--example", "agents-application"])
    },
    Suite {
        environment: &[("RUSTDOCFLAGS", "-D warnings")],
        ..Suite::cargo("doc", &["doc", "--workspace", "--no-deps"])
    },
];

/// The control channel's types in TypeScript.
pub(crate) const BINDINGS: &[&str] =
    &["test", "--package", "clientmcp-protocol", "--features", "typescript", "--test", "bindings"];

/// One revision after the other: the suite gives a change of the list 800 ms to be heard of.
const CONFORMANCE: &[&str] = &[
    "test",
    "--package",
    "clientmcp-bridge",
    "--test",
    "tests",
    "--",
    "--ignored",
    "--nocapture",
    "--test-threads=1",
    "conformance_to",
];

pub(crate) fn run(names: &[OsString]) -> ExitCode {
    let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
    if let Some(unknown) = names.iter().find(|name| !SUITES.iter().any(|suite| suite.name == **name)) {
        return bad_usage(&format!(
            "no such suite: {unknown:?}; there are {}",
            SUITES.map(|suite| suite.name).join(", ")
        ));
    }
    let asked = |suite: &Suite| names.is_empty() || names.iter().any(|name| name == suite.name);
    let needed: Vec<_> = SUITES.iter().filter(|suite| asked(suite)).flat_map(|suite| suite.tools).copied().collect();
    if let Err(lack) = tools::provide(&needed) {
        // Not the end: the suites that need none of it still run, and the others fail with this in the table.
        eprintln!("xtask: {lack}");
    }
    let rows: Vec<_> = SUITES
        .iter()
        .map(|suite| if asked(suite) { suite.run() } else { suite.row(Outcome::Skipped("not asked for".into())) })
        .collect();
    println!("\n{}", Table(&rows));
    if rows.iter().any(|row| matches!(row.outcome, Outcome::Failed(_))) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

impl Suite {
    /// One that needs nothing but cargo.
    const fn cargo(name: &'static str, arguments: &'static [&'static str]) -> Self {
        Self { name, tools: &[], packages: None, arguments, environment: &[], script: None }
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
        match self.run_all() {
            Ok(()) => Outcome::Ok,
            Err(fault) => Outcome::Failed(fault),
        }
    }

    fn run_all(&self) -> Result<(), String> {
        self.provide()?;
        tools::finish(&mut self.command())?;
        self.script.map_or(Ok(()), Script::run)
    }

    /// What must be there before it starts.
    fn provide(&self) -> Result<(), String> {
        let lacks: Vec<_> = self.tools.iter().filter_map(|tool| tool.lacking()).collect();
        if !lacks.is_empty() {
            return Err(lacks.join("; "));
        }
        self.packages.map_or(Ok(()), |folder| packages::provide(&tools::root().join(folder)))
    }

    fn command(&self) -> Command {
        let mut command = tools::cargo();
        command.current_dir(tools::root()).args(self.arguments).envs(self.environment.iter().copied());
        command
    }

    fn row(&self, outcome: Outcome) -> Row {
        Row { suite: self.name, outcome, time: Duration::ZERO }
    }
}

impl Script {
    fn run(&self) -> Result<(), String> {
        let python = python::provide(&tools::root().join(self.requirements))?;
        let mut node = Command::new("node");
        node.args(["--test-reporter=spec", self.path]).current_dir(tools::root());
        node.env("CLIENTMCP_BUILT", tools::built()).env("CLIENTMCP_PYTHON", python);
        tools::finish(&mut node)
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
    /// With what went wrong.
    Failed(String),
    /// It did not run, for this reason, and that is no failure.
    Skipped(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Failed(fault) => write!(f, "failed: {fault}"),
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
            row("clippy", Outcome::Failed("exit status: 101".into()), 12_300),
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
