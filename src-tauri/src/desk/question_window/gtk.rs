//! What only GTK tells of the small window: whether another one lies on it, and when it leaves the screen.

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
        if let Some(event) = event.downcast_ref::<gdk::EventVisibility>() {
            tell(&told, Deed::Small(id, standing(event.state())));
        }
        Propagation::Proceed
    });
    let told = app.clone();
    window.connect_unmap(move |_| tell(&told, Deed::Small(id, Standing::Gone)));
    Ok(())
}

/// What is covered in part is covered: the part may be a button.
fn standing(state: gdk::VisibilityState) -> Standing {
    if state == gdk::VisibilityState::Unobscured { Standing::Clear } else { Standing::Covered }
}

/// Above the other windows, without the keyboard.
pub(super) fn raise(window: &WebviewWindow) -> tauri::Result<()> {
    if let Some(window) = window.gtk_window()?.window() {
        window.raise();
    }
    Ok(())
}
