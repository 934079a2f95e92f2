//! Files for the person alone: opened first, checked on the handle after, so that nothing can be put in their place between.

use std::{fs::File, io, path::Path};

/// Why a file is none that can be trusted.
#[derive(Debug)]
pub enum Untrusted {
    /// There is no such file.
    Missing,
    /// It could not be opened.
    Unopened(io::Error),
    /// What it is could not be read.
    Unread(io::Error),
    /// It is no regular file.
    Irregular,
    /// Another user owns it. (Unix.)
    Foreign,
    /// Others have access: its mode. (Unix.)
    Shared(u32),
}

/// Whether the last part of a path may be a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// It may.
    Follow,
    /// It may not: whoever asks has followed them already.
    Refuse,
}

/// Opens a file to be read, if it is ours alone. On Windows owner and access list are not looked at.
pub fn open(path: &Path, links: Links) -> Result<File, Untrusted> {
    let file = open_file(path, links).map_err(|error| {
        let missing = error.kind() == io::ErrorKind::NotFound;
        if missing { Untrusted::Missing } else { Untrusted::Unopened(error) }
    })?;
    check(&file)?;
    Ok(file)
}

/// A named pipe must not block us before it can be seen to be one.
#[cfg(unix)]
fn open_file(path: &Path, links: Links) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    flags.set(OFlags::NOFOLLOW, links == Links::Refuse);
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open_file(path: &Path, _: Links) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn check(file: &File) -> Result<(), Untrusted> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = file.metadata().map_err(Untrusted::Unread)?;
    if !metadata.is_file() {
        return Err(Untrusted::Irregular);
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(Untrusted::Foreign);
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(Untrusted::Shared(metadata.mode() & 0o777));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check(file: &File) -> Result<(), Untrusted> {
    let metadata = file.metadata().map_err(Untrusted::Unread)?;
    if metadata.is_file() { Ok(()) } else { Err(Untrusted::Irregular) }
}
