//! Tells Tauri which commands exist, so that each window can call only what its capability names.

use tauri_build::{AppManifest, Attributes, try_build};

fn main() {
    // The windows' pages are compiled in, and nothing else notices when only they were built anew.
    println!("cargo::rerun-if-changed=../ui/dist");
    let commands = AppManifest::new().commands(&["ask", "hear", "ask_of", "hear_of"]);
    if let Err(fault) = try_build(Attributes::new().app_manifest(commands)) {
        println!("cargo::error={fault:#}");
    }
}
