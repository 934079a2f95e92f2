//! What only GTK tells of the small window, when it comes to the screen and leaves it, and what only GTK tells the window
//! manager of it. What lies on it the display is asked itself.

use clientmcp_protocol::ids::QuestionId;
use gtk::{gdk, glib::Propagation, prelude::*};
use tauri::{AppHandle, WebviewWindow};

use crate::{
    commands::tell,
    shell::{Deed, Standing},
};

/// Tells from now on how the window stands. On the main thread, before it is shown.
pub(super) fn watch(app: &AppHandle, window: &WebviewWindow, id: QuestionId) -> tauri::Result<()> {
    let window = window.gtk_window()?;
    window.add_events(gdk::EventMask::VISIBILITY_NOTIFY_MASK);
    let told = app.clone();
    window.connect_event(move |_, event| {
        if let Some(standing) = stands(event) {
            tell(&told, Deed::Small(id, standing));
        }
        Propagation::Proceed
    });
    window.connect_realize(|window| only_closes(window.upcast_ref()));
    only_closes(window.upcast_ref());
    Ok(())
}

/// A window manager that hides a window ("show desktop") destroys nothing: what was painted is there again when it comes
/// back, and so is the news that it can be seen.
fn stands(event: &gdk::Event) -> Option<Standing> {
    if let Some(event) = event.downcast_ref::<gdk::EventVisibility>() {
        return Some(standing(event.state()));
    }
    let off = gdk::WindowState::ICONIFIED | gdk::WindowState::WITHDRAWN;
    let state = event.downcast_ref::<gdk::EventWindowState>().map(gdk::EventWindowState::new_window_state);
    let hidden = event.event_type() == gdk::EventType::Unmap || state.is_some_and(|state| state.intersects(off));
    hidden.then_some(Standing::Covered)
}

/// Its frame has a button to close it, and none to minimise or maximise it. On Linux the window's own settings for that do
/// nothing.
fn only_closes(window: &gtk::Widget) {
    if let Some(window) = window.window() {
        window.set_functions(gdk::WMFunction::MOVE | gdk::WMFunction::CLOSE);
    }
}

/// What is hidden in part may be so by our own menu: the display knows which windows lie on it.
fn standing(state: gdk::VisibilityState) -> Standing {
    if state == gdk::VisibilityState::FullyObscured { Standing::Covered } else { Standing::Clear }
}

/// As the web view does: by the resolution that the desktop, or `GDK_DPI_SCALE`, gives to text.
pub(super) fn text_scale() -> f64 {
    const USUAL: f64 = 96.0;
    let resolution = gdk::Screen::default().map_or(USUAL, |screen| screen.resolution());
    // Below 0 where nobody says.
    if resolution > 0.0 { resolution / USUAL } else { 1.0 }
}

/// Above the other windows, without the keyboard.
pub(super) fn raise(window: &WebviewWindow) -> tauri::Result<()> {
    if let Some(window) = window.gtk_window()?.window() {
        window.raise();
    }
    Ok(())
}
