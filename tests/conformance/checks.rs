//! What the suite found: its scenarios and their checks, from the files that it writes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde::Deserialize;

/// One run of the suite. A check is named as the suite itself names it: `SCENARIO:CHECK`.
#[derive(Default)]
pub(super) struct Run {
    scenarios: BTreeSet<String>,
    checks: BTreeMap<String, Verdict>,
}

/// What became of a check, the worst last: a check that ran several times counts once.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Skipped,
    Passed,
    /// With what the suite says. A warning, which stands for a SHOULD, is a failure here.
    Failed(String),
}

#[derive(Deserialize)]
pub(super) struct Check {
    id: String,
    status: String,
    #[serde(rename = "errorMessage")]
    error: Option<String>,
}

impl Run {
    /// Reads what the suite wrote. A scenario that broke has no file, so that all which it meant to run must be there.
    pub(super) fn read(results: &Path, stdout: &str) -> Result<Self, String> {
        let mut run = Self::default();
        for entry in fs::read_dir(results).into_iter().flatten().flatten() {
            let folder = entry.file_name().to_string_lossy().into_owned();
            let file = entry.path().join("checks.json");
            let checks = fs::read(&file).map_err(|fault| fault.to_string());
            let checks = checks.and_then(|text| serde_json::from_slice(&text).map_err(|fault| fault.to_string()));
            run.add(&scenario(&folder)?, checks.map_err(|fault| format!("{}: {fault}", file.display()))?)?;
        }
        let meant = meant(stdout).ok_or("the suite does not say how many scenarios it runs")?;
        let ended = run.scenarios.len();
        if ended == meant { Ok(run) } else { Err(format!("{ended} of {meant} scenarios have a result")) }
    }

    pub(super) fn add(&mut self, scenario: &str, checks: Vec<Check>) -> Result<(), String> {
        self.scenarios.insert(scenario.to_owned());
        for Check { id, status, error } in checks {
            let id = format!("{scenario}:{id}");
            let verdict = match status.as_str() {
                "SUCCESS" => Verdict::Passed,
                "SKIPPED" => Verdict::Skipped,
                "FAILURE" | "WARNING" => Verdict::Failed(error.unwrap_or_default()),
                // A note about what was seen, no check.
                "INFO" => continue,
                other => return Err(format!("{id} is {other}")),
            };
            let worst = self.checks.entry(id).or_insert(Verdict::Skipped);
            if verdict > *worst {
                *worst = verdict;
            }
        }
        Ok(())
    }

    /// All checks.
    pub(super) fn checks(&self) -> impl Iterator<Item = (&str, &Verdict)> {
        self.checks.iter().map(|(id, verdict)| (id.as_str(), verdict))
    }

    /// What became of a check, if it ran.
    pub(super) fn verdict(&self, id: &str) -> Option<&Verdict> {
        self.checks.get(id)
    }

    /// One line for people.
    pub(super) fn counts(&self) -> String {
        let (mut passed, mut skipped, mut failed, mut failing) = (0, 0, 0, BTreeSet::new());
        for (id, verdict) in self.checks() {
            match verdict {
                Verdict::Passed => passed += 1,
                Verdict::Skipped => skipped += 1,
                Verdict::Failed(_) => {
                    failed += 1;
                    failing.extend(id.split(':').next());
                }
            }
        }
        let (all, whole) = (self.scenarios.len(), self.scenarios.len() - failing.len());
        format!(
            "{all} scenarios, {whole} without a failure; {passed} checks passed, {skipped} skipped, {failed} failed"
        )
    }
}

/// From a folder's name: `server-SCENARIO-TIME`, where the time is as JavaScript writes it, with `-` for `:` and `.`.
fn scenario(folder: &str) -> Result<String, String> {
    const TIME: usize = "-2026-07-28T00-00-00-000Z".len();
    let scenario = folder.strip_prefix("server-").and_then(|rest| rest.get(..rest.len().checked_sub(TIME)?));
    scenario.map(str::to_owned).ok_or_else(|| format!("{folder} names no scenario"))
}

/// From the suite's first line: `Running requirements 2026-07-28 (50 scenarios) against URL`.
fn meant(stdout: &str) -> Option<usize> {
    let (_, rest) = stdout.split_once("Running requirements ")?;
    rest.split_once('(')?.1.split_once(' ')?.0.parse().ok()
}
