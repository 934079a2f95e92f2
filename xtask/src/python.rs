//! The Python packages of a list, in a virtual environment of their own beside what cargo builds.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::tools;

/// The Python that finds the packages of this list, which are installed when they are not there or not those.
///
/// # Errors
/// Says what failed.
pub(crate) fn provide(requirements: &Path) -> Result<PathBuf, String> {
    // One for each list, named after its folder.
    let name = requirements.parent().and_then(Path::file_name).unwrap_or_default();
    let environment = tools::built().join("python").join(name);
    let program = environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let wanted = fs::read(requirements).map_err(|fault| format!("{}: {fault}", requirements.display()))?;
    // Written once all packages are in place.
    let installed = environment.join("installed.txt");
    if fs::read(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(program);
    }
    let mut create = Command::new("python3");
    create.args(["-m", "venv", "--clear"]).arg(&environment);
    tools::finish(&mut create)?;
    let mut install = Command::new(&program);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(requirements);
    tools::finish(&mut install)?;
    fs::write(&installed, wanted).map_err(|fault| format!("{}: {fault}", installed.display()))?;
    Ok(program)
}
