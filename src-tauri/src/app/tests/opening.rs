//! Every way to start.

use clientmcp_protocol::control::Secrets;
use clientmcp_settings::{SecretStore, kept_in};

use super::{
    waits::looked,
    world::{Folder, Places, PlayedBridge, SEAL, World, item},
};
use crate::{
    keys::{Item, Place},
    wire::{Answer, Ask, BridgeState, Keep, KeysCode, KeysState, NoticeKind, View},
};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn has(view: &View, kind: NoticeKind) -> bool {
    view.notices.iter().any(|notice| notice.kind == kind)
}

async fn secrets_of(world: &mut World) -> Vec<String> {
    world.bridge().await.serve().await.secrets.0
}

// holds: desktop-first-start
#[tokio::test(start_paused = true)]
async fn the_first_start_makes_a_secret_keeps_it_and_says_nothing() {
    let mut world = World::begin(Folder::new(), Places::default());
    let mut bridge = world.bridge().await;
    let start = bridge.serve().await;
    let kept = world.keys.item(&Place::Keychain).expect("written before the bridge started");
    assert_eq!((Secrets(kept.secrets.clone()), kept.secrets[0].len()), (start.secrets, 43));
    let view = world.running().await;
    assert_eq!((&view.keys, view.notices.len()), (&KeysState::Keychain, 0));
    assert_eq!((start.port, start.paused), (27182, false));
    let saved = looked("the settings to be written", || kept_in(&world.folder.settings())).await;
    assert_eq!(saved, (SecretStore::Keychain, kept.id.expect("an id")));
}

// holds: desktop-start
#[tokio::test(start_paused = true)]
async fn secrets_and_settings_that_belong_together_are_used() {
    let (folder, id) = Folder::new().with_settings(4_000, SecretStore::Keychain);
    let keys = Places::default();
    keys.put(&Place::Keychain, item(SECRET, Some(&id)));
    let mut world = World::begin(folder, keys);
    let mut bridge = world.bridge().await;
    let start = bridge.serve().await;
    assert_eq!((start.port, start.secrets.0), (4_000, vec![SECRET.to_owned()]));
    assert_eq!((world.running().await.notices.len(), world.keys.written()), (0, 0));
}

// holds: desktop-settings-lost
#[tokio::test(start_paused = true)]
async fn settings_that_are_missing_damaged_or_of_another_secret_end_all_tokens_and_it_is_said() {
    for case in ["missing", "damaged", "other id", "no secret"] {
        let (folder, id) = Folder::new().with_settings(4_000, SecretStore::Keychain);
        let keys = Places::default();
        let other = clientmcp_settings::SettingsId::random().unwrap();
        match case {
            "missing" => std::fs::remove_file(folder.settings()).unwrap(),
            "damaged" => std::fs::write(folder.settings(), "{").unwrap(),
            _ => {}
        }
        let kept = if case == "other id" { &other } else { &id };
        if case != "no secret" {
            keys.put(&Place::Keychain, item(SECRET, Some(kept)));
        }
        let mut world = World::begin(folder, keys);
        let mut bridge = world.bridge().await;
        let start = bridge.serve().await;
        assert!(start.secrets.0.len() == 1 && start.secrets.0[0] != SECRET, "{case}");
        assert_eq!((start.port, &start.memory.rules[..]), (27182, &[][..]), "{case}");
        assert!(has(&world.running().await, NoticeKind::SettingsLost), "{case}");
        assert_eq!(world.keys.item(&Place::Keychain).expect("written").secrets, start.secrets.0, "{case}");
    }
}

// holds: desktop-keys-trouble
#[tokio::test(start_paused = true)]
async fn a_keychain_in_trouble_holds_the_bridge_opens_the_window_and_can_be_tried_again() {
    let (folder, id) = Folder::new().with_settings(4_000, SecretStore::Keychain);
    let keys = Places::default();
    keys.put(&Place::Keychain, item(SECRET, Some(&id)));
    keys.fail_read(KeysCode::Locked);
    let mut world = World::begin(folder, keys);
    world.until(|seen| matches!(seen, super::world::Seen::OpenMain).then_some(())).await;
    let view = world.keys_trouble().await;
    let KeysState::Trouble { code, choices, .. } = view.keys else { panic!("trouble") };
    assert_eq!((code, choices[0].clone(), view.bridge), (KeysCode::Locked, Keep::Again, BridgeState::Held));
    world.no_bridge();
    assert_eq!(world.ask(Ask::Keep { choice: Keep::Again }).await, Answer::Done);
    assert_eq!(secrets_of(&mut world).await, [SECRET]);
}

// holds: desktop-keys-session
#[tokio::test(start_paused = true)]
async fn for_this_session_nothing_is_written_and_the_settings_stay_as_they_are() {
    let (folder, _) = Folder::new().with_settings(4_000, SecretStore::Keychain);
    let before = std::fs::read(folder.settings()).unwrap();
    let keys = Places::default();
    keys.fail_read(KeysCode::NoBus);
    let mut world = World::begin(folder, keys);
    world.keys_trouble().await;
    world.ask(Ask::Keep { choice: Keep::Session }).await;
    let mut bridge = world.bridge().await;
    assert_eq!(bridge.serve().await.secrets.0[0].len(), 43);
    assert_eq!(world.running().await.keys, KeysState::Session);
    world.ask(Ask::Quit).await;
    let (settings, keys) = (world.folder.clone(), world.keys.clone());
    bridge.stop().await;
    world.over().await;
    assert_eq!((std::fs::read(settings.settings()).unwrap(), keys.written()), (before, 0));
    let names: Vec<_> = std::fs::read_dir(settings.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| name == "settings.json" || name == "settings.json.lock"), "{names:?}");
}

// holds: desktop-keys-file
#[tokio::test(start_paused = true)]
async fn a_file_that_the_person_chose_is_used_from_then_on() {
    let keys = Places::default();
    keys.fail_read(KeysCode::NoProvider);
    let mut world = World::begin(Folder::new(), keys);
    world.keys_trouble().await;
    world.ask(Ask::Keep { choice: Keep::File }).await;
    let mut bridge = world.bridge().await;
    let start = bridge.serve().await;
    let place = world.folder.secret();
    let Place::File(path) = place.clone() else { panic!("a file") };
    assert_eq!(world.keys.item(&place), Some(item(&start.secrets.0[0], None)));
    let view = world.running().await;
    assert_eq!((view.keys, view.notices.len()), (KeysState::File { path: path.clone() }, 0));
    set_port(&mut world, &mut bridge, 4_000).await;
    let (folder, keys) = quit(world, bridge).await;
    assert_eq!(kept_in(&folder.settings()).map(|(store, _)| store), Some(SecretStore::File(path)));
    let mut world = World::begin(folder, keys);
    let mut bridge = world.bridge().await;
    let start_again = bridge.serve().await;
    assert_eq!((start_again.port, start_again.secrets), (4_000, start.secrets));
    assert_eq!(world.running().await.notices.len(), 0);
}

// holds: desktop-keys-file, desktop-settings-sealed
#[tokio::test(start_paused = true)]
async fn settings_of_a_keychain_that_cannot_be_read_do_not_come_along_into_a_file() {
    for left in [false, true] {
        let (folder, _) = Folder::new().with_settings(4_000, SecretStore::Keychain);
        let keys = Places::default();
        if left {
            // Tokens that those settings revoked must not come back.
            keys.put(&folder.secret(), item(SECRET, None));
        }
        keys.fail_read(KeysCode::Locked);
        let mut world = World::begin(folder, keys);
        world.keys_trouble().await;
        world.ask(Ask::Keep { choice: Keep::File }).await;
        let mut bridge = world.bridge().await;
        let start = bridge.serve().await;
        assert!(start.port == 27_182 && start.secrets.0.len() == 1 && start.secrets.0[0] != SECRET);
        assert_eq!(world.keys.item(&world.folder.secret()), Some(item(&start.secrets.0[0], None)));
        assert!(has(&world.running().await, NoticeKind::SettingsLost));
    }
}

/// Changes something in the settings, and waits until the bridge that serves on the port of before has ended.
async fn set_port(world: &mut World, bridge: &mut PlayedBridge, port: u16) {
    let mut preferences = world.now().await.preferences;
    preferences.port = port;
    let asked = world.start_asking(Ask::SetPreferences { preferences });
    assert_eq!(asked.await, Ok(Answer::Done));
    assert_eq!(bridge.line().await, None, "it is to end");
}

/// Quits, and waits until all is written.
async fn quit(world: World, bridge: PlayedBridge) -> (Folder, Places) {
    world.ask(Ask::Quit).await;
    let (folder, keys) = (world.folder.clone(), world.keys.clone());
    bridge.stop().await;
    world.over().await;
    (folder, keys)
}

// holds: desktop-settings-sealed
#[tokio::test(start_paused = true)]
async fn settings_that_another_program_changed_are_set_aside_and_all_tokens_end() {
    for (from, to) in [("4000", "4001"), ("\"seal\"", "\"sea1\""), ("\n}\n", "\n}")] {
        let (folder, id) = Folder::new().with_settings(4_000, SecretStore::Keychain);
        let keys = Places::default();
        keys.put(&Place::Keychain, item(SECRET, Some(&id)));
        let text = std::fs::read_to_string(folder.settings()).unwrap();
        assert!(text.contains(from));
        std::fs::write(folder.settings(), text.replace(from, to)).unwrap();
        let mut world = World::begin(folder, keys);
        let mut bridge = world.bridge().await;
        let start = bridge.serve().await;
        assert!(start.port == 27_182 && start.secrets.0[0] != SECRET, "{from}");
        let view = world.running().await;
        let lost = view.notices.iter().find(|notice| notice.kind == NoticeKind::SettingsLost).expect("a notice");
        let sentence = lost.detail.as_deref().expect("a sentence");
        assert!(sentence.contains("another program changed it or put it there"), "{sentence}");
        let kept = std::fs::read_to_string(world.folder.path().join("settings.json.damaged-1")).unwrap();
        assert_eq!(kept, text.replace(from, to));
        let after = world.keys.item(&Place::Keychain).expect("written");
        assert!(after.id != Some(id) && after.seal.is_some_and(|seal| seal != SEAL), "a key of its own");
    }
}

// holds: desktop-settings-sealed
#[tokio::test(start_paused = true)]
async fn settings_and_entry_from_before_there_were_seals_get_one_at_the_next_start() {
    let (folder, id) = Folder::new().with_settings(4_000, SecretStore::Keychain);
    let keys = Places::default();
    keys.put(&Place::Keychain, Item { seal: None, ..item(SECRET, Some(&id)) });
    // One that is not kept is tried again.
    keys.fail_write(KeysCode::Locked);
    for kept in [false, true] {
        let mut world = World::begin(folder.clone(), keys.clone());
        let mut bridge = world.bridge().await;
        let start = bridge.serve().await;
        assert_eq!((start.port, start.secrets.0), (4_000, vec![SECRET.to_owned()]));
        assert_eq!(world.running().await.notices.len(), 0);
        assert_eq!(keys.item(&Place::Keychain).expect("kept").seal.is_some(), kept);
        quit(world, bridge).await;
    }
    // From now on it counts.
    let text = std::fs::read_to_string(folder.settings()).unwrap();
    std::fs::write(folder.settings(), text.replace("4000", "4001")).unwrap();
    let mut world = World::begin(folder, keys);
    assert_eq!(world.bridge().await.serve().await.port, 27_182);
}

// holds: desktop-settings-sealed
#[tokio::test(start_paused = true)]
async fn the_seal_outlives_every_change_of_secrets_in_the_keychain_and_in_a_file() {
    for file in [false, true] {
        let keys = Places::default();
        if file {
            keys.fail_read(KeysCode::NoProvider);
        }
        let mut world = World::begin(Folder::new(), keys);
        if file {
            world.keys_trouble().await;
            world.ask(Ask::Keep { choice: Keep::File }).await;
        }
        let mut bridge = world.bridge().await;
        bridge.serve().await;
        for ask in [Ask::Rotate, Ask::DropOldSecrets, Ask::RevokeAll, Ask::Rotate] {
            let asked = world.start_asking(ask);
            bridge.obey().await;
            assert_eq!(asked.await, Ok(Answer::Done));
        }
        let (folder, keys) = quit(world, bridge).await;
        let mut world = World::begin(folder, keys);
        let mut bridge = world.bridge().await;
        assert_eq!(bridge.serve().await.secrets.0.len(), 2, "{file}");
        assert_eq!(world.running().await.notices.len(), 0, "{file}");
    }
}

// holds: desktop-keys-trouble
#[tokio::test(start_paused = true)]
async fn a_secret_that_cannot_be_kept_is_never_used() {
    let keys = Places::default();
    keys.fail_write(KeysCode::Refused);
    let mut world = World::begin(Folder::new(), keys);
    world.keys_trouble().await;
    world.no_bridge();
    world.ask(Ask::Retry).await;
    let kept = secrets_of(&mut world).await;
    assert_eq!(world.keys.item(&Place::Keychain).expect("written").secrets, kept);
}

// holds: desktop-one-process
#[tokio::test(start_paused = true)]
async fn a_second_process_on_the_same_settings_does_not_run() {
    let (folder, keys) = (Folder::new(), Places::default());
    let mut first = World::begin(folder.clone(), keys.clone());
    let mut bridge = first.bridge().await;
    bridge.serve().await;
    let mut second = World::begin(folder, keys);
    let view = second.keys_trouble().await;
    let KeysState::Trouble { sentence, .. } = view.keys else { panic!("trouble") };
    assert!(sentence.contains("another ClientMCP Desktop"), "{sentence}");
    second.no_bridge();
    first.ask(Ask::Quit).await;
    bridge.stop().await;
    first.over().await;
    second.ask(Ask::Keep { choice: Keep::Again }).await;
    let mut next = second.bridge().await;
    next.serve().await;
}
