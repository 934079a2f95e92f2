//! Secret files: one secret a line, the first signs (`docs/protocol.md`, "Tokens").
//!
//! A file is opened first and checked on the handle, so that nobody can swap it in between; then it must be a regular
//! file of ours that nobody else may touch. On Windows owner and access list are not checked: a new file gets the access
//! of its folder, which in a person's profile is theirs alone. What is no secret file is never overwritten or removed.

use std::{
    fmt, fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use clientmcp_protocol::{limits::SECRET_BYTES, shown::shown_whole};

use crate::{
    NoRandomness,
    private::{self, Links, Untrusted},
    secret::{self, SecretFault},
};

/// Bytes of a secret file: a thousand generated secrets and more, so it bounds only what was never a secret file.
pub const SECRET_FILE_BYTES: u64 = 64 * 1024;

/// Ends the name of a file that takes a secret file's name when it is written. The folder may hold files of other
/// programs, so no short one.
const NEW: &str = ".clientmcp-new";

/// A secret file that cannot be used, as a sentence: what is wrong, what that means, what to do.
#[derive(Debug)]
pub struct SecretFileError {
    /// Which file.
    pub path: PathBuf,
    /// What is wrong.
    pub problem: Problem,
}

/// What can be wrong with a secret file. Nothing of what stands in it is repeated.
#[derive(Debug)]
pub enum Problem {
    /// It is none that can be trusted.
    Untrusted(Untrusted),
    /// Too large for what it should be.
    Large,
    /// No UTF-8.
    NotText,
    /// This line, counted from 1, is no secret.
    Line(usize, SecretFault),
    /// No secret in it.
    Empty,
    /// What was to be written would be read back as something else: a secret of spaces alone, say.
    Unlike,
    /// A new file was asked for and the name is taken.
    Exists,
    /// A new file was asked for and could not be written.
    Unwritten(io::Error),
    /// It could not be replaced or removed; the old one is still there.
    Unchanged(io::Error),
    /// No secret could be made.
    NoRandomness(NoRandomness),
}

/// Reads the secrets of a file: at least one.
pub fn read(path: &Path) -> Result<Vec<String>, SecretFileError> {
    read_text(path).and_then(|text| parse(&text)).map_err(|problem| SecretFileError { path: path.into(), problem })
}

/// Writes a new secret to a new file, for us alone from the first moment.
pub fn create(path: &Path) -> Result<(), SecretFileError> {
    write_new(path).map_err(|problem| SecretFileError { path: path.into(), problem })
}

/// Writes secrets to a file in one step: when that fails, what was there is still there. A file that is there must be a
/// secret file. When `path` is a symbolic link, what it points at is meant, and the link stays.
pub fn replace(path: &Path, secrets: &[String]) -> Result<(), SecretFileError> {
    write_over(path, secrets).map_err(|problem| SecretFileError { path: path.into(), problem })
}

/// Removes a secret file, if there is one.
pub fn remove(path: &Path) -> Result<(), SecretFileError> {
    remove_ours(path).map_err(|problem| SecretFileError { path: path.into(), problem })
}

fn read_text(path: &Path) -> Result<String, Problem> {
    let file = private::open(path, Links::Follow).map_err(Problem::Untrusted)?;
    let mut bytes = Vec::new();
    let unread = |error| Problem::Untrusted(Untrusted::Unread(error));
    file.take(SECRET_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > SECRET_FILE_BYTES {
        return Err(Problem::Large);
    }
    String::from_utf8(bytes).map_err(|_| Problem::NotText)
}

/// A byte order mark and line ends are no part of a secret, spaces are; blank lines are skipped.
fn parse(text: &str) -> Result<Vec<String>, Problem> {
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    let secrets: Vec<_> = lines
        .enumerate()
        .filter(|(_, line)| !is_blank(line))
        .map(|(index, line)| {
            secret::check(line).map(|()| line.to_owned()).map_err(|fault| Problem::Line(index + 1, fault))
        })
        .collect::<Result<_, _>>()?;
    if secrets.is_empty() { Err(Problem::Empty) } else { Ok(secrets) }
}

fn is_blank(line: &str) -> bool {
    line.trim_matches([' ', '\t']).is_empty()
}

fn write_new(path: &Path) -> Result<(), Problem> {
    let secret = secret::generate().map_err(Problem::NoRandomness)?;
    let mut file = private::new_file(path).map_err(|error| {
        let exists = error.kind() == io::ErrorKind::AlreadyExists;
        if exists { Problem::Exists } else { Problem::Unwritten(error) }
    })?;
    let line = format!("{secret}\n");
    file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| {
        // Half a secret helps nobody. The file is ours, as it was not there before.
        drop(fs::remove_file(path));
        Problem::Unwritten(error)
    })
}

fn write_over(path: &Path, secrets: &[String]) -> Result<(), Problem> {
    let text = secrets.iter().flat_map(|secret| [secret, "\n"]).collect::<String>();
    // What would be read back as something else is not written.
    if parse(&text)? != secrets {
        return Err(Problem::Unlike);
    }
    if text.len() as u64 > SECRET_FILE_BYTES {
        return Err(Problem::Large);
    }
    is_there(path)?;
    let path = private::resolved(path);
    private::replace(&path, NEW, |file| file.write_all(text.as_bytes()))
        .and_then(|()| private::sync_folder(private::folder(&path)))
        .map_err(Problem::Unchanged)
}

fn remove_ours(path: &Path) -> Result<(), Problem> {
    if !is_there(path)? {
        return Ok(());
    }
    // The link goes with what it points at: neither is of use alone.
    let removed = fs::remove_file(private::resolved(path)).and_then(|()| match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    });
    removed.map_err(Problem::Unchanged)
}

/// Whether there is a secret file; an error when there is something else.
fn is_there(path: &Path) -> Result<bool, Problem> {
    match read_text(path).and_then(|text| parse(&text)) {
        Ok(_) => Ok(true),
        Err(Problem::Untrusted(Untrusted::Missing)) => Ok(false),
        Err(problem) => Err(problem),
    }
}

impl SecretFileError {
    /// True when a new file was asked for and the name is taken.
    pub fn exists(&self) -> bool {
        matches!(self.problem, Problem::Exists)
    }

    /// True when there is no such file.
    pub fn missing(&self) -> bool {
        matches!(self.problem, Problem::Untrusted(Untrusted::Missing))
    }
}

impl std::error::Error for SecretFileError {}

impl fmt::Display for SecretFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = shown_whole(&self.path.to_string_lossy());
        write!(f, "{file}: ")?;
        match &self.problem {
            Problem::Untrusted(untrusted) => untrusted_sentence(f, &file, untrusted),
            Problem::Large => write!(f, "larger than {SECRET_FILE_BYTES} bytes, so not a secret file; check the name"),
            Problem::NotText => {
                f.write_str("not UTF-8 text, so its lines cannot be told; check the name or save it as UTF-8")
            }
            Problem::Line(number, SecretFault::Short) => write!(
                f,
                "line {number} is shorter than {SECRET_BYTES} bytes, so that secret could be guessed; replace it"
            ),
            Problem::Line(number, SecretFault::Lines) => write!(
                f,
                "line {number} has a carriage return inside, so where it ends is unclear; save the file with plain line ends"
            ),
            Problem::Empty => f.write_str("holds no secret, so no token can be signed or verified; make a new file"),
            Problem::Unlike => {
                f.write_str("a secret would not be read back as it is, so it was not written; make a new secret")
            }
            Problem::Exists => f.write_str("exists already and is kept, as tokens may depend on it; name another file"),
            Problem::Unwritten(error) => {
                write!(f, "not written ({error}), so there is no new secret; name a writable folder")
            }
            Problem::Unchanged(error) => {
                write!(f, "not written ({error}), so what is in force is not what is kept; make room or get access")
            }
            Problem::NoRandomness(error) => write!(f, "{error}, so there is no new secret; try again"),
        }
    }
}

fn untrusted_sentence(f: &mut fmt::Formatter<'_>, file: &str, untrusted: &Untrusted) -> fmt::Result {
    match untrusted {
        Untrusted::Missing => write!(f, "no such file, so there is no secret; `clientmcp secret {file}` makes one"),
        Untrusted::Unopened(error) => write!(f, "not opened ({error}), so its secrets are unknown; get access to it"),
        Untrusted::Unread(error) => write!(f, "not read ({error}), so its secrets are unknown; restore the file"),
        Untrusted::Irregular => f.write_str("not a regular file, so it could change at any time; name a file instead"),
        Untrusted::Foreign => f.write_str("another user owns it and can change the secret; use a file of your own"),
        Untrusted::Shared(mode) => write!(
            f,
            "other users have access (mode {mode:03o}), so the secret may be known to them; run `chmod 600 {file}`, or \
             better make a new secret"
        ),
    }
}

#[cfg(test)]
mod tests;
