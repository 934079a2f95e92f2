//! Secret files: one secret a line, the first signs (`docs/protocol.md`, "Tokens").
//!
//! A file is opened first and checked on the handle, so that nobody can swap it in between; then it must be a regular
//! file of ours that nobody else may touch. On Windows owner and access list are not checked: a new file gets the access
//! of its folder, which in a person's profile is theirs alone. A file is never overwritten.

use std::{
    fmt,
    fs::OpenOptions,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use clientmcp_protocol::limits::SECRET_BYTES;
use clientmcp_settings::private::{self, Links, Untrusted};

use crate::token::{NoRandomness, Secret, SecretFault, Secrets};

/// Bytes of a secret file: a thousand generated secrets and more, so it bounds only what was never a secret file.
pub const SECRET_FILE_BYTES: u64 = 64 * 1024;

/// A secret file that cannot be used, as a sentence: what is wrong, what that means, what to do.
#[derive(Debug)]
pub struct SecretFileError {
    path: PathBuf,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    Missing,
    Unopened(io::Error),
    Unread(io::Error),
    Irregular,
    Foreign,
    Shared(u32),
    Large,
    NotText,
    Line(usize, SecretFault),
    Empty,
    Exists,
    Unwritten(io::Error),
    NoRandomness(NoRandomness),
}

impl From<Untrusted> for Problem {
    fn from(untrusted: Untrusted) -> Self {
        match untrusted {
            Untrusted::Missing => Self::Missing,
            Untrusted::Unopened(error) => Self::Unopened(error),
            Untrusted::Unread(error) => Self::Unread(error),
            Untrusted::Irregular => Self::Irregular,
            Untrusted::Foreign => Self::Foreign,
            Untrusted::Shared(mode) => Self::Shared(mode),
        }
    }
}

impl std::error::Error for SecretFileError {}

impl fmt::Display for SecretFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.path.display();
        write!(f, "{file}: ")?;
        match &self.problem {
            Problem::Missing => write!(f, "no such file, so there is no secret; `clientmcp secret {file}` makes one"),
            Problem::Unopened(error) => write!(f, "not opened ({error}), so its secrets are unknown; get access to it"),
            Problem::Unread(error) => write!(f, "not read ({error}), so its secrets are unknown; restore the file"),
            Problem::Irregular => {
                f.write_str("not a regular file, so it could change at any time; name a file instead")
            }
            Problem::Foreign => f.write_str("another user owns it and can change the secret; use a file of your own"),
            Problem::Shared(mode) => write!(
                f,
                "other users have access (mode {mode:03o}), so the secret may be known to them; run `chmod 600 {file}`, or \
                 better make a new secret"
            ),
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
            Problem::Exists => f.write_str("exists already and is kept, as tokens may depend on it; name another file"),
            Problem::Unwritten(error) => {
                write!(f, "not written ({error}), so there is no new secret; name a writable folder")
            }
            Problem::NoRandomness(error) => write!(f, "{error}, so there is no new secret; try again"),
        }
    }
}

impl SecretFileError {
    /// True when a new file was asked for and the name is taken.
    pub fn exists(&self) -> bool {
        matches!(self.problem, Problem::Exists)
    }
}

/// Reads the secrets of a file.
pub fn read(path: &Path) -> Result<Secrets, SecretFileError> {
    read_text(path).and_then(|text| parse(&text)).map_err(|problem| SecretFileError { path: path.into(), problem })
}

/// Writes a new secret to a new file, for us alone from the first moment.
pub fn create(path: &Path) -> Result<(), SecretFileError> {
    write_new(path).map_err(|problem| SecretFileError { path: path.into(), problem })
}

fn read_text(path: &Path) -> Result<String, Problem> {
    let file = private::open(path, Links::Follow)?;
    let mut bytes = Vec::new();
    file.take(SECRET_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(Problem::Unread)?;
    if bytes.len() as u64 > SECRET_FILE_BYTES {
        return Err(Problem::Large);
    }
    String::from_utf8(bytes).map_err(|_| Problem::NotText)
}

/// A byte order mark and line ends are no part of a secret, spaces are; blank lines are skipped.
fn parse(text: &str) -> Result<Secrets, Problem> {
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    let secrets: Vec<_> = lines
        .enumerate()
        .filter(|(_, line)| !line.trim_matches([' ', '\t']).is_empty())
        .map(|(index, line)| Secret::new(line).map_err(|fault| Problem::Line(index + 1, fault)))
        .collect::<Result<_, _>>()?;
    Secrets::new(secrets).ok_or(Problem::Empty)
}

fn write_new(path: &Path) -> Result<(), Problem> {
    let secret = Secret::generate().map_err(Problem::NoRandomness)?;
    let mut file = options().open(path).map_err(|error| {
        let exists = error.kind() == io::ErrorKind::AlreadyExists;
        if exists { Problem::Exists } else { Problem::Unwritten(error) }
    })?;
    let line = [secret.as_bytes(), b"\n"].concat();
    file.write_all(&line).and_then(|()| file.sync_all()).map_err(|error| {
        // Half a secret helps nobody. The file is ours, as it was not there before.
        drop(std::fs::remove_file(path));
        Problem::Unwritten(error)
    })
}

#[cfg(unix)]
fn options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options
}

#[cfg(not(unix))]
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0123456789abcdef0123456789abcdef";
    const B: &str = " a secret with spaces, they count ";

    fn parsed(text: &str) -> Vec<String> {
        let secrets = parse(text).unwrap_or_else(|problem| panic!("{text:?}: {problem:?}"));
        secrets.iter().map(|secret| String::from_utf8(secret.as_bytes().to_vec()).unwrap()).collect()
    }

    #[test]
    fn one_secret_a_line_in_order() {
        for text in [
            format!("{A}\n{B}\n"),
            format!("{A}\r\n{B}"),
            format!("\u{feff}{A}\n{B}\n"),
            format!("\n\n{A}\r\n  \n\r\n{B}\n\n"),
        ] {
            assert_eq!(parsed(&text), [A, B], "{text:?}");
        }
        assert_eq!(parsed(A), [A]);
    }

    fn complaint(text: &str) -> String {
        let error = SecretFileError { path: "F".into(), problem: parse(text).unwrap_err() };
        assert!(!format!("{error:?}").contains("hunter2"));
        error.to_string()
    }

    #[test]
    fn what_is_no_secret_is_named_by_its_line_and_never_shown() {
        assert!(complaint(&format!("{A}\n\nhunter2\n")).starts_with("F: line 3 is shorter than 32 bytes"));
        assert!(complaint(&format!("{A}\rhunter2\n")).starts_with("F: line 1 has a carriage return"));
        assert!(!complaint("hunter2").contains("hunter2"));
    }

    #[test]
    fn a_file_without_a_secret_is_refused() {
        for empty in ["", "\n", "\u{feff}", " \r\n\t\n"] {
            assert!(complaint(empty).starts_with("F: holds no secret"), "{empty:?}");
        }
    }
}
