//! ClientMCP Desktop: the tray app that keeps the secrets, shows what agents do and asks before they do it.
//!
//! Here the parts are put together: the app itself ([`app`]), and around it the real desktop, keychain and bridge.

pub mod app;
mod arguments;
mod bridge;
pub mod clipboard;
mod commands;
pub mod connect;
mod desk;
mod ending;
pub mod keys;
pub mod logs;
pub mod platform;
pub mod shell;
pub mod sidecar;
pub mod tray;
pub mod wire;

use std::{error::Error, io, path::PathBuf, process::ExitCode, sync::Arc};

use clap::Parser;
use tauri::{App, AppHandle, Manager, RunEvent, Wry};

use crate::{
    app::Options,
    arguments::{Arguments, HIDDEN},
    commands::tell,
    connect::Program,
    desk::Desk,
    keys::KeysThread,
    platform::NoTray,
    shell::Deed,
    sidecar::Sidecar,
    tray::native::NativeTray,
};

/// Runs the app until it quits.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    logs::start();
    match platform::shut_inspector().map_err(tauri::Error::from).and_then(|()| build(arguments)) {
        Ok(app) => {
            app.run(stay);
            ExitCode::SUCCESS
        }
        Err(fault) => {
            tracing::error!("the app cannot start: {fault}");
            eprintln!("clientmcp-desktop: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn build(arguments: Arguments) -> tauri::Result<App<Wry>> {
    tauri::Builder::default()
        // First, as its documentation asks: a second launch must do nothing but tell the first.
        .plugin(tauri_plugin_single_instance::init(|app, words, _folder| launched_again(app, &words)))
        .plugin(tauri_plugin_autostart::Builder::new().arg(HIDDEN).build())
        .plugin(tauri_plugin_notification::init())
        .invoke_handler(tauri::generate_handler![commands::ask, commands::hear, commands::ask_of, commands::hear_of])
        .setup(move |app| set_up(app.handle(), &arguments))
        .build(tauri::generate_context!())
}

fn set_up(app: &AppHandle, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let sidecar = Sidecar::beside_us()?;
    let options = options(arguments, &sidecar)?;
    let opens = arguments.window || !arguments.hidden && !options.settings_path.exists();
    let tray = Arc::new(NativeTray::new(no_tray()));
    let shell = Desk::new(app.clone(), Arc::clone(&tray));
    app.manage(app::start(shell, KeysThread::start(), sidecar, options)?);
    tray.watch(app);
    desk::on_click(app);
    tauri::async_runtime::spawn(ending::watch(app.clone()));
    // At the very first start there is something to see; later the tray is enough.
    if opens {
        tell(app, Deed::Open(None));
    }
    Ok(())
}

fn options(arguments: &Arguments, sidecar: &Sidecar) -> io::Result<Options> {
    Ok(Options {
        settings_path: settings_path(arguments)?,
        port_override: arguments.port,
        program: Program::at(sidecar.program()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        question_windows: platform::question_windows(),
    })
}

fn settings_path(arguments: &Arguments) -> io::Result<PathBuf> {
    match &arguments.settings {
        Some(path) => std::path::absolute(path),
        None => clientmcp_settings::default_path()
            .ok_or_else(|| io::Error::other("this user has no home folder; name a file with --settings")),
    }
}

/// Why no tray can be made. One that nobody shows can be made: it appears when somebody does.
fn no_tray() -> Option<String> {
    match platform::tray_missing()? {
        NoTray::Impossible(sentence) => Some(sentence),
        NoTray::Unseen(_) => None,
    }
}

/// A second launch opens the window, unless it is the one at login.
fn launched_again(app: &AppHandle, words: &[String]) {
    if !words.iter().any(|word| word == HIDDEN) {
        tell(app, Deed::Open(None));
    }
}

/// The app stays in the tray when its last window closes; it ends when it says so itself.
fn stay(app: &AppHandle, event: RunEvent) {
    if is_reopening(&event) {
        tell(app, Deed::Open(None));
    }
    if let RunEvent::ExitRequested { code: None, api, .. } = event {
        api.prevent_exit();
    }
}

/// On macOS there is no second launch: the one that runs is asked to show itself.
#[cfg(target_os = "macos")]
const fn is_reopening(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Reopen { .. })
}

#[cfg(not(target_os = "macos"))]
const fn is_reopening(_: &RunEvent) -> bool {
    false
}
