//! The desktop app's web pages, `ui/dist`: built when they are not there or older than what they are made of.
//!
//! The app's crate embeds them as it is compiled, so they stand before any cargo command that looks at it.

use std::{fs, io, path::Path, time::SystemTime};

use crate::{packages, tools};

/// Sources, tests and the built pages.
pub(crate) const FOLDER: &str = "ui";

/// Builds the pages, where that is needed.
///
/// # Errors
/// Says how npm ended.
pub(crate) fn provide() -> Result<(), String> {
    let folder = tools::root().join(FOLDER);
    if is_current(&folder) {
        return Ok(());
    }
    packages::provide(&folder)?;
    let mut build = tools::npm();
    build.args(["run", "build"]).current_dir(&folder);
    tools::finish(&mut build).map_err(|fault| format!("npm run build in {FOLDER}: {fault}"))
}

/// By the age of the page that the window opens: a build writes all of them anew.
fn is_current(folder: &Path) -> bool {
    let built = fs::metadata(folder.join("dist/index.html")).and_then(|page| page.modified());
    match (built, newest(folder, &["dist", "node_modules"])) {
        (Ok(built), Ok(changed)) => changed <= built,
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// When the file of the folder, and of those in it, that was changed last was changed.
fn newest(folder: &Path, without: &[&str]) -> io::Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if without.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        let changed = if entry.file_type()?.is_dir() {
            self::newest(&entry.path(), &[])?
        } else {
            entry.metadata()?.modified()?
        };
        newest = newest.max(changed);
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use std::{env, fs::File, process, time::Duration};

    use super::*;

    #[test]
    fn pages_are_current_while_no_source_is_newer() {
        let folder = env::temp_dir().join(format!("xtask-front-end-{}", process::id()));
        for inner in ["dist", "src/views", "node_modules"] {
            fs::create_dir_all(folder.join(inner)).unwrap();
        }
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let write = |name: &str, after: u64| {
            let file = File::create(folder.join(name)).unwrap();
            file.set_modified(start + Duration::from_secs(after)).unwrap();
        };
        write("package.json", 1);
        write("src/views/Calls.svelte", 2);
        assert!(!is_current(&folder), "nothing is built");
        write("dist/index.html", 2);
        write("node_modules/later.js", 9);
        assert!(is_current(&folder), "packages are no sources: their lock file is");
        write("src/views/Calls.svelte", 3);
        assert!(!is_current(&folder), "a source is newer");
        fs::remove_dir_all(&folder).unwrap();
    }
}
