//! When a no counts.

use super::{
    super::arming::{HAND_TIME, NO_TIME},
    *,
};

// holds: desktop-deny
#[test]
fn a_question_whose_arguments_cannot_be_had_can_be_refused_and_not_allowed() {
    let now = Instant::now();
    let mut questions = Questions::new(true);
    questions.see(&[head()], Count(0), now);
    questions.small_stands(ID, Standing::Clear, now);
    questions.unreadable(ID, Surface::Small, now);
    assert_eq!(allow(&mut questions, Surface::Small, now + Duration::from_secs(60)), Err(RefusedCode::Early));
    let deny = questions.decide(ID, Surface::Small, said(Verdict::Deny, AlsoFor::Nothing), (now, Millis(0)));
    assert_eq!(deny, Ok(Also::Nothing));
}

// holds: desktop-deny
#[test]
fn a_no_counts_as_soon_as_the_question_was_painted() {
    let now = Instant::now();
    let mut questions = Questions::new(true);
    questions.see(&[head()], Count(0), now);
    questions.small_stands(ID, Standing::Clear, now);
    let deny = |all: &mut Questions, also| all.decide(ID, Surface::Small, said(Verdict::Deny, also), (now, Millis(0)));
    assert_eq!(deny(&mut questions, AlsoFor::Nothing).map_err(|(code, _)| code), Err(RefusedCode::Early));
    questions.painted(ID, Surface::Small, now);
    assert_eq!(deny(&mut questions, AlsoFor::Nothing), Ok(Also::Nothing));
    assert_eq!(deny(&mut questions, AlsoFor::Agent), Ok(Also::BlockAgent));
    let tool = AlsoFor::Tool { any_agent: true, lasts: Lasts::Always };
    assert_eq!(deny(&mut questions, tool), Ok(Also::Remember { any_agent: true, until: Until::Always }));
}

/// Shows what `settle` says, at once.
fn open_window(questions: &mut Questions, now: Instant) -> Option<QuestionId> {
    match questions.settle(now).window {
        SmallWindow::Opens(id) => {
            questions.small_stands(id, Standing::Clear, now);
            questions.begins(id, Surface::Small, now);
            Some(id)
        }
        SmallWindow::Stays | SmallWindow::Closes => None,
    }
}

fn deny(questions: &mut Questions, id: QuestionId, surface: Surface, now: Instant) -> bool {
    questions.decide(id, surface, said(Verdict::Deny, AlsoFor::Nothing), (now, Millis(0))).is_ok()
}

const SECOND: QuestionId = QuestionId(2);

fn second() -> QuestionHead {
    QuestionHead { id: SECOND, ends: Millis(200), ..head() }
}

// holds: desktop-deny-hand
#[test]
fn a_no_counts_at_once_on_an_empty_place_and_later_where_another_question_was() {
    // (what became of the one before, how long after that the next one is painted, from when on a no counts)
    type Before = fn(&mut Questions, Instant);
    let answered: Before = |all, now| {
        assert!(deny(all, ID, Surface::Small, now));
        all.answered(ID, Surface::Small, now);
    };
    let gone: Before = |all, now| all.see(&[], Count(0), now);
    let put_off: Before = |all, _| all.put_off(ID);
    let minute = Duration::from_secs(60);
    let table = [
        ("answered", answered, Duration::ZERO, 50 * MS, HAND_TIME),
        ("answered, the next one is painted late", answered, Duration::ZERO, 900 * MS, 900 * MS + NO_TIME),
        ("answered, the next one comes later", answered, 500 * MS, 550 * MS, HAND_TIME),
        ("answered, the next one comes much later", answered, minute, minute + 50 * MS, minute + 50 * MS),
        ("gone", gone, Duration::ZERO, 50 * MS, 50 * MS + NO_TIME),
        ("gone, the next one comes later", gone, 500 * MS, 550 * MS, 550 * MS + NO_TIME),
        ("gone, the next one comes much later", gone, minute, minute + 50 * MS, minute + 50 * MS),
        ("closed", put_off, Duration::ZERO, 50 * MS, 50 * MS + NO_TIME),
    ];
    for (name, before, comes, is_painted, counts) in table {
        let start = Instant::now();
        let mut questions = Questions::new(true);
        questions.see(&[head()], Count(0), start);
        assert_eq!(open_window(&mut questions, start), Some(ID));
        questions.painted(ID, Surface::Small, start);
        before(&mut questions, start);
        if !comes.is_zero() {
            assert_eq!(open_window(&mut questions, start), None, "{name}");
        }
        questions.see(&[second()], Count(0), start + comes);
        assert_eq!(open_window(&mut questions, start + comes), Some(SECOND), "{name}");
        assert!(!deny(&mut questions, SECOND, Surface::Small, start + comes), "{name}: nothing to read yet");
        questions.painted(SECOND, Surface::Small, start + is_painted);
        assert!(deny(&mut questions, SECOND, Surface::Small, start + counts), "{name}");
        if counts > is_painted {
            assert!(!deny(&mut questions, SECOND, Surface::Small, start + counts - MS), "{name}: early");
            assert!(!deny(&mut questions, SECOND, Surface::Small, start + counts), "{name}: the hand goes on");
            let rests = start + counts + HAND_TIME;
            assert!(deny(&mut questions, SECOND, Surface::Small, rests), "{name}: a hand that rests is believed");
        }
    }
}

// holds: desktop-deny-hand
#[test]
fn a_no_in_the_list_counts_later_where_another_card_was_or_the_buttons_moved() {
    let start = Instant::now();
    let on_page = |heads: &[QuestionHead]| {
        let mut questions = Questions::new(true);
        questions.main_stands(Standing::Clear, start);
        questions.looking(Page::Approvals, start);
        questions.see(heads, Count(0), start);
        questions.begins(ID, Surface::Main, start);
        questions.painted(ID, Surface::Main, start);
        questions
    };
    let mut questions = on_page(&[head(), second()]);
    assert!(deny(&mut questions, ID, Surface::Main, start), "an empty place");
    questions.answered(ID, Surface::Main, start);
    questions.see(&[second()], Count(0), start + MS);
    questions.settle(start + MS);
    questions.begins(SECOND, Surface::Main, start + MS);
    questions.painted(SECOND, Surface::Main, start + 20 * MS);
    assert!(!deny(&mut questions, SECOND, Surface::Main, start + 800 * MS), "the second click of the same hand");
    assert!(deny(&mut questions, SECOND, Surface::Main, start + 800 * MS + HAND_TIME));
    // Picked in the list: the pointer is where it was picked.
    let mut questions = on_page(&[head(), second()]);
    questions.begins(SECOND, Surface::Main, start + MS);
    questions.painted(SECOND, Surface::Main, start + 20 * MS);
    assert!(!deny(&mut questions, SECOND, Surface::Main, start + 19 * MS + NO_TIME));
    let mut questions = on_page(&[head(), second()]);
    questions.moved(ID, Surface::Main, start + MS);
    assert!(!deny(&mut questions, ID, Surface::Main, start + NO_TIME));
    let mut questions = on_page(&[head(), second()]);
    questions.moved(ID, Surface::Main, start + MS);
    assert!(deny(&mut questions, ID, Surface::Main, start + MS + NO_TIME));
}

/// How a yes and a no stand there, in milliseconds until they count.
fn stands(questions: &Questions, surface: Surface, now: Instant) -> (Option<Count>, Option<Count>) {
    let view = view(questions, surface, now);
    (view.armed_in, view.deny_in)
}

// holds: desktop-deny-hand
#[test]
fn whoever_clicks_on_at_deny_is_believed_a_second_after_a_rested_hand_at_the_latest() {
    // (what put the no off, from when on the no of a hand that rests counts)
    let table: [(&str, Act, Duration); 2] = [
        ("moved", |all, now| all.moved(ID, Surface::Small, now), NO_TIME),
        (
            "moved on and on, for a while",
            |all, now| (0..20).for_each(|frame| all.moved(ID, Surface::Small, now + frame * 16 * MS)),
            19 * 16 * MS + NO_TIME,
        ),
    ];
    for (name, act, counts) in table {
        for each in [1, 50, 350, 650, 999] {
            let start = Instant::now();
            let mut questions = painted(start);
            act(&mut questions, start);
            let mut clicks = (1..).map(|click| start + 19 * 16 * MS + click * each * MS);
            let taken = clicks.find(|now| deny(&mut questions, ID, Surface::Small, *now)).unwrap();
            let last = start + counts + HAND_TIME;
            assert!(taken < last + each * MS, "{name}, each {each} ms: {:?} late", taken - last);
        }
    }
}

// holds: desktop-deny-hand
#[test]
fn no_yes_counts_while_a_no_does_not() {
    let acts: [(&str, Act); 5] = [
        ("nothing", |_, _| {}),
        ("moved", |all, now| all.moved(ID, Surface::Small, now)),
        ("denied early", |all, now| assert!(!deny(all, ID, Surface::Small, now))),
        ("out of view for a moment", |all, now| {
            in_view(all, Surface::Small, (false, false), now);
            in_view(all, Surface::Small, (true, false), now);
        }),
        ("covered for a moment", |all, now| {
            all.cover(AppWindow::Small(ID), true, now);
            all.cover(AppWindow::Small(ID), false, now);
        }),
    ];
    for (name, act) in acts {
        for at in [10, 250] {
            let start = Instant::now();
            let mut questions = painted(start);
            questions.moved(ID, Surface::Small, start);
            act(&mut questions, start + at * MS);
            let (mut yes, mut no) = (None, None);
            for now in (at..2_000).map(|time| start + time * MS) {
                let (armed_in, deny_in) = stands(&questions, Surface::Small, now);
                yes = yes.or((armed_in == Some(Count(0))).then_some(now));
                no = no.or((deny_in == Some(Count(0))).then_some(now));
            }
            assert!(no.unwrap() <= yes.unwrap(), "{name} after {at} ms");
            assert_eq!(allow(&mut questions, Surface::Small, yes.unwrap() - MS), Err(RefusedCode::Early), "{name}");
        }
    }
}

// holds: desktop-deny-told
#[test]
fn a_window_is_told_when_a_no_counts() {
    let start = Instant::now();
    let mut questions = Questions::new(true);
    questions.see(&[head()], Count(0), start);
    questions.small_stands(ID, Standing::Clear, start);
    let deny_in = |all: &Questions, now| stands(all, Surface::Small, now).1;
    assert_eq!(deny_in(&questions, start), None, "nothing to read yet");
    questions.painted(ID, Surface::Small, start);
    assert_eq!(deny_in(&questions, start), Some(Count(0)), "an empty place");
    questions.moved(ID, Surface::Small, start);
    assert_eq!(deny_in(&questions, start), Some(Count(300)));
    assert!(!deny(&mut questions, ID, Surface::Small, start + 100 * MS));
    assert_eq!(deny_in(&questions, start + 100 * MS), Some(Count(1_000)), "the hand goes on");
    assert!(!deny(&mut questions, ID, Surface::Small, start + 500 * MS));
    assert_eq!(deny_in(&questions, start + 500 * MS), Some(Count(800)), "and is believed in the end");
    assert_eq!(deny_in(&questions, start + 1_300 * MS), Some(Count(0)));
    let mut questions = Questions::new(true);
    questions.see(&[head()], Count(0), start);
    questions.unreadable(ID, Surface::Small, start);
    assert_eq!(deny_in(&questions, start), Some(Count(0)), "a no needs no arguments");
}
