//! Questions at the local door, and hosts that come in by it.

use std::time::Duration;

use clientmcp_protocol::{
    control::{Command, Count, DoorQuestion, DoorWants, ErrorCode, Event, Memory, Millis, Pair, Reply, Verdict},
    ids::{Label, QuestionId, Role},
};
use tokio::time::sleep;

use super::{
    heads::{at_door, id, question, snapshot},
    world::{Folder, PlayedBridge, Seen, World},
};
use crate::{
    shell::{AppWindow, Copied, Deed, Standing},
    wire::{AboutDoorQuestion, AboutQuestion, Answer, Ask, DoorQuestionView, Page, RefusedCode, SnippetBy},
};

const FIRST: QuestionId = QuestionId(1);

fn about(id: QuestionId, about: AboutDoorQuestion) -> Ask {
    Ask::DoorQuestion { id, about }
}

fn decide(verdict: Verdict) -> Ask {
    about(FIRST, AboutDoorQuestion::Decide { verdict })
}

async fn open(bridge: &mut PlayedBridge, questions: Vec<DoorQuestion>) {
    bridge.say(&snapshot(|snapshot| snapshot.door_questions = questions)).await;
}

/// The main window in front, at the page that answers questions.
async fn looking(world: &World) {
    world.tell(Deed::Main(Standing::Clear));
    world.ask(Ask::Looking { page: Page::Approvals }).await;
}

async fn armed_in(world: &World) -> Option<Count> {
    match world.ask(about(FIRST, AboutDoorQuestion::Look)).await {
        Answer::DoorQuestion(view) => view.armed_in,
        other => panic!("no question: {other:?}"),
    }
}

fn code(answer: &Answer) -> Option<RefusedCode> {
    match answer {
        Answer::Refused { code, .. } => Some(*code),
        _ => None,
    }
}

async fn door_shown(world: &mut World, mut wanted: impl FnMut(&DoorQuestionView) -> bool) -> DoorQuestionView {
    world
        .until(|seen| match seen {
            Seen::DoorQuestion(view) if wanted(&view) => Some(*view),
            _ => None,
        })
        .await
}

fn label(text: &str) -> Label {
    Label::new(text).unwrap()
}

// holds: desktop-door-arming
#[tokio::test(start_paused = true)]
async fn nobody_is_let_in_within_600_ms_after_the_question_was_painted_moved_or_changed() {
    let (mut world, mut bridge) = World::served().await;
    looking(&world).await;
    open(&mut bridge, vec![at_door(1, "Editor")]).await;
    world.view(|view| view.snapshot.is_some()).await;
    sleep(Duration::from_secs(5)).await;
    for verdict in [Verdict::Allow, Verdict::Deny] {
        assert_eq!(code(&world.ask(decide(verdict)).await), Some(RefusedCode::Early), "never painted");
    }
    world.ask(about(FIRST, AboutDoorQuestion::Painted)).await;
    assert_eq!(armed_in(&world).await, None, "what is asked for is out of view");
    world.ask(about(FIRST, AboutDoorQuestion::InView { all: true })).await;
    assert_eq!(armed_in(&world).await, Some(Count(600)));
    world.ask(about(FIRST, AboutDoorQuestion::InView { all: false })).await;
    assert_eq!(armed_in(&world).await, None, "scrolled away");
    world.ask(about(FIRST, AboutDoorQuestion::InView { all: true })).await;
    assert_eq!(armed_in(&world).await, Some(Count(600)));
    sleep(Duration::from_millis(400)).await;
    world.ask(about(FIRST, AboutDoorQuestion::Moved)).await;
    assert_eq!(armed_in(&world).await, Some(Count(600)));
    sleep(Duration::from_millis(599)).await;
    assert_eq!(code(&world.ask(decide(Verdict::Allow)).await), Some(RefusedCode::Early));
    assert_eq!(armed_in(&world).await, Some(Count(600)), "a click that is too early starts it anew");
    // The countdown is no change; another program is one.
    sleep(Duration::from_millis(300)).await;
    open(&mut bridge, vec![DoorQuestion { ends: Millis(200), ..at_door(1, "Editor") }]).await;
    let seen = |ends| {
        move |view: &crate::wire::View| {
            view.snapshot.as_ref().is_some_and(|snapshot| snapshot.door_questions[0].ends == Millis(ends))
        }
    };
    world.view(seen(200)).await;
    assert!(armed_in(&world).await < Some(Count(301)));
    let mut other = DoorQuestion { ends: Millis(300), ..at_door(1, "Editor") };
    other.program.pid = Some(8);
    open(&mut bridge, vec![other]).await;
    world.view(seen(300)).await;
    assert!(armed_in(&world).await > Some(Count(400)));
    // Covered, and in front again.
    sleep(Duration::from_millis(600)).await;
    world.tell(Deed::Main(Standing::Covered));
    assert_eq!(armed_in(&world).await, None);
    world.tell(Deed::Main(Standing::Clear));
    assert_eq!(armed_in(&world).await, Some(Count(600)));
    sleep(Duration::from_millis(600)).await;
    let asked = world.start_asking(decide(Verdict::Allow));
    assert_eq!(bridge.obey().await, Command::DecideDoor { question: FIRST, verdict: Verdict::Allow });
    assert_eq!(asked.await, Ok(Answer::Done));
    let gone = Some(RefusedCode::Bridge(ErrorCode::NoSuchQuestion));
    assert_eq!(code(&world.ask(decide(Verdict::Deny)).await), gone, "answered already");
    open(&mut bridge, Vec::new()).await;
    world.view(|view| view.snapshot.as_ref().is_some_and(|snapshot| snapshot.door_questions.is_empty())).await;
    assert_eq!(code(&world.ask(about(FIRST, AboutDoorQuestion::Look)).await), gone);
}

// holds: desktop-door-arming
#[tokio::test(start_paused = true)]
async fn a_no_is_taken_as_soon_as_it_could_be_read() {
    let (mut world, mut bridge) = World::served().await;
    looking(&world).await;
    open(&mut bridge, vec![at_door(1, "Editor")]).await;
    world.view(|view| view.snapshot.is_some()).await;
    world.ask(about(FIRST, AboutDoorQuestion::Painted)).await;
    let asked = world.start_asking(decide(Verdict::Deny));
    let (request, command) = bridge.asked().await;
    assert_eq!(command, Command::DecideDoor { question: FIRST, verdict: Verdict::Deny });
    bridge.reply(request, Reply::Refused { code: ErrorCode::Value, sentence: "too many".to_owned() }).await;
    assert!(matches!(asked.await, Ok(Answer::Refused { .. })));
    // What the bridge did not take can be answered again.
    let asked = world.start_asking(decide(Verdict::Deny));
    bridge.obey().await;
    assert_eq!(asked.await, Ok(Answer::Done));
}

// holds: desktop-door-window
#[tokio::test(start_paused = true)]
async fn who_comes_to_the_door_has_the_small_window_after_the_calls() {
    let (mut world, mut bridge) = World::served().await;
    let both = |questions: Vec<u64>, doors: Vec<DoorQuestion>| {
        snapshot(|snapshot| {
            snapshot.questions = questions.into_iter().map(|number| question(number, "Editor", 100)).collect();
            snapshot.door_questions = doors;
        })
    };
    let late = DoorQuestion { ends: Millis(300), ..at_door(8, "Late") };
    bridge.say(&both(vec![], vec![late.clone(), at_door(7, "Claude Desktop")])).await;
    let seventh = QuestionId(7);
    assert_eq!(world.small_window().await, Some(seventh), "the earliest end first");
    // A call that comes now waits, as nothing is swapped.
    bridge.say(&both(vec![2], vec![late.clone(), at_door(7, "Claude Desktop")])).await;
    let view = door_shown(&mut world, |view| view.others == Count(2)).await;
    assert_eq!((view.question.id, view.armed_in), (seventh, None));
    // It is armed and answered as any other, and says who asks.
    world.tell(Deed::Small(seventh, Standing::Clear));
    let yes = || AboutQuestion::DecideDoor { verdict: Verdict::Allow };
    assert_eq!(code(&world.ask_of(seventh, yes()).await), Some(RefusedCode::Early), "never painted");
    let Answer::DoorQuestion(view) = world.ask_of(seventh, AboutQuestion::Painted).await else { panic!("a question") };
    assert_eq!(view.armed_in, None, "what is asked for is not in view");
    let all_in_view = AboutQuestion::DoorInView { all: true };
    let Answer::DoorQuestion(view) = world.ask_of(seventh, all_in_view).await else { panic!("a question") };
    assert_eq!(view.armed_in, Some(Count(600)));
    assert_eq!(code(&world.ask_of(seventh, yes()).await), Some(RefusedCode::Early));
    sleep(Duration::from_millis(600)).await;
    world.covers(AppWindow::Small(seventh), true);
    assert_eq!(code(&world.ask_of(seventh, yes()).await), Some(RefusedCode::Covered), "something lies on it");
    world.covers(AppWindow::Small(seventh), false);
    sleep(Duration::from_millis(600)).await;
    let asked = world.start_asking_of(seventh, yes());
    assert_eq!(bridge.obey().await, Command::DecideDoor { question: seventh, verdict: Verdict::Allow });
    assert_eq!(asked.await, Ok(Answer::Done));
    // Calls come first, and no answer about a call is one at the door.
    assert_eq!(world.small_window().await, Some(QuestionId(2)));
    world.paint(QuestionId(2)).await;
    sleep(Duration::from_secs(5)).await;
    let no = || AboutQuestion::DecideDoor { verdict: Verdict::Deny };
    let gone = Some(RefusedCode::Bridge(ErrorCode::NoSuchQuestion));
    assert_eq!(code(&world.ask_of(QuestionId(2), no()).await), gone);
    world.tell(Deed::SmallClosed(QuestionId(2)));
    assert_eq!(world.small_window().await, Some(QuestionId(8)));
    world.paint(QuestionId(8)).await;
    // It took the place of another one.
    assert_eq!(code(&world.ask_of(QuestionId(8), no()).await), Some(RefusedCode::Early));
    sleep(Duration::from_secs(1)).await;
    let asked = world.start_asking_of(QuestionId(8), no());
    assert_eq!(bridge.obey().await, Command::DecideDoor { question: QuestionId(8), verdict: Verdict::Deny });
    assert_eq!(asked.await, Ok(Answer::Done));
    assert_eq!(world.small_window().await, None);
    while let Ok(seen) = world.seen.try_recv() {
        assert!(!matches!(seen, Seen::Notify(_)), "what has a window needs no notification");
    }
}

// holds: desktop-door-window
#[tokio::test(start_paused = true)]
async fn after_two_in_vain_one_notification_tells_that_somebody_goes_on_and_there_is_no_window() {
    let (mut world, mut bridge) = World::served().await;
    for number in [1, 2] {
        open(&mut bridge, vec![at_door(number, &format!("Host {number}"))]).await;
        assert_eq!(world.small_window().await, Some(QuestionId(number.into())));
        open(&mut bridge, Vec::new()).await;
        assert_eq!(world.small_window().await, None);
    }
    open(&mut bridge, vec![at_door(3, "Host 3")]).await;
    assert_eq!(world.notified().await.body.lines().next(), Some("Host 3"));
    open(&mut bridge, vec![at_door(4, "Host 4"), at_door(3, "Host 3")]).await;
    world.view(|view| view.snapshot.as_ref().is_some_and(|snapshot| snapshot.door_questions.len() == 2)).await;
    world.now().await;
    while let Ok(seen) = world.seen.try_recv() {
        assert!(!matches!(seen, Seen::Notify(_) | Seen::Ask(_)));
    }
    // The person answers one of them in the list.
    looking(&world).await;
    let third = QuestionId(3);
    world.ask(about(third, AboutDoorQuestion::Painted)).await;
    let asked = world.start_asking(about(third, AboutDoorQuestion::Decide { verdict: Verdict::Deny }));
    bridge.obey().await;
    assert_eq!(asked.await, Ok(Answer::Done));
    world.tell(Deed::Main(Standing::Gone));
    assert_eq!(world.small_window().await, Some(QuestionId(4)));
}

// holds: desktop-door-notified
#[tokio::test(start_paused = true)]
async fn without_small_windows_who_comes_to_the_door_is_told_by_name_alone() {
    let (mut world, mut bridge) = World::served_with(false).await;
    open(&mut bridge, vec![at_door(1, "Claude Desktop"), at_door(2, "Editor")]).await;
    let told = world.notified().await;
    assert_eq!(told.title, "A host wants to call tools of wallet");
    assert_eq!(told.body.lines().next(), Some("Claude Desktop"));
    assert!(told.opens == Page::Approvals && !told.body.contains("/opt"), "{told:?}");
    world.now().await;
    while let Ok(seen) = world.seen.try_recv() {
        assert!(!matches!(seen, Seen::Notify(_) | Seen::Ask(_)), "one at a time, and no window");
    }
    let wants = DoorWants::Token { application: id("wallet"), role: Role::Agent, label: None, seconds: None };
    open(&mut bridge, vec![DoorQuestion { wants, ..at_door(3, "x") }]).await;
    assert_eq!(world.notified().await.title, "A program wants a token for wallet");
}

// holds: desktop-door-notified
#[tokio::test(start_paused = true)]
async fn without_small_windows_there_are_no_more_notifications_after_two_in_vain_until_the_person_answers_one() {
    let (mut world, mut bridge) = World::served_with(false).await;
    for number in [1, 2] {
        open(&mut bridge, vec![at_door(number, &format!("Host {number}"))]).await;
        world.notified().await;
        open(&mut bridge, Vec::new()).await;
    }
    open(&mut bridge, vec![at_door(3, "Host 3")]).await;
    world.view(|view| view.snapshot.as_ref().is_some_and(|snapshot| !snapshot.door_questions.is_empty())).await;
    world.now().await;
    while let Ok(seen) = world.seen.try_recv() {
        assert!(!matches!(seen, Seen::Notify(_)));
    }
    looking(&world).await;
    let third = QuestionId(3);
    world.ask(about(third, AboutDoorQuestion::Painted)).await;
    let asked = world.start_asking(about(third, AboutDoorQuestion::Decide { verdict: Verdict::Deny }));
    bridge.obey().await;
    assert_eq!(asked.await, Ok(Answer::Done));
    open(&mut bridge, vec![at_door(4, "Host 4")]).await;
    world
        .view(|view| {
            view.snapshot
                .as_ref()
                .is_some_and(|snapshot| snapshot.door_questions.iter().any(|open| open.id == QuestionId(4)))
        })
        .await;
    while let Ok(seen) = world.seen.try_recv() {
        assert!(!matches!(seen, Seen::Notify(_)), "the person looks at it");
    }
    world.tell(Deed::Main(Standing::Gone));
    assert!(world.notified().await.body.contains("Host 4"));
}

// holds: desktop-door-named
#[tokio::test(start_paused = true)]
async fn a_notification_has_the_name_of_a_host_alone_on_its_line() {
    // (name, as it stands on its line, whether it mixes alphabets)
    let table = [
        (
            "Claude Desktop\u{201d} was allowed by you. Click Let it in",
            "Claude Desktop\u{201d} was allowed by you. Clic\u{27e6}\u{2026}+11\u{27e7}",
            None,
        ),
        ("Claude\u{202e}", "Claude\u{27e6}U+202E\u{27e7}", None),
        ("\u{421}laude Desktop", "\u{421}laude Desktop", Some("Cyrillic, Latin")),
        ("Zoom\u{4f1a}\u{8b70}", "Zoom\u{4f1a}\u{8b70}", None),
    ];
    for (host, line, alphabets) in table {
        let (mut world, mut bridge) = World::served_with(false).await;
        open(&mut bridge, vec![at_door(1, host)]).await;
        let told = world.notified().await;
        let lines: Vec<_> = told.body.lines().collect();
        assert_eq!((told.title.as_str(), lines[0]), ("A host wants to call tools of wallet", line));
        assert!(lines[1].contains("nobody has checked this name"), "{told:?}");
        let mixes = lines[1].split_once("more than one alphabet: ").map(|(_, names)| names.trim_end_matches('.'));
        assert_eq!(mixes, alphabets, "{host}");
    }
}

// holds: desktop-door-pairs
#[tokio::test(start_paused = true)]
async fn pairs_are_made_and_forgotten_as_asked() {
    let (world, mut bridge) = World::served().await;
    let host = || label("Editor");
    let asked = world.start_asking(Ask::AllowPair { host: host(), application: None });
    assert_eq!(bridge.obey().await, Command::AllowPair { host: host(), application: None });
    assert_eq!(asked.await, Ok(Answer::Done));
    let asked = world.start_asking(Ask::ForgetPair { host: host(), application: Some(id("wallet")) });
    let (request, command) = bridge.asked().await;
    assert_eq!(command, Command::ForgetPair { host: host(), application: Some(id("wallet")) });
    bridge.reply(request, Reply::Refused { code: ErrorCode::NotFound, sentence: "no".to_owned() }).await;
    assert_eq!(code(&asked.await.unwrap()), Some(RefusedCode::Bridge(ErrorCode::NotFound)));
}

// holds: desktop-door-pairs
#[tokio::test(start_paused = true)]
async fn pairs_are_written_down_and_handed_to_the_next_bridge() {
    let folder = Folder::new();
    let keys = super::world::Places::default();
    let pair =
        Pair { host: label("Editor"), application: Some(id("wallet")), verdict: Verdict::Allow, made: Millis(5) };
    let no = Pair { application: None, verdict: Verdict::Deny, ..pair.clone() };
    let pairs = vec![pair, no];
    {
        let mut world = World::begin(folder.clone(), keys.clone());
        let mut bridge = world.bridge().await;
        bridge.serve().await;
        world.running().await;
        bridge.say(&Event::Remember(Box::new(Memory { pairs: pairs.clone(), ..Memory::default() }))).await;
        // A command goes the same way behind it.
        let asked = world.start_asking(Ask::Pause);
        bridge.obey().await;
        asked.await.expect("an answer");
        world.ask(Ask::Quit).await;
        bridge.stop().await;
        world.over().await;
    }
    let mut world = World::begin(folder, keys);
    assert_eq!(world.bridge().await.serve().await.memory.pairs, pairs);
}

// holds: desktop-door-copy
#[tokio::test(start_paused = true)]
async fn a_command_is_copied_without_a_token_and_its_host_is_let_in() {
    let (mut world, mut bridge) = World::served().await;
    let Answer::Snippets(snippets) = world.ask(Ask::Snippets { application: id("wallet") }).await else {
        panic!("snippets")
    };
    let first = &snippets[0];
    assert_eq!((first.host.as_str(), first.by), ("claude-desktop", SnippetBy::Command));
    let copy = |by| Ask::CopySnippet { application: id("wallet"), host: "claude-desktop".to_owned(), by };
    // It takes no URL.
    assert_eq!(code(&world.ask(copy(SnippetBy::Url)).await), Some(RefusedCode::Bridge(ErrorCode::NotFound)));
    let asked = world.start_asking(copy(SnippetBy::Command));
    let (text, copied) = world.copied().await;
    assert_eq!((&text.text, text.concealed), (&first.text, false));
    drop(copied.send(Ok(Copied::Plainly)));
    let pair = Command::AllowPair { host: label("Claude Desktop"), application: Some(id("wallet")) };
    assert_eq!(bridge.obey().await, pair);
    assert!(matches!(asked.await, Ok(Answer::Copied { sentence }) if sentence.contains("let in")));
    // What was not copied lets nobody in.
    let asked = world.start_asking(copy(SnippetBy::Command));
    drop(world.copied().await.1.send(Err("no clipboard".to_owned())));
    assert_eq!(code(&asked.await.unwrap()), Some(RefusedCode::Clipboard));
    let asked = world.start_asking(Ask::Pause);
    assert_eq!(bridge.obey().await, Command::Pause);
    assert_eq!(asked.await, Ok(Answer::Done));
}
