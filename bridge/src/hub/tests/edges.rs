//! Memories at their edges: whatever is asked then, what is told can be started with, and what was revoked stays so.

use clientmcp_protocol::{
    control::{Command as Ask, Floor, Generation, Issued, Memory, Pair, Verdict, Which},
    limits::{GENERATION, LAST_MOMENT},
};
use proptest::{collection::vec, option, prelude::*};

use crate::hub::{bench::*, memory::memory_fault, *};

const LABELS: [&str; 2] = ["F", "G"];

/// What is asked of the bridge.
#[derive(Clone, Debug)]
enum Deed {
    Mint(Option<Label>),
    Revoke(Which),
    Allow(Label, bool),
    Forget(Label, bool),
    Restart,
}

fn name() -> impl Strategy<Value = Label> {
    proptest::sample::select(&LABELS[..]).prop_map(label)
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        option::of(name()).prop_map(Deed::Mint),
        option::of(name()).prop_map(|label| Deed::Revoke(Which::Label(label))),
        Just(Deed::Revoke(Which::All)),
        (name(), any::<bool>()).prop_map(|(host, all)| Deed::Allow(host, all)),
        (name(), any::<bool>()).prop_map(|(host, all)| Deed::Forget(host, all)),
        Just(Deed::Restart),
    ]
}

/// The last moments, and an ordinary one.
fn moment() -> impl Strategy<Value = Millis> {
    prop_oneof![(LAST_MOMENT - 3..=LAST_MOMENT).prop_map(Millis), Just(Millis(START))]
}

fn remembered() -> impl Strategy<Value = Memory> {
    let (application, role) = (client("a"), Role::Agent);
    let generations = option::of(GENERATION - 2..=GENERATION);
    let floors = vec((option::of(name()), moment()), 0..3);
    let issued = vec((option::of(name()), moment()), 0..3);
    let pairs = vec((name(), any::<bool>(), any::<bool>(), moment()), 0..4);
    (generations, floors, issued, pairs).prop_map(move |(generation, floors, issued, pairs)| {
        let application = || application.clone();
        let generations = generation.map(|generation| Generation { application: application(), role, generation });
        let floor = |(label, issued_before)| Floor { application: application(), role, label, issued_before };
        let row = |(label, newest)| Issued { application: application(), role, label, newest };
        let pair = |(host, all, allow, made): (Label, bool, bool, Millis)| Pair {
            host,
            application: (!all).then(application),
            verdict: if allow { Verdict::Allow } else { Verdict::Deny },
            made,
        };
        settled(Memory {
            generations: generations.into_iter().collect(),
            floors: floors.into_iter().map(floor).collect(),
            issued: issued.into_iter().map(row).collect(),
            pairs: pairs.into_iter().map(pair).collect(),
            ..Memory::default()
        })
    })
}

fn started(memory: Memory, later: u64) -> Bench {
    let mut beginning = beginning(Asking::Person);
    beginning.access =
        beginning.access.with_revoked(&memory.generations, &memory.floors).with_pairs(memory.pairs.clone());
    beginning.memory = memory;
    let mut bench = Bench::of(beginning);
    bench.now.wall = Millis(now().wall.0 + later);
    bench
}

fn minted(bench: &mut Bench, label: Option<Label>) -> Option<String> {
    let (minted, mut outcome) = oneshot::channel();
    let wanted = Wanted { subject: client("a"), role: Role::Agent, label, ttl: Some(Duration::from_secs(3_600)) };
    bench.apply(Command::Mint { wanted: Box::new(wanted), minted });
    outcome.try_recv().expect("answered").ok().map(|minted| minted.token)
}

fn taken(bench: &Bench, token: &str) -> bool {
    bench.hub.admit(token, Role::Agent).is_ok()
}

/// A token for each host that the pairs let in.
fn given(bench: &Bench) -> Vec<(Label, String)> {
    let access = bench.hub.access().borrow().clone();
    let hosts = LABELS.map(label).into_iter();
    hosts.filter_map(|host| Some((host.clone(), access.mint_for(&host, &client("a"))?.ok()?.token))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    // holds: memory-told-again
    #[test]
    fn what_is_told_can_be_started_with_and_revokes(memory in remembered(), deeds in vec(deed(), 1..12)) {
        let mut told = memory.clone();
        prop_assert_eq!(memory_fault(&told), None);
        let (mut bench, mut later) = (started(memory, 0), 0);
        let mut ended: Vec<String> = Vec::new();
        let (mut valid, mut revoked): (Vec<(Option<Label>, String)>, Vec<String>) = (Vec::new(), Vec::new());
        for deed in deeds {
            match deed {
                Deed::Mint(label) => {
                    if let Some(token) = minted(&mut bench, label.clone()) {
                        prop_assert!(taken(&bench, &token), "a token that was made is valid");
                        valid.push((label, token));
                    }
                }
                Deed::Revoke(which) => {
                    let reply =
                        bench.obey(Ask::Revoke { application: client("a"), role: Role::Agent, which: which.clone() });
                    prop_assert_eq!(reply, Reply::Done);
                    let meant = |label: &Option<Label>| match &which {
                        Which::All => true,
                        Which::Label(of) => of == label,
                    };
                    revoked.extend(valid.iter().filter(|(label, _)| meant(label)).map(|(_, token)| token.clone()));
                    valid.retain(|(label, _)| !meant(label));
                }
                Deed::Allow(host, all) => {
                    let application = (!all).then(|| client("a"));
                    let reply = bench.obey(Ask::AllowPair { host: host.clone(), application: application.clone() });
                    let access = bench.hub.access().borrow().clone();
                    let allowed = access.pair(&host, application.as_ref()).is_some_and(|of| of.verdict == Verdict::Allow);
                    prop_assert_eq!(reply == Reply::Done, allowed);
                }
                Deed::Forget(host, all) => {
                    let before = given(&bench).into_iter().filter(|(of, _)| *of == host);
                    bench.obey(Ask::ForgetPair { host: host.clone(), application: (!all).then(|| client("a")) });
                    if bench.hub.access().borrow().verdict(&host, Some(&client("a"))).is_none() {
                        ended.extend(before.map(|(_, token)| token));
                    }
                }
                Deed::Restart => {
                    // What a pair was that is gone is not remembered: from here on the clock alone tells it from another.
                    ended.clear();
                    // No two pairs are made at one moment, for which the clock has to go on between two bridges.
                    later += 1_000;
                    bench = started(told.clone(), later);
                }
            }
            bench.step();
            told = (*bench.memory()).clone();
            prop_assert_eq!(memory_fault(&told), None, "{:?}", told);
            for token in revoked.iter().chain(&ended) {
                prop_assert!(!taken(&bench, token), "a token that was revoked");
            }
            for (_, token) in &valid {
                prop_assert!(taken(&bench, token), "nothing else was revoked");
            }
        }
    }
}

/// The smallest of them: each was told as what no bridge would start with.
// holds: memory-told-again
#[test]
fn the_last_of_each_can_be_revoked() {
    let last = Millis(LAST_MOMENT);
    let (application, role, label) = (client("a"), Role::Agent, Some(label("F")));
    let generation = Generation { application: application.clone(), role, generation: GENERATION - 1 };
    let floor = Floor { application: application.clone(), role, label: label.clone(), issued_before: last };
    let issued = Issued { application: application.clone(), role, label: label.clone(), newest: last };
    let revoke = |which| Ask::Revoke { application: application.clone(), role, which };
    for (memory, mints) in [
        (Memory { generations: vec![generation], ..Memory::default() }, true),
        (Memory { floors: vec![floor], ..Memory::default() }, false),
        (Memory { issued: vec![issued], ..Memory::default() }, true),
    ] {
        let mut bench = started(memory.clone(), 0);
        let token = minted(&mut bench, label.clone());
        assert_eq!(token.is_some(), mints, "{memory:?}");
        for which in [Which::Label(label.clone()), Which::All, Which::All] {
            assert_eq!(bench.obey(revoke(which)), Reply::Done);
            assert_eq!(memory_fault(&bench.memory()), None, "{memory:?}");
            assert!(!token.as_ref().is_some_and(|token| taken(&bench, token)), "{memory:?}");
        }
        assert!(minted(&mut bench, label.clone()).is_none(), "{memory:?}");
    }
}
