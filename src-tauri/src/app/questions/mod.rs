//! The open questions: which of them has the small window, and what can be answered where.
//!
//! Transitions without clock, socket or window. The bridge decides what is sent; here is decided what counts as an answer
//! of the person (`docs/desktop.md`, "Questions").

mod answers;
mod arming;
mod door;
mod open;
mod place;
mod reading;
#[cfg(test)]
mod tests;
mod turn;

use std::collections::HashMap;

use clientmcp_protocol::{
    control::{Also, Count, DoorQuestion, DoorWants, ErrorCode, Millis, QuestionHead, Verdict},
    ids::{ClientId, Fingerprint, Label, QuestionId, ToolName},
};
use tokio::time::Instant;

pub(crate) use self::answers::{COVERED, NotNow, Said};
use self::{
    answers::{EARLY, allowed, also},
    arming::Arming,
    door::AtDoor,
    open::Open,
    place::Place,
};
use crate::{
    shell::{AppWindow, Standing},
    wire::{DoorQuestionView, Page, QuestionView, RefusedCode, Theme},
};

/// Questions of one agent that nobody answered before it gets no window of its own any more.
const PATIENCE: u32 = 2;

/// Questions that one agent took back itself before the same: somebody who stops an agent does so a few times.
const TAKEN_BACK: u32 = 5;

/// Where a question is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    /// In a small window of its own.
    Small,
    /// In the main window, among others.
    Main,
}

impl Surface {
    /// The window that holds it.
    pub(crate) fn window(self, id: QuestionId) -> AppWindow {
        match self {
            Self::Small => AppWindow::Small(id),
            Self::Main => AppWindow::Main,
        }
    }
}

/// How the page stands that shows questions among others.
#[derive(Clone, Copy, Debug)]
struct MainSurface {
    standing: Standing,
    covered: bool,
}

impl MainSurface {
    fn arming(self) -> Arming {
        Arming::on(self.standing, self.covered)
    }
}

/// A question, with what its window needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// About a call.
    Call(QuestionView),
    /// At the local door.
    Door(DoorQuestionView),
}

/// When a yes counts from, and a no.
pub(crate) type Turns = [Option<Instant>; 2];

fn turns(arming: Arming) -> Turns {
    [arming.armed_at(), arming.no_from()]
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
    /// Something lies on the main window.
    main_covered: bool,
    page: Page,
    door: AtDoor,
    small_place: Place,
    main_place: Place,
}

#[derive(Debug, Default)]
struct Patience {
    unanswered: u32,
    taken_back: u32,
    /// A notification told that it goes on asking.
    told: bool,
}

impl Patience {
    /// It has asked in vain so often that it is shown in the tray alone.
    fn is_over(&self) -> bool {
        self.unanswered >= PATIENCE || self.taken_back >= TAKEN_BACK
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
            main_covered: false,
            page: Page::default(),
            door: AtDoor::default(),
            small_place: Place::default(),
            main_place: Place::default(),
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

    /// These are open at the local door now.
    pub(crate) fn see_door(&mut self, questions: &[DoorQuestion], now: Instant) {
        let main = self.main_surface();
        self.door.see(questions, main, now);
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
        } else if let Some(arming) = self.door.arming_mut(id, Surface::Small) {
            arming.stands(standing, now);
        }
    }

    /// The display tells whether something lies on this window.
    pub(crate) fn cover(&mut self, window: AppWindow, covered: bool, now: Instant) {
        match window {
            AppWindow::Main => {
                self.main_covered = covered;
                self.main_changed(now);
            }
            AppWindow::Small(id) => {
                if let Some(open) = self.find_mut(id) {
                    open.small.cover(covered, now);
                } else if let Some(arming) = self.door.arming_mut(id, Surface::Small) {
                    arming.cover(covered, now);
                }
            }
        }
    }

    /// A page begins to show it, which may have shown another one before, or this one: nothing of it is there yet.
    pub(crate) fn begins(&mut self, id: QuestionId, surface: Surface, now: Instant) {
        if let Some(open) = self.find_mut(id) {
            let shown = open.on_mut(surface);
            (shown.arguments, shown.in_view) = Default::default();
        }
        let replaced = match surface {
            // Its place was taken when its window opened.
            Surface::Small => None,
            Surface::Main => self.main_place.shows(id, now),
        };
        if let Some(arming) = self.arming_mut(id, surface) {
            arming.begins();
            if let Some(answered) = replaced {
                arming.replaces(answered);
            }
        }
    }

    /// The content is there to be read.
    pub(crate) fn painted(&mut self, id: QuestionId, surface: Surface, now: Instant) {
        if let Some(arming) = self.arming_mut(id, surface) {
            arming.painted(now);
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
        if all && shown.all_in_view() {
            // More can be answered than before, where a click may be under way.
            shown.arming.restart(now);
        }
    }

    /// Whether what is asked for at the local door is in view there.
    pub(crate) fn page_shows_door(&mut self, id: QuestionId, surface: Surface, all: bool, now: Instant) {
        if let Some(arming) = self.door.arming_mut(id, surface) {
            arming.in_view(all, now);
        }
    }

    /// It is somewhere else than before.
    pub(crate) fn moved(&mut self, id: QuestionId, surface: Surface, now: Instant) {
        if let Some(arming) = self.arming_mut(id, surface) {
            arming.moved(now);
        }
    }

    /// What was to be allowed there is covered.
    pub(crate) fn was_covered(&mut self, id: QuestionId, surface: Surface, now: Instant) {
        if let Some(arming) = self.arming_mut(id, surface) {
            arming.restart(now);
        }
        if let Some(open) = self.find_mut(id) {
            open.on_mut(surface).in_view.covered();
        }
    }

    /// A piece of its arguments was delivered there.
    pub(crate) fn read(&mut self, id: QuestionId, surface: Surface, offset: Count, length: Count, whole: Count) {
        if let Some(open) = self.find_mut(id) {
            open.on_mut(surface).arguments.piece(offset.0, length.0, whole.0);
        }
    }

    /// A piece of its arguments could not be had.
    pub(crate) fn unreadable(&mut self, id: QuestionId, surface: Surface, now: Instant) {
        if let Some(open) = self.find_mut(id) {
            let shown = open.on_mut(surface);
            shown.arguments.in_vain();
            shown.arming.can_be_refused(now);
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
        if !open.on_mut(surface).takes(said.verdict, now) {
            return Err(EARLY);
        }
        if said.verdict == Verdict::Allow {
            allowed(said.also, all_seen, always)?;
        }
        Ok(also(said.also, wall))
    }

    /// Whether an answer to one at the local door counts.
    pub(crate) fn decide_door(
        &mut self,
        id: QuestionId,
        surface: Surface,
        verdict: Verdict,
        now: Instant,
    ) -> Result<(), NotNow> {
        self.door.decide(id, surface, verdict, now)
    }

    /// The bridge took the person's answer.
    pub(crate) fn answered(&mut self, id: QuestionId, surface: Surface, now: Instant) {
        if let Some(open) = self.find_mut(id) {
            open.answered = true;
            let agent = open.agent();
            self.patience.remove(&agent);
        } else {
            self.door.answered(id);
        }
        match surface {
            Surface::Small => self.small_place.is_answered(now),
            Surface::Main => self.main_place.is_answered(now),
        }
    }

    /// A question of this agent ended without an answer.
    pub(crate) fn unanswered(&mut self, agent: Agent) {
        let patience = self.patience.entry(agent).or_default();
        patience.unanswered = patience.unanswered.saturating_add(1);
    }

    /// A question of this agent ended since the agent left or took it back.
    pub(crate) fn taken_back(&mut self, agent: Agent) {
        let patience = self.patience.entry(agent).or_default();
        patience.taken_back = patience.taken_back.saturating_add(1);
    }

    /// The person closed its window, and will find it among the others.
    pub(crate) fn put_off(&mut self, id: QuestionId) {
        if let Some(open) = self.find_mut(id) {
            open.put_off = true;
        } else {
            self.door.put_off(id);
        }
    }

    /// The question that has the small window.
    pub(crate) fn in_small_window(&self) -> Option<QuestionId> {
        self.turn.filter(|_| self.windows)
    }

    /// What the window of a question is to show, and when that will be something else.
    pub(crate) fn view(&self, id: QuestionId, surface: Surface, theme: Theme, now: Instant) -> Option<(Asked, Turns)> {
        let others = self.cut.saturating_add(Count::from((self.open.len() + self.door.count()).saturating_sub(1)).0);
        let others = Count(others);
        if let Some(open) = self.open.iter().find(|open| open.head.id == id) {
            let (question, always, shown) = (open.head.clone(), open.always(surface), open.on(surface));
            let (armed_in, deny_in, all_seen) = (shown.arming.left(now), shown.no_left(now), shown.is_all_seen());
            let view = QuestionView { question, armed_in, deny_in, all_seen, always, others, theme };
            return Some((Asked::Call(view), turns(shown.arming)));
        }
        let (question, arming) = self.door.find(id, surface)?;
        let (question, armed_in) = (question.clone(), arming.left(now));
        let deny_in = arming.is_painted().then(|| arming.no_left(now));
        Some((Asked::Door(DoorQuestionView { question, armed_in, deny_in, others, theme }), turns(*arming)))
    }

    fn main_surface(&self) -> MainSurface {
        let standing = if self.page == Page::Approvals { self.main } else { Standing::Gone };
        MainSurface { standing, covered: self.main_covered }
    }

    fn main_changed(&mut self, now: Instant) {
        let MainSurface { standing, covered } = self.main_surface();
        self.open.iter_mut().for_each(|open| open.main.stands(standing, now));
        self.door.on_page().for_each(|arming| arming.stands(standing, now));
        self.open.iter_mut().for_each(|open| open.main.cover(covered, now));
        self.door.on_page().for_each(|arming| arming.cover(covered, now));
    }

    fn arming_mut(&mut self, id: QuestionId, surface: Surface) -> Option<&mut Arming> {
        match self.open.iter_mut().find(|open| open.head.id == id) {
            Some(open) => Some(&mut open.on_mut(surface).arming),
            None => self.door.arming_mut(id, surface),
        }
    }

    fn find_mut(&mut self, id: QuestionId) -> Option<&mut Open> {
        self.open.iter_mut().find(|open| open.head.id == id)
    }
}
