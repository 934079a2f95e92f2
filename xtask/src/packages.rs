//! The npm packages of a folder: installed when they are not there, or not the ones that its lock file pins.
//!
//! `npm ci` alone, which changes no lock file, and without the packages' own install scripts.

use std::{fs, io, path::Path, time::SystemTime};

use crate::tools;

/// Brings the folder's `node_modules` to what its lock file says.
///
/// # Errors
/// Says how npm ended.
pub(crate) fn provide(folder: &Path) -> Result<(), String> {
    if are_current(folder) {
        return Ok(());
    }
    let mut ci = tools::npm();
    ci.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
    tools::finish(&mut ci).map_err(|fault| format!("npm ci in {}: {fault}", folder.display()))
}

/// By the age of the list that npm writes once all packages are in place.
fn are_current(folder: &Path) -> bool {
    match (written(&folder.join("package-lock.json")), written(&folder.join("node_modules/.package-lock.json"))) {
        (Ok(pinned), Ok(installed)) => pinned <= installed,
        (Err(_), _) | (_, Err(_)) => false,
    }
}

fn written(file: &Path) -> io::Result<SystemTime> {
    fs::metadata(file)?.modified()
}

#[cfg(test)]
mod tests {
    use std::{env, fs::File, process, time::Duration};

    use super::*;

    #[test]
    fn packages_are_current_while_they_are_no_older_than_their_lock_file() {
        let folder = env::temp_dir().join(format!("xtask-packages-{}", process::id()));
        fs::create_dir_all(folder.join("node_modules")).unwrap();
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let write = |name: &str, after: u64| {
            let file = File::create(folder.join(name)).unwrap();
            file.set_modified(written + Duration::from_secs(after)).unwrap();
        };
        write("package-lock.json", 1);
        assert!(!are_current(&folder), "nothing is installed");
        write("node_modules/.package-lock.json", 1);
        assert!(are_current(&folder));
        write("package-lock.json", 2);
        assert!(!are_current(&folder), "the lock file is newer");
        fs::remove_dir_all(&folder).unwrap();
    }
}
