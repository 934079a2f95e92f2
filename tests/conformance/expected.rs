//! The checks that are known not to pass, each with its reason: `expected-REVISION.toml`.

use std::{collections::BTreeSet, fs, path::Path};

use serde::Deserialize;

use super::checks::{Run, Verdict};

/// What is listed, as `SCENARIO:CHECK`.
#[derive(Default)]
pub(super) struct Expected {
    failed: BTreeSet<String>,
    /// The suite does not come to them, or says that they do not apply.
    skipped: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    expected: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    reason: String,
    #[serde(default)]
    failed: Vec<String>,
    #[serde(default)]
    skipped: Vec<String>,
}

impl Expected {
    pub(super) fn read(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap();
        let file: File = toml::from_str(&text).unwrap();
        let mut expected = Self::default();
        for Entry { reason, failed, skipped } in file.expected {
            assert!(!reason.trim().is_empty(), "no reason for {failed:?} {skipped:?}");
            expected.failed.extend(failed);
            expected.skipped.extend(skipped);
        }
        expected
    }

    /// How many failures are listed.
    pub(super) fn failures(&self) -> usize {
        self.failed.len()
    }

    /// What does not pass and is not listed, and what is listed and not so.
    pub(super) fn faults(&self, run: &Run) -> Vec<String> {
        let unlisted = run.checks().filter_map(|(id, verdict)| match verdict {
            Verdict::Failed(error) => (!self.failed.contains(id)).then(|| format!("{id} fails: {error}")),
            Verdict::Skipped => (!self.skipped.contains(id)).then(|| format!("{id} is skipped")),
            Verdict::Passed => None,
        });
        let failed = self.failed.iter().filter(|id| !matches!(run.verdict(id), Some(Verdict::Failed(_))));
        let skipped = self.skipped.iter().filter(|id| !matches!(run.verdict(id), Some(Verdict::Skipped)));
        let stale = failed.map(|id| (id, "fail")).chain(skipped.map(|id| (id, "be skipped")));
        unlisted.chain(stale.map(|(id, what)| format!("{id} is listed to {what}, and is not so"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run() -> Run {
        let checks = json!([
            { "id": "good", "status": "SUCCESS" },
            { "id": "bad", "status": "FAILURE", "errorMessage": "no" },
            { "id": "should", "status": "WARNING", "errorMessage": "rather" },
            { "id": "idle", "status": "SKIPPED" },
            { "id": "note", "status": "INFO" },
            // Every occurrence counts.
            { "id": "mixed", "status": "FAILURE", "errorMessage": "once" },
            { "id": "mixed", "status": "SUCCESS" },
        ]);
        let mut run = Run::default();
        run.add("s", serde_json::from_value(checks).unwrap()).unwrap();
        run
    }

    fn faults(failed: &[&str], skipped: &[&str]) -> Vec<String> {
        let set = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        Expected { failed: set(failed), skipped: set(skipped) }.faults(&run())
    }

    #[test]
    fn what_does_not_pass_must_be_listed() {
        let all = ["s:bad fails: no", "s:idle is skipped", "s:mixed fails: once", "s:should fails: rather"];
        assert_eq!(faults(&[], &[]), all);
        assert_eq!(faults(&["s:bad", "s:mixed", "s:should"], &["s:idle"]), [""; 0]);
    }

    #[test]
    fn what_is_listed_must_not_pass() {
        let mut failed = vec!["s:bad", "s:mixed", "s:should"];
        for id in ["s:good", "s:note", "s:idle", "x:bad"] {
            failed.push(id);
            assert_eq!(faults(&failed, &["s:idle"]), [format!("{id} is listed to fail, and is not so")]);
            failed.pop();
        }
        assert_eq!(faults(&failed, &["s:idle", "s:good"]), ["s:good is listed to be skipped, and is not so"]);
    }
}
