//! Linux desktops: what the windowing system allows, and whether there is a tray.

mod inspector;

use std::{
    env,
    ffi::{OsStr, OsString},
    path::Path,
    time::Duration,
};

use zbus::{blocking::connection, blocking::fdo::DBusProxy, names::BusName};

pub use self::inspector::shut_inspector;
use super::NoTray;

/// The library that draws tray icons, under the names and in the order in which the tray's own crate tries them.
const LIBRARIES: [&str; 2] = ["libayatana-appindicator3.so.1", "libappindicator3.so.1"];

/// Who shows tray icons has this name on the session bus.
const WATCHER: &str = "org.kde.StatusNotifierWatcher";

/// How long the session bus may take.
const BUS_TIME: Duration = Duration::from_secs(2);

/// Whether a window can stay on top, where we put it, and without the keyboard. On Wayland a program decides none of that.
pub fn question_windows() -> bool {
    Surroundings::read().backend() != Some(Backend::Wayland)
}

/// Whether a program is somewhere else after the next start: an `AppImage` is mounted anew each time.
pub fn moves(program: &Path) -> bool {
    env::var_os("APPDIR").is_some_and(|mount| !mount.is_empty() && program.starts_with(mount))
}

/// Why there is no tray icon, now. Asks the session bus, so it can take up to two seconds.
pub fn tray_missing() -> Option<NoTray> {
    if !library_loads() {
        let sentence = "There is no tray icon, as the library libayatana-appindicator3 is not installed. Use the app in \
                        its window, or install the library and start the app again.";
        return Some(NoTray::Impossible(sentence.into()));
    }
    let sentence = match watched() {
        Ok(true) => return None,
        Ok(false) => {
            "There is no tray icon, as nothing on this desktop shows one. Use the app in its window, or add a tray: on \
             GNOME with the extension AppIndicator and KStatusNotifierItem Support."
        }
        Err(error) => {
            tracing::info!("no tray, as the session bus cannot be asked: {error}");
            "There is no tray icon, as there is no session bus to show it through. Use the app in its window, or start \
             it inside a desktop session."
        }
    };
    Some(NoTray::Unseen(sentence.into()))
}

/// Whether the library is there. It stays loaded: it is used next, and cannot be taken out of a process again.
fn library_loads() -> bool {
    #[expect(
        unsafe_code,
        reason = "the tray's crate loads the same library without asking, and panics when it is missing"
    )]
    // SAFETY: loading runs the library's own initialisation, which is what using the tray does; nothing else is done.
    LIBRARIES.into_iter().any(|name| unsafe { libloading::Library::new(name) }.map(std::mem::forget).is_ok())
}

fn watched() -> zbus::Result<bool> {
    let bus = connection::Builder::session()?.method_timeout(BUS_TIME).build()?;
    Ok(DBusProxy::new(&bus)?.name_has_owner(BusName::try_from(WATCHER)?)?)
}

/// Tells, from now on, when somebody who shows tray icons comes (true) or goes. Returns at once; says nothing when there is
/// no session bus.
pub fn watch_tray(told: impl FnMut(bool) + Send + 'static) {
    let watch = move || {
        if let Err(error) = tell_changes(told) {
            tracing::info!("trays that come and go are not seen, as the session bus cannot be asked: {error}");
        }
    };
    if let Err(error) = std::thread::Builder::new().name("tray".into()).spawn(watch) {
        tracing::error!("no thread for the tray: {error}");
    }
}

fn tell_changes(mut told: impl FnMut(bool)) -> zbus::Result<()> {
    let bus = connection::Builder::session()?.build()?;
    for change in DBusProxy::new(&bus)?.receive_name_owner_changed_with_args(&[(0, WATCHER)])? {
        told(change.args()?.new_owner().is_some());
    }
    Ok(())
}

/// Where GTK draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backend {
    Wayland,
    X11,
}

/// What GTK looks at when it chooses where to draw. The type of the session is not part of it.
#[derive(Debug, Default)]
struct Surroundings {
    /// `GDK_BACKEND`: names in the order in which they are tried, `*` for all that are left.
    chosen: Option<String>,
    /// `DISPLAY`.
    x11: bool,
    /// A compositor's socket, or one that is inherited.
    wayland: bool,
}

impl Surroundings {
    fn read() -> Self {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let socket = || wayland_socket(&set("XDG_RUNTIME_DIR")?, set("WAYLAND_DISPLAY")).then_some(());
        Self {
            chosen: env::var("GDK_BACKEND").ok(),
            x11: set("DISPLAY").is_some(),
            wayland: set("WAYLAND_SOCKET").is_some() || socket().is_some(),
        }
    }

    /// The first that can be had.
    fn backend(&self) -> Option<Backend> {
        let chosen = self.chosen.as_deref().filter(|chosen| !chosen.is_empty()).unwrap_or("*");
        chosen.split(',').find_map(|name| match name {
            "wayland" => self.wayland.then_some(Backend::Wayland),
            "x11" => self.x11.then_some(Backend::X11),
            "*" if self.wayland => Some(Backend::Wayland),
            "*" if self.x11 => Some(Backend::X11),
            _ => None,
        })
    }
}

/// Whether a compositor's socket is where it is looked for: without a name, at the usual one.
fn wayland_socket(folder: &OsStr, name: Option<OsString>) -> bool {
    Path::new(folder).join(name.unwrap_or_else(|| "wayland-0".into())).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    // holds: desktop-question-place
    #[test]
    fn the_backend_is_the_one_that_gtk_takes() {
        use Backend::{Wayland, X11};
        let cases = [
            (None, true, true, Some(Wayland)),
            (None, true, false, Some(X11)),
            (None, false, true, Some(Wayland)),
            (None, false, false, None),
            (Some(""), true, true, Some(Wayland)),
            (Some("x11"), true, true, Some(X11)),
            (Some("wayland"), true, true, Some(Wayland)),
            (Some("wayland"), true, false, None),
            (Some("x11,wayland"), false, true, Some(Wayland)),
            (Some("wayland,x11"), true, false, Some(X11)),
            (Some("broadway,*"), true, false, Some(X11)),
        ];
        for (chosen, x11, wayland, expected) in cases {
            let surroundings = Surroundings { chosen: chosen.map(String::from), x11, wayland };
            assert_eq!(surroundings.backend(), expected, "{surroundings:?}");
        }
    }

    #[test]
    fn a_compositor_is_found_by_its_socket() {
        let folder = env::temp_dir().join(format!("clientmcp-wayland-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert!(!wayland_socket(folder.as_os_str(), None));
        std::fs::write(folder.join("wayland-0"), "").unwrap();
        std::fs::write(folder.join("other"), "").unwrap();
        assert!(wayland_socket(folder.as_os_str(), None));
        assert!(wayland_socket(folder.as_os_str(), Some("other".into())));
        assert!(wayland_socket(OsStr::new("/nowhere"), Some(folder.join("other").into())));
        assert!(!wayland_socket(folder.as_os_str(), Some("third".into())));
        drop(std::fs::remove_dir_all(folder));
    }
}
