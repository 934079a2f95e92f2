//! Whether any panel shows tray icons here, which can change while the app runs.
//!
//! The icon registers by itself when a panel appears.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use gtk::{
    gio::{self, BusNameWatcherFlags, BusType},
    glib,
};
use tauri::AppHandle;

use crate::{commands::tell, platform::tray_missing, shell::Deed};

/// Whom icons register with.
const WATCHER: &str = "org.kde.StatusNotifierWatcher";

/// How long a panel may take: at login it starts at the same time as we do.
const PATIENCE: Duration = Duration::from_secs(3);

/// Tells when there is a panel, and when there is none. On the main thread.
pub(super) fn watch(app: &AppHandle) {
    let is_there = Arc::new(AtomicBool::new(false));
    let (seen, told) = (Arc::clone(&is_there), app.clone());
    let appeared = move |_, _: &str, _: &str| {
        seen.store(true, Ordering::Relaxed);
        tell(&told, Deed::TrayThere);
    };
    let told = app.clone();
    let vanished = move |_, _: &str| {
        is_there.store(false, Ordering::Relaxed);
        wait(&told, &is_there);
    };
    let (told, nobody) = (app.clone(), Arc::new(AtomicBool::new(false)));
    // Asked for first: where there is no bus, watching a name on it ends the process.
    gio::bus_get(BusType::Session, gio::Cancellable::NONE, move |bus| match bus {
        Ok(bus) => {
            let flags = BusNameWatcherFlags::NONE;
            let _ = gio::bus_watch_name_on_connection(&bus, WATCHER, flags, appeared, vanished);
        }
        Err(_) => wait(&told, &nobody),
    });
}

/// Why there is none is asked on a thread of its own, as the session bus may take its time.
fn wait(app: &AppHandle, is_there: &Arc<AtomicBool>) {
    let (app, is_there) = (app.clone(), Arc::clone(is_there));
    glib::timeout_add_once(PATIENCE, move || {
        if !is_there.load(Ordering::Relaxed) {
            thread::spawn(move || {
                if let Some(missing) = tray_missing() {
                    tell(&app, Deed::NoTray(missing.sentence().to_owned()));
                }
            });
        }
    });
}
