//! Keeps a snapshot within the size of a message: the longest list is cut first, and no list more than it has to be.

use clientmcp_protocol::{
    control::{Count, Snapshot},
    limits::CONTROL_BYTES,
};
use serde::Serialize;

/// Entries of one list, before its size is looked at.
const ENTRIES: usize = 1_000;

/// Room for the line end, the revision and the digits of what was cut.
const ENVELOPE: usize = 256;

/// Leaves out what has no room; it is counted.
pub(super) fn cut(snapshot: &mut Snapshot) {
    let Snapshot { applications, questions, calls, rules, modes, blocked, cut, .. } = snapshot;
    let lists = [
        lengths(applications, &mut cut.applications),
        lengths(questions, &mut cut.questions),
        lengths(calls, &mut cut.calls),
        lengths(rules, &mut cut.rules),
        lengths(modes, &mut cut.modes),
        lengths(blocked, &mut cut.blocked),
    ];
    let listed: usize = lists.iter().flatten().sum();
    let whole = length(snapshot).saturating_add(ENVELOPE);
    if whole <= CONTROL_BYTES {
        return;
    }
    let kept = kept(&lists, CONTROL_BYTES.saturating_sub(whole - listed));
    let Snapshot { applications, questions, calls, rules, modes, blocked, cut, .. } = snapshot;
    let [of_applications, of_questions, of_calls, of_rules, of_modes, of_blocked] = kept;
    shorten(applications, of_applications, &mut cut.applications);
    shorten(questions, of_questions, &mut cut.questions);
    shorten(calls, of_calls, &mut cut.calls);
    shorten(rules, of_rules, &mut cut.rules);
    shorten(modes, of_modes, &mut cut.modes);
    shorten(blocked, of_blocked, &mut cut.blocked);
}

/// Bytes of each entry, with the comma behind it.
fn lengths<T: Serialize>(entries: &mut Vec<T>, cut: &mut Count) -> Vec<usize> {
    shorten(entries, ENTRIES, cut);
    entries.iter().map(|entry| length(entry) + 1).collect()
}

fn length(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |text| text.len())
}

fn shorten<T>(entries: &mut Vec<T>, most: usize, cut: &mut Count) {
    let over = entries.len().saturating_sub(most);
    entries.truncate(most);
    cut.0 += over as u64;
}

/// How many entries of each list are kept within so many bytes: the list that is the longest by then loses its last entry,
/// until all fit, and what has room again comes back.
fn kept<const N: usize>(lists: &[Vec<usize>; N], room: usize) -> [usize; N] {
    let mut kept = lists.each_ref().map(Vec::len);
    let mut bytes = lists.each_ref().map(|list| list.iter().sum::<usize>());
    while bytes.iter().sum::<usize>() > room {
        let Some(longest) = (0..N).max_by_key(|list| bytes.get(*list)) else { break };
        let (Some(list), Some(kept), Some(bytes)) = (lists.get(longest), kept.get_mut(longest), bytes.get_mut(longest))
        else {
            break;
        };
        let Some(dropped) = list.get(..*kept).and_then(<[usize]>::last) else { break };
        *bytes -= dropped;
        *kept -= 1;
    }
    let mut left = room.saturating_sub(bytes.iter().sum());
    for (list, kept) in lists.iter().zip(&mut kept) {
        while let Some(next) = list.get(*kept).filter(|next| **next <= left) {
            left -= next;
            *kept += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::{array::uniform4, collection::vec, prelude::*};

    use super::*;

    fn sum(list: &[usize], kept: usize) -> usize {
        list[..kept].iter().sum()
    }

    // holds: control-snapshot-longest
    #[test]
    fn one_overlong_list_costs_the_others_nothing() {
        let lists = [vec![10; 3], vec![10; 1_000], vec![400], Vec::new()];
        assert_eq!(kept(&lists, 1_000), [3, 57, 1, 0]);
        // Of two that are as long, each loses.
        assert_eq!(kept(&[vec![10; 100], vec![20; 50]], 1_000), [50, 25]);
        assert_eq!(kept(&[vec![10; 100], vec![20; 50]], 0), [0, 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        // holds: control-snapshot-longest
        #[test]
        fn what_is_kept_fits_and_no_list_is_shorter_than_it_has_to_be(
            lists in uniform4(vec(1_usize..400, 0..60)),
            room in 0_usize..30_000,
        ) {
            let kept = kept(&lists, room);
            let bytes: Vec<_> = lists.iter().zip(kept).map(|(list, kept)| sum(list, kept)).collect();
            let all: usize = bytes.iter().sum();
            prop_assert!(all <= room);
            let longest = *bytes.iter().max().unwrap();
            for ((list, kept), bytes) in lists.iter().zip(kept).zip(&bytes) {
                let Some(next) = list.get(kept) else { continue };
                prop_assert!(all + next > room, "another entry had room");
                prop_assert!(bytes + next + 400 > longest, "a shorter list was cut before the longest");
            }
        }
    }
}
