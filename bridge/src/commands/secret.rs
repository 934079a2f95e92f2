//! `clientmcp secret`: a new secret in a new file.

use std::path::PathBuf;

use clientmcp_bridge::secret_file;

use crate::{Exit, complain, note};

/// What `clientmcp secret` is asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The file to write; one that exists is left as it is
    file: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Exit {
    match secret_file::create(&arguments.file) {
        Ok(()) => {
            note(format_args!("a new secret is in {}; whoever reads it can make tokens", arguments.file.display()));
            Exit::Done
        }
        Err(error) => {
            complain(error);
            Exit::Failed
        }
    }
}
