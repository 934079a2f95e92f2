//! `cargo xtask soak`: the tests that try whatever chance gives them, round after round, each with a seed of its own.
//!
//! `cargo xtask test` takes the same seeds everywhere and always (`.cargo/config.toml`), so that its failure says
//! something about the change and not about luck. Here is where luck is tried. Each round prints the variables that lead it:
//! with these before a command that it prints, the same happens again. The steps of the random interleavings are counted:
//! fewer than a million show nothing.

use std::{
    env,
    ffi::OsString,
    fs,
    path::Path,
    process::{self, ExitCode},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use crate::{bad_usage, tools};

const ROUNDS: u32 = 10;

/// Of each property that does not say how many it has; 256 is usual.
const CASES: u32 = 10_000;

/// Steps of random interleavings, with the model and over real sockets, that all rounds together have to take: with fewer
/// nothing would have been shown.
const ENOUGH_STEPS: u64 = 1_000_000;

/// Every test that a seed leads. Most are quick ones beside the code, so these run as a whole.
const STEPS: [&[&str]; 2] = [
    &["test", "--workspace", "--lib"],
    &["test", "--package", "clientmcp-bridge", "--test", "tests", "--", "texts::", "approvals_random::"],
];

pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let Some(rounds) = rounds(arguments) else {
        return bad_usage("how many rounds? `cargo xtask soak 100`");
    };
    let (counted, began) = (env::temp_dir().join(format!("clientmcp-soak-{}", process::id())), Instant::now());
    let _ = fs::remove_file(&counted);
    for round in 1..=rounds {
        let variables = variables(seed());
        let led = variables.each_ref().map(|(name, value)| format!("{name}={value}")).join(" ");
        println!("\n== round {round} of {rounds}: {led}");
        for step in STEPS {
            let mut cargo = tools::cargo();
            cargo.args(step).current_dir(tools::root()).envs(variables.clone()).env("CLIENTMCP_TESTS_STEPS", &counted);
            if let Err(fault) = tools::finish(&mut cargo) {
                eprintln!("xtask: round {round} failed, with {led}: {fault}");
                return ExitCode::FAILURE;
            }
        }
        println!("== {} steps of random interleavings in {:.0?}", steps(&counted), began.elapsed());
    }
    let steps = steps(&counted);
    let _ = fs::remove_file(&counted);
    if steps < ENOUGH_STEPS {
        eprintln!("xtask: {steps} steps are too few to show anything: there should be {ENOUGH_STEPS}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// What the tests wrote down, a number a line.
fn steps(counted: &Path) -> u64 {
    let lines = fs::read_to_string(counted).unwrap_or_default();
    lines.lines().filter_map(|line| line.parse::<u64>().ok()).sum()
}

fn rounds(arguments: &[OsString]) -> Option<u32> {
    match arguments {
        [] => Some(ROUNDS),
        [rounds] => rounds.to_str()?.parse().ok().filter(|rounds| *rounds > 0),
        _ => None,
    }
}

/// No two rounds begin in the same nanosecond.
fn seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs().wrapping_mul(1_000_000_000).wrapping_add(since.subsec_nanos().into())
}

/// What leads a round.
fn variables(seed: u64) -> [(&'static str, String); 3] {
    [
        ("PROPTEST_RNG_SEED", seed.to_string()),
        ("PROPTEST_CASES", CASES.to_string()),
        ("CLIENTMCP_TESTS_SEED", seed.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_added_up() {
        let file = env::temp_dir().join(format!("clientmcp-soak-test-{}", process::id()));
        assert_eq!(steps(&file), 0);
        fs::write(&file, "16\n1600000\n").unwrap();
        assert_eq!(steps(&file), 1_600_016);
        fs::remove_file(&file).unwrap();
    }

    #[test]
    fn rounds_are_one_number_or_the_usual_one() {
        let read = |words: &[&str]| rounds(&words.iter().map(Into::into).collect::<Vec<_>>());
        assert_eq!(read(&[]), Some(ROUNDS));
        assert_eq!(read(&["3"]), Some(3));
        for words in [["0"].as_slice(), &["-1"], &["many"], &["1", "2"]] {
            assert_eq!(read(words), None, "{words:?}");
        }
    }
}
