//! A path socket in a folder of ours.

use std::{
    env,
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};

use super::Fault;
pub use crate::presence::{Half as Input, Half as Output, halves};

/// One connection.
pub type Stream = UnixStream;

const SOCKET: &str = "door.sock";
const LOCK: &str = "door.lock";

/// The open door. Dropped, it is closed and its socket removed.
#[derive(Debug)]
pub struct Opened {
    listener: UnixListener,
    socket: PathBuf,
    /// Held as long as the socket is ours.
    _lock: File,
}

/// Opens the door, if no other bridge has it.
pub fn open() -> Result<Opened, Fault> {
    let folder = folder();
    // Who was first decides: what is there already is looked at, whoever made it.
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
        Err(_) | Ok(()) => check(&folder)?,
    }
    let lock = OpenOptions::new();
    let lock = lock.clone().create(true).truncate(false).write(true).mode(0o600).open(folder.join(LOCK))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(Fault::Held),
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    let socket = folder.join(SOCKET);
    remove_stale(&socket)?;
    let listener = UnixListener::bind(&socket)?;
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
    Ok(Opened { listener, socket, _lock: lock })
}

/// With the lock held nobody listens at a socket that is still there.
fn remove_stale(socket: &Path) -> Result<(), Fault> {
    match fs::symlink_metadata(socket) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
        Ok(found) if found.file_type().is_socket() && found.uid() == geteuid().as_raw() => {
            fs::remove_file(socket).map_err(Fault::from)
        }
        Ok(_) => Err(Fault::Squatted { path: socket.to_owned() }),
    }
}

impl Opened {
    /// The next connection of a process of ours, and its number. Others are closed unanswered.
    pub async fn accept(&self) -> io::Result<(Stream, Option<u32>)> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            // Whoever is gone already has no process.
            if let Ok(pid) = other_end(&stream) {
                return Ok((stream, pid));
            }
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // One that stays is stale, and the next bridge removes it.
        let _ = fs::remove_file(&self.socket);
    }
}

/// Connects to the door of a bridge of ours.
pub async fn reach() -> Result<Stream, Fault> {
    let folder = folder();
    match check(&folder) {
        Err(Fault::Failed(error)) if error.kind() == io::ErrorKind::NotFound => return Err(Fault::Closed),
        checked => checked?,
    }
    match UnixStream::connect(folder.join(SOCKET)).await {
        Ok(stream) => {
            other_end(&stream)?;
            Ok(stream)
        }
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::ConnectionRefused].contains(&error.kind()) => {
            Err(Fault::Closed)
        }
        Err(error) => Err(error.into()),
    }
}

/// The process at the other end, which must be ours.
fn other_end(stream: &UnixStream) -> Result<Option<u32>, Fault> {
    let other = stream.peer_cred()?;
    if other.uid() != geteuid().as_raw() {
        return Err(Fault::Foreign);
    }
    Ok(other.pid().and_then(|pid| pid.try_into().ok()))
}

/// The folder of the door. Hosts start commands with little of their own environment, so it has to be found without it.
fn folder() -> PathBuf {
    let uid = geteuid().as_raw();
    let given = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|base| base.is_absolute());
    let usual = cfg!(target_os = "linux").then(|| PathBuf::from(format!("/run/user/{uid}")));
    let runtime = given.into_iter().chain(usual).find(|base| check(base).is_ok());
    match runtime {
        Some(base) => base.join("clientmcp"),
        // On macOS it is the user's own anyway.
        None => env::temp_dir().join(format!("clientmcp-{uid}")),
    }
}

/// A folder, ours, and without access for anybody else.
fn check(folder: &Path) -> Result<(), Fault> {
    let found = fs::symlink_metadata(folder)?;
    let why = if !found.is_dir() {
        "it is no folder"
    } else if found.uid() != geteuid().as_raw() {
        "another user owns it"
    } else if found.mode() & 0o077 != 0 {
        "other users may enter it"
    } else {
        return Ok(());
    };
    Err(Fault::Folder { folder: folder.to_owned(), why })
}
