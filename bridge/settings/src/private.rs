//! Files for the person alone: opened first, checked on the handle after, so that nothing can be put in their place
//! between; and replaced in one step.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// Links followed from one to the next, as many as Linux follows.
const LINKS: u32 = 40;

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

/// The file that is meant: what the links point at, whether it is there or not.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        // What a link says counts from its own folder.
        path = path.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    }
    path
}

/// Writes a new file, whose name has one more `ending`, and lets it take the old one's place.
pub(crate) fn replace(path: &Path, ending: &str, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    make_folder(folder(path))?;
    let new = beside(path, ending)?;
    // Left by a crash: nobody else writes here.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let written = new_file(&new).and_then(|mut file| write(&mut file).and_then(|()| file.sync_all()));
    if let Err(error) = written.and_then(|()| fs::rename(&new, path)) {
        drop(fs::remove_file(&new));
        return Err(error);
    }
    Ok(())
}

pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn beside(path: &Path, ending: &str) -> io::Result<PathBuf> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(ending);
    Ok(path.with_file_name(name))
}

/// Makes a folder, and those it lies in, where they are missing: for us alone. One that is there stays as it is.
#[cfg(unix)]
pub fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Makes a folder, and those it lies in, where they are missing. One that is there stays as it is.
#[cfg(not(unix))]
pub fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(folder)
}

/// Makes a file that was not there, for us alone from the first moment.
#[cfg(unix)]
pub(crate) fn new_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
pub(crate) fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// A new name must reach the disk too. Windows has no such call and writes names in order.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
