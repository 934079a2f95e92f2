//! What lies on the app's windows, as the display itself tells: no toolkit hears of a window that covers another one once
//! the windows are composited.
//!
//! X11 alone tells. Where the system does not, nothing is known to lie on a window, and nothing here says otherwise
//! (`docs/desktop.md`, "What lies on a question").

mod mirror;
mod news;
mod stacking;
mod x11;

use gtk::{gdk, prelude::*};
use tauri::{AppHandle, Manager, WebviewWindow};

pub(super) use self::x11::Display;
use crate::{
    commands::tell,
    shell::{AppWindow, Deed},
};

/// Asks the display from now on, if it is one that tells. On the main thread, once.
pub(super) fn begin(app: &AppHandle) -> Option<Display> {
    let display = gdk::Display::default().filter(ObjectExt::is::<gdkx11::X11Display>)?;
    let told = app.clone();
    let display =
        Display::start(display.name().into(), move |window, covered| tell(&told, Deed::Cover(window, covered)));
    app.manage(display.clone());
    Some(display)
}

/// Tells from now on what lies on this window. On the main thread, before it is shown: until the display has told,
/// something does.
pub(super) fn watch(app: &AppHandle, window: &WebviewWindow, which: AppWindow) -> tauri::Result<()> {
    let Some(display) = app.try_state::<Display>() else { return Ok(()) };
    tell(app, Deed::Cover(which, true));
    let window = window.gtk_window()?;
    look(&display, window.upcast_ref(), which);
    let realized = display.inner().clone();
    window.connect_realize(move |window| look(&realized, window.upcast_ref(), which));
    let gone = display.inner().clone();
    window.connect_unrealize(move |_| gone.forget(which));
    Ok(())
}

fn look(display: &Display, window: &gtk::Widget, which: AppWindow) {
    let window = window.window().and_then(|window| window.downcast::<gdkx11::X11Window>().ok());
    // Its type is wider than the protocol's numbers.
    if let Some(id) = window.and_then(|window| u32::try_from(window.xid()).ok()) {
        display.watch(which, id);
    }
}
