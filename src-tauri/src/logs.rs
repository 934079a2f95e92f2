//! The app's log: a file a day in a folder for the person alone, kept for a week; on stderr too when that is a terminal.
//!
//! Our own targets are logged at `info`, other crates at `warn`, as they may log what must stay secret. No token, secret,
//! header, argument or result is logged by us at any level.

use std::{
    io::{self, IsTerminal as _},
    panic::{self, Location},
    path::{Path, PathBuf},
};

use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::{
    EnvFilter, Layer, filter::LevelFilter, fmt, layer::SubscriberExt as _, registry::Registry,
    util::SubscriberInitExt as _,
};

/// Files, and so days, that are kept.
const KEPT: usize = 7;

/// Targets that are ours: this app, its crates, and the bridge's own lines.
const OURS: [&str; 4] = ["clientmcp", "clientmcp_bridge", "clientmcp_desktop", "clientmcp_settings"];

/// Where the log is. Nothing when the person has no folder of their own.
pub fn folder() -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("io.github", "clientmcp", "ClientMCP")?;
    Some(folders.data_local_dir().join("logs"))
}

/// Begins to log, into [`folder`], and faults of ours with it. Where no file can be written that is said on stderr, and
/// the app goes on without one.
pub fn start() {
    let file = folder().ok_or_else(|| "there is no folder for it".to_owned()).and_then(|folder| appender(&folder));
    let problem = file.as_ref().err().cloned();
    let terminal = io::stderr().is_terminal() || problem.is_some();
    let terminal = terminal.then(|| fmt::layer().with_writer(io::stderr).with_ansi(false));
    let file = file.ok().map(|file| fmt::layer().with_writer(file).with_ansi(false));
    let layers = Registry::default().with(file.with_filter(filter())).with(terminal.with_filter(filter()));
    // Only a second call could fail, and the first has what is needed.
    let _ = layers.try_init();
    if let Some(problem) = problem {
        tracing::warn!("no log file, so this log is all there is: {problem}");
    }
    log_panics();
}

/// A file a day in this folder, in lines that reach it at once: a process that is killed leaves what it said.
fn appender(folder: &Path) -> Result<RollingFileAppender, String> {
    make_private(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("clientmcp-desktop")
        .filename_suffix("log")
        .max_log_files(KEPT)
        .build(folder)
        .map_err(|error| format!("{}: {error}", folder.display()))
}

/// `CLIENTMCP_LOG` is for our own targets alone (`debug`, `off`).
fn filter() -> EnvFilter {
    directives(std::env::var("CLIENTMCP_LOG").ok().as_deref())
}

fn directives(level: Option<&str>) -> EnvFilter {
    let level = level.and_then(|level| level.parse::<LevelFilter>().ok()).unwrap_or(LevelFilter::INFO);
    let ours = OURS.map(|target| format!(",{target}={level}")).concat();
    EnvFilter::new(format!("warn{ours}"))
}

#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    clientmcp_settings::private::make_folder(folder)?;
    // One that was there before may be open to others.
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    clientmcp_settings::private::make_folder(folder)
}

/// A fault of ours ends in the log, with its place. The usual line on stderr does not appear: a session's log may keep it.
fn log_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(|| "an unknown place".to_owned(), Location::to_string);
        let thread = std::thread::current();
        let thread = thread.name().unwrap_or("a thread");
        tracing::error!("a fault of this app at {place}, in {thread}: {}", words(info.payload()));
    }));
}

/// What the code itself says. A text that was made on the way may quote what must stay secret: slicing a text at a wrong
/// place quotes all of it.
fn words(payload: &(dyn std::any::Any + Send)) -> &'static str {
    payload.downcast_ref::<&'static str>().copied().unwrap_or("its words are left out, as they may quote a secret")
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use super::*;

    /// What passes the filter.
    fn passes(level: Option<&str>, enabled: impl FnOnce() -> bool) -> bool {
        let subscriber = Registry::default().with(fmt::layer().with_writer(io::sink).with_filter(directives(level)));
        tracing::subscriber::with_default(subscriber, enabled)
    }

    // holds: desktop-log
    #[test]
    fn ours_are_logged_at_info_and_others_at_warn() {
        for level in [None, Some("nonsense"), Some("info")] {
            assert!(passes(level, || tracing::event_enabled!(target: "clientmcp_bridge", tracing::Level::INFO)));
            assert!(passes(level, || tracing::event_enabled!(target: "clientmcp_desktop::app", tracing::Level::INFO)));
            assert!(!passes(level, || tracing::event_enabled!(target: "clientmcp_desktop", tracing::Level::DEBUG)));
            assert!(!passes(level, || tracing::event_enabled!(target: "zbus", tracing::Level::INFO)));
            assert!(passes(level, || tracing::event_enabled!(target: "zbus", tracing::Level::WARN)));
        }
        assert!(passes(Some("debug"), || tracing::event_enabled!(target: "clientmcp_desktop", tracing::Level::DEBUG)));
        assert!(!passes(Some("debug"), || tracing::event_enabled!(target: "zbus", tracing::Level::DEBUG)));
        assert!(!passes(Some("off"), || tracing::event_enabled!(target: "clientmcp_desktop", tracing::Level::ERROR)));
    }

    // holds: desktop-log
    #[test]
    fn a_week_is_kept_in_a_folder_for_us_alone() {
        let folder = std::env::temp_dir().join(format!("clientmcp-logs-{}", std::process::id())).join("logs");
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder).unwrap();
        for day in 10..20 {
            fs::write(folder.join(format!("clientmcp-desktop.2020-01-{day}.log")), "old").unwrap();
        }
        appender(&folder).unwrap().write_all(b"a line\n").unwrap();
        let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(names.len() <= KEPT, "{names:?}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        }
        drop(fs::remove_dir_all(folder.parent().unwrap()));
    }

    // holds: desktop-log
    #[test]
    fn a_fault_is_told_in_our_own_words_alone() {
        let ours: Box<dyn std::any::Any + Send> = Box::new("a queue was closed twice");
        assert_eq!(words(ours.as_ref()), "a queue was closed twice");
        let made: Box<dyn std::any::Any + Send> = Box::new("inside 'é' of `hunter2é`".to_owned());
        assert!(!words(made.as_ref()).contains("hunter2"));
    }

    #[test]
    fn the_folder_is_our_own() {
        let folder = folder().unwrap();
        assert!(folder.is_absolute() && folder.ends_with("logs"), "{folder:?}");
    }
}
