//! The open questions: which of them has the small window, and what can be answered where.
//!
//! Transitions without clock, socket or window. The bridge decides what is sent; here is decided what counts as an answer
//! of the person (`docs/desktop.md`, "Questions").

mod also;
mod arming;
mod door;
mod reading;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use clientmcp_protocol::{
    control::{Also, Count, DoorWants, ErrorCode, Millis, QuestionHead, Verdict},
    ids::{ClientId, Fingerprint, Label, QuestionId, ToolName},
};
use tokio::time::Instant;

use self::{
    also::{allowed, also},
    arming::Arming,
    door::AtDoor,
    reading::{InView, Reading},
};
use crate::{
    shell::Standing,
    wire::{AlsoFor, Always, Page, QuestionView, RefusedCode, Theme},
};

/// Questions of one agent that nobody answered before it gets no window of its own any more.
const PATIENCE: u32 = 2;

/// Where a question is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    /// In a small window of its own.
    Small,
    /// In the main window, among others.
    Main,
}

/// Who asks.
pub(crate) type Agent = (ClientId, Option<Label>);

/// Whose tool is called: all that a notification names.
pub(crate) type Named = (ClientId, ToolName);

/// What becomes of the small window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SmallWindow {
    /// It stays as it is.
    #[default]
    Stays,
    /// It is opened for this question.
    Opens(QuestionId),
    /// It is closed.
    Closes,
}

/// What is to follow.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// What becomes of the small window.
    pub(crate) window: SmallWindow,
    /// These are to be told by notification.
    pub(crate) notify: Vec<Named>,
    /// And who is at the local door.
    pub(crate) at_door: Option<DoorWants>,
}

/// Why an answer does not count.
pub(crate) type NotNow = (RefusedCode, &'static str);

/// What a person answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    /// The definition that was shown.
    pub(crate) fingerprint: Fingerprint,
    /// Yes or no.
    pub(crate) verdict: Verdict,
    /// What else.
    pub(crate) also: AlsoFor,
}

/// All open questions.
#[derive(Debug)]
pub(crate) struct Questions {
    /// Whether there are small windows at all.
    windows: bool,
    /// In the order of their ends.
    open: Vec<Open>,
    /// Those that the bridge left out of its list.
    cut: u64,
    /// The one whose turn it is: it has the small window, where there are some.
    turn: Option<QuestionId>,
    patience: HashMap<Agent, Patience>,
    main: Standing,
    page: Page,
    /// Those at the local door.
    pub(crate) door: AtDoor,
}

#[derive(Debug)]
struct Open {
    head: QuestionHead,
    small: Shown,
    main: Shown,
    /// The person answered.
    answered: bool,
    /// The person closed its window.
    put_off: bool,
    /// A notification told of it.
    told: bool,
}

/// A question on one surface.
#[derive(Debug)]
struct Shown {
    arming: Arming,
    arguments: Reading,
    in_view: InView,
}

#[derive(Debug, Default)]
struct Patience {
    unanswered: u32,
    /// A notification told that it goes on asking.
    told: bool,
}

impl Shown {
    fn on(standing: Standing) -> Self {
        Self { arming: Arming::on(standing), arguments: Reading::default(), in_view: InView::default() }
    }

    fn stands(&mut self, standing: Standing, now: Instant) {
        self.arming.stands(standing, now);
        match standing {
            Standing::Clear => {}
            Standing::Covered => self.in_view.covered(),
            Standing::Gone => (self.arguments, self.in_view) = Default::default(),
        }
    }

    fn begins(&mut self) {
        self.arming.begins();
        (self.arguments, self.in_view) = Default::default();
    }

    /// Whether all of the arguments were there to be read, and in view.
    fn is_all_seen(&self) -> bool {
        self.arguments.is_done() && self.in_view.is_all()
    }

    /// Whether a no counts: it says that the question was there. Arguments that cannot be had are never painted.
    fn takes_no(&self) -> bool {
        self.arming.is_painted() || self.arguments.is_in_vain()
    }
}

impl Open {
    fn new(head: QuestionHead, main: Standing) -> Self {
        let (small, main) = (Shown::on(Standing::Gone), Shown::on(main));
        Self { head, small, main, answered: false, put_off: false, told: false }
    }

    fn agent(&self) -> Agent {
        (self.head.application.clone(), self.head.agent.clone())
    }

    fn named(&self) -> Named {
        (self.head.application.clone(), self.head.tool.clone())
    }

    fn on(&self, surface: Surface) -> &Shown {
        match surface {
            Surface::Small => &self.small,
            Surface::Main => &self.main,
        }
    }

    fn on_mut(&mut self, surface: Surface) -> &mut Shown {
        match surface {
            Surface::Small => &mut self.small,
            Surface::Main => &mut self.main,
        }
    }

    /// Takes a newer head. Anything in it but the countdown is another thing to look at.
    fn update(&mut self, head: QuestionHead, now: Instant) {
        let same = QuestionHead { ends: head.ends, ..self.head.clone() } == head;
        if !same {
            for shown in [&mut self.small, &mut self.main] {
                shown.arming.restart(now);
                shown.in_view = InView::default();
            }
        }
        self.head = head;
    }

    fn always(&self, surface: Surface) -> Always {
        if self.head.hints.destructive == Some(true) {
            Always::Destructive
        } else if self.on(surface).is_all_seen() {
            Always::Offered
        } else {
            Always::NotAllShown
        }
    }
}

impl Questions {
    /// None yet. `windows`: whether a question can have a small window of its own here.
    pub(crate) fn new(windows: bool) -> Self {
        Self {
            windows,
            open: Vec::new(),
            cut: 0,
            turn: None,
            patience: HashMap::new(),
            main: Standing::Gone,
            page: Page::default(),
            door: AtDoor::default(),
        }
    }

    /// These are open now, and so many that are not listed.
    pub(crate) fn see(&mut self, heads: &[QuestionHead], cut: Count, now: Instant) {
        let mut before: HashMap<QuestionId, Open> = self.open.drain(..).map(|open| (open.head.id, open)).collect();
        let main = self.main_surface();
        self.open = heads
            .iter()
            .map(|head| match before.remove(&head.id) {
                Some(mut open) => {
                    open.update(head.clone(), now);
                    open
                }
                None => Open::new(head.clone(), main),
            })
            .collect();
        self.open.sort_by_key(|open| open.head.ends);
        self.cut = cut.0;
    }

    /// The bridge is gone, and with it all that it asked.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
        self.cut = 0;
        self.door.clear();
    }

    /// The main window stands so.
    pub(crate) fn main_stands(&mut self, standing: Standing, now: Instant) {
        self.main = standing;
        self.main_changed(now);
    }

    /// The main window shows this page.
    pub(crate) fn looking(&mut self, page: Page, now: Instant) {
        self.page = page;
        self.main_changed(now);
    }

    /// A small window stands so.
    pub(crate) fn small_stands(&mut self, id: QuestionId, standing: Standing, now: Instant) {
        if let Some(open) = self.find_mut(id) {
            open.small.stands(standing, now);
        }
    }

    /// A page begins to show it, which may have shown another one before, or this one: nothing of it is there yet.
    pub(crate) fn begins(&mut self, id: QuestionId, surface: Surface) {
        if let Some(open) = self.find_mut(id) {
            open.on_mut(surface).begins();
        }
    }

    /// The content is there to be read.
    pub(crate) fn painted(&mut self, id: QuestionId, surface: Surface, now: Instant) {
        if let Some(open) = self.find_mut(id) {
            open.on_mut(surface).arming.painted(now);
        }
    }

    /// What of its arguments is in view there, as the page of this definition says: their first line, and whether all of
    /// them were.
    pub(crate) fn page_shows(
        &mut self,
        (id, fingerprint): (QuestionId, Fingerprint),
        surface: Surface,
        (first, all): (bool, bool),
        now: Instant,
    ) {
        let Some(open) = self.find_mut(id).filter(|open| open.head.fingerprint == fingerprint) else { return };
        let shown = open.on_mut(surface);
        shown.arming.in_view(first, now);
        if all {
            shown.in_view.claimed(shown.arming.is_in_plain_view());
        }
    }

    /// It is somewhere else than before.
    pub(crate) fn moved(&mut self, id: QuestionId, surface: Surface, now: Instant) {
        if let Some(open) = self.find_mut(id) {
            open.on_mut(surface).arming.restart(now);
        }
    }

    /// A piece of its arguments was delivered there.
    pub(crate) fn read(&mut self, id: QuestionId, surface: Surface, offset: Count, length: Count, whole: Count) {
        if let Some(open) = self.find_mut(id) {
            open.on_mut(surface).arguments.piece(offset.0, length.0, whole.0);
        }
    }

    /// A piece of its arguments could not be had.
    pub(crate) fn unreadable(&mut self, id: QuestionId, surface: Surface) {
        if let Some(open) = self.find_mut(id) {
            open.on_mut(surface).arguments.in_vain();
        }
    }

    /// What to tell the bridge, if the answer counts. One that comes too early starts the clock anew.
    pub(crate) fn decide(
        &mut self,
        id: QuestionId,
        surface: Surface,
        said: Said,
        (now, wall): (Instant, Millis),
    ) -> Result<Also, NotNow> {
        let open = self.find_mut(id).filter(|open| open.head.fingerprint == said.fingerprint && !open.answered);
        let open = open.ok_or((
            RefusedCode::Bridge(ErrorCode::NoSuchQuestion),
            "this question is not open any more, or it has changed: nothing was done",
        ))?;
        let (all_seen, always) = (open.on(surface).is_all_seen(), open.always(surface));
        let shown = open.on_mut(surface);
        let counts = match said.verdict {
            Verdict::Deny => shown.takes_no(),
            Verdict::Allow => shown.arming.takes(said.verdict, now),
        };
        if !counts {
            return Err(EARLY);
        }
        if said.verdict == Verdict::Allow {
            allowed(said.also, all_seen, always)?;
        }
        Ok(also(said.also, wall))
    }

    /// The bridge took the person's answer.
    pub(crate) fn answered(&mut self, id: QuestionId) {
        if let Some(open) = self.find_mut(id) {
            open.answered = true;
            let agent = open.agent();
            self.patience.remove(&agent);
        }
    }

    /// A question of this agent ended without an answer.
    pub(crate) fn unanswered(&mut self, agent: Agent) {
        let patience = self.patience.entry(agent).or_default();
        patience.unanswered = patience.unanswered.saturating_add(1);
    }

    /// The person closed its window, and will find it among the others.
    pub(crate) fn put_off(&mut self, id: QuestionId) {
        if let Some(open) = self.find_mut(id) {
            open.put_off = true;
        }
    }

    /// The question that has the small window.
    pub(crate) fn in_small_window(&self) -> Option<QuestionId> {
        self.turn.filter(|_| self.windows)
    }

    /// What the window of a question is to show, and when something can be allowed there.
    pub(crate) fn view(
        &self,
        id: QuestionId,
        surface: Surface,
        theme: Theme,
        now: Instant,
    ) -> Option<(QuestionView, Option<Instant>)> {
        let open = self.open.iter().find(|open| open.head.id == id)?;
        let armed_at = open.on(surface).arming.armed_at();
        let armed_in = open.on(surface).arming.left(now);
        let others = Count(self.cut.saturating_add(Count::from(self.open.len().saturating_sub(1)).0));
        let (question, always) = (open.head.clone(), open.always(surface));
        let all_seen = open.on(surface).is_all_seen();
        Some((QuestionView { question, armed_in, all_seen, always, others, theme }, armed_at))
    }

    /// Whose turn it is now, and what follows from that. Nothing is ever swapped under the pointer: who has its turn
    /// keeps it until it is gone, answered or put off.
    pub(crate) fn settle(&mut self) -> Wishes {
        let keeps = |open: &&Open| Some(open.head.id) == self.turn && open.waits();
        let next = self.open.iter().find(keeps).map(|open| open.head.id).or_else(|| self.candidate());
        let mut wishes = Wishes::default();
        if next != self.turn {
            self.turn = next;
            if self.windows {
                wishes.window = next.map_or(SmallWindow::Closes, SmallWindow::Opens);
            } else {
                wishes.notify.extend(next.and_then(|id| self.tell(id)));
            }
        }
        wishes.notify.extend(self.tell_badges());
        wishes.at_door = if self.in_view() { None } else { self.door.tell() };
        wishes
    }

    /// The earliest end that may have a window.
    fn candidate(&self) -> Option<QuestionId> {
        if self.in_view() {
            return None;
        }
        self.open.iter().find(|open| open.waits() && !self.is_badge(open)).map(|open| open.head.id)
    }

    /// The person looks at the list of questions.
    fn in_view(&self) -> bool {
        self.main == Standing::Clear && self.page == Page::Approvals
    }

    /// Its agent has asked in vain so often that it is shown in the tray alone.
    fn is_badge(&self, open: &Open) -> bool {
        self.patience.get(&open.agent()).is_some_and(|patience| patience.unanswered >= PATIENCE)
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
            if let Some(patience) = patience.filter(|patience| patience.unanswered >= PATIENCE && !patience.told) {
                patience.told = true;
                named.push(open.named());
            }
        }
        named
    }

    fn main_surface(&self) -> Standing {
        if self.page == Page::Approvals { self.main } else { Standing::Gone }
    }

    fn main_changed(&mut self, now: Instant) {
        let standing = self.main_surface();
        self.open.iter_mut().for_each(|open| open.main.stands(standing, now));
        self.door.stands(standing, now);
    }

    fn find_mut(&mut self, id: QuestionId) -> Option<&mut Open> {
        self.open.iter_mut().find(|open| open.head.id == id)
    }
}

impl Open {
    fn waits(&self) -> bool {
        !self.answered && !self.put_off
    }
}

const EARLY: NotNow = (
    RefusedCode::Early,
    "the question has not been in view for long enough to be read: nothing was done, look at it and answer again",
);
