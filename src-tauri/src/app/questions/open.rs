//! One open question about a call, and how it stands on each surface.

use clientmcp_protocol::control::{Count, QuestionHead, Verdict};
use tokio::time::Instant;

use super::{
    Agent, MainSurface, Named, Surface,
    arming::Arming,
    reading::{InView, Reading},
};
use crate::{shell::Standing, wire::Always};

/// One of them.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) head: QuestionHead,
    pub(super) small: Shown,
    pub(super) main: Shown,
    /// The person answered.
    pub(super) answered: bool,
    /// The person closed its window.
    pub(super) put_off: bool,
    /// A notification told of it.
    pub(super) told: bool,
}

/// A question on one surface.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) arming: Arming,
    pub(super) arguments: Reading,
    pub(super) in_view: InView,
}

impl Shown {
    pub(super) fn on(arming: Arming) -> Self {
        Self { arming, arguments: Reading::default(), in_view: InView::default() }
    }

    pub(super) fn stands(&mut self, standing: Standing, now: Instant) {
        self.arming.stands(standing, now);
        match standing {
            Standing::Clear => {}
            Standing::Covered => self.in_view.covered(),
            Standing::Gone => (self.arguments, self.in_view) = Default::default(),
        }
    }

    pub(super) fn cover(&mut self, covered: bool, now: Instant) {
        self.arming.cover(covered, now);
        if covered {
            self.in_view.covered();
        }
    }

    /// The page says that all of it was in view. True where that is news.
    pub(super) fn all_in_view(&mut self) -> bool {
        let before = self.is_all_seen();
        self.in_view.claimed(self.arming.is_in_plain_view());
        !before && self.is_all_seen()
    }

    /// Whether all of the arguments were there to be read, and in view.
    pub(super) fn is_all_seen(&self) -> bool {
        self.arguments.is_done() && self.in_view.is_all()
    }

    /// Whether it is there to be refused. Arguments that cannot be had are never painted, and the question is there all the
    /// same.
    fn is_there(&self) -> bool {
        self.arming.is_painted() || self.arguments.is_in_vain()
    }

    /// Whether an answer counts.
    pub(super) fn takes(&mut self, verdict: Verdict, now: Instant) -> bool {
        self.is_there() && self.arming.takes(verdict, now)
    }

    /// Milliseconds until a no counts; none while it is not there.
    pub(super) fn no_left(&self, now: Instant) -> Option<Count> {
        self.is_there().then(|| self.arming.no_left(now))
    }
}

impl Open {
    pub(super) fn new(head: QuestionHead, main: MainSurface) -> Self {
        let (small, main) = (Shown::on(Arming::on(Standing::Gone, false)), Shown::on(main.arming()));
        Self { head, small, main, answered: false, put_off: false, told: false }
    }

    pub(super) fn waits(&self) -> bool {
        !self.answered && !self.put_off
    }

    pub(super) fn agent(&self) -> Agent {
        (self.head.application.clone(), self.head.agent.clone())
    }

    pub(super) fn named(&self) -> Named {
        (self.head.application.clone(), self.head.tool.clone())
    }

    pub(super) fn on(&self, surface: Surface) -> &Shown {
        match surface {
            Surface::Small => &self.small,
            Surface::Main => &self.main,
        }
    }

    pub(super) fn on_mut(&mut self, surface: Surface) -> &mut Shown {
        match surface {
            Surface::Small => &mut self.small,
            Surface::Main => &mut self.main,
        }
    }

    /// Takes a newer head. Anything in it but the countdown is another thing to look at.
    pub(super) fn update(&mut self, head: QuestionHead, now: Instant) {
        let same = QuestionHead { ends: head.ends, ..self.head.clone() } == head;
        if !same {
            for shown in [&mut self.small, &mut self.main] {
                shown.arming.restart(now);
                shown.in_view = InView::default();
            }
        }
        self.head = head;
    }

    pub(super) fn always(&self, surface: Surface) -> Always {
        if self.head.hints.destructive == Some(true) {
            Always::Destructive
        } else if self.on(surface).is_all_seen() {
            Always::Offered
        } else {
            Always::NotAllShown
        }
    }
}
