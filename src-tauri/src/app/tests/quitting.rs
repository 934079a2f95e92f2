//! The end.

use std::{path::Path, time::Duration};

use clientmcp_protocol::control::{Count, Event, Memory, Pin};
use tokio::{
    sync::{mpsc, oneshot::error::TryRecvError},
    time::Instant,
};

use super::{
    heads::{call, id, snapshot},
    waits::PATIENCE,
    world::{Bridges, Desktop, Folder, Places, Seen, World},
};
use crate::{
    app::{Options, start},
    connect::Program,
    shell::{Action, Deed, Standing},
    wire::{Answer, Ask, Page},
};

// holds: desktop-quit
#[tokio::test(start_paused = true)]
async fn without_calls_it_quits_at_once_and_writes_down_what_the_bridge_says_last() {
    let (world, mut bridge) = World::served().await;
    world.tell(Deed::Picked(Action::Quit));
    assert_eq!(bridge.line().await, None, "stdin is closed");
    let pins = vec![Pin { application: id("wallet"), origins: vec!["native".to_owned()] }];
    bridge.say(&Event::Remember(Box::new(Memory { pins: pins.clone(), ..Memory::default() }))).await;
    bridge.crash(0);
    let (folder, keys) = (world.folder.clone(), world.keys.clone());
    world.over().await;
    let mut world = World::begin(folder, keys);
    assert_eq!(world.bridge().await.serve().await.memory.pins, pins);
}

// holds: desktop-quit
#[tokio::test(start_paused = true)]
async fn with_calls_under_way_it_asks_first() {
    let (mut world, mut bridge) = World::served().await;
    bridge.say(&snapshot(|snapshot| snapshot.calls = vec![call(1), call(2)])).await;
    world.view(|view| view.snapshot.is_some()).await;
    world.tell(Deed::Picked(Action::Quit));
    world.until(|seen| matches!(seen, Seen::OpenMain).then_some(())).await;
    world.view(|view| view.quitting == Some(Count(2))).await;
    assert_eq!(world.ask(Ask::Stay).await, Answer::Done);
    world.view(|view| view.quitting.is_none()).await;
    world.tell(Deed::Picked(Action::Quit));
    world.tell(Deed::Main(Standing::Clear));
    world.view(|view| view.quitting.is_some()).await;
    world.tell(Deed::Main(Standing::Gone));
    world.view(|view| view.quitting.is_none()).await;
    assert_eq!(world.ask(Ask::Quit).await, Answer::Done);
    bridge.stop().await;
    world.over().await;
}

// holds: desktop-quit
#[tokio::test(start_paused = true)]
async fn a_bridge_that_does_not_end_is_killed_after_5_seconds() {
    let (world, mut bridge) = World::served().await;
    let start = Instant::now();
    world.tell(Deed::Ending);
    assert_eq!(bridge.line().await, None);
    bridge.killed.await.expect("killed");
    assert!(start.elapsed() >= Duration::from_secs(5) && start.elapsed() < Duration::from_secs(6));
    let _ = bridge.exits.send(None);
    world.over().await;
}

// holds: desktop-quit
#[tokio::test(start_paused = true)]
async fn the_end_of_the_session_asks_nothing() {
    let (mut world, mut bridge) = World::served().await;
    bridge.say(&snapshot(|snapshot| snapshot.calls = vec![call(1)])).await;
    world.view(|view| view.snapshot.is_some()).await;
    world.tell(Deed::Ending);
    bridge.stop().await;
    world.over().await;
}

// holds: desktop-quit
#[tokio::test]
async fn after_a_fault_of_the_app_itself_its_bridge_ends_in_order_and_the_process_with_a_code() {
    let ((shown, mut seen), (bridges, mut born)) = (mpsc::unbounded_channel(), Bridges::new());
    let folder = Folder::new();
    let options = Options {
        settings_path: folder.settings(),
        port_override: None,
        program: Program::at(Path::new("/opt/clientmcp")),
        version: "1.2.3".to_owned(),
        question_windows: true,
    };
    let handle = start(Desktop::broken(shown), Places::default(), bridges, options).expect("a thread");
    let mut bridge = born.recv().await.expect("a bridge");
    bridge.serve().await;
    handle.tell(Deed::Open(None));
    assert_eq!(bridge.line().await, None, "stdin is closed");
    assert!(!handle.wait(Duration::ZERO), "its bridge is waited for");
    assert_eq!(bridge.killed.try_recv(), Err(TryRecvError::Empty));
    bridge.crash(0);
    let code = loop {
        if let Seen::Exit(code) = seen.recv().await.expect("the last word") {
            break code;
        }
    };
    assert_eq!(code, 1);
    assert!(handle.wait(PATIENCE), "the app did not end within {PATIENCE:?}");
}

// holds: desktop-no-tray
#[tokio::test(start_paused = true)]
async fn without_a_tray_the_window_opens_and_says_why() {
    let mut world = World::begin(Folder::new(), Places::default());
    world.tell(Deed::NoTray("no panel".to_owned()));
    world.until(|seen| matches!(seen, Seen::OpenMain).then_some(())).await;
    world.view(|view| view.no_tray.as_deref() == Some("no panel")).await;
    world.tell(Deed::TrayThere);
    world.view(|view| view.no_tray.is_none()).await;
    world.tell(Deed::Open(Some(Page::Calls)));
    world.until(|seen| matches!(seen, Seen::OpenMain).then_some(())).await;
    world.view(|view| view.wanted == (Page::Calls, Count(1))).await;
}
