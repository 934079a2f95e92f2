//! Tells Tauri which commands exist, so that each window can call only what its capability names.

fn main() {
    tauri_build::build();
}
