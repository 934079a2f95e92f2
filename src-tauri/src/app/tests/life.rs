//! Bridges that fail, end and are started again, and what the person is told of it.

use std::time::Duration;

use clientmcp_protocol::{
    control::{
        ClientOrigins, Command, Count, Ending, ErrorCode, Event, FinishedCall, Hello, Memory, Millis, Mode, ModeOf,
        Reply, Until,
    },
    ids::Role,
};
use clientmcp_settings::SecretStore;
use tokio::time::Instant;

use super::{
    heads::{application, call, id, question, snapshot},
    waits::looked,
    world::{Folder, Places, Seen, World, item},
};
use crate::{
    keys::Place,
    shell::Action,
    wire::{Answer, Ask, BridgeState, NoticeKind, RefusedCode, Theme, View},
};

fn is_failed(view: &View) -> bool {
    matches!(view.bridge, BridgeState::Failed { .. })
}

fn failure(view: View) -> (Option<ErrorCode>, String) {
    match view.bridge {
        BridgeState::Failed { code, sentence } => (code, sentence),
        other => panic!("{other:?}"),
    }
}

// holds: desktop-bridge-backoff
#[tokio::test(start_paused = true)]
async fn a_bridge_that_ends_is_started_again_five_times_and_then_only_when_the_person_says_so() {
    let (mut world, bridge) = World::served().await;
    let start = Instant::now();
    bridge.crash(101);
    let view = world.view(|view| matches!(view.bridge, BridgeState::Waiting { .. })).await;
    assert!(view.notices.iter().any(|notice| notice.kind == NoticeKind::BridgeEnded));
    for _ in 0..4 {
        world.bridge().await.crash(101);
    }
    world.notified().await;
    let (code, sentence) = failure(world.view(is_failed).await);
    assert!(code.is_none() && sentence.contains("exit code 101"), "{sentence}");
    assert!(start.elapsed() >= Duration::from_secs(3));
    tokio::time::sleep(Duration::from_secs(120)).await;
    world.no_bridge();
    world.tell(crate::shell::Deed::Picked(Action::Retry));
    let mut next = world.bridge().await;
    next.serve().await;
    world.running().await;
}

// holds: desktop-until-quit
#[tokio::test(start_paused = true)]
async fn the_next_bridge_is_handed_what_the_last_one_knew_and_stays_paused() {
    let (mut world, mut bridge) = World::served().await;
    let modes =
        vec![ModeOf { application: id("wallet"), mode: Mode::AllowAll, until: Until::Quit, ends: Some(Millis(9)) }];
    bridge.say(&Event::Remember(Box::new(Memory { modes: modes.clone(), ..Memory::default() }))).await;
    let paused = world.start_asking(Ask::Pause);
    assert_eq!(bridge.obey().await, Command::Pause);
    assert_eq!(paused.await, Ok(Answer::Done));
    bridge.crash(1);
    let mut bridge = world.bridge().await;
    let start = bridge.serve().await;
    assert_eq!((start.memory.modes, start.paused), (modes, true));
}

// holds: desktop-port-taken
#[tokio::test(start_paused = true)]
async fn a_taken_port_is_waited_for_and_then_named_with_what_it_means() {
    let (mut world, bridge) = World::served().await;
    bridge.crash(1);
    let start = Instant::now();
    loop {
        let mut bridge = world.bridge().await;
        let (request, _) = bridge.greet().await;
        let sentence = "port 27182 is taken".to_owned();
        bridge.reply(request, Reply::Refused { code: ErrorCode::PortTaken, sentence }).await;
        bridge.crash(3);
        if start.elapsed() >= Duration::from_millis(3_200) {
            break;
        }
    }
    let view = world.view(is_failed).await;
    let ended = view.notices.iter().filter(|notice| notice.kind == NoticeKind::BridgeEnded);
    assert_eq!(ended.count(), 1, "the one that ran ended, those that could not begin did not");
    let (code, sentence) = failure(view);
    assert_eq!(code, Some(ErrorCode::PortTaken));
    assert!(sentence.contains("port 27182") && sentence.contains("may be known"), "{sentence}");
    tokio::time::sleep(Duration::from_secs(60)).await;
    world.no_bridge();
}

// holds: desktop-bridge-for-good
#[tokio::test(start_paused = true)]
async fn a_missing_program_and_another_version_are_said_and_not_tried_again() {
    let (mut world, bridge) = World::served().await;
    *world.missing.lock().unwrap() = true;
    bridge.crash(1);
    let (_, sentence) = failure(world.view(is_failed).await);
    assert!(sentence.contains("missing") && sentence.contains("install"), "{sentence}");
    *world.missing.lock().unwrap() = false;
    world.ask(Ask::Retry).await;
    let mut bridge = world.bridge().await;
    bridge.say(&Event::Hello(Hello { control: 2, version: "7".to_owned() })).await;
    bridge.line().await;
    bridge.stop().await;
    let (code, sentence) = failure(world.view(is_failed).await);
    assert!(code == Some(ErrorCode::Version) && sentence.contains("another version"), "{sentence}");
    world.no_bridge();
}

// holds: desktop-bridge-silent
#[tokio::test(start_paused = true)]
async fn a_bridge_that_says_nothing_is_killed_and_counts_as_failed() {
    let (mut world, bridge) = World::served().await;
    bridge.crash(1);
    let silent = world.bridge().await;
    silent.killed.await.expect("killed");
    let _ = silent.exits.send(None);
    world.view(|view| matches!(view.bridge, BridgeState::Waiting { .. })).await;
    let mut next = world.bridge().await;
    next.serve().await;
}

// holds: desktop-preferences
#[tokio::test(start_paused = true)]
async fn another_port_starts_the_bridge_anew_when_the_old_one_has_ended() {
    let (mut world, bridge) = World::served().await;
    let mut preferences = world.now().await.preferences;
    preferences.port = 4_001;
    assert_eq!(world.ask(Ask::SetPreferences { preferences }).await, Answer::Done);
    world.no_bridge();
    bridge.stop().await;
    let mut next = world.bridge().await;
    assert_eq!(next.serve().await.port, 4_001);
    world.running().await;
}

// holds: desktop-preferences
#[tokio::test(start_paused = true)]
async fn a_port_for_this_run_is_neither_shown_as_the_remembered_one_nor_remembered() {
    let (folder, id) = Folder::new().with_settings(4_000, SecretStore::Keychain);
    let keys = Places::default();
    keys.put(&Place::Keychain, item(&"s".repeat(43), Some(&id)));
    let mut world = World::on_port(folder, keys, true, Some(4_001));
    let mut bridge = world.bridge().await;
    assert_eq!(bridge.serve().await.port, 4_001);
    let mut preferences = world.running().await.preferences;
    assert_eq!(preferences.port, 4_000);
    preferences.theme = Theme::Dark;
    assert_eq!(world.ask(Ask::SetPreferences { preferences: preferences.clone() }).await, Answer::Done);
    let view = world.view(|view| view.preferences.theme == Theme::Dark).await;
    assert!(view.preferences == preferences && matches!(view.bridge, BridgeState::Running { .. }), "{view:?}");
    // A port that the person chooses counts at once.
    preferences.port = 4_002;
    assert_eq!(world.ask(Ask::SetPreferences { preferences }).await, Answer::Done);
    bridge.stop().await;
    assert_eq!(world.bridge().await.serve().await.port, 4_002);
}

// holds: desktop-preferences
#[tokio::test(start_paused = true)]
async fn other_preferences_take_effect_at_once_and_bad_ones_not_at_all() {
    let (mut world, mut bridge) = World::served().await;
    let mut preferences = world.now().await.preferences;
    (preferences.client_origins, preferences.start_at_login) = (ClientOrigins::Any, true);
    let asked = world.start_asking(Ask::SetPreferences { preferences: preferences.clone() });
    let Command::SetSettings { settings } = bridge.obey().await else { panic!("settings") };
    assert_eq!((settings.client_origins, asked.await), (ClientOrigins::Any, Ok(Answer::Done)));
    world.until(|seen| matches!(seen, Seen::StartAtLogin(true)).then_some(())).await;
    let bad = crate::wire::Preferences { port: 0, ..preferences.clone() };
    let refused = world.ask(Ask::SetPreferences { preferences: bad }).await;
    assert!(matches!(refused, Answer::Refused { code: RefusedCode::Bridge(ErrorCode::Value), .. }));
    assert_eq!(world.now().await.preferences, preferences);
}

// holds: desktop-views
#[tokio::test(start_paused = true)]
async fn views_come_at_most_ten_a_second_and_no_two_are_equal() {
    let (mut world, mut bridge) = World::served().await;
    let mut last = (world.now().await, Instant::now() - Duration::from_millis(100));
    for revision in 0..50_u64 {
        bridge.say(&snapshot(|snapshot| snapshot.revision = Count(revision / 2))).await;
        if revision % 5 == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        while let Ok(seen) = world.seen.try_recv() {
            if let Seen::View(view) = seen {
                assert!(*view != last.0 && last.1.elapsed() >= Duration::from_millis(90), "{:?}", last.1.elapsed());
                last = (*view, Instant::now());
            }
        }
    }
    world.view(|view| view.snapshot.as_ref().is_some_and(|snapshot| snapshot.revision == Count(24))).await;
}

// holds: desktop-notices
#[tokio::test(start_paused = true)]
async fn connections_and_refused_origins_become_notices_and_known_applications() {
    let (mut world, mut bridge) = World::served().await;
    bridge.say(&snapshot(|snapshot| snapshot.applications = vec![application(1)])).await;
    bridge
        .say(&snapshot(|snapshot| {
            snapshot.applications = vec![application(2)];
            snapshot.refused.client_origin = Count(3);
        }))
        .await;
    bridge.say(&Event::Error { code: ErrorCode::NotACommand, sentence: "a\u{202e}b".to_owned() }).await;
    let view = world.view(|view| view.notices.len() == 4).await;
    let kinds: Vec<_> = view.notices.iter().map(|notice| notice.kind).collect();
    let expected = [NoticeKind::Trouble, NoticeKind::Replaced, NoticeKind::OriginRefused, NoticeKind::FirstConnection];
    assert_eq!(kinds, expected);
    assert!(view.notices.iter().all(|notice| !notice.detail.as_ref().is_some_and(|text| text.contains('\u{202e}'))));
    assert_eq!(view.known.iter().map(|known| known.application.clone()).collect::<Vec<_>>(), [id("wallet")]);
    let number = view.notices[0].number;
    world.ask(Ask::Dismiss { number }).await;
    assert_eq!(world.now().await.notices, view.notices[1..]);
}

// holds: desktop-finished
#[tokio::test(start_paused = true)]
async fn finished_calls_are_kept_until_another_bridge_begins() {
    let (mut world, mut bridge) = World::served().await;
    let one = FinishedCall { call: call(1), outcome: Ending::Answered, ended: Millis(5), result_bytes: Count(1) };
    bridge.say(&Event::Finished { calls: vec![one.clone(); 1_200], missed: Count(2) }).await;
    let told = world.until(|seen| match seen {
        Seen::Finished(told) if !told.calls.is_empty() => Some(told),
        _ => None,
    });
    assert_eq!((told.await.calls.len(), world.ask(Ask::Retry).await), (1_200, Answer::Done));
    let Answer::Calls(kept) = world.ask(Ask::Calls).await else { panic!("calls") };
    assert_eq!((kept.run, kept.calls.len(), kept.missed), (Count(1), 1_000, Count(2)));
    bridge.crash(1);
    let mut next = world.bridge().await;
    next.serve().await;
    world.running().await;
    let Answer::Calls(kept) = world.ask(Ask::Calls).await else { panic!("calls") };
    assert_eq!((kept.run, kept.calls.len()), (Count(2), 0));
}

// holds: desktop-known
#[tokio::test(start_paused = true)]
async fn labels_show_when_their_tokens_were_used_and_go_when_they_are_revoked() {
    let (mut world, mut bridge) = World::served().await;
    let label = call(1).agent;
    let asked = world.start_asking(Ask::CopyToken {
        application: id("wallet"),
        role: Role::Agent,
        label: label.clone(),
        days: Some(90),
    });
    let (request, command) = bridge.asked().await;
    assert!(matches!(command, Command::Mint { seconds: Some(7_776_000), .. }));
    bridge.reply(request, Reply::Token { token: "t.o.k".to_owned(), ends: Some(Millis(9)) }).await;
    let (_, copied) = world.copied().await;
    drop(copied.send(Ok(crate::shell::Copied::Passing)));
    assert!(matches!(asked.await, Ok(Answer::Copied { .. })));
    bridge.say(&snapshot(|snapshot| snapshot.calls = vec![call(1)])).await;
    let used = |view: &View| view.known.iter().any(|known| known.labels.iter().any(|label| label.last_use.is_some()));
    world.view(used).await;
    let which = clientmcp_protocol::control::Which::Label(label);
    let asked = world.start_asking(Ask::Revoke { application: id("wallet"), role: Role::Agent, which });
    bridge.obey().await;
    assert_eq!(asked.await, Ok(Answer::Done));
    assert!(world.now().await.known.iter().all(|known| known.labels.is_empty()));
}

// holds: desktop-bridge-gone
#[tokio::test(start_paused = true)]
async fn what_a_bridge_showed_and_was_asked_ends_with_it() {
    let (mut world, mut bridge) = World::served().await;
    bridge.say(&snapshot(|snapshot| snapshot.questions = vec![question(5, "Editor", 9)])).await;
    assert!(world.small_window().await.is_some());
    let asked = world.start_asking(Ask::Disconnect { application: id("wallet") });
    bridge.asked().await;
    bridge.crash(1);
    assert!(matches!(asked.await, Ok(Answer::Refused { code: RefusedCode::NoBridge, .. })));
    assert_eq!(world.small_window().await, None);
    assert_eq!(world.now().await.snapshot, None);
}

// holds: desktop-last-use
#[tokio::test(start_paused = true)]
async fn an_application_that_comes_and_goes_all_the_time_is_not_written_down_each_time() {
    let (mut world, mut bridge) = World::served().await;
    let connected = |connection| snapshot(move |snapshot| snapshot.applications = vec![application(connection)]);
    bridge.say(&connected(1)).await;
    world.view(|view| !view.known.is_empty()).await;
    let settings = world.folder.settings();
    let written = || std::fs::metadata(&settings).and_then(|file| file.modified()).ok();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let first = written();
    for connection in 2..20 {
        bridge.say(&connected(connection)).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(first.is_some() && written() == first);
    tokio::time::sleep(Duration::from_secs(60)).await;
    looked("the settings to be written anew", || (written() != first).then_some(())).await;
}
