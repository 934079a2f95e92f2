//! Open questions at the local door. They are shown where those about calls are, after them, and the clock of one runs as
//! that of any other.

use clientmcp_protocol::{
    control::{DoorQuestion, DoorWants, ErrorCode, Verdict},
    ids::QuestionId,
};
use tokio::time::Instant;

use super::{EARLY, MainSurface, NotNow, PATIENCE, Surface, arming::Arming};
use crate::{shell::Standing, wire::RefusedCode};

/// All of them, in the order of their ends.
#[derive(Debug, Default)]
pub(super) struct AtDoor {
    open: Vec<Open>,
    /// Those that the person was told of and that went without their answer, since they last answered one.
    in_vain: u32,
    /// A notification told that somebody goes on asking.
    goes_on: bool,
}

#[derive(Debug)]
struct Open {
    question: DoorQuestion,
    small: Arming,
    main: Arming,
    /// The person answered.
    answered: bool,
    /// The person closed its window.
    put_off: bool,
    /// A notification told of it, or a window.
    told: bool,
}

impl AtDoor {
    /// These are open now.
    pub(super) fn see(&mut self, questions: &[DoorQuestion], main: MainSurface, now: Instant) {
        let mut before = std::mem::take(&mut self.open);
        for question in questions {
            let same = before.iter().position(|open| open.question.id == question.id);
            self.open.push(match same.map(|index| before.swap_remove(index)) {
                Some(open) => open.updated(question.clone(), now),
                None => Open::new(question.clone(), main),
            });
        }
        self.open.sort_by_key(|open| open.question.ends);
        let in_vain = before.iter().filter(|open| open.told && !open.answered).count();
        self.in_vain = self.in_vain.saturating_add(u32::try_from(in_vain).unwrap_or(u32::MAX));
    }

    /// The bridge is gone, and with it all that it asked.
    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    /// All clocks of the page that shows them.
    pub(super) fn on_page(&mut self) -> impl Iterator<Item = &mut Arming> {
        self.open.iter_mut().map(|open| &mut open.main)
    }

    /// The clock of one.
    pub(super) fn arming_mut(&mut self, id: QuestionId, surface: Surface) -> Option<&mut Arming> {
        self.find_mut(id).map(|open| open.on_mut(surface))
    }

    /// Whether the answer counts. One that comes too early starts its clock anew.
    pub(super) fn decide(
        &mut self,
        id: QuestionId,
        surface: Surface,
        verdict: Verdict,
        now: Instant,
    ) -> Result<(), NotNow> {
        let open = self.find_mut(id).filter(|open| !open.answered).ok_or((
            RefusedCode::Bridge(ErrorCode::NoSuchQuestion),
            "this question is not open any more: nothing was done",
        ))?;
        let arming = open.on_mut(surface);
        (arming.is_painted() && arming.takes(verdict, now)).then_some(()).ok_or(EARLY)
    }

    /// The bridge took the person's answer.
    pub(super) fn answered(&mut self, id: QuestionId) {
        if let Some(open) = self.find_mut(id) {
            open.answered = true;
            (self.in_vain, self.goes_on) = (0, false);
        }
    }

    /// The person closed its window.
    pub(super) fn put_off(&mut self, id: QuestionId) {
        if let Some(open) = self.find_mut(id) {
            open.put_off = true;
        }
    }

    /// It has a window of its own now, if it is one of these.
    pub(super) fn has_window(&mut self, id: QuestionId) {
        if let Some(open) = self.find_mut(id) {
            open.told = true;
        }
    }

    /// One of them, and its clock.
    pub(super) fn find(&self, id: QuestionId, surface: Surface) -> Option<(&DoorQuestion, &Arming)> {
        let open = self.open.iter().find(|open| open.question.id == id)?;
        let arming = match surface {
            Surface::Small => &open.small,
            Surface::Main => &open.main,
        };
        Some((&open.question, arming))
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.open.len()
    }

    /// Whether it waits for an answer in a window of its own.
    pub(super) fn waits(&self, id: QuestionId) -> bool {
        self.open.iter().any(|open| open.question.id == id && open.waits())
    }

    /// The earliest end that may have a window: none any more after two in vain.
    pub(super) fn candidate(&self) -> Option<QuestionId> {
        let earliest = self.open.iter().find(|open| open.waits())?;
        (self.in_vain < PATIENCE).then_some(earliest.question.id)
    }

    /// What a notification is to tell of where nothing has a window: one at a time, and none any more after two in vain.
    /// Whoever is at the door has no name that holds, so who comes again and again under new ones is the same to this.
    pub(super) fn tell(&mut self) -> Option<DoorWants> {
        if self.in_vain >= PATIENCE || self.open.iter().any(|open| open.told && !open.answered) {
            return None;
        }
        let open = self.open.iter_mut().find(|open| !open.answered)?;
        open.told = true;
        Some(open.question.wants.clone())
    }

    /// The same where they have windows: once, when there are none any more.
    pub(super) fn tell_on(&mut self) -> Option<DoorWants> {
        if self.in_vain < PATIENCE || self.goes_on {
            return None;
        }
        let open = self.open.iter().find(|open| open.waits())?;
        self.goes_on = true;
        Some(open.question.wants.clone())
    }

    fn find_mut(&mut self, id: QuestionId) -> Option<&mut Open> {
        self.open.iter_mut().find(|open| open.question.id == id)
    }
}

impl Open {
    fn new(question: DoorQuestion, main: MainSurface) -> Self {
        let (small, main) = (Arming::on(Standing::Gone, false), main.arming());
        Self { question, small, main, answered: false, put_off: false, told: false }
    }

    /// Takes what it says now. Anything in it but the countdown is another thing to look at.
    fn updated(mut self, question: DoorQuestion, now: Instant) -> Self {
        if (DoorQuestion { ends: self.question.ends, ..question.clone() }) != self.question {
            self.small.restart(now);
            self.main.restart(now);
        }
        self.question = question;
        self
    }

    fn on_mut(&mut self, surface: Surface) -> &mut Arming {
        match surface {
            Surface::Small => &mut self.small,
            Surface::Main => &mut self.main,
        }
    }

    fn waits(&self) -> bool {
        !self.answered && !self.put_off
    }
}
