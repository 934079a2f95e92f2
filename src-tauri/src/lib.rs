//! ClientMCP Desktop.

pub mod app;
mod bridge;
pub mod clipboard;
pub mod connect;
pub mod keys;
pub mod logs;
pub mod platform;
pub mod shell;
pub mod sidecar;
pub mod tray;
pub mod wire;

/// Runs the app until it quits.
pub fn run() {
    let built = tauri::Builder::default().build(tauri::generate_context!());
    if let Ok(app) = built {
        app.run(|_, _| {});
    }
}
