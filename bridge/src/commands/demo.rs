//! `clientmcp demo`: a bridge, a small application and one call, in one process.

/// What `clientmcp demo` is asked: nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    #[test]
    fn it_takes_no_arguments() {
        let command = Arguments::augment_args(clap::Command::new("demo"));
        assert!(command.try_get_matches_from(["demo", "x"]).is_err());
    }
}
