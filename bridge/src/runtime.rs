//! Where the bridge runs: one single-threaded runtime, and logs on stderr.

use std::io;

use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use crate::{Exit, complain};

/// Runs a command to its end. One thread for all I/O: measured against a thread per core it answers more calls and costs
/// less.
pub(crate) fn run(command: impl Future<Output = Exit>) -> Exit {
    start_log();
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => {
            let exit = runtime.block_on(command);
            // A read of stdin, or a write to a stdout that nobody reads, would be waited for without an end.
            runtime.shutdown_background();
            exit
        }
        Err(error) => {
            complain(format_args!("the program could not start: {error}"));
            Exit::Failed
        }
    }
}

/// Our own targets at `info`, others at `warn`: other crates may log what must stay secret. `CLIENTMCP_LOG` is for ours
/// alone (`debug`, `off`).
fn start_log() {
    let level = std::env::var("CLIENTMCP_LOG").ok().and_then(|level| level.parse::<LevelFilter>().ok());
    let ours = level.unwrap_or(LevelFilter::INFO);
    let filter = EnvFilter::new(format!("warn,clientmcp={ours},clientmcp_bridge={ours}"));
    // Only a second call could fail, and the first has what is needed.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(false).try_init();
}
