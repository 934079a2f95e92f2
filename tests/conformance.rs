//! MCP's official conformance suite against a real bridge, with what it may find written down.
//!
//! The suite is a program that speaks as an agent. It runs every scenario of a revision, those that it does not score
//! too, and leaves its checks in files. They are compared here with `conformance/expected-REVISION.toml`: what does not
//! pass must be listed there, and what is listed must not pass.
//!
//! Ignored unless asked for, since the suite comes from npm: `cargo xtask test conformance`.

mod application;
mod checks;
mod expected;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::process::Command;

use self::{checks::Run, expected::Expected};
use crate::support::{serve::Serve, tokens, waits::limited};

/// The suite gives some things less than a second. What a busy machine makes too late is in time in one of these runs; what is
/// a fault of ours is one in each of them.
const RUNS: usize = 3;

/// The whole suite has this long.
const LIMIT: Duration = Duration::from_secs(1_200);

#[tokio::test]
#[ignore = "needs npm packages: cargo xtask test conformance"]
async fn conformance_to_2025_11_25() {
    check("2025-11-25").await;
}

#[tokio::test]
#[ignore = "needs npm packages: cargo xtask test conformance"]
async fn conformance_to_2026_07_28() {
    check("2026-07-28").await;
}

async fn check(revision: &str) {
    let expected = Expected::read(&folder().join(format!("expected-{revision}.toml")));
    let serve = Serve::start().await;
    application::connect(&serve).await;
    let mut faults = Vec::new();
    for number in 1..=RUNS {
        let run = run(revision, &format!("{}/{}", serve.mcp, tokens::agent(application::NAME))).await;
        faults = expected.faults(&run);
        println!("conformance to {revision}: {}, {} of them expected", run.counts(), expected.failures());
        if faults.is_empty() {
            return;
        }
        println!("run {number} of {RUNS}:\n{}", faults.join("\n"));
    }
    panic!("in each of {RUNS} runs, in the last:\n{}", faults.join("\n"));
}

/// Runs the suite on the Node that its package needs, which stands beside it.
async fn run(revision: &str, url: &str) -> Run {
    let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("conformance-{revision}"));
    // What an earlier run left would count as found by this one.
    drop(fs::remove_dir_all(&results));
    let packages = folder().join("node_modules");
    let suite = Command::new(packages.join(if cfg!(windows) { ".bin/node.cmd" } else { ".bin/node" }))
        .arg(packages.join("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--requirements", revision, "--url", url, "--output-dir"])
        .arg(&results)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = limited(LIMIT, "the end of the suite", suite).await.expect("`npm ci` was not run");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Run::read(&results, &stdout).unwrap_or_else(|fault| panic!("{fault}\n{stdout}\n{stderr}"))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance")
}
