//! The policy against an oracle, and its promises as properties, over random histories in a small world: two applications,
//! three agents, two tools with two definitions each, two origins.

use std::time::Duration;

use clientmcp_protocol::control::{Memory, Millis, Mode, ModeOf, Rule, RuleAgent, Until, Verdict};
use proptest::{collection::vec, option, prelude::*, sample::select};

use super::{
    oracle::{Fact, Fate, Oracle},
    tests::{START, agent, client, fate, start, tool},
    *,
};

const APPLICATIONS: [&str; 2] = ["a", "b"];
const LABELS: [Option<&str>; 3] = [None, Some("x"), Some("y")];
const ORIGINS: [&str; 2] = ["native", "https://a.example"];
const TOOLS: [(&str, u32, Option<bool>); 5] =
    [("go", 1, Some(true)), ("go", 2, Some(true)), ("go", 3, None), ("stop", 1, None), ("stop", 2, Some(false))];

/// What happens, and by how much each clock has moved before it.
type Event = (Fact, u64, i64);

fn an_agent() -> impl Strategy<Value = Agent> {
    (select(&APPLICATIONS[..]), select(&LABELS[..])).prop_map(|(application, label)| agent(application, label))
}

fn a_tool() -> impl Strategy<Value = Tool> {
    select(&TOOLS[..]).prop_map(|(name, version, hint)| tool(name, version, hint))
}

fn an_end() -> impl Strategy<Value = Until> {
    let at = (-5_000_i64..60_000).prop_map(|millis| Until::At(Millis(START.saturating_add_signed(millis))));
    // Just within a day of the start, and further away than that.
    let far = select(&[86_300_000_u64, 86_500_000][..]).prop_map(|millis| Until::At(Millis(START + millis)));
    let never = Just(Until::At(Millis(u64::MAX)));
    prop_oneof![2 => Just(Until::Always), 1 => Just(Until::Quit), 5 => at, 1 => far, 1 => never]
}

fn a_rule() -> impl Strategy<Value = Rule> {
    let verdict = select(&[Verdict::Allow, Verdict::Allow, Verdict::Deny][..]);
    (
        an_agent(),
        any::<bool>(),
        a_tool(),
        verdict,
        option::weighted(0.8, Just(())),
        option::of(select(&ORIGINS[..])),
        an_end(),
    )
        .prop_map(|(agent, any, tool, verdict, bound, origin, until)| Rule {
            id: "r".into(),
            application: agent.application,
            tool: tool.name.clone(),
            agent: if any { RuleAgent::Any } else { RuleAgent::One(agent.label) },
            verdict,
            fingerprint: bound.map(|()| tool.fingerprint),
            origin: origin.map(str::to_owned),
            until,
            made: Millis(START),
        })
}

fn a_mode() -> impl Strategy<Value = Mode> {
    select(&[Mode::Ask, Mode::AskExceptReadOnly, Mode::AllowAll, Mode::Block][..])
}

fn a_fact() -> impl Strategy<Value = Fact> {
    let application = || select(&APPLICATIONS[..]).prop_map(client);
    prop_oneof![
        1 => Just(Fact::Paused(true)),
        3 => Just(Fact::Paused(false)),
        4 => (application(), a_mode(), an_end()).prop_map(|(application, mode, until)| Fact::Mode(application, mode, until)),
        2 => vec(a_rule(), 0..4).prop_map(Fact::Rules),
        5 => a_rule().prop_map(Fact::Rule),
        1 => (an_agent(), an_end()).prop_map(|(agent, until)| Fact::Blocked(agent, until)),
        1 => an_agent().prop_map(Fact::Unblocked),
        3 => (application(), a_tool(), select(&ORIGINS[..])).prop_map(|(application, tool, origin)| {
            Fact::Seen(Place { application, tool: tool.name, origin: origin.to_owned() }, tool.fingerprint)
        }),
    ]
}

fn an_event() -> impl Strategy<Value = Event> {
    let mono = prop_oneof![3 => Just(0), 3 => 0_u64..5_000, 1 => 5_000_u64..70_000];
    let drift = prop_oneof![6 => Just(0), 1 => -5_100_i64..5_100, 1 => -60_000_i64..60_000];
    (a_fact(), mono, drift)
}

fn an_asking() -> impl Strategy<Value = Asking> {
    prop_oneof![4 => Just(Asking::Person), 1 => Just(Asking::Nobody), 1 => Just(Asking::Off)]
}

fn apply(policy: &mut Policy, fact: Fact, now: Now) {
    match fact {
        Fact::Looked(_) => {}
        Fact::Paused(paused) => policy.set_paused(paused),
        Fact::Mode(application, mode, until) => drop(policy.set_mode(application, mode, until, now)),
        Fact::Rules(rules) => policy.set_rules(rules, now),
        Fact::Rule(rule) => policy.add_rule(rule, now),
        Fact::Blocked(agent, until) => policy.block(agent, until, now),
        Fact::Unblocked(agent) => drop(policy.unblock(&agent)),
        Fact::Seen(place, fingerprint) => policy.mark_seen(place, fingerprint),
    }
}

fn moved(now: Now, mono: u64, drift: i64) -> Now {
    let wall = now.wall.0.saturating_add(mono).saturating_add_signed(drift);
    Now { mono: now.mono + Duration::from_millis(mono), wall: Millis(wall) }
}

/// A policy and an oracle that were told the same, and looked at the clocks last.
fn told(begin: Now, asking: Asking, events: &[Event]) -> (Policy, Oracle, Now) {
    let mut now = begin;
    let (mut policy, mut oracle) = (Policy::new(asking), Oracle::new(asking, now));
    policy.tick(now);
    for (fact, mono, drift) in events {
        now = moved(now, *mono, *drift);
        policy.tick(now);
        oracle.learn(Fact::Looked(now));
        apply(&mut policy, fact.clone(), now);
        oracle.learn(fact.clone());
    }
    policy.tick(now);
    oracle.learn(Fact::Looked(now));
    (policy, oracle, now)
}

fn everybody() -> Vec<Agent> {
    APPLICATIONS.iter().flat_map(|application| LABELS.map(|label| agent(application, label))).collect()
}

fn every_tool() -> Vec<Tool> {
    TOOLS.iter().map(|(name, version, hint)| tool(name, *version, *hint)).collect()
}

fn every_situation<'a>(agents: &'a [Agent], tools: &'a [Tool]) -> Vec<Situation<'a>> {
    let of = move |agent| {
        ORIGINS.iter().flat_map(move |origin| tools.iter().map(move |tool| Situation { agent, origin, tool }))
    };
    agents.iter().flat_map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    // holds: approval-policy
    #[test]
    fn the_policy_says_what_the_oracle_says(
        asking in an_asking(),
        events in vec(an_event(), 0..10),
        (mono, drift) in (0_u64..70_000, prop_oneof![Just(0_i64), -60_000_i64..60_000]),
        (agent, origin, tool) in (an_agent(), select(&ORIGINS[..]), a_tool()),
    ) {
        let (mut policy, mut oracle, now) = told(start(), asking, &events);
        let situation = Situation { agent: &agent, origin, tool: &tool };
        prop_assert_eq!(fate(&policy, situation, now), oracle.fate(situation, now));
        let later = moved(now, mono, drift);
        prop_assert_eq!(fate(&policy, situation, later), oracle.fate(situation, later), "without a tick");
        policy.tick(later);
        oracle.learn(Fact::Looked(later));
        prop_assert_eq!(fate(&policy, situation, later), oracle.fate(situation, later), "after a tick");
        let kept: Vec<_> = policy.rules().collect();
        prop_assert_eq!(kept, oracle.rules(later));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    // holds: approval-allow-rule, approval-allow-unbound, approval-deny-beats-allow
    #[test]
    fn what_is_sent_was_allowed_in_exactly_this_form(
        events in vec(an_event(), 0..12),
    ) {
        let (policy, _, now) = told(start(), Asking::Person, &events);
        let (agents, tools) = (everybody(), every_tool());
        for situation in every_situation(&agents, &tools) {
            let Situation { agent, origin, tool } = situation;
            if fate(&policy, situation, now) != Fate::Send {
                continue;
            }
            let exact = policy.rules().any(|rule| {
                rule.verdict == Verdict::Allow
                    && (&rule.application, &rule.tool) == (&agent.application, &tool.name)
                    && (rule.agent == RuleAgent::Any || rule.agent == RuleAgent::One(agent.label.clone()))
                    && (rule.fingerprint, rule.origin.as_deref()) == (Some(tool.fingerprint), Some(origin))
            });
            let by_mode = match policy.mode(&agent.application, now) {
                Mode::AllowAll => true,
                Mode::AskExceptReadOnly => {
                    tool.hints.read_only == Some(true)
                        && policy.seen(&situation.place()) == Some(tool.fingerprint)
                }
                Mode::Ask | Mode::Block => false,
            };
            prop_assert!(exact || by_mode, "{situation:?}");
            prop_assert!(policy.barred(agent, now).is_none() && !policy.denied(situation, now));
        }
    }

    // holds: approval-ends
    #[test]
    fn nothing_timed_is_in_force_at_its_end_even_without_a_tick(events in vec(an_event(), 0..12)) {
        let begin = start();
        let (policy, _, now) = told(begin, Asking::Person, &events);
        let Some(end) = policy.next_end() else { return Ok(()) };
        prop_assert!(end > now.mono, "what is over was ended by the last tick");
        let (agents, tools) = (everybody(), every_tool());
        let (mut ticked, ..) = told(begin, Asking::Person, &events);
        // The wall clock stands still: the monotonic one alone ends things.
        let then = Now { mono: end, wall: now.wall };
        prop_assert!(ticked.tick(then), "a tick at that moment ends something");
        prop_assert!(ticked.next_end().is_none_or(|next| next > end));
        for situation in every_situation(&agents, &tools) {
            prop_assert_eq!(fate(&policy, situation, then), fate(&ticked, situation, then));
        }
    }

    // holds: approval-clock-back
    #[test]
    fn a_jump_back_leaves_no_timed_grant_and_every_denial(events in vec(an_event(), 0..12), back in 5_001_u64..100_000_000) {
        let (mut policy, _, now) = told(start(), Asking::Person, &events);
        let denials = |policy: &Policy| {
            let rules: Vec<_> = policy.rules().filter(|rule| rule.verdict == Verdict::Deny).cloned().collect();
            let modes: Vec<_> = policy.modes().into_iter().filter(|mode| mode.mode == Mode::Block).collect();
            (rules, modes, policy.blocked())
        };
        let before = denials(&policy);
        policy.tick(Now { mono: now.mono, wall: Millis(now.wall.0 - back) });
        prop_assert_eq!(denials(&policy), before);
        let timed = |until| matches!(until, Until::At(_));
        prop_assert!(!policy.rules().any(|rule| rule.verdict == Verdict::Allow && timed(rule.until)));
        prop_assert!(!policy.modes().iter().any(|mode| mode.mode != Mode::Block && timed(mode.until)));
    }

    // holds: control-remember
    #[test]
    fn what_was_written_down_is_in_force_again(mut events in vec(an_event(), 0..12), later in 0_u64..70_000) {
        // Only the wall clock's end is written down, so the clocks must agree.
        for (_, _, drift) in &mut events {
            *drift = 0;
        }
        let (policy, _, now) = told(start(), Asking::Person, &events);
        let mut memory = Memory::default();
        policy.write_down(&mut memory);
        let then = moved(now, later, 0);
        let mut again = told_again(&policy, then);
        let (agents, tools) = (everybody(), every_tool());
        for situation in every_situation(&agents, &tools) {
            let barred = |policy: &Policy| policy.barred(situation.agent, then);
            // A pause is not remembered here.
            if barred(&policy) != Some(Outcome::Paused) {
                prop_assert_eq!(fate(&policy, situation, then), fate(&again, situation, then));
            }
        }
        let mut rewritten = Memory::default();
        again.write_down(&mut rewritten);
        let over = |until| matches!(until, Until::At(end) if end <= then.wall);
        memory.rules.retain(|rule| !over(rule.until));
        memory.modes.retain(|mode| !over(mode.until) && mode.ends.is_none_or(|end| end > then.wall));
        memory.blocked.retain(|agent| !over(agent.until));
        prop_assert_eq!(&rewritten, &memory);
        prop_assert!(!again.tick(then), "what was over was not taken over");
    }

    // holds: approval-modes
    #[test]
    fn nothing_is_allowed_for_longer_than_a_day(events in vec(an_event(), 0..12)) {
        const DAY: u64 = 24 * 60 * 60 * 1_000;
        let (policy, _, now) = told(start(), Asking::Person, &events);
        let ends = |mode: &ModeOf| match mode.until {
            Until::Always => None,
            Until::Quit => mode.ends,
            Until::At(end) => Some(end),
        };
        let mut all = policy.modes();
        all.retain(|mode| mode.mode == Mode::AllowAll);
        prop_assert!(all.iter().all(|mode| ends(mode).is_some()));
        let later = Now { mono: now.mono + Duration::from_millis(DAY), wall: now.wall };
        prop_assert!(all.iter().all(|mode| policy.mode(&mode.application, later) != Mode::AllowAll));
    }
}

/// Another policy that was handed what this one wrote down.
fn told_again(policy: &Policy, now: Now) -> Policy {
    let mut memory = Memory::default();
    policy.write_down(&mut memory);
    let mut again = Policy::new(Asking::Person);
    again.set_paused(policy.paused());
    again.remember(&memory, now);
    again
}
