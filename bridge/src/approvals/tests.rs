//! Tables of the policy: one line for each thing that could be got wrong. The properties are next door.

use std::time::Duration;

use clientmcp_protocol::{
    control::{BlockedAgent, Memory, Millis, Mode, ModeOf, Rule, RuleAgent, Seen, Until, Verdict},
    ids::{ClientId, Fingerprint, Label, ToolName},
};
use tokio::time::Instant;

use super::{oracle::Fate, *};
use crate::{call::Agent, text::Text};

pub(super) const START: u64 = 1_000_000_000_000;

pub(super) fn start() -> Now {
    Now { mono: Instant::now(), wall: Millis(START) }
}

pub(super) fn after(now: Now, seconds: u64) -> Now {
    Now { mono: now.mono + Duration::from_secs(seconds), wall: Millis(now.wall.0 + 1_000 * seconds) }
}

pub(super) fn agent(application: &str, label: Option<&str>) -> Agent {
    Agent { application: client(application), label: label.map(|label| Label::new(label).unwrap()) }
}

pub(super) fn client(id: &str) -> ClientId {
    ClientId::new(id).unwrap()
}

fn place(application: &str, tool: &str, origin: &str) -> Place {
    Place { application: client(application), tool: ToolName::new(tool).unwrap(), origin: origin.to_owned() }
}

/// A definition that claims to be read-only, claims not to be, or claims nothing.
pub(super) fn tool(name: &str, version: u32, read_only: Option<bool>) -> Tool {
    let annotations = read_only.map_or("{}".to_owned(), |hint| format!(r#"{{"readOnlyHint":{hint}}}"#));
    let text = format!(
        r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"version":{version},"annotations":{annotations}}}"#
    );
    Tool::new(ToolName::new(name).unwrap(), Text::of(serde_json::from_str(&text).unwrap()), Vec::new())
}

pub(super) fn fate(policy: &Policy, situation: Situation<'_>, now: Now) -> Fate {
    match policy.judge(situation, now) {
        Judgement::Allow(_) => Fate::Send,
        Judgement::Ask => Fate::Ask,
        Judgement::Refuse(outcome) => Fate::Refuse(outcome),
    }
}

/// A rule for the calls of `a`'s agent `x` of the tool `go`, as a remembered answer makes it.
fn rule(verdict: Verdict, tool: &Tool) -> Rule {
    let bound = verdict == Verdict::Allow;
    Rule {
        id: "r".into(),
        application: client("a"),
        tool: tool.name.clone(),
        agent: RuleAgent::One(Some(Label::new("x").unwrap())),
        verdict,
        fingerprint: bound.then_some(tool.fingerprint),
        origin: bound.then(|| "native".into()),
        until: Until::Always,
        made: Millis(START),
    }
}

fn judged(rules: Vec<Rule>, mode: Mode, situation: Situation<'_>) -> Fate {
    let (mut policy, now) = (Policy::new(Asking::Person), start());
    policy.set_rules(rules, now);
    policy.set_mode(client("a"), mode, Until::Quit, now);
    fate(&policy, situation, now)
}

const DECLINED: Fate = Fate::Refuse(Outcome::Declined);
const BLOCKED: Fate = Fate::Refuse(Outcome::Blocked);
const PAUSED: Fate = Fate::Refuse(Outcome::Paused);

// holds: approval-deny-beats-allow, approval-modes
#[test]
fn deny_beats_allow_and_a_rule_beats_the_mode() {
    let (go, x) = (tool("go", 1, None), agent("a", Some("x")));
    let situation = Situation { agent: &x, origin: "native", tool: &go };
    let (allow, deny) = (rule(Verdict::Allow, &go), rule(Verdict::Deny, &go));
    for (rules, [ask, all, block]) in [
        (vec![], [Fate::Ask, Fate::Send, BLOCKED]),
        (vec![allow.clone()], [Fate::Send, Fate::Send, BLOCKED]),
        (vec![deny.clone()], [DECLINED, DECLINED, BLOCKED]),
        (vec![allow.clone(), deny.clone()], [DECLINED, DECLINED, BLOCKED]),
        (vec![deny, allow], [DECLINED, DECLINED, BLOCKED]),
    ] {
        let by_mode = |mode| judged(rules.clone(), mode, situation);
        assert_eq!(by_mode(Mode::Ask), ask, "{rules:?}");
        assert_eq!(by_mode(Mode::AskExceptReadOnly), ask, "{rules:?}");
        assert_eq!(by_mode(Mode::AllowAll), all, "{rules:?}");
        assert_eq!(by_mode(Mode::Block), block, "{rules:?}");
    }
}

// holds: approval-allow-rule, approval-allow-unbound
#[test]
fn an_allow_rule_allows_only_what_it_names() {
    let (go, x) = (tool("go", 1, None), agent("a", Some("x")));
    let situation = Situation { agent: &x, origin: "native", tool: &go };
    let allow = rule(Verdict::Allow, &go);
    let judge = |rule: &Rule, situation| judged(vec![rule.clone()], Mode::Ask, situation);
    assert_eq!(judge(&allow, situation), Fate::Send);
    assert_eq!(judge(&Rule { agent: RuleAgent::Any, ..allow.clone() }, situation), Fate::Send);
    for narrower in [
        Rule { fingerprint: None, ..allow.clone() },
        Rule { origin: None, ..allow.clone() },
        Rule { origin: Some("https://native".into()), ..allow.clone() },
        Rule { fingerprint: Some(Fingerprint([0; 32])), ..allow.clone() },
        Rule { agent: RuleAgent::One(None), ..allow.clone() },
        Rule { application: client("b"), ..allow.clone() },
        Rule { tool: ToolName::new("Go").unwrap(), ..allow.clone() },
    ] {
        assert_eq!(judge(&narrower, situation), Fate::Ask, "{narrower:?}");
    }
    let (other, unlabelled, elsewhere) = (agent("a", Some("y")), agent("a", None), agent("b", Some("x")));
    for agent in [&other, &unlabelled, &elsewhere] {
        assert_eq!(judge(&allow, Situation { agent, ..situation }), Fate::Ask, "{agent:?}");
    }
    let (changed, namesake) = (tool("go", 2, None), tool("stop", 1, None));
    for tool in [&changed, &namesake] {
        assert_eq!(judge(&allow, Situation { tool, ..situation }), Fate::Ask, "{tool:?}");
    }
    assert_eq!(judge(&allow, Situation { origin: "https://a.example", ..situation }), Fate::Ask);
    // Who comes from there may be anybody, so a yes to one is none to the next.
    let anybody = Situation { origin: "null", ..situation };
    assert_eq!(judge(&Rule { origin: Some("null".into()), ..allow }, anybody), Fate::Ask);
}

// holds: approval-deny-rule
#[test]
fn a_deny_rule_denies_all_that_it_does_not_exclude() {
    let (go, changed) = (tool("go", 1, None), tool("go", 2, None));
    let (x, y) = (agent("a", Some("x")), agent("a", Some("y")));
    let situation = Situation { agent: &x, origin: "native", tool: &go };
    let (new, elsewhere) = (Situation { tool: &changed, ..situation }, Situation { origin: "other", ..situation });
    let another = Situation { agent: &y, ..situation };
    let wide = rule(Verdict::Deny, &go);
    for (rule, denied, not) in [
        (wide.clone(), vec![situation, new, elsewhere], vec![another]),
        (Rule { agent: RuleAgent::Any, ..wide.clone() }, vec![situation, new, elsewhere, another], vec![]),
        (Rule { fingerprint: Some(go.fingerprint), ..wide.clone() }, vec![situation, elsewhere], vec![new]),
        (Rule { origin: Some("native".into()), ..wide }, vec![situation, new], vec![elsewhere]),
    ] {
        for situation in denied {
            assert_eq!(judged(vec![rule.clone()], Mode::AllowAll, situation), DECLINED, "{rule:?}, {situation:?}");
        }
        for situation in not {
            assert_eq!(judged(vec![rule.clone()], Mode::AllowAll, situation), Fate::Send, "{rule:?}, {situation:?}");
        }
    }
}

// holds: approval-order
#[test]
fn paused_and_blocked_come_before_everything() {
    let (go, x) = (tool("go", 1, None), agent("a", Some("x")));
    let situation = Situation { agent: &x, origin: "native", tool: &go };
    for asking in [Asking::Person, Asking::Nobody, Asking::Off] {
        for verdict in [Verdict::Allow, Verdict::Deny] {
            let (mut policy, now) = (Policy::new(asking), start());
            policy.set_rules(vec![rule(verdict, &go)], now);
            policy.set_mode(client("a"), Mode::AllowAll, Until::Quit, now);
            policy.block(x.clone(), Until::Always, now);
            assert_eq!(fate(&policy, situation, now), BLOCKED);
            policy.set_paused(true);
            assert_eq!(fate(&policy, situation, now), PAUSED);
            assert!(policy.unblock(&x) && !policy.unblock(&x));
            policy.set_mode(client("a"), Mode::Block, Until::Always, now);
            assert_eq!(fate(&policy, situation, now), PAUSED);
            policy.set_paused(false);
            assert_eq!(fate(&policy, situation, now), BLOCKED);
            assert_eq!(policy.barred(&agent("b", Some("x")), now), None, "another application");
        }
    }
}

// holds: approval-read-only
#[test]
fn read_only_counts_only_as_a_claim_about_the_very_definition_that_was_seen() {
    for (hint, seen, expected) in [
        (Some(true), Some(1), Fate::Send),
        (Some(true), Some(2), Fate::Ask),
        (Some(true), None, Fate::Ask),
        (Some(false), Some(1), Fate::Ask),
        (None, Some(1), Fate::Ask),
    ] {
        let (go, x) = (tool("go", 1, hint), agent("a", Some("x")));
        let (mut policy, now) = (Policy::new(Asking::Person), start());
        policy.set_mode(client("a"), Mode::AskExceptReadOnly, Until::Always, now);
        policy.mark_seen(place("b", "go", "native"), go.fingerprint);
        policy.mark_seen(place("a", "other", "native"), go.fingerprint);
        policy.mark_seen(place("a", "go", "https://b.example"), go.fingerprint);
        if let Some(version) = seen {
            policy.mark_seen(place("a", "go", "native"), tool("go", version, hint).fingerprint);
        }
        let situation = Situation { agent: &x, origin: "native", tool: &go };
        assert_eq!(fate(&policy, situation, now), expected, "{hint:?}, {seen:?}");
        let elsewhere = Situation { origin: "https://a.example", ..situation };
        assert_eq!(fate(&policy, elsewhere, now), Fate::Ask, "seen on another origin is not seen");
        policy.set_mode(client("a"), Mode::Ask, Until::Always, now);
        assert_eq!(fate(&policy, situation, now), Fate::Ask, "`ask` makes no exception");
    }
}

// holds: approval-modes
#[test]
fn allow_all_without_an_end_is_never_set() {
    let (mut policy, now) = (Policy::new(Asking::Person), start());
    policy.set_mode(client("a"), Mode::AskExceptReadOnly, Until::Always, now);
    assert!(!policy.set_mode(client("a"), Mode::AllowAll, Until::Always, now));
    assert_eq!(policy.mode(&client("a"), now), Mode::AskExceptReadOnly, "what was set before holds");
    let all = ModeOf { application: client("a"), mode: Mode::AllowAll, until: Until::Always, ends: None };
    let memory = Memory { modes: vec![all], ..Memory::default() };
    let mut policy = Policy::new(Asking::Person);
    policy.remember(&memory, now);
    assert_eq!(policy.mode(&client("a"), now), Mode::Ask);
}

// holds: approval-allow-all-day
#[test]
fn allow_all_ends_within_a_day_by_whichever_clock_comes_first() {
    const DAY: u64 = 24 * 60 * 60;
    let now = start();
    let (mut policy, a) = (Policy::new(Asking::Person), client("a"));
    assert!(!policy.set_mode(a.clone(), Mode::AllowAll, Until::At(Millis(START + 1_000 * DAY + 1)), now));
    assert!(!policy.set_mode(a.clone(), Mode::AllowAll, Until::At(Millis(u64::MAX)), now));
    assert_eq!(policy.modes(), []);
    for until in [Until::Quit, timed(now, DAY)] {
        for (end, over) in [
            (Now { mono: now.mono, wall: Millis(START + 1_000 * DAY - 1) }, false),
            (Now { mono: now.mono, wall: Millis(START + 1_000 * DAY) }, true),
            (Now { mono: after(now, DAY).mono, wall: now.wall }, true),
        ] {
            let mut policy = Policy::new(Asking::Person);
            policy.tick(now);
            assert!(policy.set_mode(a.clone(), Mode::AllowAll, until, now));
            assert_eq!(policy.next_end(), Some(after(now, DAY).mono));
            assert_eq!(policy.mode(&a, end), if over { Mode::Ask } else { Mode::AllowAll }, "even without a tick");
            assert_eq!((policy.tick(end), policy.modes().is_empty()), (over, over), "{until:?}");
        }
    }
    // Another bridge that is handed it goes on with the same end.
    assert!(policy.set_mode(a.clone(), Mode::AllowAll, Until::Quit, now));
    let ends = Some(Millis(START + 1_000 * DAY));
    assert_eq!(policy.modes()[0].ends, ends, "and it is told");
    let mut memory = Memory::default();
    policy.write_down(&mut memory);
    for (passed, back, mode) in [(3_600, 0, Mode::AllowAll), (DAY, 0, Mode::Ask), (0, 1, Mode::Ask)] {
        let mut then = after(now, passed);
        then.wall.0 -= back;
        let mut again = Policy::new(Asking::Person);
        again.remember(&memory, then);
        assert_eq!(again.mode(&a, then), mode, "{passed}, {back}");
        if mode == Mode::AllowAll {
            assert_eq!(again.modes()[0].ends, ends);
            assert_eq!(again.next_end(), Some(after(now, DAY).mono));
        }
    }
}

// holds: outcome-unattended
#[test]
fn where_nobody_can_be_asked_nothing_that_needs_an_answer_is_sent() {
    let (go, x) = (tool("go", 1, None), agent("a", Some("x")));
    let situation = Situation { agent: &x, origin: "native", tool: &go };
    let unattended = Fate::Refuse(Outcome::Unattended);
    for (asking, plain, ruled) in [
        (Asking::Person, Fate::Ask, Fate::Send),
        (Asking::Nobody, unattended, Fate::Send),
        (Asking::Off, Fate::Send, Fate::Send),
    ] {
        let (mut policy, now) = (Policy::new(asking), start());
        assert_eq!(fate(&policy, situation, now), plain);
        policy.add_rule(rule(Verdict::Allow, &go), now);
        assert_eq!(fate(&policy, situation, now), ruled);
        policy.add_rule(rule(Verdict::Deny, &go), now);
        assert_eq!(fate(&policy, situation, now), DECLINED, "an answer once given holds");
    }
}

fn timed(now: Now, seconds: u64) -> Until {
    Until::At(Millis(now.wall.0 + 1_000 * seconds))
}

/// Each kind of thing that can be timed, for 10 s.
fn everything_timed(policy: &mut Policy, go: &Tool, now: Now) {
    let until = timed(now, 10);
    policy.set_rules(
        vec![
            Rule { until, ..rule(Verdict::Allow, go) },
            Rule { until, tool: ToolName::new("stop").unwrap(), ..rule(Verdict::Deny, go) },
        ],
        now,
    );
    policy.set_mode(client("b"), Mode::AllowAll, until, now);
    policy.set_mode(client("c"), Mode::Block, until, now);
    policy.set_mode(client("d"), Mode::AskExceptReadOnly, until, now);
    policy.block(agent("a", None), until, now);
}

fn in_force(policy: &Policy) -> (usize, usize, usize) {
    (policy.rules().count(), policy.modes().len(), policy.blocked().len())
}

// holds: approval-ends
#[test]
fn what_is_timed_ends_by_whichever_clock_comes_first() {
    let (go, begin) = (tool("go", 1, None), start());
    let (mono, wall) = (begin.mono, begin.wall);
    let late = |millis| mono + Duration::from_millis(millis);
    for (now, over) in [
        (Now { mono: late(9_999), wall: Millis(START + 9_999) }, false),
        (Now { mono: late(10_000), wall: Millis(START + 10_000) }, true),
        (Now { mono: late(10_000), wall }, true),
        (Now { mono, wall: Millis(START + 10_000) }, true),
    ] {
        let mut policy = Policy::new(Asking::Person);
        everything_timed(&mut policy, &go, begin);
        policy.tick(begin);
        assert_eq!(policy.next_end(), Some(late(10_000)));
        let x = agent("a", Some("x"));
        let situation = Situation { agent: &x, origin: "native", tool: &go };
        assert_eq!(fate(&policy, situation, now), if over { Fate::Ask } else { Fate::Send }, "even without a tick");
        assert_eq!(policy.mode(&client("b"), now), if over { Mode::Ask } else { Mode::AllowAll });
        assert_eq!(policy.is_blocked(&agent("a", None), now), !over);
        assert_eq!(policy.tick(now), over, "{now:?}");
        assert_eq!(in_force(&policy), if over { (0, 0, 0) } else { (2, 3, 1) });
        assert_eq!(policy.next_end(), (!over).then(|| late(10_000)));
    }
}

// holds: approval-clock-back
#[test]
fn a_wall_clock_that_jumps_back_ends_every_timed_grant_and_no_denial() {
    let (go, now) = (tool("go", 1, None), start());
    for (back, jumped) in [(5_000, false), (5_001, true), (START, true)] {
        let mut policy = Policy::new(Asking::Person);
        policy.tick(now);
        everything_timed(&mut policy, &go, now);
        policy.add_rule(rule(Verdict::Allow, &go), now);
        policy.set_mode(client("e"), Mode::AllowAll, Until::Quit, now);
        assert_eq!(policy.tick(Now { mono: now.mono, wall: Millis(START - back) }), jumped, "{back}");
        let all = (3, 4, 1);
        assert_eq!(in_force(&policy), if jumped { (2, 1, 1) } else { all }, "what has no end stays");
        assert_eq!(policy.mode(&client("c"), now), Mode::Block);
        assert_eq!(policy.rules().filter(|rule| rule.verdict == Verdict::Deny).count(), 1);
    }
}

// holds: approval-clock-back
#[test]
fn a_jump_back_right_after_the_start_is_noticed_too() {
    let (go, now) = (tool("go", 1, None), start());
    let memory =
        Memory { rules: vec![Rule { until: timed(now, 60), ..rule(Verdict::Allow, &go) }], ..Memory::default() };
    let mut policy = Policy::new(Asking::Person);
    policy.remember(&memory, now);
    assert!(policy.tick(Now { mono: now.mono, wall: Millis(START - 3_600_000) }));
    assert_eq!(policy.rules().count(), 0);
}

// holds: control-remember
#[test]
fn what_has_ended_when_it_is_handed_over_is_gone_at_once() {
    let (go, now) = (tool("go", 1, None), start());
    let (past, future) = (Until::At(Millis(START)), timed(now, 1));
    let memory = |until| Memory {
        modes: vec![ModeOf { application: client("a"), mode: Mode::Block, until, ends: None }],
        rules: vec![Rule { until, ..rule(Verdict::Allow, &go) }],
        blocked: vec![BlockedAgent { application: client("a"), label: None, until }],
        seen: vec![Seen {
            application: client("a"),
            tool: go.name.clone(),
            origin: "native".into(),
            fingerprint: go.fingerprint,
        }],
        ..Memory::default()
    };
    for (until, expected) in [(past, (0, 0, 0)), (future, (1, 1, 1)), (Until::Quit, (1, 1, 1))] {
        let mut policy = Policy::new(Asking::Person);
        policy.remember(&memory(until), now);
        assert_eq!(in_force(&policy), expected, "{until:?}");
        assert_eq!(policy.seen(&place("a", "go", "native")), Some(go.fingerprint));
    }
}

// holds: control-set-rules
#[test]
fn the_revision_counts_changes_of_rules_and_of_nothing_else() {
    let (go, now) = (tool("go", 1, None), start());
    let mut policy = Policy::new(Asking::Person);
    policy.tick(now);
    everything_timed(&mut policy, &go, now);
    policy.set_rules(vec![rule(Verdict::Allow, &go)], now);
    let revision = policy.rules_revision();
    assert!(policy.tick(after(now, 10)), "modes and blocks have ended");
    assert_eq!(policy.rules_revision(), revision, "no rule has changed");
    policy.add_rule(Rule { until: timed(now, 20), ..rule(Verdict::Deny, &go) }, after(now, 10));
    assert!(policy.rules_revision() > revision);
    let revision = policy.rules_revision();
    assert!(policy.tick(after(now, 20)));
    assert!(policy.rules_revision() > revision, "a rule has ended");
}
