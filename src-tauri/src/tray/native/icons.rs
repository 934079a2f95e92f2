//! The icons as pictures, for panels of either kind.

use tauri::{image::Image, include_image};

use crate::tray::menu::Icon;

/// The picture for the panel of this desktop.
pub(super) fn of(icon: Icon) -> Image<'static> {
    if panel_is_dark() { on_dark(icon) } else { on_light(icon) }
}

/// These can be seen on dark panels too, and macOS paints them anew, in its own colour.
fn on_light(icon: Icon) -> Image<'static> {
    match icon {
        Icon::Idle => include_image!("icons/tray/idle-light.png"),
        Icon::Active => include_image!("icons/tray/active-light.png"),
        Icon::Waiting => include_image!("icons/tray/waiting-light.png"),
        Icon::Paused => include_image!("icons/tray/paused-light.png"),
        Icon::Error => include_image!("icons/tray/error-light.png"),
    }
}

fn on_dark(icon: Icon) -> Image<'static> {
    match icon {
        Icon::Idle => include_image!("icons/tray/idle-dark.png"),
        Icon::Active => include_image!("icons/tray/active-dark.png"),
        Icon::Waiting => include_image!("icons/tray/waiting-dark.png"),
        Icon::Paused => include_image!("icons/tray/paused-dark.png"),
        Icon::Error => include_image!("icons/tray/error-dark.png"),
    }
}

/// GNOME's is always dark; other desktops paint theirs as GTK paints windows.
#[cfg(target_os = "linux")]
fn panel_is_dark() -> bool {
    use gtk::prelude::GtkSettingsExt;

    let desktop = std::env::var("XDG_CURRENT_DESKTOP").unwrap_or_default();
    let is_gnome = desktop.split(':').any(|name| name == "GNOME" || name == "Unity");
    is_gnome
        || gtk::Settings::default().is_some_and(|settings| {
            let theme = settings.gtk_theme_name().unwrap_or_default().to_lowercase();
            settings.is_gtk_application_prefer_dark_theme() || theme.ends_with("dark")
        })
}

/// macOS paints the picture itself; Windows does not say without its registry.
#[cfg(not(target_os = "linux"))]
const fn panel_is_dark() -> bool {
    cfg!(windows)
}
