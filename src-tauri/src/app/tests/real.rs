//! The real bridge: it understands what the app says.

use std::{path::PathBuf, sync::mpsc};

use super::{waits::PATIENCE, world::Places};
use crate::{
    app::{Options, start, tests::world::Folder},
    shell::{AppWindow, Copied, Deed, Notification, Shell, ToCopy},
    sidecar::Sidecar,
    tray::menu::Tray,
    wire::{BridgeState, DoorQuestionView, FinishedCalls, QuestionView, View},
};
use clientmcp_protocol::ids::QuestionId;
use tokio::sync::oneshot;

struct Quiet(mpsc::Sender<BridgeState>);

impl Shell for Quiet {
    fn show_view(&self, view: &View) {
        drop(self.0.send(view.bridge.clone()));
    }
    fn show_finished(&self, _: &FinishedCalls) {}
    fn show_question(&self, _: &QuestionView) {}
    fn show_door_question(&self, _: &DoorQuestionView) {}
    fn show_tray(&self, _: &Tray) {}
    fn open_main(&self) {}
    fn ask(&self, _: Option<&QuestionId>) {}
    fn look_at(&self, _: AppWindow, _: oneshot::Sender<bool>) {}
    fn notify(&self, _: &Notification) {}
    fn copy(&self, _: ToCopy, _: oneshot::Sender<Result<Copied, String>>) {}
    fn start_at_login(&self, _: bool) -> Result<(), String> {
        Ok(())
    }
    fn exit(&self, _: i32) {}
}

/// The program, which Cargo does not build for the tests of another package.
fn program() -> PathBuf {
    let name = format!("clientmcp{}", std::env::consts::EXE_SUFFIX);
    let test = std::env::current_exe().expect("this test is a program");
    let programs = test.ancestors().skip(1).take(2).map(|folder| folder.join(&name));
    programs.into_iter().find(|program| program.is_file()).unwrap_or_else(|| {
        panic!("{name} is not built, so this test cannot run: cargo build --package clientmcp-bridge")
    })
}

// holds: desktop-sidecar
#[test]
fn the_real_bridge_starts_serves_and_ends_with_the_app() {
    let (views, shown) = mpsc::channel();
    let folder = Folder::new();
    let options = Options {
        settings_path: folder.settings(),
        port_override: Some(0),
        program: None,
        version: "1.2.3".to_owned(),
        question_windows: true,
    };
    let handle = start(Quiet(views), Places::default(), Sidecar::at(program()), options).expect("a thread");
    let url = loop {
        match shown.recv_timeout(PATIENCE).expect("a bridge that runs") {
            BridgeState::Running { mcp, .. } => break mcp,
            BridgeState::Waiting { sentence } | BridgeState::Failed { sentence, .. } => panic!("{sentence}"),
            BridgeState::Held | BridgeState::Starting => {}
        }
    };
    assert!(url.starts_with("http://127.0.0.1:"));
    handle.tell(Deed::Ending);
    assert!(handle.wait(PATIENCE), "the app did not end within {PATIENCE:?}");
}
