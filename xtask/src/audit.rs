//! `cargo xtask audit`: what we depend on, by the rules of `deny.toml`.
//!
//! Its own command and no suite of `test`: known vulnerabilities change without any change of ours.

use std::process::ExitCode;

use crate::tools::{self, CARGO_DENY};

pub(crate) fn run() -> ExitCode {
    match audit() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("xtask audit: {fault}");
            ExitCode::FAILURE
        }
    }
}

/// Every check is made, so that one run tells everything; what failed is said once more at the end.
fn audit() -> Result<(), String> {
    tools::provide(&[&CARGO_DENY])?;
    let checks = [deny(&["check", "bans", "licenses", "sources"]).map_err(|fault| explain(&fault)), advisories()];
    let faults: Vec<_> = checks.into_iter().filter_map(Result::err).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

fn explain(fault: &str) -> String {
    format!("bans, licences or sources: see above what deny.toml does not allow ({fault})")
}

/// Fetched apart from the check, so that "could not look" is never taken for "found something", nor for "found nothing".
fn advisories() -> Result<(), String> {
    deny(&["fetch", "db"]).map_err(|fault| {
        format!("advisories were NOT checked: the advisory database could not be fetched; is this machine offline? ({fault})")
    })?;
    deny(&["check", "--disable-fetch", "advisories"])
        .map_err(|fault| format!("advisories: see above which dependency is affected ({fault})"))
}

fn deny(arguments: &[&str]) -> Result<(), String> {
    let mut command = tools::cargo();
    command.current_dir(tools::root()).arg("deny").args(arguments);
    tools::finish(&mut command)
}
