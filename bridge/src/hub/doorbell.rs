//! Who knocks at the local door: hosts that the person let in or turned away, and questions about the others.
//!
//! One question stands for all that want the same: a host often starts its command twice.

use std::collections::HashSet;

use clientmcp_protocol::{
    control::{DoorHead, DoorProgram, DoorQuestion, DoorWants, ErrorCode, Millis, Pair, Reply, Verdict, Which},
    ids::{ClientId, Label, QuestionId},
    limits::{DOOR_QUESTIONS, DOOR_WAITERS, LAST_MOMENT, PAIRS},
};
use tokio::{sync::oneshot, time::Instant};

use super::{
    Farewell, Leave,
    command::{Heard, Knock},
    desktop::refused,
    state::State,
};
use crate::{approvals::Now, presence::Caller};

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turned {
    /// The person said no, now or earlier.
    Declined,
    /// Nobody answered in time.
    Unanswered,
    /// As many questions are open as may be.
    Busy,
    /// The bridge shuts down.
    Closing,
}

/// Somebody who waits for the person's answer. Dropped before it came, it says so.
#[derive(Debug)]
pub struct Waiting {
    answer: oneshot::Receiver<Result<(), Turned>>,
    leave: Leave,
}

impl Waiting {
    /// What the person said.
    pub async fn answer(mut self) -> Result<(), Turned> {
        let answer = (&mut self.answer).await.unwrap_or(Err(Turned::Closing));
        self.leave.forget();
        answer
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Doorbell {
    door: DoorHead,
    asked: Vec<Asked>,
    last: u64,
    /// When the newest pair was made: no two are of one moment.
    made: Millis,
}

/// One open question, and all who wait for its answer.
#[derive(Debug)]
struct Asked {
    question: DoorQuestion,
    ends: Now,
    /// The first one is the one that the question shows.
    waiting: Vec<Waiter>,
}

/// Somebody who waits, and may leave.
#[derive(Debug)]
struct Waiter {
    number: u64,
    program: DoorProgram,
    caller: Caller,
    answer: oneshot::Sender<Result<(), Turned>>,
}

impl Asked {
    /// Lets those go who wait no more. Once the one is among them that the question shows, another one asks, and that is
    /// another question.
    fn keep(&mut self, waits: impl FnMut(&Waiter) -> bool) {
        let shown = self.waiting.first().map(|waiter| waiter.number);
        self.waiting.retain(waits);
        let Some(first) = self.waiting.first() else { return };
        if Some(first.number) != shown {
            self.question.id = QuestionId(rand::random());
            self.question.program = first.program.clone();
        }
    }

    fn answer(self, answer: Result<(), Turned>) {
        for waiter in self.waiting {
            let _ = waiter.answer.send(answer);
        }
    }
}

impl Doorbell {
    pub(super) fn head(&self) -> &DoorHead {
        &self.door
    }

    pub(super) fn stands(&mut self, door: DoorHead) {
        self.door = door;
    }

    pub(super) fn questions(&self) -> Vec<DoorQuestion> {
        let mut questions: Vec<_> = self.asked.iter().map(|asked| asked.question.clone()).collect();
        questions.sort_by_key(|question| question.ends);
        questions
    }

    pub(super) fn next_end(&self) -> Option<Instant> {
        self.asked.iter().map(|asked| asked.ends.mono).min()
    }

    /// Ends questions that nobody answered in time, by either clock; whether there were some.
    pub(super) fn expire(&mut self, now: Now) -> bool {
        self.answer_such_as(|asked| {
            let over = asked.ends.mono <= now.mono || asked.ends.wall <= now.wall;
            over.then_some(Err(Turned::Unanswered))
        })
    }

    pub(super) fn close(&mut self) {
        self.answer_such_as(|_| Some(Err(Turned::Closing)));
    }

    pub(super) fn leave(&mut self, number: u64) {
        self.asked.iter_mut().for_each(|asked| asked.keep(|waiter| waiter.number != number));
        self.drop_deserted();
    }

    /// Whether the one that a question shows still waits for its answer. The system is asked.
    fn is_awaited(&mut self, question: QuestionId) -> bool {
        let asked = self.asked.iter_mut().find(|asked| asked.question.id == question);
        let is_awaited = asked.is_some_and(|asked| {
            asked.keep(|waiter| !waiter.answer.is_closed() && !waiter.caller.has_left());
            !asked.waiting.is_empty() && asked.question.id == question
        });
        self.drop_deserted();
        is_awaited
    }

    fn drop_deserted(&mut self) {
        self.asked.retain(|asked| !asked.waiting.is_empty());
    }

    fn answer_such_as(&mut self, answer: impl Fn(&Asked) -> Option<Result<(), Turned>>) -> bool {
        let (answered, open): (Vec<_>, Vec<_>) = self.asked.drain(..).partition(|asked| answer(asked).is_some());
        self.asked = open;
        let any = !answered.is_empty();
        for asked in answered {
            if let Some(answer) = answer(&asked) {
                asked.answer(answer);
            }
        }
        any
    }
}

impl State {
    pub(super) fn knock(&mut self, now: Now, knock: Knock, mut leave: Leave) -> Heard {
        match self.settled(&knock.wants) {
            Some(Verdict::Allow) => return Ok(None),
            Some(Verdict::Deny) => return Err(Turned::Declined),
            None => {}
        }
        let Knock { wants, program, caller } = knock;
        let (sender, answer) = oneshot::channel();
        self.doorbell.last += 1;
        let number = self.doorbell.last;
        let waiter = Waiter { number, program, caller, answer: sender };
        // A token is for this once, so each is a question of its own.
        let pair = matches!(wants, DoorWants::Pair { .. });
        let same = self.doorbell.asked.iter_mut().find(|asked| pair && asked.question.wants == wants);
        if let Some(asked) = same {
            if asked.waiting.len() >= DOOR_WAITERS {
                return Err(Turned::Busy);
            }
            asked.waiting.push(waiter);
        } else if self.doorbell.asked.len() < DOOR_QUESTIONS {
            let asked = self.new_question(now, wants, waiter);
            self.doorbell.asked.push(asked);
        } else {
            return Err(Turned::Busy);
        }
        leave.say(Farewell::Unknock(number));
        Ok(Some(Waiting { answer, leave }))
    }

    fn new_question(&self, now: Now, wants: DoorWants, waiter: Waiter) -> Asked {
        let time = self.question_time();
        let wall = Millis(now.wall.0.saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)));
        let id = QuestionId(rand::random());
        let question = DoorQuestion { id, wants, program: waiter.program.clone(), asked: now.wall, ends: wall };
        Asked { question, ends: Now { mono: now.mono + time, wall }, waiting: vec![waiter] }
    }

    /// What was said before.
    fn settled(&self, wants: &DoorWants) -> Option<Verdict> {
        match wants {
            DoorWants::Pair { host, application } => self.access.borrow().verdict(host, application.as_ref()),
            DoorWants::Token { .. } => None,
        }
    }

    pub(super) fn decide_door(&mut self, now: Now, question: QuestionId, verdict: Verdict) -> Reply {
        let Some(at) = self.doorbell.asked.iter().position(|asked| asked.question.id == question) else {
            return refused(ErrorCode::NoSuchQuestion, "this question is not open any more: nothing was done");
        };
        // A yes lets in who is shown and whoever wants the same. A no keeps out whoever comes, too.
        if verdict == Verdict::Allow && !self.doorbell.is_awaited(question) {
            return refused(ErrorCode::NoSuchQuestion, "whoever asked has gone meanwhile: nothing was done");
        }
        if let Some(Asked { question: DoorQuestion { wants: DoorWants::Pair { host, application }, .. }, .. }) =
            self.doorbell.asked.get(at)
        {
            // Whoever waits for this answer is told what holds from now on.
            return self.set_pair(now, host.clone(), application.clone(), verdict);
        }
        let answer = match verdict {
            Verdict::Allow => Ok(()),
            Verdict::Deny => Err(Turned::Declined),
        };
        self.doorbell.asked.remove(at).answer(answer);
        Reply::Done
    }

    pub(super) fn allow_pair(&mut self, now: Now, host: &Label, application: Option<ClientId>) -> Reply {
        match Label::typed(host.as_str()) {
            Ok(host) => self.set_pair(now, host, application, Verdict::Allow),
            Err(fault) => refused(ErrorCode::Value, &format!("nobody was let in: {fault}")),
        }
    }

    /// In force for whoever is there, who waits and who comes.
    fn set_pair(&mut self, now: Now, host: Label, application: Option<ClientId>, verdict: Verdict) -> Reply {
        let mut pairs = self.access.borrow().pairs().to_vec();
        let same = |pair: &Pair| (&pair.host, &pair.application) == (&host, &application);
        // Who is let in already stays so: what the pair gave out holds.
        if !pairs.iter().any(|pair| same(pair) && pair.verdict == verdict) {
            let before = pairs.iter().position(same).map(|at| pairs.remove(at));
            if pairs.len() >= PAIRS {
                return refused(ErrorCode::Value, "there are as many pairs as there can be: forget some first");
            }
            if let Some(before) = before {
                self.ended(now, &mut pairs, &before);
            }
            let made = match (self.made(now), verdict) {
                (Some(made), _) => made,
                // No token names a no, so it may share its moment.
                (None, Verdict::Deny) => Millis(LAST_MOMENT),
                (None, Verdict::Allow) => {
                    return refused(ErrorCode::Value, "no pair can be made later than all before");
                }
            };
            pairs.push(Pair { host, application, verdict, made });
            self.set_pairs(now, pairs);
        }
        let access = self.access.borrow().clone();
        self.doorbell.answer_such_as(|asked| match &asked.question.wants {
            DoorWants::Pair { host, application } => match access.verdict(host, application.as_ref())? {
                Verdict::Allow => Some(Ok(())),
                Verdict::Deny => Some(Err(Turned::Declined)),
            },
            DoorWants::Token { .. } => None,
        });
        Reply::Done
    }

    pub(super) fn forget_pair(&mut self, now: Now, host: &Label, application: Option<&ClientId>) -> Reply {
        self.keep_moment();
        let mut pairs = self.access.borrow().pairs().to_vec();
        let same = |pair: &Pair| (&pair.host, pair.application.as_ref()) == (host, application);
        let Some(at) = pairs.iter().position(same) else {
            return refused(ErrorCode::NotFound, "there is no such pair");
        };
        let forgotten = pairs.remove(at);
        self.ended(now, &mut pairs, &forgotten);
        self.set_pairs(now, pairs);
        Reply::Done
    }

    /// After a no is gone, the yes for all that lets in again begins anew: what the no has ended stays ended.
    fn ended(&mut self, now: Now, pairs: &mut Vec<Pair>, gone: &Pair) {
        let all = pairs.iter().position(|pair| pair.host == gone.host && pair.application.is_none());
        if let (Verdict::Deny, Some(all)) = (gone.verdict, all) {
            match (self.made(now), pairs.get_mut(all)) {
                (Some(made), Some(all)) => all.made = made,
                // It cannot begin anew: the person is asked.
                (None, _) | (_, None) => drop(pairs.remove(all)),
            }
        }
    }

    /// What tells this pair from every other there ever was: a token names it. Nothing when no later moment can be told.
    fn made(&mut self, now: Now) -> Option<Millis> {
        self.keep_moment();
        let newest = self.doorbell.made;
        self.doorbell.made = now.wall.max(newest.next());
        (self.doorbell.made > newest).then_some(self.doorbell.made)
    }

    /// A pair that goes leaves its moment taken, though the clock may have been ahead when it was made.
    pub(super) fn keep_moment(&mut self) {
        let newest = self.access.borrow().pairs().iter().map(|pair| pair.made).max().unwrap_or_default();
        self.doorbell.made = self.doorbell.made.max(newest);
    }

    fn set_pairs(&mut self, now: Now, pairs: Vec<Pair>) {
        let access = self.access.borrow().with_pairs(pairs);
        self.set_access(now, access);
        self.remember();
    }

    /// Without those that would let in again who is revoked, also where they let in to other applications: the person is
    /// asked anew.
    pub(super) fn pairs_without(&self, application: &ClientId, which: &Which) -> Vec<Pair> {
        let revoked = |pair: &Pair| {
            let reaches = pair.application.as_ref().is_none_or(|of| of == application);
            let named = match which {
                Which::All => true,
                Which::Label(label) => label.as_ref() == Some(&pair.host),
            };
            reaches && named && pair.verdict == Verdict::Allow
        };
        self.access.borrow().pairs().iter().filter(|pair| !revoked(pair)).cloned().collect()
    }
}

/// What is wrong with a set of pairs, if anything.
pub(super) fn pairs_fault(pairs: &[Pair]) -> Option<&'static str> {
    if pairs.len() > PAIRS {
        return Some("there are more pairs than there can be");
    }
    let keys: HashSet<_> = pairs.iter().map(|pair| (&pair.host, &pair.application)).collect();
    (keys.len() < pairs.len()).then_some("two pairs have the same host and application")
}
