//! For tests: how many random steps were taken, written down for `cargo xtask soak`, which adds them up.

use std::{env, fs::OpenOptions, io::Write as _};

/// Writes a number down, where somebody counts.
pub(crate) fn count(steps: u64) {
    let Some(counted) = env::var_os("CLIENTMCP_TESTS_STEPS") else { return };
    let mut counted = OpenOptions::new().create(true).append(true).open(counted).expect("a file");
    counted.write_all(format!("{steps}\n").as_bytes()).expect("written");
}
