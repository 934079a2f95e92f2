//! The failures that are known, each with its reason: `expected-REVISION.toml`.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Deserialize;

use super::checks::{Run, Verdict};

/// The checks that must fail. `SCENARIO:CHECK` to the reason.
pub(super) struct Expected(BTreeMap<String, String>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    expected: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    reason: String,
    checks: Vec<String>,
}

impl Expected {
    pub(super) fn read(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap();
        let file: File = toml::from_str(&text).unwrap();
        let mut expected = BTreeMap::new();
        for Entry { reason, checks } in file.expected {
            assert!(!reason.trim().is_empty(), "no reason for {checks:?}");
            for check in checks {
                assert_eq!(expected.insert(check.clone(), reason.clone()), None, "{check} is listed twice");
            }
        }
        Self(expected)
    }

    /// How many checks are listed.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Failures that are not listed, and listed checks that do not fail.
    pub(super) fn faults(&self, run: &Run) -> Vec<String> {
        let unlisted = run.failed().filter(|(id, _)| !self.0.contains_key(*id));
        let unlisted = unlisted.map(|(id, error)| format!("{id} fails: {error}"));
        let stale = self.0.keys().filter_map(|id| match run.verdict(id) {
            Some(Verdict::Failed(_)) => None,
            Some(Verdict::Passed) => Some(format!("{id} passes: take it off the list")),
            Some(Verdict::Skipped) => Some(format!("{id} is skipped: take it off the list")),
            None => Some(format!("{id} did not run: take it off the list")),
        });
        unlisted.chain(stale).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run() -> Run {
        let mut run = Run::default();
        let checks = json!([
            { "id": "good", "status": "SUCCESS" },
            { "id": "bad", "status": "FAILURE", "errorMessage": "no" },
            { "id": "should", "status": "WARNING" },
            { "id": "idle", "status": "SKIPPED" },
            { "id": "note", "status": "INFO" },
            // Every occurrence counts.
            { "id": "mixed", "status": "FAILURE" },
            { "id": "mixed", "status": "SUCCESS" },
        ]);
        run.add("s", serde_json::from_value(checks).unwrap()).unwrap();
        run
    }

    fn faults(listed: &[&str]) -> Vec<String> {
        Expected(listed.iter().map(|id| ((*id).to_owned(), "reason".to_owned())).collect()).faults(&run())
    }

    #[test]
    fn the_list_must_be_what_fails() {
        assert_eq!(faults(&["s:bad", "s:mixed", "s:should"]), [""; 0]);
        assert_eq!(faults(&["s:mixed", "s:should"]), ["s:bad fails: no"]);
        for (id, end) in
            [("s:good", "passes"), ("s:idle", "is skipped"), ("s:note", "did not run"), ("x", "did not run")]
        {
            let expected = format!("{id} {end}: take it off the list");
            assert_eq!(faults(&["s:bad", "s:mixed", "s:should", id]), [expected]);
        }
    }
}
