//! Calls that ended, kept in memory for the desktop: bounded in number and in bytes, the oldest given up first.

use std::{collections::VecDeque, sync::Arc};

use clientmcp_protocol::{
    control::{CallPart, Count, FinishedCall},
    limits::{HISTORY, HISTORY_BYTES, HISTORY_TEXT_BYTES},
};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct History {
    calls: VecDeque<Kept>,
    bytes: usize,
    /// How many calls have ended so far: the last of `calls` is this one.
    ended: u64,
}

#[derive(Debug)]
struct Kept {
    call: FinishedCall,
    arguments: Arc<str>,
    result: Arc<str>,
}

impl Kept {
    fn bytes(&self) -> usize {
        self.arguments.len() + self.result.len()
    }
}

/// Finished calls from some point on.
#[derive(Debug, Default)]
pub struct Finished {
    /// In the order they ended.
    pub calls: Vec<FinishedCall>,
    /// How many before these are not kept any more.
    pub missed: u64,
    /// Where the next ones begin.
    pub next: u64,
}

impl History {
    pub(super) fn push(&mut self, call: FinishedCall, arguments: &str, result: &str) {
        let kept = Kept { call, arguments: start(arguments).into(), result: start(result).into() };
        self.bytes += kept.bytes();
        self.ended += 1;
        self.calls.push_back(kept);
        while self.calls.len() > HISTORY || self.bytes > HISTORY_BYTES {
            let Some(oldest) = self.calls.pop_front() else { return };
            self.bytes -= oldest.bytes();
        }
    }

    /// How many calls have ended.
    pub(super) fn ended(&self) -> u64 {
        self.ended
    }

    /// At most so many of the calls that ended after the first `seen` ones.
    pub(super) fn since(&self, seen: u64, most: usize) -> Finished {
        let kept = self.calls.len() as u64;
        let oldest = self.ended - kept;
        let from = seen.clamp(oldest, self.ended);
        let skip = usize::try_from(from - oldest).unwrap_or(usize::MAX);
        let calls: Vec<_> = self.calls.iter().skip(skip).take(most).map(|kept| kept.call.clone()).collect();
        Finished { missed: from.saturating_sub(seen), next: from + calls.len() as u64, calls }
    }

    /// A kept text.
    pub(super) fn text(&self, number: Count, part: CallPart) -> Option<Arc<str>> {
        let kept = self.calls.iter().rev().find(|kept| kept.call.call.number == number)?;
        Some(Arc::clone(match part {
            CallPart::Arguments => &kept.arguments,
            CallPart::Result => &kept.result,
        }))
    }
}

fn start(text: &str) -> &str {
    let mut end = text.len().min(HISTORY_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use clientmcp_protocol::{
        control::{CallHead, Ending, Millis},
        ids::ClientId,
    };

    use super::*;

    fn call(number: u64) -> FinishedCall {
        FinishedCall {
            call: CallHead {
                number: Count(number),
                application: ClientId::new("a").unwrap(),
                tool: "go".into(),
                agent: None,
                via: None,
                own: false,
                sent: None,
                began: Millis(0),
                arguments_bytes: Count(0),
            },
            outcome: Ending::Answered,
            ended: Millis(0),
            result_bytes: Count(0),
        }
    }

    fn numbers(finished: &Finished) -> Vec<u64> {
        finished.calls.iter().map(|call| call.call.number.0).collect()
    }

    // holds: control-ring
    #[test]
    fn a_reader_that_falls_behind_is_told_how_many_it_missed() {
        let mut history = History::default();
        for number in 1..=1_005 {
            history.push(call(number), "{}", "");
        }
        let first = history.since(0, 3);
        assert_eq!((first.missed, numbers(&first), first.next), (5, vec![6, 7, 8], 8));
        let then = history.since(first.next, 1_000);
        assert_eq!((then.missed, then.calls.len(), then.next), (0, 997, 1_005));
        assert!(history.since(then.next, 1_000).calls.is_empty());
        assert!(history.since(u64::MAX, 1_000).calls.is_empty());
    }

    // holds: control-ring
    #[test]
    fn texts_are_cut_and_all_together_are_bounded() {
        let mut history = History::default();
        let long = "ü".repeat(HISTORY_TEXT_BYTES);
        for number in 1..=1_000 {
            history.push(call(number), &long, &long);
        }
        assert_eq!(history.calls.len(), HISTORY_BYTES / HISTORY_TEXT_BYTES / 2);
        let text = history.text(Count(1_000), CallPart::Result).unwrap();
        assert_eq!(&*text, "ü".repeat(HISTORY_TEXT_BYTES / 2));
        assert_eq!(history.text(Count(1), CallPart::Result), None);
    }
}
