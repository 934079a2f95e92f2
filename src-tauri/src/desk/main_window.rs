//! The main window: built when it is wanted, destroyed when it is closed.

use tauri::{
    AppHandle, LogicalSize, Manager, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent,
    webview::NewWindowResponse,
};

use super::paper;
#[cfg(target_os = "linux")]
use crate::shell::AppWindow;
use crate::{
    commands::tell,
    shell::{Deed, Standing},
    wire::Theme,
};

/// Its label, which its capability names.
pub(crate) const MAIN: &str = "main";

/// What a window manager puts around a window, at most: nobody tells before it is shown.
const FRAME: LogicalSize<f64> = LogicalSize::new(20.0, 40.0);

/// Opens it, or raises the one there is. On the main thread.
pub(super) fn open(app: &AppHandle, theme: Theme) {
    let opened = match app.get_webview_window(MAIN) {
        Some(window) => raise(&window),
        None => build(app, theme),
    };
    if let Err(fault) = opened {
        tracing::error!("the window cannot be opened: {fault}");
    }
}

/// Shown once it is whole: window managers read a window's icon when it appears.
fn build(app: &AppHandle, theme: Theme) -> tauri::Result<()> {
    let window = WebviewWindowBuilder::new(app, MAIN, WebviewUrl::App("index.html".into()))
        .title("ClientMCP")
        .inner_size(1000.0, 700.0)
        .min_inner_size(640.0, 480.0)
        // What is not on the screen is not seen, and nothing of it can be allowed.
        .prevent_overflow_with_margin(FRAME)
        .center()
        .visible(false)
        // On by default in what is built for development, which is what `cargo xtask run` starts.
        .devtools(false)
        .initialization_script(paper::script(theme))
        .on_navigation(super::is_own)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()?;
    paper::lay(&window, theme)?;
    #[cfg(target_os = "linux")]
    super::cover::watch(app, &window, AppWindow::Main)?;
    let app = app.clone();
    window.on_window_event(move |event| stand(&app, event));
    window.show()
}

fn raise(window: &WebviewWindow) -> tauri::Result<()> {
    window.unminimize()?;
    window.show()?;
    window.set_focus()
}

/// While it has the keyboard it is in front; what lies on it all the same is the display's to tell.
fn stand(app: &AppHandle, event: &WindowEvent) {
    if let WindowEvent::Focused(in_front) = event {
        tell(app, Deed::Main(if *in_front { Standing::Clear } else { Standing::Covered }));
    } else if matches!(event, WindowEvent::Destroyed) {
        tell(app, Deed::Main(Standing::Gone));
    }
}
