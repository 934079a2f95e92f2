//! `clientmcp-desktop`: the tray app.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    clientmcp_desktop::run()
}
