//! How a window looks before its page knows anything: in the page's own colour, so that a dark one does not begin with a
//! white flash.

use tauri::{WebviewWindow, window::Color};

use crate::wire::Theme;

/// `--page` in `ui/src/style/tokens.css`.
const LIGHT: Color = Color(0xf4, 0xf2, 0xed, 0xff);
const DARK: Color = Color(0x16, 0x19, 0x1b, 0xff);

/// Gives it to a window. On the main thread.
pub(super) fn lay(window: &WebviewWindow, theme: Theme) -> tauri::Result<()> {
    window.set_background_color(Some(colour(theme, || system_is_dark(window))))
}

/// Runs before the page's own scripts, and has it begin in this theme.
pub(super) fn script(theme: Theme) -> String {
    let theme = match theme {
        Theme::System => return String::new(),
        Theme::Light => "light",
        Theme::Dark => "dark",
    };
    // Where there is no page at all yet, its first element is waited for.
    format!(
        r#"(() => {{
  const begin = () => document.documentElement && (document.documentElement.dataset.theme = "{theme}");
  if (!begin()) {{
    new MutationObserver((_, observer) => begin() && observer.disconnect()).observe(document, {{ childList: true }});
  }}
}})();"#
    )
}

fn colour(theme: Theme, system_is_dark: impl FnOnce() -> bool) -> Color {
    let dark = match theme {
        Theme::System => system_is_dark(),
        Theme::Light => false,
        Theme::Dark => true,
    };
    if dark { DARK } else { LIGHT }
}

/// As the web view's `prefers-color-scheme` has it.
#[cfg(target_os = "linux")]
fn system_is_dark(_: &WebviewWindow) -> bool {
    use gtk::prelude::GtkSettingsExt as _;

    let Some(settings) = gtk::Settings::default() else { return false };
    let named = settings.gtk_theme_name().is_some_and(|name| is_named_dark(&name));
    settings.is_gtk_application_prefer_dark_theme() || named
}

#[cfg(target_os = "linux")]
fn is_named_dark(theme: &str) -> bool {
    let theme = theme.to_ascii_lowercase();
    theme.ends_with("-dark") || theme.ends_with(":dark")
}

#[cfg(not(target_os = "linux"))]
fn system_is_dark(window: &WebviewWindow) -> bool {
    window.theme().is_ok_and(|theme| theme == tauri::Theme::Dark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(Color(red, green, blue, _): Color) -> String {
        format!("--page: #{red:02x}{green:02x}{blue:02x};")
    }

    // holds: desktop-theme
    #[test]
    fn a_window_begins_with_the_colour_that_its_page_will_have() {
        let tokens = include_str!("../../../ui/src/style/tokens.css");
        let pages: Vec<_> = tokens.lines().map(str::trim).filter(|line| line.starts_with("--page:")).collect();
        // Light, dark by the system, dark by choice.
        assert_eq!(pages, [written(LIGHT), written(DARK), written(DARK)]);
        for (theme, system, expected) in [
            (Theme::System, false, LIGHT),
            (Theme::System, true, DARK),
            (Theme::Light, true, LIGHT),
            (Theme::Dark, false, DARK),
        ] {
            assert_eq!(colour(theme, || system), expected, "{theme:?}, {system}");
        }
    }

    // holds: desktop-theme
    #[test]
    fn a_page_begins_in_the_theme_that_was_chosen() {
        assert_eq!(script(Theme::System), "");
        assert!(script(Theme::Dark).contains("dataset.theme = \"dark\""));
        assert!(script(Theme::Light).contains("dataset.theme = \"light\""));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_system_is_dark_where_its_theme_says_so() {
        assert!(is_named_dark("Adwaita-dark") && is_named_dark("Adwaita:dark") && is_named_dark("Yaru-Dark"));
        assert!(!is_named_dark("Adwaita") && !is_named_dark("Darkroom"));
    }
}
