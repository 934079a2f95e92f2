use clientmcp_protocol::strict;
use proptest::prelude::*;

use super::*;

const VERSION_1: &str = include_str!("../../fixtures/version-1.json");
const VERSION_2: &str = include_str!("../../fixtures/version-2.json");

fn example() -> Remembered {
    serde_json::from_str(VERSION_2).unwrap()
}

fn json(remembered: &Remembered) -> Value {
    serde_json::to_value(remembered).unwrap()
}

// holds: settings-kept
#[test]
fn a_file_of_version_2_is_read_and_written_as_it_is() {
    assert_eq!(json(&example()), serde_json::from_str::<Value>(VERSION_2).unwrap());
    assert_eq!(example().fault(), None);
    let memory = example().memory();
    assert_eq!(memory.rules.len(), 2);
    assert_eq!(
        memory.rules[0].agent,
        clientmcp_protocol::control::RuleAgent::One(Some(Label::new("Claude Code").unwrap()))
    );
    assert_eq!(memory.generations[0].generation, 3);
    assert_eq!((memory.pairs.len(), memory.pairs[1].verdict), (2, Verdict::Deny));
    assert_eq!(example().settings.for_bridge().call_seconds, 60);
}

// holds: settings-seen-origin
#[test]
fn what_version_1_says_was_seen_is_left_out_and_all_else_is_kept() {
    let mut old: Remembered = serde_json::from_str(VERSION_1).unwrap();
    assert_eq!(old.fault(), None);
    old.forget_grants_with_an_end();
    let mut expected = example();
    expected.memory.seen.clear();
    expected.memory.issued.clear();
    assert_eq!(old, expected, "what was seen says no origin, and of tokens nothing was known");
    assert_eq!(json(&old)["version"], VERSION, "and is one of this version from now on");
    // One row that says no origin costs no other.
    let mut edited: Value = serde_json::from_str(VERSION_2).unwrap();
    let row = edited["memory"]["seen"][0].clone();
    let elsewhere = |origin: Value| {
        let mut row = row.clone();
        row["origin"] = origin;
        row
    };
    let rows = vec![elsewhere("native".into()), elsewhere(Value::Null), row.clone()];
    edited["memory"]["seen"] = rows.into();
    let mut edited: Remembered = serde_json::from_value(edited).unwrap();
    assert_eq!((edited.fault(), edited.memory().seen.len()), (None, 2), "one definition on two origins is two");
    edited.forget_grants_with_an_end();
    assert_eq!(json(&edited)["memory"]["seen"], Value::Array(vec![elsewhere("native".into()), row]));
}

/// Adds a member to every object in it that may grow: all but those that stand for one value.
fn grow(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.iter_mut().filter(|(name, _)| !is_one_value(name)).for_each(|(_, value)| grow(value));
            members.insert("later".into(), serde_json::json!({"deep": [1, null, "x"]}));
        }
        Value::Array(list) => list.iter_mut().for_each(grow),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_one_value(name: &str) -> bool {
    ["until", "agent", "secret_store"].contains(&name)
}

// holds: settings-unknown
#[test]
fn what_another_version_added_is_kept_at_every_level() {
    let mut grown: Value = serde_json::from_str(VERSION_2).unwrap();
    grow(&mut grown);
    let mut remembered: Remembered = serde_json::from_value(grown.clone()).unwrap();
    assert_eq!(json(&remembered), grown);
    // Also when all that we know is written again.
    remembered.set_memory(remembered.memory());
    remembered.set_applications(remembered.applications());
    remembered.set_labels(remembered.labels());
    assert_eq!(json(&remembered), grown);
    // What goes takes its own with it, and nothing else.
    let mut memory = remembered.memory();
    memory.rules.remove(0);
    remembered.set_memory(memory);
    let rules = json(&remembered)["memory"]["rules"].clone();
    assert_eq!(rules, Value::Array(vec![grown["memory"]["rules"][1].clone()]));
}

// holds: settings-passing
#[test]
fn no_grant_with_an_end_is_remembered() {
    let grants = |memory: &Memory| {
        let rules = memory.rules.iter().filter(|rule| rule.verdict == Verdict::Allow).count();
        let modes = memory.modes.iter().filter(|mode| mode.mode != Mode::Block).count();
        (rules, modes)
    };
    let ends = [(Until::Always, 1), (Until::Quit, 0), (Until::At(Millis(u64::MAX)), 0)];
    for (until, rules) in ends {
        for (mode, lasts) in [(Mode::AskExceptReadOnly, rules), (Mode::AllowAll, 0)] {
            let mut remembered = example();
            let mut memory = remembered.memory();
            memory.rules[0].until = until;
            memory.modes[0].mode = mode;
            memory.modes[0].until = until;
            remembered.set_memory(memory.clone());
            assert_eq!(grants(&remembered.memory()), (rules, lasts), "{until:?} {mode:?}");
            // Nor when somebody wrote it into the file.
            let mut edited = example();
            edited.memory.modes[0].known = memory.modes[0].clone();
            edited.memory.rules[0].known = memory.rules[0].clone();
            edited.forget_grants_with_an_end();
            assert_eq!(edited, remembered);
        }
    }
}

// holds: settings-passing
#[test]
fn a_refusal_lasts_until_its_end() {
    for (until, kept) in [(Until::Always, true), (Until::At(Millis(1)), true), (Until::Quit, false)] {
        let mut remembered = example();
        let mut memory = remembered.memory();
        memory.modes[0].until = until;
        memory.rules[1].until = until;
        memory.blocked[0].until = until;
        remembered.set_memory(memory);
        let memory = remembered.memory();
        let lengths = (memory.modes.len(), memory.rules.len(), memory.blocked.len());
        assert_eq!(lengths, if kept { (1, 2, 1) } else { (0, 1, 0) }, "{until:?}");
    }
}

// holds: settings-kept
#[test]
fn whatever_the_bridge_gives_can_be_saved() {
    let mut remembered = example();
    let mut memory = remembered.memory();
    let pin = |application, origins: &[&str]| Pin {
        application: ClientId::new(application).unwrap(),
        origins: origins.iter().map(|origin| (*origin).to_owned()).collect(),
    };
    let (x, y) = ("https://x.example", "safari-web-extension://E3449EA7-EC25-4696-8E6A-A58B12E2B1C3");
    memory.pins =
        vec![pin("a", &["null", "native", "odd one", "\u{202e}"]), pin("b", &[""]), pin("c", &[x]), pin("c", &[y])];
    memory.rules.push(Rule { verdict: Verdict::Deny, ..memory.rules[0].clone() });
    remembered.set_memory(memory);
    assert_eq!(remembered.fault(), None);
    assert_eq!(remembered.memory().pins, [pin("a", &["native"]), pin("c", &[y])]);
    assert_eq!(remembered.memory().rules.iter().map(|rule| rule.verdict).collect::<Vec<_>>(), [Verdict::Deny; 2]);
}

// holds: settings-pairs
#[test]
fn a_pair_is_told_apart_by_host_and_application_and_kept_with_what_was_said() {
    let pair = |host: &str, application: Option<&str>, verdict, made| Pair {
        host: Label::new(host).unwrap(),
        application: application.map(|id| ClientId::new(id).unwrap()),
        verdict,
        made: Millis(made),
    };
    let mut grown: Value = serde_json::from_str(VERSION_2).unwrap();
    grown["memory"]["pairs"][0]["later"] = 1.into();
    let mut remembered: Remembered = serde_json::from_value(grown).unwrap();
    let mut memory = remembered.memory();
    memory.pairs = vec![
        pair("Editor", None, Verdict::Deny, 1),
        pair("Editor", Some("todo"), Verdict::Allow, 2),
        pair("Claude Desktop", Some("todo"), Verdict::Deny, 3),
        pair("Claude Desktop", Some("other"), Verdict::Allow, 4),
        // Of two about the same, the later counts.
        pair("Editor", None, Verdict::Allow, 5),
    ];
    let kept = memory.pairs[1..].to_vec();
    remembered.set_memory(memory);
    assert_eq!((remembered.fault(), remembered.memory().pairs), (None, kept.clone()));
    let written = json(&remembered);
    let later = |index: usize| written["memory"]["pairs"][index].get("later").cloned();
    assert_eq!([0, 1, 2, 3].map(later), [None, Some(1.into()), None, None]);
    assert_eq!(serde_json::from_value::<Remembered>(written).unwrap().memory().pairs, kept);
}

#[test]
fn what_is_missing_has_its_strictest_value() {
    let text = r#"{"version":2,"id":"000102030405060708090a0b0c0d0e0f"}"#;
    let remembered: Remembered = serde_json::from_str(text).unwrap();
    assert_eq!(remembered, Remembered::strictest(remembered.id.clone()));
    let settings = Settings::default();
    assert_eq!(settings.for_bridge(), clientmcp_protocol::control::Settings::default());
    assert_eq!((settings.port, settings.start_at_login, settings.in_range()), (27182, false, true));
}

fn with(pointer: &str, value: Value) -> Result<Option<Fault>, serde_json::Error> {
    let mut edited: Value = serde_json::from_str(VERSION_2).unwrap();
    *edited.pointer_mut(pointer).unwrap() = value;
    serde_json::from_value::<Remembered>(edited).map(|remembered| remembered.fault())
}

// holds: settings-damaged
#[test]
fn what_cannot_be_meant_is_a_fault() {
    let faults: [(&str, Value, Fault); 14] = [
        ("/settings/call_seconds", 0.into(), Fault::Seconds),
        ("/settings/call_seconds", 3601.into(), Fault::Seconds),
        ("/settings/question_seconds", 9.into(), Fault::Seconds),
        ("/settings/question_seconds", 601.into(), Fault::Seconds),
        ("/settings/allow_origins/0", "null".into(), Fault::Origin),
        ("/settings/allow_origins/0", "".into(), Fault::Origin),
        ("/memory/pins/0/origins/0", "null".into(), Fault::Origin),
        ("/settings/allow_origins/0", "https://a b".into(), Fault::Origin),
        ("/memory/pins/0/origins/0", "".into(), Fault::Origin),
        ("/memory/rules/1/id", "1".into(), Fault::Repeated),
        ("/version", 0.into(), Fault::Version),
        ("/settings/allow_origins/0", "file://".into(), Fault::Origin),
        ("/memory/pins/0/origins/0", "a b".into(), Fault::Origin),
        ("/memory/pins/0/origins", Value::Array(Vec::new()), Fault::Origin),
    ];
    for (pointer, value, fault) in faults {
        assert_eq!(with(pointer, value.clone()).unwrap(), Some(fault), "{pointer} {value}");
    }
    let far: [(&str, Value); 5] = [
        ("/memory/generations/0/generation", ((1_u64 << 53) - 1).into()),
        ("/memory/generations/0/generation", (1_u64 << 53).into()),
        ("/memory/generations/0/generation", u64::MAX.into()),
        ("/memory/floors/0/issued_before", 253_402_300_800_000_u64.into()),
        ("/memory/blocked/0/until", serde_json::json!({"at": u64::MAX})),
    ];
    for (index, (pointer, value)) in far.into_iter().enumerate() {
        let fault = with(pointer, value.clone()).unwrap();
        assert_eq!(matches!(fault, Some(Fault::Memory(_))), index > 0, "{pointer} {value}: {fault:?}");
    }
    for pointer in [
        "/memory/modes",
        "/memory/blocked",
        "/memory/pins",
        "/memory/generations",
        "/memory/floors",
        "/memory/issued",
        "/memory/seen",
        "/memory/pairs",
        "/applications",
        "/labels",
    ] {
        let list: Value = serde_json::from_str::<Value>(VERSION_2).unwrap().pointer(pointer).unwrap().clone();
        let twice = Value::Array(vec![list[0].clone(), list[0].clone()]);
        assert_eq!(with(pointer, twice).unwrap(), Some(Fault::Repeated), "{pointer}");
    }
    let unread: [(&str, Value); 8] = [
        ("/id", "".into()),
        ("/settings/theme", "pink".into()),
        ("/settings/port", 65536.into()),
        ("/memory/modes/0/application", "a b".into()),
        ("/memory/rules/0/verdict", "maybe".into()),
        ("/memory/rules/0/fingerprint", "00".into()),
        ("/memory/generations/0/generation", (-1).into()),
        ("/memory/rules", Value::Null),
    ];
    for (pointer, value) in unread {
        assert!(with(pointer, value).is_err(), "{pointer}");
    }
}

// holds: control-words
#[test]
fn a_word_is_a_word_in_the_file_too() {
    let whole: Value = serde_json::from_str(VERSION_2).unwrap();
    let read = |value: &Value| strict::from_slice::<Remembered>(value.to_string().as_bytes());
    assert!(read(&whole).is_ok());
    for pointer in [
        "/settings/theme",
        "/settings/client_origins",
        "/memory/modes/0/mode",
        "/memory/modes/0/until",
        "/memory/rules/0/verdict",
        "/memory/rules/1/agent",
        "/memory/floors/0/role",
        "/memory/pairs/1/verdict",
        "/labels/0/role",
    ] {
        let word = whole.pointer(pointer).unwrap().as_str().unwrap().to_owned();
        let odd = [
            serde_json::json!({ &word: null }),
            serde_json::json!({ &word: {} }),
            serde_json::json!([word]),
            serde_json::json!(0),
        ];
        for odd in odd {
            let mut edited = whole.clone();
            *edited.pointer_mut(pointer).unwrap() = odd.clone();
            assert!(read(&edited).is_err(), "{pointer}: {odd}");
        }
    }
}

// holds: settings-damaged
#[test]
fn a_repeated_member_is_a_fault() {
    for (name, value) in [("version", "1"), ("id", r#""000102030405060708090a0b0c0d0e0f""#), ("memory", "{}")] {
        let text = VERSION_2.replacen('{', &format!("{{\"{name}\": {value},"), 1);
        assert!(serde_json::from_str::<Remembered>(&text).is_err(), "{name}");
    }
    let text = VERSION_2.replacen(r#""verdict": "deny""#, r#""verdict": "deny", "verdict": "allow""#, 1);
    assert!(serde_json::from_str::<Remembered>(&text).is_err());
}

fn a_time() -> impl Strategy<Value = Millis> {
    (0..=clientmcp_protocol::limits::LAST_MOMENT).prop_map(Millis)
}

/// Memories of every shape, valid or not.
pub(crate) fn any_remembered() -> impl Strategy<Value = Remembered> {
    let until = prop_oneof![Just(Until::Always), Just(Until::Quit), a_time().prop_map(Until::At)];
    let label = proptest::option::of("[ -~äשも🙂]{1,20}".prop_map(|text| Label::claimed(&text).unwrap()));
    let client = "[a-c]".prop_map(|text| ClientId::new(&text).unwrap());
    let rule = (
        any::<bool>(),
        "[a-z0-9]{1,3}",
        client.clone(),
        until.clone(),
        label.clone(),
        0..=clientmcp_protocol::limits::LAST_MOMENT,
    );
    let floor = (client.clone(), any::<bool>(), label, a_time());
    let mode =
        (client, prop::sample::select(vec![Mode::Ask, Mode::AskExceptReadOnly, Mode::AllowAll, Mode::Block]), until);
    let lists =
        (prop::collection::vec(rule, 0..5), prop::collection::vec(floor, 0..5), prop::collection::vec(mode, 0..4));
    (lists, prop::collection::btree_map("x[a-z]{1,8}", "\\PC{0,20}", 0..4), 0..4_000_u32, any::<u16>()).prop_map(
        |((rules, floors, modes), unknown, seconds, port)| {
            let mut remembered = example();
            let mut memory = remembered.memory();
            let allow = memory.rules[0].clone();
            memory.rules = rules
                .into_iter()
                .map(|(allowed, id, application, until, label, made)| Rule {
                    id,
                    application,
                    verdict: if allowed { Verdict::Allow } else { Verdict::Deny },
                    agent: clientmcp_protocol::control::RuleAgent::One(label),
                    until,
                    made: Millis(made),
                    ..allow.clone()
                })
                .collect();
            let role_of = |agent| if agent { Role::Agent } else { Role::Client };
            memory.floors = floors
                .into_iter()
                .map(|(application, agent, label, at)| Floor {
                    application,
                    role: role_of(agent),
                    label,
                    issued_before: at,
                })
                .collect();
            memory.modes = modes
                .into_iter()
                .map(|(application, mode, until)| ModeOf { application, mode, until, ends: None })
                .collect();
            remembered.set_memory(memory);
            remembered.settings.call_seconds = seconds;
            remembered.settings.port = port;
            remembered.other = unknown.into_iter().map(|(name, text)| (name, Value::from(text))).collect();
            remembered
        },
    )
}

// holds: settings-kept, settings-passing
proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_what_is_read(remembered in any_remembered()) {
        let text = serde_json::to_string(&remembered).unwrap();
        let mut read: Remembered = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &remembered);
        read.forget_grants_with_an_end();
        prop_assert_eq!(&read, &remembered);
        read.set_memory(remembered.memory());
        prop_assert_eq!(read, remembered);
    }
}
