//! What windows and the tray ask, and which command comes of it.

use clientmcp_protocol::{
    control::{
        Command, Count, Ending, ErrorCode, Millis, Mode, Reply, Rule, RuleAgent, TextRef, Until, Verdict, Which,
    },
    ids::{Fingerprint, Role, ToolName},
};

use super::{
    heads::{id, snapshot},
    world::{Seen, World},
};
use crate::{
    shell::{Action, Deed},
    wire::{Answer, Ask, Lasts, Page, RefusedCode},
};

fn tool() -> ToolName {
    ToolName::new("pay").unwrap()
}

fn rule(id_: &str) -> Rule {
    Rule {
        id: id_.to_owned(),
        application: id("wallet"),
        tool: tool(),
        agent: RuleAgent::Any,
        verdict: Verdict::Deny,
        fingerprint: None,
        origin: None,
        until: Until::Always,
        made: Millis(1),
    }
}

// holds: desktop-asks
#[tokio::test(start_paused = true)]
async fn each_ask_becomes_its_command_and_the_reply_its_answer() {
    let (world, mut bridge) = World::served().await;
    let (application, fingerprint) = (id("wallet"), Fingerprint([1; 32]));
    let text = TextRef::Call { number: Count(4), part: clientmcp_protocol::control::CallPart::Result };
    let cases = [
        (
            Ask::SetMode { application: application.clone(), mode: Mode::AllowAll, lasts: Lasts::Quit },
            Command::SetMode { application: application.clone(), mode: Mode::AllowAll, until: Until::Quit },
            Reply::Done,
            Answer::Done,
        ),
        (
            Ask::AddOrigin { application: application.clone(), origin: "native".to_owned() },
            Command::AddOrigin { application: application.clone(), origin: "native".to_owned() },
            Reply::Done,
            Answer::Done,
        ),
        (
            Ask::Disconnect { application: application.clone() },
            Command::Disconnect { application: application.clone() },
            Reply::Refused { code: ErrorCode::NotFound, sentence: "no".to_owned() },
            Answer::Refused { code: RefusedCode::Bridge(ErrorCode::NotFound), sentence: "no".to_owned() },
        ),
        (
            Ask::Revoke { application: application.clone(), role: Role::Client, which: Which::All },
            Command::Revoke { application: application.clone(), role: Role::Client, which: Which::All },
            Reply::Done,
            Answer::Done,
        ),
        (
            Ask::Unblock { application: application.clone(), label: None },
            Command::Unblock { application: application.clone(), label: None },
            Reply::Done,
            Answer::Done,
        ),
        (
            Ask::TryTool { application: application.clone(), tool: tool(), fingerprint, arguments: "{}".to_owned() },
            Command::TryTool { application, tool: tool(), fingerprint, arguments: "{}".to_owned() },
            Reply::Tried { outcome: Ending::Answered, number: Count(4) },
            Answer::Tried { outcome: Ending::Answered, number: Count(4) },
        ),
        (
            Ask::Text { text: text.clone(), offset: Count(3) },
            Command::Get { text, offset: Count(3) },
            Reply::Text { piece: "abc".to_owned(), bytes: Count(6) },
            Answer::Text { piece: "abc".to_owned(), bytes: Count(6) },
        ),
    ];
    for (ask, expected, reply, answer) in cases {
        let asked = world.start_asking(ask);
        let (request, command) = bridge.asked().await;
        assert_eq!(command, expected);
        bridge.reply(request, reply).await;
        assert_eq!(asked.await, Ok(answer));
    }
}

// holds: desktop-asks
#[tokio::test(start_paused = true)]
async fn fifteen_minutes_are_counted_from_now() {
    let (world, mut bridge) = World::served().await;
    let _asked =
        world.start_asking(Ask::SetMode { application: id("a"), mode: Mode::AllowAll, lasts: Lasts::Minutes15 });
    let Command::SetMode { until: Until::At(end), .. } = bridge.obey().await else { panic!("an end") };
    let away = end.0 - crate::app::until::wall().0;
    assert!((14 * 60_000..=15 * 60_000).contains(&away), "{away}");
}

// holds: desktop-rules
#[tokio::test(start_paused = true)]
async fn a_rule_is_taken_back_under_the_revision_that_was_seen() {
    let (mut world, mut bridge) = World::served().await;
    bridge
        .say(&snapshot(|snapshot| {
            (snapshot.rules, snapshot.rules_revision) = (vec![rule("r1"), rule("r2")], Count(7));
        }))
        .await;
    world.view(|view| view.snapshot.is_some()).await;
    let asked = world.start_asking(Ask::RemoveRule { id: "r1".to_owned() });
    let (request, command) = bridge.asked().await;
    assert_eq!(command, Command::SetRules { revision: Count(7), rules: vec![rule("r2")] });
    bridge.reply(request, Reply::Refused { code: ErrorCode::Stale, sentence: "look again".to_owned() }).await;
    assert!(matches!(asked.await, Ok(Answer::Refused { code: RefusedCode::Bridge(ErrorCode::Stale), .. })));
    let gone = world.ask(Ask::RemoveRule { id: "r3".to_owned() }).await;
    assert!(matches!(gone, Answer::Refused { code: RefusedCode::Bridge(ErrorCode::NotFound), .. }));
    // Of a list that was cut nothing may be lost: what is not surely whole is not written back.
    bridge
        .say(&snapshot(|snapshot| {
            (snapshot.rules, snapshot.cut.rules, snapshot.revision) = (vec![rule("r1")], Count(1), Count(9));
        }))
        .await;
    world.view(|view| view.snapshot.as_ref().is_some_and(|snapshot| snapshot.revision == Count(9))).await;
    let cut = world.ask(Ask::RemoveRule { id: "r1".to_owned() }).await;
    assert!(matches!(cut, Answer::Refused { code: RefusedCode::Bridge(ErrorCode::Stale), .. }));
}

// holds: desktop-asks
#[tokio::test(start_paused = true)]
async fn without_a_bridge_it_is_said_that_nothing_was_done() {
    let (mut world, bridge) = World::served().await;
    *world.missing.lock().unwrap() = true;
    bridge.crash(1);
    world.view(|view| matches!(view.bridge, crate::wire::BridgeState::Failed { .. })).await;
    for ask in [
        Ask::Disconnect { application: id("a") },
        Ask::CopyUrl,
        Ask::Snippets { application: id("a") },
        Ask::CopyToken { application: id("a"), role: Role::Agent, label: None, days: None },
        Ask::RemoveRule { id: "r".to_owned() },
    ] {
        let answer = world.ask(ask).await;
        assert!(matches!(answer, Answer::Refused { code: RefusedCode::NoBridge, .. }), "{answer:?}");
    }
    assert_eq!(world.ask(Ask::Pause).await, Answer::Done, "the next bridge starts paused");
    *world.missing.lock().unwrap() = false;
    world.ask(Ask::Retry).await;
    assert!(world.bridge().await.serve().await.paused);
}

// holds: desktop-asks
#[tokio::test(start_paused = true)]
async fn what_is_too_large_for_the_channel_is_refused_here() {
    let (world, mut bridge) = World::served().await;
    let fingerprint = Fingerprint([1; 32]);
    let arguments = format!("{{\"a\":\"{}\"}}", "x".repeat(1024 * 1024));
    let answer = world.ask(Ask::TryTool { application: id("a"), tool: tool(), fingerprint, arguments }).await;
    assert!(matches!(answer, Answer::Refused { code: RefusedCode::Bridge(ErrorCode::Value), .. }), "{answer:?}");
    let asked = world.start_asking(Ask::Pause);
    assert_eq!(bridge.obey().await, Command::Pause);
    assert_eq!(asked.await, Ok(Answer::Done));
}

// holds: desktop-tray
#[tokio::test(start_paused = true)]
async fn the_trays_menu_does_what_it_says() {
    let (mut world, mut bridge) = World::served().await;
    world.tell(Deed::Picked(Action::Pause));
    assert_eq!(bridge.obey().await, Command::Pause);
    world.tell(Deed::Picked(Action::Resume));
    assert_eq!(bridge.obey().await, Command::Resume);
    world.tell(Deed::Picked(Action::StartAtLogin(true)));
    world.until(|seen| matches!(seen, Seen::StartAtLogin(true)).then_some(())).await;
    world.view(|view| view.preferences.start_at_login).await;
    world.tell(Deed::Picked(Action::Open(Page::Settings)));
    world.until(|seen| matches!(seen, Seen::OpenMain).then_some(())).await;
    world.view(|view| view.wanted == (Page::Settings, Count(1))).await;
    world.tell(Deed::Picked(Action::NewClientToken));
    world.view(|view| view.wanted == (Page::Connect, Count(2))).await;
    world.tell(Deed::Picked(Action::CopyUrl));
    assert_eq!(world.copied().await.0.text, super::world::MCP);
}
