use proptest::prelude::*;
use serde::Deserialize;

use super::*;

const BRACKETS: [char; 2] = ['\u{27e6}', '\u{27e7}'];
const NAMED_BRACKET: &str = "\u{27e6}U+27E6\u{27e7}";

/// Cases that the user interface's own version is held to as well.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Golden {
    shown: Vec<Case>,
    within: Vec<Case>,
    json: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    why: String,
    input: Option<String>,
    /// Pieces with how often each is repeated, for long texts.
    parts: Option<Vec<(String, usize)>>,
    written: Option<String>,
    chars: Option<usize>,
    output: String,
}

impl Case {
    fn text(&self) -> String {
        let parts = self.parts.iter().flatten().map(|(part, times)| part.repeat(*times));
        self.input.iter().chain(&self.written).cloned().chain(parts).collect()
    }
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../fixtures/shown.json")).unwrap()
}

// holds: shown-cases
#[test]
fn every_case_of_the_table() {
    for case in golden().shown {
        assert_eq!(shown(&case.text()), case.output, "{}", case.why);
        assert!(faults(&case.output).is_empty(), "{}: {:?}", case.why, faults(&case.output));
    }
}

// holds: shown-cut
#[test]
fn a_text_in_so_much_room() {
    for case in golden().within {
        assert_eq!(shown_within(&case.text(), case.chars.unwrap()), case.output, "{}", case.why);
    }
}

// holds: shown-surrogates
#[test]
fn strings_of_json_texts() {
    for case in golden().json {
        assert_eq!(shown_json(&case.text()), case.output, "{}", case.why);
        assert_eq!(shown_json_within(&case.text(), usize::MAX), case.output, "{}", case.why);
    }
    assert_eq!(shown_json_within(r#""\ud800\ud800""#, 8), "\u{27e6}U+D800\u{27e7}\u{27e6}\u{2026}+1\u{27e7}");
}

// holds: shown-cut
#[test]
fn a_detail_view_shows_all() {
    let text = "one two \u{202e} ".repeat(10_000);
    let whole = shown_whole(&text);
    assert_eq!(whole, "one two \u{27e6}U+202E\u{27e7} ".repeat(10_000));
    assert!(shown(&text).chars().count() < 220);
}

// holds: shown-forgery
#[test]
fn marks_of_ours_cannot_be_written_by_others() {
    let ours = shown(&format!("{}\u{202e}", "a\u{301}\u{301}\u{301}\u{301}\u{301}".repeat(30)));
    assert_eq!(marks(&ours).len(), 23);
    // Shown once more it is a text that holds our brackets, and each is named.
    assert_eq!(marks(&shown_whole(&ours)).len(), 46);
}

/// Our marks in a shown text, without their brackets.
fn marks(shown: &str) -> Vec<&str> {
    shown.split('\u{27e6}').skip(1).map(|rest| rest.split_once('\u{27e7}').unwrap().0).collect()
}

/// What must not be in a shown text. Written as a reader of Unicode would, apart from the code that is tested.
fn faults(shown: &str) -> Vec<String> {
    let points: Vec<_> = shown.chars().collect();
    let invisible = |point: char| {
        let selector = matches!(point, '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}' | '\u{180b}'..='\u{180f}');
        selector || matches!(point, '\u{200b}'..='\u{200d}')
    };
    let mut faults = Vec::new();
    for (at, point) in points.iter().copied().enumerate() {
        let before = at.checked_sub(1).map(|at| points[at]);
        let never = point.is_control()
            || matches!(point, '\u{ad}' | '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(point, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{3164}' | '\u{ffa0}')
            || matches!(point, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'.. | '\u{115f}' | '\u{1160}' | '\u{2800}')
            || matches!(point, '\u{e0000}'..='\u{e001f}' | '\u{fdd0}'..='\u{fdef}' | '\u{301a}'..='\u{301b}');
        if never {
            faults.push(format!("U+{:04X} at {at}", u32::from(point)));
        }
        if point.is_whitespace() && (point != ' ' || before == Some(' ')) {
            faults.push(format!("white space U+{:04X} at {at}", u32::from(point)));
        }
        // An invisible character hangs on one that can be seen and needs it: never on Latin, never on another one
        // but for the selector before a joiner, and the tags of flags.
        let alone = before.is_none_or(|before| before.is_ascii() && !(point == '\u{fe0f}' && is_keycap(&points[at..])));
        let tag = matches!(point, '\u{e0020}'..='\u{e007f}');
        let doubled = before.is_some_and(invisible) && !tag && !(point == '\u{200d}' && before == Some('\u{fe0f}'));
        if invisible(point) && (alone || doubled) {
            faults.push(format!("out of place: U+{:04X} at {at}", u32::from(point)));
        }
    }
    let brackets = points.iter().filter(|point| matches!(point, '\u{27e6}' | '\u{27e7}'));
    let pairs = brackets.map(|bracket| *bracket == '\u{27e6}').collect::<Vec<_>>();
    if !pairs.chunks(2).all(|pair| pair == [true, false]) {
        faults.push("brackets that are no pair".into());
    }
    faults.extend(marks(shown).into_iter().filter(|mark| !is_mark_of_ours(mark)).map(String::from));
    faults
}

fn is_keycap(rest: &[char]) -> bool {
    rest.get(1) == Some(&'\u{20e3}')
}

fn is_mark_of_ours(mark: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let count = mark.strip_prefix("\u{2026}+").or(mark.strip_prefix('+'));
    let code = |text: &str| text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    count.is_some_and(number) || mark.strip_prefix("U+").is_some_and(code)
}

/// Texts full of what matters here.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        prop::char::range('\0', '\u{ff}').prop_map(String::from),
        prop::char::range('\u{2000}', '\u{206f}').prop_map(String::from),
        prop::char::range('\u{300}', '\u{36f}').prop_map(String::from),
        prop::char::range('\u{600}', '\u{6ff}').prop_map(String::from),
        prop::char::range('\u{900}', '\u{97f}').prop_map(String::from),
        prop::char::range('\u{1780}', '\u{18aa}').prop_map(String::from),
        prop::char::range('\u{27e0}', '\u{27ef}').prop_map(String::from),
        prop::char::range('\u{e0000}', '\u{e01ef}').prop_map(String::from),
        prop::sample::select(vec![
            "\u{200d}",
            "\u{200c}",
            "\u{200b}",
            "\u{fe0f}",
            "\u{94d}",
            "\u{20e3}",
            "1",
            "\u{1f3f4}",
            "\u{1f469}",
            "\u{2764}",
            "\u{1f3fd}",
            "\u{1f1eb}",
            "\u{27e6}U+202E\u{27e7}",
            "\u{2026}",
            " ",
            "\t\n",
            "\u{845b}",
            "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
        ])
        .prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// What `shown_whole` makes of a text, without what our marks say: what was passed on.
fn passed_on(shown: &str) -> String {
    let mut parts = shown.split('\u{27e6}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('\u{27e7}').unwrap().1)
}

// holds: shown-invisible, shown-cut, shown-forgery, shown-unchanged, shown-surrogates
// holds: shown-cut
#[test]
fn what_is_not_looked_at_is_counted() {
    let spaces = " ".repeat(65_536);
    assert_eq!(shown(&spaces), " ");
    assert_eq!(shown(&format!("{spaces}end")), " \u{27e6}\u{2026}+3\u{27e7}");
    // A character that does not fit in whole is not looked at.
    assert_eq!(shown(&"\u{3000}".repeat(22_000)), " \u{27e6}\u{2026}+155\u{27e7}");
    assert_eq!(shown(&"a".repeat(10_000)), "a".repeat(200) + "\u{27e6}\u{2026}+9800\u{27e7}");
    assert_eq!(shown_whole(&format!("{spaces}end")), " end");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_invisible_comes_through(text in hostile()) {
        let whole = shown_whole(&text);
        prop_assert_eq!(faults(&whole), Vec::<String>::new(), "{:?} -> {:?}", text, whole);
        prop_assert!(whole.len() <= 12 * text.len());
    }

    #[test]
    fn a_cut_text_keeps_to_its_room_and_counts_the_rest(text in hostile(), chars in 0_usize..60) {
        let cut = shown_within(&text, chars);
        let whole = shown_whole(&text);
        prop_assert_eq!(faults(&cut), Vec::<String>::new());
        if cut == whole {
            prop_assert!(cut.chars().count() <= chars);
        } else {
            let (kept, mark) = cut.rsplit_once("\u{27e6}\u{2026}+").unwrap();
            prop_assert!(kept.chars().count() <= chars);
            prop_assert!(whole.starts_with(kept));
            let left: usize = mark.strip_suffix('\u{27e7}').unwrap().parse().unwrap();
            let total = text.chars().count();
            prop_assert!((1..=total).contains(&left));
            // What was left out is what the rest of the text is made of.
            let rest: String = text.chars().skip(total - left).collect();
            prop_assert!(shown_whole(&text[..text.len() - rest.len()]).starts_with(kept));
        }
    }

    #[test]
    fn what_needs_no_mark_is_left_alone_from_then_on(text in hostile()) {
        let whole = shown_whole(&text);
        if whole.contains('\u{27e6}') {
            let again = shown_whole(&whole);
            let named = again.contains(NAMED_BRACKET);
            prop_assert!(named, "{}", again);
            let passed_on = passed_on(&whole);
            prop_assert_eq!(passed_on.find(BRACKETS), None);
        } else {
            prop_assert_eq!(shown_whole(&whole), whole);
        }
    }

    #[test]
    fn plain_ascii_is_left_alone(words in prop::collection::vec("[!-~]{1,20}", 0..9)) {
        let text = words.join(" ");
        prop_assert_eq!(shown(&text), text);
    }

    #[test]
    fn a_string_of_json_is_shown_as_what_it_says(text in hostile(), chars in 0_usize..200) {
        let written = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(shown_json_within(&written, chars), shown_within(&text, chars));
        prop_assert_eq!(faults(&shown_json_within(&text, usize::MAX)), Vec::<String>::new());
    }
}

// holds: shown-cut
#[test]
fn time_grows_no_faster_than_the_text() {
    // Quadratic work on any of these would take minutes.
    for piece in
        ["a", "\t", "\u{301}", "\u{202e}", "\u{1f469}\u{200d}", "\u{915}\u{94d}\u{200d}", "\u{1f3f4}", "\\ud800"]
    {
        let text = piece.repeat(200_000 / piece.len());
        assert!(shown(&text).len() < 4_000, "{piece:?}");
        assert!(shown_whole(&text).len() <= 12 * text.len(), "{piece:?}");
        assert!(shown_json(&format!("\"{text}\"")).len() < 4_000, "{piece:?}");
    }
}

// holds: shown-again
#[test]
fn a_mark_is_never_cut_or_marked_again() {
    let long = shown(&"x".repeat(9_000));
    assert_eq!(long, "x".repeat(200) + "⟦…+8800⟧");
    for (before, chars, after) in [
        (&*long, 200, &*long),
        (&*long, 150, &*("x".repeat(150) + "⟦…+8850⟧")),
        (&*long, 0, "⟦…+9000⟧"),
        ("a⟦U+202E⟧b", 200, "a⟦U+202E⟧b"),
        ("a⟦U+202E⟧b", 5, "a⟦…+2⟧"),
        ("a⟦U+202E⟧b⟦…+7⟧", 9, "a⟦U+202E⟧⟦…+8⟧"),
        ("a⟦U+202E⟧b⟦…+7⟧", 8, "a⟦…+9⟧"),
        ("e\u{301}⟦+96⟧b", 3, "e\u{301}⟦…+97⟧"),
        // What is no mark of ours is shown as what others write.
        ("⟦x⟧", 200, "⟦U+27E6⟧x⟦U+27E7⟧"),
        ("⟦U+202e⟧", 200, "⟦U+27E6⟧U+202e⟦U+27E7⟧"),
        ("⟦+007⟧", 200, "⟦U+27E6⟧+007⟦U+27E7⟧"),
        ("⟦", 200, "⟦U+27E6⟧"),
        ("a\u{202e}b", 200, "a⟦U+202E⟧b"),
    ] {
        assert_eq!(shown_again(before, chars), after, "{before:?} {chars}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    // holds: shown-again
    #[test]
    fn showing_again_is_showing_once(text in "[a-c \u{301}\u{202e}⟦⟧🙂]{0,60}", first in 0_usize..80, second in 0_usize..80) {
        let once = shown_within(&text, first);
        prop_assert_eq!(shown_again(&once, usize::MAX), once.clone());
        let again = shown_again(&once, second.min(first));
        prop_assert_eq!(shown_again(&again, usize::MAX), again.clone());
        // What stands there and what was left out are together all there was, where nothing stands for several.
        if !text.contains(['\u{301}', ' ']) {
            prop_assert_eq!(again, shown_within(&text, second.min(first)));
        }
    }
}
