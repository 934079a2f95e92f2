//! Open questions at the local door. They have no window of their own: the Approvals page shows them, and the clock of one
//! runs as that of any other question there.

use clientmcp_protocol::{
    control::{DoorQuestion, DoorWants, ErrorCode, Verdict},
    ids::QuestionId,
};
use tokio::time::Instant;

use super::{EARLY, NotNow, PATIENCE, arming::Arming};
use crate::{
    shell::Standing,
    wire::{DoorQuestionView, RefusedCode},
};

/// All of them, in the order of their ends.
#[derive(Debug)]
pub(crate) struct AtDoor {
    open: Vec<Open>,
    /// The page that shows them.
    page: Standing,
    /// Those that a notification told of and that went without the person's answer, since they last answered one.
    in_vain: u32,
}

#[derive(Debug)]
struct Open {
    question: DoorQuestion,
    arming: Arming,
    /// The person answered.
    answered: bool,
    /// A notification told of it.
    told: bool,
}

impl Default for AtDoor {
    fn default() -> Self {
        Self { open: Vec::new(), page: Standing::Gone, in_vain: 0 }
    }
}

impl AtDoor {
    /// These are open now.
    pub(crate) fn see(&mut self, questions: &[DoorQuestion], now: Instant) {
        let mut before = std::mem::take(&mut self.open);
        for question in questions {
            let same = before.iter().position(|open| open.question.id == question.id);
            self.open.push(match same.map(|index| before.swap_remove(index)) {
                Some(open) => open.updated(question.clone(), now),
                None => Open::new(question.clone(), self.page),
            });
        }
        let in_vain = before.iter().filter(|open| open.told && !open.answered).count();
        self.in_vain = self.in_vain.saturating_add(u32::try_from(in_vain).unwrap_or(u32::MAX));
    }

    /// The bridge is gone, and with it all that it asked.
    pub(super) fn clear(&mut self) {
        self.open.clear();
    }

    /// The page that shows them stands so.
    pub(super) fn stands(&mut self, page: Standing, now: Instant) {
        self.page = page;
        self.open.iter_mut().for_each(|open| open.arming.stands(page, now));
    }

    /// A card begins to show it.
    pub(crate) fn begins(&mut self, id: QuestionId) {
        if let Some(open) = self.find_mut(id) {
            open.arming.begins();
        }
    }

    /// The content is there to be read.
    pub(crate) fn painted(&mut self, id: QuestionId, now: Instant) {
        if let Some(open) = self.find_mut(id) {
            open.arming.painted(now);
        }
    }

    /// Whether what is asked for is in view on the page.
    pub(crate) fn page_shows(&mut self, id: QuestionId, all: bool, now: Instant) {
        if let Some(open) = self.find_mut(id) {
            open.arming.in_view(all, now);
        }
    }

    /// It is somewhere else than before.
    pub(crate) fn moved(&mut self, id: QuestionId, now: Instant) {
        if let Some(open) = self.find_mut(id) {
            open.arming.restart(now);
        }
    }

    /// Whether the answer counts. One that comes too early starts the clock anew.
    pub(crate) fn decide(&mut self, id: QuestionId, verdict: Verdict, now: Instant) -> Result<(), NotNow> {
        let open = self.find_mut(id).filter(|open| !open.answered).ok_or((
            RefusedCode::Bridge(ErrorCode::NoSuchQuestion),
            "this question is not open any more: nothing was done",
        ))?;
        open.arming.takes(verdict, now).then_some(()).ok_or(EARLY)
    }

    /// The bridge took the person's answer.
    pub(crate) fn answered(&mut self, id: QuestionId) {
        self.in_vain = 0;
        if let Some(open) = self.find_mut(id) {
            open.answered = true;
        }
    }

    /// What the page is to show of one.
    pub(crate) fn view(&self, id: QuestionId, now: Instant) -> Option<DoorQuestionView> {
        let open = self.open.iter().find(|open| open.question.id == id)?;
        Some(DoorQuestionView { question: open.question.clone(), armed_in: open.arming.left(now) })
    }

    /// What a notification is to tell of: one at a time, and none any more after two in vain. Whoever is at the door has no
    /// name that holds, so who comes again and again under new ones is the same to this.
    pub(super) fn tell(&mut self) -> Option<DoorWants> {
        if self.in_vain >= PATIENCE || self.open.iter().any(|open| open.told && !open.answered) {
            return None;
        }
        let open = self.open.iter_mut().find(|open| !open.answered)?;
        open.told = true;
        Some(open.question.wants.clone())
    }

    fn find_mut(&mut self, id: QuestionId) -> Option<&mut Open> {
        self.open.iter_mut().find(|open| open.question.id == id)
    }
}

impl Open {
    fn new(question: DoorQuestion, page: Standing) -> Self {
        Self { question, arming: Arming::on(page), answered: false, told: false }
    }

    /// Takes what it says now. Anything in it but the countdown is another thing to look at.
    fn updated(mut self, question: DoorQuestion, now: Instant) -> Self {
        if (DoorQuestion { ends: self.question.ends, ..question.clone() }) != self.question {
            self.arming.restart(now);
        }
        self.question = question;
        self
    }
}
