//! `clientmcp-desktop`: the tray app.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

fn main() {
    clientmcp_desktop::run();
}
