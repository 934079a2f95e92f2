//! ClientMCP Desktop: the tray app that keeps the secrets, shows what agents do and asks before they do it.

mod app;
mod arguments;
pub mod clipboard;
mod commands;
pub mod connect;
mod desk;
mod ending;
pub mod keys;
pub mod logs;
pub mod platform;
pub mod shell;
pub mod tray;
pub mod wire;

use std::{error::Error, process::ExitCode, sync::Arc};

use clap::Parser;
use tauri::{App, AppHandle, Manager, RunEvent, Wry};

use crate::{
    arguments::{Arguments, HIDDEN},
    commands::tell,
    desk::Desk,
    platform::NoTray,
    shell::Deed,
    tray::native::NativeTray,
};

/// Runs the app until it quits.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    match build(arguments) {
        Ok(app) => {
            app.run(stay);
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("clientmcp-desktop: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn build(arguments: Arguments) -> tauri::Result<App<Wry>> {
    tauri::Builder::default()
        // First, as its documentation asks: a second launch must do nothing but tell the first.
        .plugin(tauri_plugin_single_instance::init(launched_again))
        .plugin(tauri_plugin_autostart::Builder::new().arg(HIDDEN).build())
        .plugin(tauri_plugin_notification::init())
        .invoke_handler(tauri::generate_handler![commands::ask, commands::ask_of])
        .setup(move |app| set_up(app.handle(), &arguments))
        .build(tauri::generate_context!())
}

fn set_up(app: &AppHandle, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let impossible = platform::tray_missing().and_then(|missing| match missing {
        NoTray::Impossible(sentence) => Some(sentence),
        // It appears by itself when somebody shows it.
        NoTray::Unseen(_) => None,
    });
    let tray = Arc::new(NativeTray::new(impossible));
    let shell = Desk::new(app.clone(), Arc::clone(&tray));
    app.manage(app::start(shell));
    tray.watch(app);
    desk::on_click(app);
    tauri::async_runtime::spawn(ending::watch(app.clone()));
    Ok(())
}

/// A second launch opens the window, unless it is the one at login.
fn launched_again(app: &AppHandle, words: Vec<String>, _folder: String) {
    if !words.iter().any(|word| word == HIDDEN) {
        tell(app, Deed::Open(None));
    }
}

/// The app stays in the tray when its last window closes; it ends when it says so itself.
fn stay(app: &AppHandle, event: RunEvent) {
    match event {
        RunEvent::ExitRequested { code: None, api, .. } => api.prevent_exit(),
        #[cfg(target_os = "macos")]
        RunEvent::Reopen { .. } => tell(app, Deed::Open(None)),
        _ => {}
    }
    let _ = app;
}
