//! Whose turn it is: which question has the small window, and what is told of those that have none.

use clientmcp_protocol::ids::QuestionId;
use tokio::time::Instant;

use super::{Named, Open, Patience, Questions, SmallWindow, Surface, Wishes};
use crate::{shell::Standing, wire::Page};

impl Questions {
    /// Whose turn it is now, and what follows from that. Nothing is ever swapped under the pointer: who has its turn
    /// keeps it until it is gone, answered or put off, or the person looks at the list.
    pub(crate) fn settle(&mut self, now: Instant) -> Wishes {
        if self.main_place.holds().is_some_and(|id| self.arming_mut(id, Surface::Main).is_none()) {
            self.main_place.empties(now);
        }
        let next =
            if self.in_view() { None } else { self.turn.filter(|id| self.keeps(*id)).or_else(|| self.candidate()) };
        let mut wishes = Wishes::default();
        if next != self.turn {
            self.turn = next;
            if self.windows {
                wishes.window = self.give_window(next, now);
            } else {
                wishes.notify.extend(next.and_then(|id| self.tell(id)));
            }
        }
        wishes.notify.extend(self.tell_badges());
        if !self.in_view() {
            wishes.at_door = if self.windows { self.door.tell_on() } else { self.door.tell() };
        }
        wishes
    }

    fn give_window(&mut self, question: Option<QuestionId>, now: Instant) -> SmallWindow {
        let Some(id) = question else {
            self.small_place.empties(now);
            return SmallWindow::Closes;
        };
        let replaced = self.small_place.shows(id, now);
        if let (Some(answered), Some(arming)) = (replaced, self.arming_mut(id, Surface::Small)) {
            arming.replaces(answered);
        }
        self.door.has_window(id);
        SmallWindow::Opens(id)
    }

    fn keeps(&self, id: QuestionId) -> bool {
        self.open.iter().any(|open| open.head.id == id && open.waits()) || self.door.waits(id)
    }

    /// The earliest end that may have a window; those at the local door come after the calls, where they have windows.
    fn candidate(&self) -> Option<QuestionId> {
        let call = self.open.iter().find(|open| open.waits() && !self.is_badge(open)).map(|open| open.head.id);
        call.or_else(|| self.door.candidate().filter(|_| self.windows))
    }

    /// The person looks at the list of questions.
    fn in_view(&self) -> bool {
        self.main == Standing::Clear && self.page == Page::Approvals
    }

    /// Its agent has asked in vain so often that it is shown in the tray alone.
    fn is_badge(&self, open: &Open) -> bool {
        self.patience.get(&open.agent()).is_some_and(Patience::is_over)
    }

    fn tell(&mut self, id: QuestionId) -> Option<Named> {
        let open = self.find_mut(id).filter(|open| !open.told)?;
        open.told = true;
        Some(open.named())
    }

    /// Once for each agent, until the person answers it again. The one that has its turn needs no telling.
    fn tell_badges(&mut self) -> Vec<Named> {
        if self.in_view() {
            return Vec::new();
        }
        let mut named = Vec::new();
        for open in self.open.iter().filter(|open| open.waits() && Some(open.head.id) != self.turn) {
            let patience = self.patience.get_mut(&open.agent());
            if let Some(patience) = patience.filter(|patience| patience.is_over() && !patience.told) {
                patience.told = true;
                named.push(open.named());
            }
        }
        named
    }
}
