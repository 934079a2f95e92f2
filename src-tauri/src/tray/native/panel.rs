//! Whether any panel shows tray icons here, which can change while the app runs.
//!
//! The icon registers by itself when a panel appears.

use std::{thread, time::Duration};

use tauri::AppHandle;

use crate::{
    commands::tell,
    platform::{tray_missing, watch_tray},
    shell::Deed,
};

/// How long a panel may take: at login it starts at the same time as we do, and some are started again when they crash.
const PATIENCE: Duration = Duration::from_secs(3);

/// Tells when there is no panel, and when there is one again.
pub(super) fn watch(app: &AppHandle) {
    let told = app.clone();
    watch_tray(move |is_there| if is_there { tell(&told, Deed::TrayThere) } else { tell_if_none(&told) });
    tell_if_none(app);
}

/// After a while, on a thread of its own: the session bus may take its time.
fn tell_if_none(app: &AppHandle) {
    let app = app.clone();
    thread::spawn(move || {
        thread::sleep(PATIENCE);
        if let Some(missing) = tray_missing() {
            tell(&app, Deed::NoTray(missing.sentence().to_owned()));
        }
    });
}
