//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// What [`Arguments::hidden`] is called; who starts the app at login says it.
pub(crate) const HIDDEN: &str = "--hidden";

/// The tray app of ClientMCP: keeps the secrets, shows what agents do and asks before they do it.
#[derive(Debug, Default, Parser)]
#[command(name = "clientmcp-desktop", version, args_override_self = true)]
pub(crate) struct Arguments {
    /// Start in the tray, without a window
    #[arg(long, conflicts_with = "window")]
    pub(crate) hidden: bool,

    /// Open the window, whatever else there is
    #[arg(long)]
    pub(crate) window: bool,

    /// Serve on this port of 127.0.0.1, this time
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,

    /// Keep settings in this file instead of the usual one; another file than the last time ends all tokens from before
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Option<Arguments> {
        Arguments::try_parse_from([&["clientmcp-desktop"], words].concat()).ok()
    }

    // holds: desktop-arguments
    #[test]
    fn the_command_line_is_read() {
        let whole = parse(&["--window", "--port", "0", "--settings", "/a b/s.json"]).unwrap();
        assert!(whole.window && !whole.hidden);
        assert_eq!((whole.port, whole.settings), (Some(0), Some("/a b/s.json".into())));
        assert!(parse(&[HIDDEN]).is_some_and(|arguments| arguments.hidden));
        for wrong in [&["--hidden", "--window"] as &[_], &["--port", "65536"], &["--open"], &["wallet"]] {
            assert!(parse(wrong).is_none(), "{wrong:?}");
        }
    }
}
