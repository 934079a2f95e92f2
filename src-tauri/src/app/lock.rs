//! One process per settings file: two would overwrite what the other remembers.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::Path,
    thread,
    time::Duration,
};

use clientmcp_protocol::shown::shown_whole;

/// How often a file that another process holds is tried.
const ATTEMPTS: u32 = 20;

/// Between two attempts: half a second in all, which a person does not notice at a start.
const PAUSE: Duration = Duration::from_millis(25);

/// Holds the file until it is dropped. The sentence says why it cannot be held.
pub(super) fn lock(settings: &Path) -> Result<File, String> {
    let mut name = settings.as_os_str().to_owned();
    name.push(".lock");
    let name = Path::new(&name);
    let file = open(name).map_err(|error| {
        format!(
            "{} cannot be written ({error}), so nothing could be remembered: get access to its folder and try again",
            shown_whole(&name.to_string_lossy())
        )
    })?;
    match locked(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(format!(
            "another ClientMCP Desktop uses {}, and two would overwrite each other's settings: use that one, or quit it \
             and try again",
            shown_whole(&settings.to_string_lossy())
        )),
        // Some network file systems know no locks. Only one app per session is started anyway.
        Err(TryLockError::Error(error)) => {
            tracing::warn!("the settings cannot be locked: {error}");
            Ok(file)
        }
    }
}

/// Who just ended, or started another program and is about to hand it nothing, may hold the file for a moment longer. No
/// event tells of its end.
fn locked(file: &File) -> Result<(), TryLockError> {
    for _ in 1..ATTEMPTS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            tried => return tried,
        }
    }
    file.try_lock()
}

fn open(name: &Path) -> io::Result<File> {
    if let Some(folder) = name.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(name)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
