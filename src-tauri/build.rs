//! Tells Tauri which commands exist, so that each window can call only what its capability names.

fn main() {
    // The windows' pages are compiled in, and nothing else notices when only they were built anew.
    println!("cargo::rerun-if-changed=../ui/dist");
    tauri_build::build();
}
