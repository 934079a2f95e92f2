//! `clientmcp-desktop`: the tray app.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::{alloc::System, process::ExitCode};

use zeroizing_alloc::ZeroAlloc;

/// Memory is overwritten when it is given back, so that no secret stays in what nobody uses any more, in whosever buffers it
/// lay on its way.
#[global_allocator]
static MEMORY: ZeroAlloc<System> = ZeroAlloc(System);

fn main() -> ExitCode {
    clientmcp_desktop::run()
}
