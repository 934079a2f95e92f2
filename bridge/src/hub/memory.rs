//! What the desktop hands over at the start: refused where it cannot be meant, and made one where two rows are about the
//! same thing, to whichever lets less through.

use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
};

use clientmcp_protocol::{
    control::{BlockedAgent, Memory, Millis, Mode, ModeOf, Rule, RuleAgent, Seen, Until, Verdict},
    ids::Label,
};

use super::{desktop::rules_fault, doorbell::pairs_fault};

/// What is wrong with a memory, if anything.
pub fn memory_fault(memory: &Memory) -> Option<&'static str> {
    rules_fault(&memory.rules).or_else(|| pairs_fault(&memory.pairs)).or_else(|| memory.fault())
}

/// A memory with one row for each thing, and with labels as they are shown: what was revoked, refused or blocked before
/// stays so.
pub fn settled(memory: Memory) -> Memory {
    let Memory { modes, mut rules, blocked, pins, generations, floors, issued, seen, pairs } = memory;
    rules.iter_mut().for_each(harmless_rule);
    let blocked = blocked.into_iter().map(|agent| BlockedAgent { label: harmless(agent.label), ..agent });
    let floors = floors.into_iter().map(|mut floor| {
        floor.label = harmless(floor.label);
        floor
    });
    let issued = issued.into_iter().map(|mut row| {
        row.label = harmless(row.label);
        row
    });
    let pairs = pairs.into_iter().map(|mut pair| {
        pair.host = pair.host.harmless();
        pair
    });
    // Two definitions of one tool: which one the person saw last is unclear, so they are asked.
    let place = |row: &Seen| (row.application.clone(), row.tool.clone(), row.origin.clone());
    let mut definitions = HashMap::new();
    for row in &seen {
        definitions.entry(place(row)).or_insert_with(HashSet::new).insert(row.fingerprint);
    }
    let seen = seen.into_iter().filter(|row| definitions.get(&place(row)).is_some_and(|all| all.len() == 1));
    Memory {
        modes: one_of_each(modes, |row| row.application.clone(), stricter),
        blocked: one_of_each(
            blocked,
            |row| (row.application.clone(), row.label.clone()),
            |one, other| {
                if lasts(other.until) > lasts(one.until) { other } else { one }
            },
        ),
        generations: one_of_each(
            generations,
            |row| (row.application.clone(), row.role),
            |one, other| {
                if other.generation > one.generation { other } else { one }
            },
        ),
        floors: one_of_each(
            floors,
            |row| (row.application.clone(), row.role, row.label.clone()),
            |one, other| {
                if other.issued_before > one.issued_before { other } else { one }
            },
        ),
        issued: one_of_each(
            issued,
            |row| (row.application.clone(), row.role, row.label.clone()),
            |one, other| {
                if other.newest > one.newest { other } else { one }
            },
        ),
        pairs: one_of_each(
            pairs,
            |row| (row.host.clone(), row.application.clone()),
            |one, other| {
                if other.verdict == Verdict::Deny { other } else { one }
            },
        ),
        seen: one_of_each(seen, place, |one, _| one),
        rules,
        pins,
    }
}

/// A label as it is shown, which is the key of everything.
pub(super) fn harmless(label: Option<Label>) -> Option<Label> {
    label.map(|label| label.harmless())
}

pub(super) fn harmless_rule(rule: &mut Rule) {
    if let RuleAgent::One(Some(label)) = &mut rule.agent {
        *label = label.harmless();
    }
}

/// The rows in their order, where of two with the same key one is left.
fn one_of_each<T, K: Hash + Eq>(
    rows: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
    of_two: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut kept: Vec<Option<T>> = Vec::new();
    let mut places = HashMap::new();
    for row in rows {
        let place = *places.entry(key(&row)).or_insert_with(|| {
            kept.push(None);
            kept.len() - 1
        });
        if let Some(kept) = kept.get_mut(place) {
            *kept = Some(match kept.take() {
                Some(before) => of_two(before, row),
                None => row,
            });
        }
    }
    kept.into_iter().flatten().collect()
}

/// Of two modes the one that lets less through; of two equal ones that which does so for longer.
fn stricter(one: ModeOf, other: ModeOf) -> ModeOf {
    let strictness = |row: &ModeOf| match row.mode {
        Mode::AllowAll => 0,
        Mode::AskExceptReadOnly => 1,
        Mode::Ask => 2,
        Mode::Block => 3,
    };
    let end = |row: &ModeOf| row.ends.map_or(lasts(row.until), |end| lasts(Until::At(end)));
    let second = match strictness(&one).cmp(&strictness(&other)) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Greater => false,
        std::cmp::Ordering::Equal if one.mode == Mode::Block => end(&other) > end(&one),
        std::cmp::Ordering::Equal => end(&other) < end(&one),
    };
    if second { other } else { one }
}

/// Ends in the order in which they come.
fn lasts(until: Until) -> (u8, Millis) {
    match until {
        Until::At(end) => (0, end),
        Until::Quit => (1, Millis(0)),
        Until::Always => (2, Millis(0)),
    }
}
