//! Why the file was not used, or not written, as a sentence: what happened, what it means, what to do.
//!
//! Nothing of what stands in the file is repeated here, but for numbers.

use std::{fmt, io, path::PathBuf};

use clientmcp_protocol::shown::shown_whole;

use crate::{file::SETTINGS_BYTES, private::Untrusted, remembered::Fault};

/// Why what was remembered is not known. The strictest state is used instead, and a new secret is needed.
#[derive(Debug)]
pub struct Trouble {
    pub(crate) path: PathBuf,
    pub(crate) problem: Problem,
    pub(crate) aside: Aside,
}

impl From<Untrusted> for Problem {
    fn from(untrusted: Untrusted) -> Self {
        match untrusted {
            Untrusted::Missing => Self::Missing,
            Untrusted::Unopened(error) | Untrusted::Unread(error) => Self::Unread(error),
            Untrusted::Irregular => Self::Irregular,
            Untrusted::Foreign => Self::OtherOwner,
            Untrusted::Shared(mode) => Self::Shared(mode),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Problem {
    Missing,
    Unread(io::Error),
    Irregular,
    OtherOwner,
    Shared(u32),
    Large,
    NotSettings { line: usize, column: usize },
    Fault(Fault),
    Newer(u64),
    OtherId,
    NoSecret,
    Unsealed,
}

/// What became of the file.
#[derive(Debug)]
pub(crate) enum Aside {
    /// There was none.
    Absent,
    /// It has this name now.
    Moved(PathBuf),
    /// It is where it was, and nothing will be saved.
    Stuck(io::Error),
}

impl Trouble {
    /// Where the file is now that was not used, if it was moved.
    pub fn set_aside(&self) -> Option<&std::path::Path> {
        match &self.aside {
            Aside::Moved(path) => Some(path),
            Aside::Absent | Aside::Stuck(_) => None,
        }
    }
}

impl std::error::Error for Trouble {}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, so ", name(&self.path), self.problem)?;
        f.write_str(
            "rules, modes and revocations are unknown: every call is asked for, and with a new secret all tokens end; ",
        )?;
        match &self.aside {
            Aside::Absent => f.write_str("connect agents and applications again"),
            Aside::Moved(path) => {
                write!(f, "the file is kept as {}; connect agents and applications again", name(path))
            }
            Aside::Stuck(error) => {
                let error = shown_whole(&error.to_string());
                write!(
                    f,
                    "the file could not be moved ({error}) and nothing is saved; move it yourself and start again"
                )
            }
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("the settings file that goes with the secret is missing"),
            Self::Unread(error) => write!(f, "not read ({})", shown_whole(&error.to_string())),
            Self::Irregular => f.write_str("not a regular file"),
            Self::OtherOwner => f.write_str("another user owns it and can change it"),
            Self::Shared(mode) => write!(f, "other users have access to it (mode {mode:03o})"),
            Self::Large => write!(f, "larger than {SETTINGS_BYTES} bytes"),
            Self::NotSettings { line, column } => write!(f, "not settings (line {line}, column {column})"),
            Self::Fault(fault) => write!(f, "not settings ({fault})"),
            Self::Newer(version) => write!(f, "written by a newer version of the app (format {version})"),
            Self::OtherId => f.write_str("it goes with another secret"),
            Self::NoSecret => f.write_str("the secret that goes with it is missing"),
            Self::Unsealed => {
                f.write_str("another program changed it or put it there, as this app's seal on it is not right")
            }
        }
    }
}

/// Why what is remembered was not written down for certain. What was saved before is still there, or the new content is.
#[derive(Debug)]
pub struct SaveError {
    pub(crate) path: PathBuf,
    pub(crate) problem: Unsaved,
}

#[derive(Debug)]
pub(crate) enum Unsaved {
    /// The file there could not be set aside.
    Stuck,
    Fault(Fault),
    /// A path in the settings that is no text.
    NotText,
    Large,
    Unwritten(io::Error),
    /// The new content is there, but its name may not be on the disk.
    Unsynced(io::Error),
}

impl std::error::Error for SaveError {}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: not saved, ", name(&self.path))?;
        match &self.problem {
            Unsaved::Stuck => f.write_str("as the file there could not be read or moved; move it and start again"),
            Unsaved::Fault(fault) => write!(f, "as {fault}; correct it and save again"),
            Unsaved::NotText => f.write_str("as the name of the secret file is no text; choose another name"),
            Unsaved::Large => write!(f, "as it would be larger than {SETTINGS_BYTES} bytes; remove rules"),
            Unsaved::Unwritten(error) => {
                let error = shown_whole(&error.to_string());
                write!(f, "as writing failed ({error}); what was saved before is kept; make room or get access")
            }
            Unsaved::Unsynced(error) => {
                let error = shown_whole(&error.to_string());
                write!(f, "as its folder is not surely on the disk ({error}) and a power cut could undo it; save again")
            }
        }
    }
}

fn name(path: &std::path::Path) -> String {
    shown_whole(&path.to_string_lossy())
}
