//! The web view's own door for developer tools: `WebKitGTK` reads it from the environment, whatever the app says.

use std::{
    env,
    ffi::OsString,
    io,
    os::unix::process::CommandExt as _,
    process::{self, Command},
};

/// Serves developer tools to whoever opens a page of it.
const PAGE: &str = "WEBKIT_INSPECTOR_HTTP_SERVER";

/// Serves developer tools and drivers.
const SERVER: &str = "WEBKIT_INSPECTOR_SERVER";

/// Says that a driver started the app, to test it.
const DRIVEN: &str = "TAURI_WEBVIEW_AUTOMATION";

/// Starts the program anew, in this process, without what would open that door; it does nothing where that is shut. A
/// driver that started the app keeps its own.
pub fn shut_inspector() -> io::Result<()> {
    let open = open(env::var_os);
    if open.is_empty() {
        return Ok(());
    }
    let mut again = Command::new(env::current_exe()?);
    again.args(env::args_os().skip(1));
    for name in open {
        again.env_remove(name);
    }
    let fault = again.exec();
    Err(io::Error::other(format!("process {} cannot start itself without the web inspector: {fault}", process::id())))
}

/// The variables that are to go.
fn open(variable: impl Fn(&'static str) -> Option<OsString>) -> Vec<&'static str> {
    let driven = variable(DRIVEN).is_some_and(|value| value == "true");
    let shut = if driven { &[PAGE][..] } else { &[PAGE, SERVER] };
    shut.iter().copied().filter(|name| variable(name).is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // holds: desktop-no-devtools
    #[test]
    fn only_a_driver_keeps_its_door() {
        let with = |set: &'static [(&'static str, &'static str)]| {
            open(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
        };
        assert!(with(&[]).is_empty());
        assert_eq!(with(&[(PAGE, "127.0.0.1:1"), (SERVER, "127.0.0.1:2")]), [PAGE, SERVER]);
        assert_eq!(with(&[(PAGE, ""), (SERVER, "127.0.0.1:2"), (DRIVEN, "false")]), [PAGE, SERVER]);
        assert_eq!(with(&[(PAGE, "127.0.0.1:1"), (SERVER, "127.0.0.1:2"), (DRIVEN, "true")]), [PAGE]);
        assert!(with(&[(SERVER, "127.0.0.1:2"), (DRIVEN, "true")]).is_empty());
    }
}
