//! Questions, from the bridge to a window and back.

use std::time::Duration;

use clientmcp_protocol::{
    codes::OutcomeCode,
    control::{
        Also, CallHead, Command, Count, Decide, Ending, ErrorCode, Event, FinishedCall, Millis, QuestionPart, Reply,
        Snapshot, TextRef, Until, Verdict,
    },
    ids::{Fingerprint, QuestionId},
};
use tokio::time::{Instant, sleep};

use super::{
    heads::{call, in_view, question, snapshot},
    world::{PlayedBridge, Seen, World},
};
use crate::{
    shell::{AppWindow, Deed, Standing},
    wire::{AboutQuestion, AlsoFor, Always, Answer, Ask, Lasts, Page, QuestionView, RefusedCode},
};

const FIRST: QuestionId = QuestionId(1);

async fn open(bridge: &mut PlayedBridge, ends: &[(u64, u64)]) {
    let questions = ends.iter().map(|(number, ends)| question(*number, "Editor", *ends)).collect();
    bridge.say(&snapshot(|snapshot: &mut Snapshot| snapshot.questions = questions)).await;
}

fn decide(verdict: Verdict, also: AlsoFor) -> AboutQuestion {
    AboutQuestion::Decide { fingerprint: Fingerprint([7; 32]), verdict, also }
}

fn always() -> AboutQuestion {
    decide(Verdict::Allow, AlsoFor::Tool { any_agent: false, lasts: Lasts::Always })
}

fn code(answer: &Answer) -> Option<RefusedCode> {
    match answer {
        Answer::Refused { code, .. } => Some(*code),
        _ => None,
    }
}

async fn shown(world: &mut World, mut wanted: impl FnMut(&QuestionView) -> bool) -> QuestionView {
    world
        .until(|seen| match seen {
            Seen::Question(view) if wanted(&view) => Some(*view),
            _ => None,
        })
        .await
}

// holds: desktop-arming
#[tokio::test(start_paused = true)]
async fn nothing_is_allowed_for_600_ms_after_a_question_is_painted_and_then_it_is() {
    let (mut world, mut bridge) = World::served().await;
    open(&mut bridge, &[(1, 100)]).await;
    assert_eq!(world.small_window().await, Some(FIRST));
    assert_eq!(shown(&mut world, |_| true).await.armed_in, None);
    world.tell(Deed::Small(FIRST, Standing::Clear));
    sleep(Duration::from_secs(5)).await;
    let early = world.ask_of(FIRST, decide(Verdict::Allow, AlsoFor::Nothing)).await;
    assert_eq!(code(&early), Some(RefusedCode::Early), "never painted");
    let start = Instant::now();
    world.ask_of(FIRST, AboutQuestion::Painted).await;
    world.ask_of(FIRST, in_view(true, false)).await;
    assert_eq!(shown(&mut world, |view| view.armed_in.is_some()).await.armed_in, Some(Count(600)));
    assert_eq!(shown(&mut world, |view| view.armed_in == Some(Count(0))).await.others, Count(0));
    assert!(start.elapsed() >= Duration::from_millis(600));
    let asked = world.start_asking_of(FIRST, decide(Verdict::Allow, AlsoFor::Nothing));
    let (request, command) = bridge.asked().await;
    let expected =
        Decide { question: FIRST, fingerprint: Fingerprint([7; 32]), verdict: Verdict::Allow, also: Also::Nothing };
    assert_eq!(command, Command::Decide(expected));
    bridge.reply(request, Reply::Done).await;
    assert_eq!(asked.await, Ok(Answer::Done));
    assert_eq!(world.small_window().await, None);
}

// holds: desktop-cover-asked
#[tokio::test(start_paused = true)]
async fn the_display_is_asked_again_at_each_yes_and_a_no_asks_none() {
    let (mut world, mut bridge) = World::served().await;
    open(&mut bridge, &[(1, 100)]).await;
    world.small_window().await;
    world.paint(FIRST).await;
    sleep(Duration::from_millis(600)).await;
    // It came in the last moment: the display has told of nothing.
    world.covers(AppWindow::Small(FIRST), true);
    let yes = || decide(Verdict::Allow, AlsoFor::Nothing);
    assert_eq!(code(&world.ask_of(FIRST, yes()).await), Some(RefusedCode::Covered));
    world.covers(AppWindow::Small(FIRST), false);
    assert_eq!(code(&world.ask_of(FIRST, yes()).await), Some(RefusedCode::Early), "the clock starts anew");
    sleep(Duration::from_millis(600)).await;
    world.covers(AppWindow::Main, true);
    let asked = world.start_asking_of(FIRST, yes());
    let (request, command) = bridge.asked().await;
    assert!(matches!(command, Command::Decide(Decide { verdict: Verdict::Allow, .. })), "another window is covered");
    bridge.reply(request, Reply::Refused { code: ErrorCode::Value, sentence: "no".to_owned() }).await;
    asked.await.expect("an answer");
    world.covers(AppWindow::Small(FIRST), true);
    let asked = world.start_asking_of(FIRST, decide(Verdict::Deny, AlsoFor::Nothing));
    bridge.obey().await;
    assert_eq!(asked.await, Ok(Answer::Done));
}

// holds: desktop-cover-told
#[tokio::test(start_paused = true)]
async fn a_window_is_told_when_something_lies_on_it_and_when_it_is_free_again() {
    let (mut world, mut bridge) = World::served().await;
    open(&mut bridge, &[(1, 100)]).await;
    world.small_window().await;
    world.tell(Deed::Cover(AppWindow::Small(FIRST), true));
    world.paint(FIRST).await;
    assert_eq!(shown(&mut world, |_| true).await.armed_in, None);
    sleep(Duration::from_secs(5)).await;
    world.tell(Deed::Cover(AppWindow::Small(FIRST), false));
    assert_eq!(shown(&mut world, |view| view.armed_in.is_some()).await.armed_in, Some(Count(600)));
    shown(&mut world, |view| view.armed_in == Some(Count(0))).await;
    world.tell(Deed::Cover(AppWindow::Small(FIRST), true));
    assert_eq!(shown(&mut world, |view| view.armed_in != Some(Count(0))).await.armed_in, None);
    let yes = decide(Verdict::Allow, AlsoFor::Nothing);
    assert_eq!(code(&world.ask_of(FIRST, yes).await), Some(RefusedCode::Early));
}

// holds: desktop-deny-told
#[tokio::test(start_paused = true)]
async fn a_window_is_told_when_a_no_counts_that_was_put_off() {
    let (mut world, mut bridge) = World::served().await;
    open(&mut bridge, &[(1, 100)]).await;
    world.small_window().await;
    assert_eq!(shown(&mut world, |_| true).await.deny_in, None);
    world.ask_of(FIRST, AboutQuestion::Painted).await;
    shown(&mut world, |view| view.deny_in == Some(Count(0))).await;
    world.ask_of(FIRST, AboutQuestion::Moved).await;
    assert_eq!(shown(&mut world, |view| view.deny_in != Some(Count(0))).await.deny_in, Some(Count(300)));
    let no = || decide(Verdict::Deny, AlsoFor::Nothing);
    assert_eq!(code(&world.ask_of(FIRST, no()).await), Some(RefusedCode::Early));
    // Nothing is asked meanwhile.
    assert_eq!(shown(&mut world, |view| view.deny_in != Some(Count(300))).await.deny_in, Some(Count(1_000)));
    shown(&mut world, |view| view.deny_in == Some(Count(0))).await;
    let asked = world.start_asking_of(FIRST, no());
    bridge.obey().await;
    assert_eq!(asked.await, Ok(Answer::Done));
}

// holds: desktop-first-line
#[tokio::test(start_paused = true)]
async fn nothing_is_allowed_while_the_first_line_of_the_arguments_is_out_of_view() {
    let (mut world, mut bridge) = World::served().await;
    open(&mut bridge, &[(1, 100)]).await;
    world.small_window().await;
    world.tell(Deed::Small(FIRST, Standing::Clear));
    world.ask_of(FIRST, AboutQuestion::Painted).await;
    sleep(Duration::from_secs(60)).await;
    let yes = || decide(Verdict::Allow, AlsoFor::Nothing);
    assert_eq!(code(&world.ask_of(FIRST, yes()).await), Some(RefusedCode::Early), "painted, out of view");
    let other = AboutQuestion::InView { fingerprint: Fingerprint([8; 32]), first: true, all: true };
    world.ask_of(FIRST, other).await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(code(&world.ask_of(FIRST, yes()).await), Some(RefusedCode::Early), "another definition's");
    for _ in 0..2 {
        world.ask_of(FIRST, in_view(true, false)).await;
        sleep(Duration::from_millis(599)).await;
        let Answer::Question(view) = world.ask_of(FIRST, AboutQuestion::Look).await else { panic!("a question") };
        assert_eq!(view.armed_in, Some(Count(1)));
        sleep(Duration::from_millis(1)).await;
        // Said once more it is no news.
        let Answer::Question(view) = world.ask_of(FIRST, in_view(true, false)).await else { panic!("a question") };
        assert_eq!(view.armed_in, Some(Count(0)));
        let Answer::Question(view) = world.ask_of(FIRST, in_view(false, false)).await else { panic!("a question") };
        assert_eq!(view.armed_in, None);
        assert_eq!(code(&world.ask_of(FIRST, yes()).await), Some(RefusedCode::Early), "scrolled away");
    }
    let asked = world.start_asking_of(FIRST, decide(Verdict::Deny, AlsoFor::Nothing));
    bridge.obey().await;
    assert_eq!(asked.await, Ok(Answer::Done), "a no needs no arguments");
}

// holds: desktop-arming
#[tokio::test(start_paused = true)]
async fn a_second_question_where_the_first_was_clicked_is_not_allowed_by_that_click() {
    let (mut world, mut bridge) = World::served().await;
    open(&mut bridge, &[(1, 100), (2, 200)]).await;
    world.small_window().await;
    world.paint(FIRST).await;
    sleep(Duration::from_millis(600)).await;
    let asked = world.start_asking_of(FIRST, decide(Verdict::Allow, AlsoFor::Nothing));
    bridge.obey().await;
    asked.await.expect("an answer");
    let second = QuestionId(2);
    assert_eq!(world.small_window().await, Some(second));
    world.paint(second).await;
    let early = world.ask_of(second, decide(Verdict::Allow, AlsoFor::Nothing)).await;
    assert_eq!(code(&early), Some(RefusedCode::Early));
}

// holds: desktop-always
#[tokio::test(start_paused = true)]
async fn always_is_offered_only_after_all_arguments_were_in_view_there() {
    let (mut world, mut bridge) = World::served().await;
    open(&mut bridge, &[(1, 100)]).await;
    world.small_window().await;
    world.paint(FIRST).await;
    sleep(Duration::from_millis(600)).await;
    assert_eq!(code(&world.ask_of(FIRST, always()).await), Some(RefusedCode::NotForAlways));
    let asked = world.start_asking_of(FIRST, AboutQuestion::Text { part: QuestionPart::Arguments, offset: Count(0) });
    let (request, command) = bridge.asked().await;
    let text = TextRef::Question { id: FIRST, part: QuestionPart::Arguments };
    assert_eq!(command, Command::Get { text, offset: Count(0) });
    bridge.reply(request, Reply::Text { piece: "{\"chainId\":1}".to_owned(), bytes: Count(13) }).await;
    assert!(matches!(asked.await, Ok(Answer::Text { .. })));
    assert_eq!(code(&world.ask_of(FIRST, always()).await), Some(RefusedCode::NotForAlways), "delivered is not seen");
    world.ask_of(FIRST, in_view(true, true)).await;
    shown(&mut world, |view| view.always == Always::Offered).await;
    assert_eq!(code(&world.ask_of(FIRST, always()).await), Some(RefusedCode::Early), "it came just now");
    sleep(Duration::from_millis(600)).await;
    let asked = world.start_asking_of(FIRST, always());
    let Command::Decide(decide) = bridge.obey().await else { panic!("decide") };
    assert_eq!(decide.also, Also::Remember { any_agent: false, until: Until::Always });
    assert_eq!(asked.await, Ok(Answer::Done));
}

// holds: desktop-always
#[tokio::test(start_paused = true)]
async fn always_is_offered_only_after_every_64_kib_of_long_arguments_were_asked_for() {
    let (mut world, mut bridge) = World::served().await;
    open(&mut bridge, &[(1, 100)]).await;
    world.small_window().await;
    world.paint(FIRST).await;
    // Three bytes each, so that 65,536 is within a character.
    let whole = "\u{20ac}".repeat(50_000);
    let mut offset = 0;
    // The page's word alone is not enough either.
    world.ask_of(FIRST, in_view(true, true)).await;
    while offset < whole.len() {
        assert!(
            !matches!(world.ask_of(FIRST, AboutQuestion::Look).await, Answer::Question(view) if view.always == Always::Offered)
        );
        let about = AboutQuestion::Text { part: QuestionPart::Arguments, offset: Count::from(offset) };
        let asked = world.start_asking_of(FIRST, about);
        let (request, _) = bridge.asked().await;
        let rest = whole.get(offset..).expect("a character begins there").to_owned();
        bridge.reply(request, Reply::Text { piece: rest, bytes: Count::from(whole.len()) }).await;
        let Ok(Answer::Text { piece, bytes }) = asked.await else { panic!("a piece") };
        assert!(piece.len() <= 65_536 && bytes == Count::from(whole.len()), "{}", piece.len());
        assert!(piece.len() > 65_532 || offset + piece.len() == whole.len(), "{}", piece.len());
        offset += piece.len();
    }
    let Answer::Question(view) = world.ask_of(FIRST, AboutQuestion::Look).await else { panic!("a question") };
    assert_eq!(view.always, Always::Offered);
}

// holds: desktop-questions-turn
#[tokio::test(start_paused = true)]
async fn one_question_at_a_time_the_earliest_first_and_none_is_swapped_for_another() {
    let (mut world, mut bridge) = World::served().await;
    open(&mut bridge, &[(2, 200), (3, 300)]).await;
    assert_eq!(world.small_window().await, Some(QuestionId(2)));
    open(&mut bridge, &[(1, 100), (2, 200), (3, 300)]).await;
    assert_eq!(shown(&mut world, |view| view.others == Count(2)).await.question.number, Count(2));
    open(&mut bridge, &[(1, 100), (3, 300)]).await;
    assert_eq!(world.small_window().await, Some(FIRST));
    world.tell(Deed::SmallClosed(FIRST));
    assert_eq!(world.small_window().await, Some(QuestionId(3)), "what the person closed is in the list");
}

fn unanswered(number: u64) -> Event {
    let outcome = Ending::Code(OutcomeCode::Unanswered);
    let call = FinishedCall { call: call(number), outcome, ended: Millis(9), result_bytes: Count(0) };
    Event::Finished { calls: vec![call], missed: Count(0) }
}

// holds: desktop-badge
#[tokio::test(start_paused = true)]
async fn after_two_unanswered_questions_an_agent_gets_one_notification_and_no_window() {
    let (mut world, mut bridge) = World::served().await;
    for number in [1, 2] {
        open(&mut bridge, &[(number, 100)]).await;
        assert_eq!(world.small_window().await, Some(QuestionId(number.into())));
        bridge.say(&unanswered(number)).await;
        open(&mut bridge, &[]).await;
        assert_eq!(world.small_window().await, None);
    }
    open(&mut bridge, &[(3, 100), (4, 200)]).await;
    let told = world.notified().await;
    assert!(told.title.contains("wallet") && told.title.contains("pay") && told.opens == Page::Approvals, "{told:?}");
    // Another agent's question still has its window.
    let both = vec![question(3, "Editor", 100), question(5, "Other", 300)];
    bridge.say(&snapshot(|snapshot| snapshot.questions = both)).await;
    assert_eq!(world.small_window().await, Some(QuestionId(5)));
    // The person answers one of them in the list.
    world.tell(Deed::Main(Standing::Clear));
    world.ask(Ask::Looking { page: Page::Approvals }).await;
    assert_eq!(world.small_window().await, None);
    let about = |about| Ask::Question { id: QuestionId(3), about };
    world.ask(about(AboutQuestion::Painted)).await;
    let asked = world.start_asking(about(decide(Verdict::Deny, AlsoFor::Nothing)));
    bridge.obey().await;
    assert_eq!(asked.await, Ok(Answer::Done));
    open(&mut bridge, &[(6, 100)]).await;
    world
        .view(|view| {
            view.snapshot.as_ref().is_some_and(|now| now.questions.iter().all(|open| open.id == QuestionId(6)))
        })
        .await;
    world.tell(Deed::Main(Standing::Gone));
    assert_eq!(world.small_window().await, Some(QuestionId(6)));
}

// holds: desktop-badge
#[tokio::test(start_paused = true)]
async fn after_five_questions_that_it_took_back_itself_an_agent_gets_no_window() {
    let (mut world, mut bridge) = World::served().await;
    for number in 1..=5 {
        open(&mut bridge, &[(number, 100)]).await;
        assert_eq!(world.small_window().await, Some(QuestionId(number.into())));
        let taken_back = FinishedCall {
            call: CallHead { sent: None, ..call(number) },
            outcome: Ending::Code(OutcomeCode::Cancelled),
            ended: Millis(9),
            result_bytes: Count(0),
        };
        bridge.say(&Event::Finished { calls: vec![taken_back], missed: Count(0) }).await;
        open(&mut bridge, &[]).await;
        assert_eq!(world.small_window().await, None);
    }
    open(&mut bridge, &[(6, 100)]).await;
    assert_eq!(world.notified().await.opens, Page::Approvals);
    world.now().await;
    while let Ok(seen) = world.seen.try_recv() {
        assert!(!matches!(seen, Seen::Ask(_)));
    }
}

// holds: desktop-approvals-view
#[tokio::test(start_paused = true)]
async fn no_small_window_opens_while_the_person_looks_at_the_list() {
    let (mut world, mut bridge) = World::served().await;
    world.tell(Deed::Main(Standing::Clear));
    world.ask(Ask::Looking { page: Page::Approvals }).await;
    open(&mut bridge, &[(1, 100)]).await;
    world.view(|view| view.snapshot.is_some()).await;
    let about = |about| Ask::Question { id: FIRST, about };
    world.ask(about(AboutQuestion::Painted)).await;
    let Answer::Question(view) = world.ask(about(in_view(true, false))).await else { panic!("a question") };
    assert_eq!(view.armed_in, Some(Count(600)));
    sleep(Duration::from_millis(300)).await;
    world.ask(about(AboutQuestion::Moved)).await;
    sleep(Duration::from_millis(300)).await;
    let Answer::Question(view) = world.ask(about(AboutQuestion::Look)).await else { panic!("a question") };
    assert_eq!(view.armed_in, Some(Count(300)));
    while let Ok(seen) = world.seen.try_recv() {
        assert!(!matches!(seen, Seen::Ask(_)));
    }
    world.ask(Ask::Looking { page: Page::Calls }).await;
    assert_eq!(world.small_window().await, Some(FIRST));
}

// holds: desktop-approvals-view
#[tokio::test(start_paused = true)]
async fn the_small_window_goes_when_the_person_comes_to_the_list_and_is_back_when_they_leave() {
    let (mut world, mut bridge) = World::served().await;
    open(&mut bridge, &[(1, 100)]).await;
    assert_eq!(world.small_window().await, Some(FIRST));
    world.tell(Deed::Main(Standing::Clear));
    world.ask(Ask::Looking { page: Page::Approvals }).await;
    assert_eq!(world.small_window().await, None);
    // Something lies on the list: the person looks at it all the same, and is told there.
    world.tell(Deed::Cover(AppWindow::Main, true));
    let about = |about| Ask::Question { id: FIRST, about };
    let Answer::Question(view) = world.ask(about(AboutQuestion::Painted)).await else { panic!("a question") };
    assert_eq!(view.armed_in, None);
    world.ask(about(in_view(true, false))).await;
    world.tell(Deed::Cover(AppWindow::Main, false));
    let Answer::Question(view) = world.ask(about(AboutQuestion::Look)).await else { panic!("a question") };
    assert_eq!(view.armed_in, Some(Count(600)));
    sleep(Duration::from_millis(600)).await;
    world.covers(AppWindow::Main, true);
    let yes = world.ask(about(decide(Verdict::Allow, AlsoFor::Nothing))).await;
    assert_eq!(code(&yes), Some(RefusedCode::Covered));
    world.tell(Deed::Main(Standing::Covered));
    assert_eq!(world.small_window().await, Some(FIRST));
}

// holds: desktop-no-question-windows
#[tokio::test(start_paused = true)]
async fn where_there_are_no_small_windows_a_notification_tells_of_one_question_at_a_time() {
    let (mut world, mut bridge) = World::served_with(false).await;
    open(&mut bridge, &[(1, 100), (2, 200)]).await;
    assert_eq!(world.notified().await.opens, Page::Approvals);
    world.now().await;
    while let Ok(seen) = world.seen.try_recv() {
        assert!(!matches!(seen, Seen::Notify(_) | Seen::Ask(_)));
    }
    open(&mut bridge, &[(2, 200)]).await;
    world.notified().await;
}

// holds: desktop-questions-gone
#[tokio::test(start_paused = true)]
async fn a_question_that_is_gone_or_another_one_is_not_answered() {
    let (mut world, mut bridge) = World::served().await;
    open(&mut bridge, &[(1, 100)]).await;
    world.small_window().await;
    world.paint(FIRST).await;
    let other =
        AboutQuestion::Decide { fingerprint: Fingerprint([8; 32]), verdict: Verdict::Deny, also: AlsoFor::Nothing };
    let gone = Some(RefusedCode::Bridge(ErrorCode::NoSuchQuestion));
    assert_eq!(code(&world.ask_of(FIRST, other).await), gone);
    assert_eq!(code(&world.ask_of(QuestionId(9), decide(Verdict::Deny, AlsoFor::Nothing)).await), gone);
    assert_eq!(code(&world.ask_of(QuestionId(9), AboutQuestion::Look).await), gone);
}
