//! Tables of what restarts the clock, and of what may be answered when. The clock is driven by hand.

mod denying;

use std::time::Duration;

use clientmcp_protocol::{
    control::{Also, Count, Definition, ErrorCode, Hints, Millis, QuestionHead, Until, Verdict, Via},
    ids::{ClientId, Fingerprint, QuestionId, ToolName},
};
use tokio::time::Instant;

use super::{Asked, Questions, Said, SmallWindow, Surface, arming::ARMING_TIME, reading::Reading};
use crate::{
    shell::{AppWindow, Standing},
    wire::{AlsoFor, Always, Lasts, Page, QuestionView, RefusedCode, Theme},
};

const ID: QuestionId = QuestionId(1);

const MS: Duration = Duration::from_millis(1);

fn head() -> QuestionHead {
    QuestionHead {
        id: ID,
        number: Count(1),
        application: ClientId::new("wallet").unwrap(),
        origin: "native".to_owned(),
        tool: ToolName::new("pay").unwrap(),
        fingerprint: Fingerprint([7; 32]),
        title: None,
        description: None,
        agent: None,
        via: Via::Token,
        reported: None,
        arguments_bytes: Count(13),
        tool_bytes: Count(50),
        hints: Hints::default(),
        risk: None,
        definition: Definition::New,
        asked: Millis(1),
        ends: Millis(100),
    }
}

/// One question, shown on both surfaces and painted at `now`.
fn painted(now: Instant) -> Questions {
    let mut questions = Questions::new(true);
    questions.main_stands(Standing::Clear, now);
    questions.looking(Page::Approvals, now);
    questions.see(&[head()], Count(0), now);
    questions.small_stands(ID, Standing::Clear, now);
    for surface in [Surface::Small, Surface::Main] {
        questions.painted(ID, surface, now);
        in_view(&mut questions, surface, (true, false), now);
    }
    questions
}

/// What the page says is in view: the first line of the arguments, and all of them.
fn in_view(questions: &mut Questions, surface: Surface, (first, all): (bool, bool), now: Instant) {
    questions.page_shows((ID, head().fingerprint), surface, (first, all), now);
}

fn said(verdict: Verdict, also: AlsoFor) -> Said {
    Said { fingerprint: Fingerprint([7; 32]), verdict, also }
}

fn allow(questions: &mut Questions, surface: Surface, now: Instant) -> Result<Also, RefusedCode> {
    let answer = questions.decide(ID, surface, said(Verdict::Allow, AlsoFor::Nothing), (now, Millis(0)));
    answer.map_err(|(code, _)| code)
}

fn view(questions: &Questions, surface: Surface, now: Instant) -> QuestionView {
    match questions.view(ID, surface, Theme::System, now) {
        Some((Asked::Call(view), _)) => view,
        other => panic!("no question about a call: {other:?}"),
    }
}

type Act = fn(&mut Questions, Instant);

// holds: desktop-arming
#[test]
fn the_clock_starts_anew_with_whatever_puts_something_else_under_the_pointer() {
    // (what happens, on which surface it restarts)
    let table: [(&str, Act, &[Surface]); 16] = [
        ("nothing", |_, _| {}, &[]),
        ("painted again", |all, now| all.painted(ID, Surface::Small, now), &[Surface::Small]),
        (
            "the first line out of view for a moment",
            |all, now| {
                in_view(all, Surface::Small, (false, false), now);
                in_view(all, Surface::Small, (true, false), now);
            },
            &[Surface::Small],
        ),
        ("the first line said to be in view again", |all, now| in_view(all, Surface::Main, (true, true), now), &[]),
        ("the small window moved", |all, now| all.moved(ID, Surface::Small, now), &[Surface::Small]),
        ("the list moved", |all, now| all.moved(ID, Surface::Main, now), &[Surface::Main]),
        (
            "covered for a moment",
            |all, now| {
                all.small_stands(ID, Standing::Covered, now);
                all.small_stands(ID, Standing::Clear, now);
            },
            &[Surface::Small],
        ),
        (
            "something lay on it for a moment",
            |all, now| {
                all.cover(AppWindow::Small(ID), true, now);
                all.cover(AppWindow::Small(ID), false, now);
            },
            &[Surface::Small],
        ),
        (
            "something lay on the main window for a moment",
            |all, now| {
                all.cover(AppWindow::Main, true, now);
                all.cover(AppWindow::Main, false, now);
            },
            &[Surface::Main],
        ),
        ("said to be free again", |all, now| all.cover(AppWindow::Main, false, now), &[]),
        ("said to be clear again", |all, now| all.small_stands(ID, Standing::Clear, now), &[]),
        (
            "the main window came to front",
            |all, now| {
                all.main_stands(Standing::Covered, now);
                all.main_stands(Standing::Clear, now);
            },
            &[Surface::Main],
        ),
        (
            "clicked too early",
            |all, now| assert_eq!(allow(all, Surface::Small, now), Err(RefusedCode::Early)),
            &[Surface::Small],
        ),
        ("the countdown", |all, now| all.see(&[QuestionHead { ends: Millis(90), ..head() }], Count(0), now), &[]),
        (
            "another text",
            |all, now| all.see(&[QuestionHead { risk: Some("high".to_owned()), ..head() }], Count(0), now),
            &[Surface::Small, Surface::Main],
        ),
        (
            "a question beside it",
            |all, now| all.see(&[head(), QuestionHead { id: QuestionId(2), ..head() }], Count(0), now),
            &[],
        ),
    ];
    for (name, act, restarted) in table {
        for surface in [Surface::Small, Surface::Main] {
            let start = Instant::now();
            let mut questions = painted(start);
            act(&mut questions, start + ARMING_TIME - MS);
            let armed = allow(&mut questions, surface, start + ARMING_TIME).is_ok();
            assert_eq!(armed, !restarted.contains(&surface), "{name}, {surface:?}");
        }
        let start = Instant::now();
        let mut questions = painted(start);
        act(&mut questions, start + ARMING_TIME - MS);
        let last = start + ARMING_TIME - MS + ARMING_TIME;
        assert!(allow(&mut questions, Surface::Small, last).is_ok(), "{name}: armed in the end");
    }
}

// holds: desktop-arming
#[test]
fn the_clock_stands_while_the_surface_is_covered_gone_or_not_painted() {
    let table: [(&str, Act); 8] = [
        ("something lies on it", |all, now| all.cover(AppWindow::Small(ID), true, now)),
        ("something lies on it, and it is said to be clear", |all, now| {
            all.cover(AppWindow::Small(ID), true, now);
            all.small_stands(ID, Standing::Covered, now);
            all.small_stands(ID, Standing::Clear, now);
        }),
        ("covered", |all, now| all.small_stands(ID, Standing::Covered, now)),
        ("gone", |all, now| all.small_stands(ID, Standing::Gone, now)),
        ("gone and back, not painted", |all, now| {
            all.small_stands(ID, Standing::Gone, now);
            all.small_stands(ID, Standing::Clear, now);
        }),
        ("scrolled away", |all, now| in_view(all, Surface::Small, (false, true), now)),
        ("covered and clicked", |all, now| {
            all.small_stands(ID, Standing::Covered, now);
            assert_eq!(allow(all, Surface::Small, now), Err(RefusedCode::Early));
        }),
        ("covered and painted", |all, now| {
            all.small_stands(ID, Standing::Covered, now);
            all.painted(ID, Surface::Small, now);
        }),
    ];
    for (name, act) in table {
        let start = Instant::now();
        let mut questions = painted(start);
        act(&mut questions, start);
        let later = start + Duration::from_secs(60);
        assert_eq!(allow(&mut questions, Surface::Small, later), Err(RefusedCode::Early), "{name}");
        assert_eq!(view(&questions, Surface::Small, later).armed_in, None, "{name}");
        assert!(allow(&mut questions, Surface::Main, later).is_ok(), "{name}: the other surface has its own clock");
    }
}

// holds: desktop-arming
#[test]
fn another_page_ends_what_the_list_showed() {
    let start = Instant::now();
    let mut questions = painted(start);
    questions.looking(Page::Calls, start);
    questions.looking(Page::Approvals, start);
    assert_eq!(allow(&mut questions, Surface::Main, start + ARMING_TIME), Err(RefusedCode::Early));
}

// holds: desktop-arming
#[test]
fn a_page_that_begins_again_has_painted_and_shown_nothing() {
    let start = Instant::now();
    let mut questions = painted(start);
    questions.read(ID, Surface::Main, Count(0), Count(13), Count(13));
    // Armed long ago; then another question was looked at there, and this one comes back where that one was clicked.
    let back = start + Duration::from_secs(60);
    questions.begins(ID, Surface::Main, back);
    assert_eq!(allow(&mut questions, Surface::Main, back), Err(RefusedCode::Early));
    let view = view(&questions, Surface::Main, back);
    assert_eq!((view.armed_in, view.always), (None, Always::NotAllShown));
    questions.main_stands(Standing::Covered, back);
    questions.main_stands(Standing::Clear, back);
    assert_eq!(allow(&mut questions, Surface::Main, back + ARMING_TIME), Err(RefusedCode::Early), "still not painted");
    questions.painted(ID, Surface::Main, back);
    assert_eq!(allow(&mut questions, Surface::Main, back + ARMING_TIME), Err(RefusedCode::Early), "out of view");
    in_view(&mut questions, Surface::Main, (true, false), back);
    assert!(allow(&mut questions, Surface::Main, back + ARMING_TIME).is_ok());
    assert!(allow(&mut questions, Surface::Small, back).is_ok(), "the other surface has its own clock");
}

// holds: desktop-always, desktop-all-seen
#[test]
fn what_may_go_with_a_yes() {
    let tool = |any_agent, lasts| AlsoFor::Tool { any_agent, lasts };
    let (one, any) = (|lasts| tool(false, lasts), |lasts| tool(true, lasts));
    let not_seen = Some(RefusedCode::NotForAlways);
    // (what, marked destructive, delivered to its end, all of it in view, refused)
    let table = [
        (AlsoFor::Nothing, false, false, false, None),
        (AlsoFor::Nothing, true, false, false, None),
        (one(Lasts::Minutes15), true, false, false, None),
        (any(Lasts::Minutes15), false, true, false, None),
        (one(Lasts::Quit), false, false, false, not_seen),
        (one(Lasts::Quit), false, true, false, not_seen),
        (one(Lasts::Quit), false, false, true, not_seen),
        (any(Lasts::Quit), false, true, false, not_seen),
        (any(Lasts::Quit), false, true, true, None),
        (one(Lasts::Quit), true, true, true, None),
        (one(Lasts::Quit), true, true, false, not_seen),
        (one(Lasts::Always), false, false, false, not_seen),
        (one(Lasts::Always), false, true, false, not_seen),
        (one(Lasts::Always), false, false, true, not_seen),
        (any(Lasts::Always), false, true, false, not_seen),
        (one(Lasts::Always), false, true, true, None),
        (any(Lasts::Always), false, true, true, None),
        (one(Lasts::Always), true, true, true, not_seen),
        (AlsoFor::Agent, false, true, true, Some(RefusedCode::Bridge(ErrorCode::Value))),
    ];
    for (also, destructive, delivered, seen, refused) in table {
        let start = Instant::now();
        let mut questions = painted(start);
        if destructive {
            let hints = Hints { destructive: Some(true), ..Hints::default() };
            questions.see(&[QuestionHead { hints, ..head() }], Count(0), start);
        }
        if delivered {
            questions.read(ID, Surface::Small, Count(0), Count(13), Count(13));
        }
        in_view(&mut questions, Surface::Small, (true, seen), start);
        let answer = questions.decide(ID, Surface::Small, said(Verdict::Allow, also), (start + ARMING_TIME, Millis(0)));
        assert_eq!(
            answer.err().map(|(code, _)| code),
            refused,
            "{also:?}, destructive {destructive}, delivered {delivered}, in view {seen}"
        );
    }
}

// holds: desktop-all-seen
#[test]
fn what_was_in_view_counts_while_nothing_lay_on_it_and_until_it_says_something_else() {
    // (what happens before the page says that all of it was in view, whether that counts, and said once more)
    let table: [(&str, Act, bool, bool); 9] = [
        ("nothing", |_, _| {}, true, true),
        ("covered", |all, now| all.small_stands(ID, Standing::Covered, now), false, false),
        (
            "covered meanwhile",
            |all, now| {
                all.small_stands(ID, Standing::Covered, now);
                all.small_stands(ID, Standing::Clear, now);
            },
            false,
            true,
        ),
        ("something lies on it", |all, now| all.cover(AppWindow::Small(ID), true, now), false, false),
        (
            "something lay on it meanwhile",
            |all, now| {
                all.cover(AppWindow::Small(ID), true, now);
                all.cover(AppWindow::Small(ID), false, now);
            },
            false,
            true,
        ),
        ("covered at a yes", |all, now| all.was_covered(ID, Surface::Small, now), false, true),
        (
            "not painted",
            |all, now| {
                all.begins(ID, Surface::Small, now);
                all.read(ID, Surface::Small, Count(0), Count(13), Count(13));
                all.small_stands(ID, Standing::Clear, now);
            },
            false,
            false,
        ),
        ("the main window covered", |all, now| all.main_stands(Standing::Covered, now), true, true),
        (
            "another countdown",
            |all, now| all.see(&[QuestionHead { ends: Millis(9), ..head() }], Count(0), now),
            true,
            true,
        ),
    ];
    for (name, act, first, second) in table {
        let now = Instant::now();
        let mut questions = painted(now);
        questions.read(ID, Surface::Small, Count(0), Count(13), Count(13));
        act(&mut questions, now);
        for expected in [first, second] {
            in_view(&mut questions, Surface::Small, (true, true), now);
            assert_eq!(all_seen(&questions, Surface::Small), expected, "{name}");
        }
        assert!(!all_seen(&questions, Surface::Main), "{name}: the other surface has its own");
    }
    // (what ends it)
    let table: [(&str, Act, bool); 4] = [
        ("covered afterwards", |all, now| all.small_stands(ID, Standing::Covered, now), true),
        ("out of view afterwards", |all, now| in_view(all, Surface::Small, (false, false), now), true),
        ("a page that begins again", |all, now| all.begins(ID, Surface::Small, now), false),
        (
            "another head",
            |all, now| all.see(&[QuestionHead { definition: Definition::Changed, ..head() }], Count(0), now),
            false,
        ),
    ];
    for (name, act, stays) in table {
        let now = Instant::now();
        let mut questions = painted(now);
        questions.read(ID, Surface::Small, Count(0), Count(13), Count(13));
        in_view(&mut questions, Surface::Small, (true, true), now);
        act(&mut questions, now);
        assert_eq!(all_seen(&questions, Surface::Small), stays, "{name}");
    }
}

fn all_seen(questions: &Questions, surface: Surface) -> bool {
    view(questions, surface, Instant::now()).all_seen
}

// holds: desktop-always
#[test]
fn a_text_counts_as_read_when_it_came_in_order_to_its_end_on_that_surface() {
    let table: [(&[(u64, u64)], bool); 7] = [
        (&[(0, 30)], true),
        (&[(0, 10), (10, 10), (20, 10)], true),
        (&[(0, 10), (0, 10), (10, 20)], true),
        (&[(20, 10), (0, 10), (10, 10)], false),
        (&[(0, 10), (11, 19)], false),
        (&[(30, 0)], false),
        (&[], false),
    ];
    for (pieces, done) in table {
        let mut reading = Reading::default();
        for (offset, length) in pieces {
            reading.piece(*offset, *length, 30);
        }
        assert_eq!(reading.is_done(), done, "{pieces:?}");
    }
    let mut questions = painted(Instant::now());
    questions.read(ID, Surface::Small, Count(0), Count(13), Count(13));
    in_view(&mut questions, Surface::Small, (true, true), Instant::now());
    let always = |surface| view(&questions, surface, Instant::now()).always;
    assert_eq!((always(Surface::Small), always(Surface::Main)), (Always::Offered, Always::NotAllShown));
}

// holds: desktop-questions-gone
#[test]
fn an_answered_question_takes_no_second_answer() {
    let start = Instant::now();
    let mut questions = painted(start);
    questions.answered(ID, Surface::Main, start);
    let gone = Err(RefusedCode::Bridge(ErrorCode::NoSuchQuestion));
    assert_eq!(allow(&mut questions, Surface::Main, start + ARMING_TIME), gone);
}
