//! Rotation, revoking, forgetting; and that what is copied is nowhere else.

use clientmcp_protocol::{
    control::{Command, Millis, Reply},
    ids::{Label, Role},
};

use super::{
    heads::id,
    world::{MCP, PlayedBridge, Seen, World},
};
use crate::{
    keys::Place,
    shell::{Action, Copied, Deed},
    wire::{Answer, Ask, BridgeState, KeysCode, KeysState, RefusedCode, SnippetBy},
};

async fn told(bridge: &mut PlayedBridge) -> Vec<String> {
    match bridge.obey().await {
        Command::SetSecrets { secrets } => secrets.0,
        other => panic!("{other:?}"),
    }
}

// holds: desktop-rotation
#[tokio::test(start_paused = true)]
async fn secrets_are_kept_before_the_bridge_is_told() {
    let (world, mut bridge) = World::served().await;
    let kept = |world: &World| world.keys.item(&Place::Keychain).expect("kept");
    let first = kept(&world).secrets;
    for (ask, count, newest_stays) in
        [(Ask::Rotate, 2, false), (Ask::DropOldSecrets, 1, true), (Ask::RevokeAll, 1, false)]
    {
        let before = kept(&world).secrets;
        let asked = world.start_asking(ask.clone());
        let (request, command) = bridge.asked().await;
        let Command::SetSecrets { secrets } = command else { panic!("secrets") };
        assert_eq!(kept(&world).secrets, secrets.0, "kept already");
        assert_eq!((secrets.0.len(), secrets.0[0] == before[0]), (count, newest_stays), "{ask:?}");
        bridge.reply(request, Reply::Done).await;
        assert_eq!(asked.await, Ok(Answer::Done));
    }
    assert!(!kept(&world).secrets.contains(&first[0]));
    assert!(kept(&world).id.is_some());
}

// holds: desktop-rotation
#[tokio::test(start_paused = true)]
async fn secrets_that_cannot_be_kept_change_nothing() {
    let (world, mut bridge) = World::served().await;
    let before = world.keys.item(&Place::Keychain);
    for ask in [Ask::Rotate, Ask::RevokeAll] {
        world.keys.fail_write(KeysCode::Locked);
        let answer = world.ask(ask).await;
        assert!(matches!(answer, Answer::Refused { code: RefusedCode::Keys, .. }), "{answer:?}");
    }
    assert_eq!((world.keys.item(&Place::Keychain), world.now().await.old_secrets.0), (before, 0));
    let asked = world.start_asking(Ask::Rotate);
    assert_eq!(told(&mut bridge).await.len(), 2, "the next thing that the bridge hears");
    assert_eq!(asked.await, Ok(Answer::Done));
}

// holds: desktop-forget
#[tokio::test(start_paused = true)]
async fn forgetting_everything_begins_anew() {
    let (mut world, bridge) = World::served().await;
    bridge.crash(1);
    let mut bridge = world.bridge().await;
    bridge.serve().await;
    assert!(!world.running().await.notices.is_empty(), "it ended by itself");
    let before = world.keys.item(&Place::Keychain).expect("kept");
    let asked = world.start_asking(Ask::ForgetEverything);
    bridge.stop().await;
    assert_eq!(asked.await, Ok(Answer::Done));
    let mut bridge = world.bridge().await;
    let start = bridge.serve().await;
    let after = world.keys.item(&Place::Keychain).expect("kept");
    assert_eq!(start.secrets.0, after.secrets);
    assert!(after.secrets != before.secrets && after.id != before.id);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let view = world.now().await;
    assert!(view.notices.is_empty() && matches!(view.bridge, BridgeState::Running { .. }), "{view:?}");
}

// holds: desktop-forget
#[tokio::test(start_paused = true)]
async fn forgetting_twice_at_once_forgets_once_and_stays_in_the_keychain() {
    let (mut world, bridge) = World::served().await;
    world.keys.forget_slowly();
    let (one, other) = (world.start_asking(Ask::ForgetEverything), world.start_asking(Ask::ForgetEverything));
    let rotated = world.start_asking(Ask::Rotate);
    for late in [other, rotated] {
        let late = late.await;
        assert!(matches!(late, Ok(Answer::Refused { code: RefusedCode::Keys, .. })), "{late:?}");
    }
    bridge.stop().await;
    assert_eq!(one.await, Ok(Answer::Done));
    let mut bridge = world.bridge().await;
    let start = bridge.serve().await;
    assert_eq!(world.now().await.keys, KeysState::Keychain);
    assert_eq!(world.keys.item(&Place::Keychain).expect("kept").secrets, start.secrets.0);
}

// holds: desktop-forget
#[tokio::test(start_paused = true)]
async fn what_is_being_written_while_everything_is_forgotten_does_not_come_back() {
    let (mut world, bridge) = World::served().await;
    for _ in 0..3 {
        // Each is written, or waits to be.
        world.tell(Deed::Picked(Action::StartAtLogin(true)));
    }
    let asked = world.start_asking(Ask::ForgetEverything);
    bridge.stop().await;
    assert_eq!(asked.await, Ok(Answer::Done));
    let mut bridge = world.bridge().await;
    bridge.serve().await;
    let kept = world.keys.item(&Place::Keychain).expect("kept").id;
    let folder = world.folder.clone();
    world.ask(Ask::Quit).await;
    bridge.stop().await;
    world.over().await;
    assert_eq!(clientmcp_settings::kept_in(&folder.settings()).map(|(_, id)| id), kept);
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| name == "settings.json" || name == "settings.json.lock"), "{names:?}");
}

// holds: desktop-forget
#[tokio::test(start_paused = true)]
async fn what_cannot_be_forgotten_is_said_and_goes_on() {
    let (mut world, mut bridge) = World::served().await;
    world.keys.fail_forget(KeysCode::Refused);
    let answer = world.ask(Ask::ForgetEverything).await;
    assert!(matches!(answer, Answer::Refused { code: RefusedCode::Keys, .. }), "{answer:?}");
    world.no_bridge();
    let asked = world.start_asking(Ask::Pause);
    bridge.obey().await;
    assert_eq!(asked.await, Ok(Answer::Done));
}

const TOKEN: &str = "eyJ.secret-token.sig";

async fn mint(bridge: &mut PlayedBridge) -> Command {
    let (request, command) = bridge.asked().await;
    bridge.reply(request, Reply::Token { token: TOKEN.to_owned(), ends: Some(Millis(5)) }).await;
    command
}

// holds: desktop-copy
#[tokio::test(start_paused = true)]
async fn the_tray_copies_tokens_that_no_view_answer_or_tray_ever_holds() {
    let (mut world, mut bridge) = World::served().await;
    world.tell(Deed::Picked(Action::CopyAgentToken(id("wallet"))));
    let Command::Mint { role, label, seconds, .. } = mint(&mut bridge).await else { panic!("mint") };
    assert_eq!((role, label.as_ref().map(Label::as_str), seconds), (Role::Agent, Some("tray"), Some(90 * 86_400)));
    let (text, copied) = world.copied().await;
    assert_eq!((text.text.as_str(), text.concealed), (TOKEN, true));
    assert!(!format!("{text:?}").contains(TOKEN));
    drop(copied.send(Ok(Copied::Passing)));
    assert!(world.notified().await.body.contains("90 seconds"));
    world.tell(Deed::Picked(Action::CopyClientToken(id("wallet"))));
    let Command::Mint { role, seconds, .. } = mint(&mut bridge).await else { panic!("mint") };
    assert_eq!((role, seconds), (Role::Client, Some(365 * 86_400)));
    world.copied().await;
    let text = format!("{:?} {:?}", world.now().await, world.ask(Ask::Diagnostics).await);
    assert!(!text.contains("secret-token") && text.contains("wallet"));
    while let Ok(seen) = world.seen.try_recv() {
        if let Seen::View(view) = seen {
            assert!(!format!("{view:?}").contains("secret-token"));
        }
    }
}

// holds: desktop-copy
#[tokio::test(start_paused = true)]
async fn a_snippet_is_copied_with_a_token_of_its_hosts_name_and_shown_without() {
    let (mut world, mut bridge) = World::served().await;
    let Answer::Snippets(snippets) = world.ask(Ask::Snippets { application: id("wallet") }).await else {
        panic!("snippets")
    };
    let by = SnippetBy::Url;
    let snippet = snippets.into_iter().find(|snippet| snippet.by == by).expect("one by a URL");
    let asked = world.start_asking(Ask::CopySnippet { application: id("wallet"), host: snippet.host, by });
    let Command::Mint { label, .. } = mint(&mut bridge).await else { panic!("mint") };
    assert_eq!(label.as_ref().map(Label::as_str), Some(snippet.name.as_str()));
    let (text, copied) = world.copied().await;
    assert!(text.text.contains(TOKEN) && text.concealed && !snippet.text.contains(TOKEN));
    drop(copied.send(Ok(Copied::Staying)));
    assert!(matches!(asked.await, Ok(Answer::Copied { sentence }) if sentence.contains("not cleared")));
    let asked = world.start_asking(Ask::CopyUrl);
    let (text, copied) = world.copied().await;
    assert_eq!((text.text.as_str(), text.concealed), (MCP, false));
    drop(copied.send(Err("no clipboard".to_owned())));
    assert!(matches!(asked.await, Ok(Answer::Refused { code: RefusedCode::Clipboard, .. })));
}

// holds: desktop-diagnostics
#[tokio::test(start_paused = true)]
async fn diagnostics_hold_no_secret_and_no_home_folder() {
    let (world, _bridge) = World::served().await;
    let Answer::Diagnostics(text) = world.ask(Ask::Diagnostics).await else { panic!("diagnostics") };
    let secret = &world.keys.item(&Place::Keychain).expect("kept").secrets[0];
    assert!(text.contains("ClientMCP Desktop 1.2.3") && text.contains("serves at") && text.contains("9.9"), "{text}");
    assert!(!text.contains(secret.as_str()));
    let home = directories::BaseDirs::new().map(|folders| folders.home_dir().to_string_lossy().into_owned());
    assert!(home.is_none_or(|home| home.len() < 2 || !text.contains(&home)), "{text}");
}
