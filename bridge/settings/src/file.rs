//! The file: read once at the start, replaced whole at each change.
//!
//! It is opened first and checked on the handle, so that nobody can swap it in between: a regular file of ours that
//! nobody else may touch. On Windows owner and access list are not checked: a new file gets the access of its folder,
//! which in a person's profile is theirs alone.
//!
//! The new content is written beside the file, reaches the disk, and takes the file's name in one step, so a crash at any
//! moment leaves the old file or the new one, each with its seal. What was not understood is renamed, never overwritten.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use clientmcp_protocol::strict;
use serde::Deserialize;

use crate::{
    SealKey, SecretStore, SettingsId,
    private::{self, Links, beside, folder, new_file, resolved, sync_folder},
    remembered::{Remembered, VERSION},
    seal::{self, Parts},
    trouble::{Aside, Problem, SaveError, Trouble, Unsaved},
};

/// Bytes of the file: some ten thousand rules. What is larger was not written by us.
pub const SETTINGS_BYTES: u64 = 4 * 1024 * 1024;

/// Ends the name of a file that takes the settings' name when it is written.
const NEW: &str = ".new";

/// Files set aside beside one another; who has so many should look at them.
const ASIDE: u32 = 999;

/// Where the settings file is: in the person's own folder for settings of this machine. Nothing when they have none.
pub fn default_path() -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("io.github", "clientmcp", "ClientMCP")?;
    Some(folders.config_local_dir().join("settings.json"))
}

/// What came of opening the file.
#[derive(Debug)]
pub struct Opened {
    /// For writing it again.
    pub file: SettingsFile,
    /// What was remembered; the strictest state when that is not known.
    pub remembered: Remembered,
    /// Why it is not known. Nothing at the very first start.
    pub trouble: Option<Trouble>,
    /// Whether a new secret must be made, and kept beside the id in `remembered`: at the very first start, and whenever
    /// revocations are not known.
    pub new_secret: bool,
    /// Whether the file is to be sealed anew: it has no seal yet, or one of another key than the first.
    pub reseal: bool,
}

/// What is known of the seal that a file must have.
#[derive(Clone, Copy, Debug)]
pub enum Sealed<'a> {
    /// It was made with one of these keys. The first is the one that seals from now on.
    With(&'a [SealKey]),
    /// Nobody ever made a key: the file is from a time before there were seals.
    NotYet,
}

/// A settings file that was opened.
#[derive(Debug)]
pub struct SettingsFile {
    path: PathBuf,
    /// What is there was not understood and could not be set aside, so it must not be replaced.
    stuck: bool,
}

/// Reads the file at `path`.
///
/// `expected` is the id beside the secrets, if there are any. The file is used only when it names the same and has its
/// seal. Otherwise it is set aside, and the strictest state begins, under the id `fresh`: with an id of its own it can never be taken for
/// settings of the old secrets. When `path` is a symbolic link, as people have who keep such files in one place, the file
/// that it points at is meant, also when the file is replaced or set aside; the link stays.
pub fn open(path: &Path, expected: Option<&SettingsId>, sealed: Sealed<'_>, fresh: SettingsId) -> Opened {
    let path = resolved(path);
    let problem = match read(&path).and_then(|bytes| ours(&bytes, expected, sealed)) {
        Ok((remembered, reseal)) => {
            let file = SettingsFile { path, stuck: false };
            return Opened { file, remembered, trouble: None, new_secret: false, reseal };
        }
        Err(problem) => problem,
    };
    let aside = if matches!(problem, Problem::Missing) {
        Aside::Absent
    } else if matches!(problem, Problem::Irregular) {
        // A folder or a pipe is nothing that we ever wrote, so it is not ours to move.
        Aside::Stuck(io::ErrorKind::InvalidInput.into())
    } else {
        set_aside(&path).map_or_else(Aside::Stuck, Aside::Moved)
    };
    let stuck = matches!(aside, Aside::Stuck(_));
    let first = matches!(problem, Problem::Missing) && expected.is_none();
    let trouble = (!first).then(|| Trouble { path: path.clone(), problem, aside });
    let remembered = Remembered::strictest(fresh);
    Opened { file: SettingsFile { path, stuck }, remembered, trouble, new_secret: true, reseal: true }
}

/// Where the secrets are that go with the settings at `path`, and which settings those are.
///
/// It is asked before the secrets are known, so it looks and changes nothing. Nothing is said by a file that could not be
/// used either: one that is missing, damaged, of another version, or not for us alone.
pub fn kept_in(path: &Path) -> Option<(SecretStore, SettingsId)> {
    let remembered = read(&resolved(path)).and_then(|bytes| parse(&Parts::of(&bytes))).ok()?;
    Some((remembered.settings.secret_store, remembered.id))
}

impl SettingsFile {
    /// Where the file is: behind the link, when there was one.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the file, content and seal in one step. When that is done, the new content is on the disk; when it fails,
    /// the old one is still there.
    pub fn save(&self, remembered: &Remembered, key: &SealKey) -> Result<(), SaveError> {
        let saved = self.check(remembered, key).and_then(|bytes| {
            private::replace(&self.path, NEW, |file| file.write_all(&bytes)).map_err(Unsaved::Unwritten)?;
            sync_folder(folder(&self.path)).map_err(Unsaved::Unsynced)
        });
        saved.map_err(|problem| SaveError { path: self.path.clone(), problem })
    }

    /// The content, when it is such as will be read again.
    fn check(&self, remembered: &Remembered, key: &SealKey) -> Result<Vec<u8>, Unsaved> {
        if self.stuck {
            return Err(Unsaved::Stuck);
        }
        if let Some(fault) = remembered.fault() {
            return Err(Unsaved::Fault(fault));
        }
        let object = serde_json::to_vec_pretty(remembered).map_err(|_| Unsaved::NotText)?;
        let bytes = seal::sealed(&object, key).ok_or(Unsaved::NotText)?;
        if bytes.len() as u64 > SETTINGS_BYTES { Err(Unsaved::Large) } else { Ok(bytes) }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Problem> {
    let file = private::open(path, Links::Refuse)?;
    let mut bytes = Vec::new();
    file.take(SETTINGS_BYTES + 1).read_to_end(&mut bytes).map_err(Problem::Unread)?;
    if bytes.len() as u64 > SETTINGS_BYTES { Err(Problem::Large) } else { Ok(bytes) }
}

/// What every version of the file has in common.
#[derive(Deserialize)]
struct AnyVersion {
    version: u64,
}

/// What the bytes say, if the app wrote them for these secrets; and whether they are to be sealed anew.
fn ours(bytes: &[u8], expected: Option<&SettingsId>, sealed: Sealed<'_>) -> Result<(Remembered, bool), Problem> {
    let parts = Parts::of(bytes);
    let remembered = parse(&parts).and_then(|remembered| of_secrets(remembered, expected))?;
    match sealed {
        Sealed::NotYet => Ok((remembered, true)),
        Sealed::With(keys) => match parts.sealed_with(keys) {
            Some(key) => Ok((remembered, key != 0)),
            None => Err(Problem::Unsealed),
        },
    }
}

fn parse(parts: &Parts<'_>) -> Result<Remembered, Problem> {
    let object = parts.object();
    // Editors on Windows put a byte order mark there.
    let bytes = object.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&object);
    let not_settings = |error: serde_json::Error| Problem::NotSettings { line: error.line(), column: error.column() };
    let AnyVersion { version } = serde_json::from_slice(bytes).map_err(not_settings)?;
    if version > VERSION {
        return Err(Problem::Newer(version));
    }
    let remembered: Remembered = strict::from_slice(bytes).map_err(not_settings)?;
    remembered.fault().map_or(Ok(remembered), |fault| Err(Problem::Fault(fault)))
}

/// What was read, if it goes with the secrets.
fn of_secrets(mut remembered: Remembered, expected: Option<&SettingsId>) -> Result<Remembered, Problem> {
    match expected {
        None => Err(Problem::NoSecret),
        Some(id) if *id != remembered.id => Err(Problem::OtherId),
        Some(_) => {
            remembered.forget_grants_with_an_end();
            Ok(remembered)
        }
    }
}

/// Gives the file the first free name of `settings.json.damaged-1` and so on.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    for number in 1..=ASIDE {
        let name = beside(path, &format!(".damaged-{number}"))?;
        // An empty file of ours holds the name, so that what the renaming replaces is never somebody's.
        match new_file(&name) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        }
        return match fs::rename(path, &name) {
            Ok(()) => Ok(name),
            Err(error) => {
                drop(fs::remove_file(&name));
                Err(error)
            }
        };
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests;
