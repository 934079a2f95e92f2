//! The windows around ours as the display's events tell them, one after the other: what came and went between two looks lay
//! on a question all the same. Numbers and rectangles alone.

use std::collections::{HashMap, HashSet};

use super::stacking::{Above, Area, Maker, Ours};

/// Where a window stands in the one that it is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) at: (i32, i32),
    pub(super) size: (i32, i32),
    pub(super) border: i32,
}

/// A window, as long as it is in one that is heard of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) place: Place,
    pub(super) shown: bool,
    pub(super) input_only: bool,
    pub(super) unmanaged: bool,
}

/// What the display told of a window.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Made(Place, bool),
    Gone,
    /// Out of another window, on top of all in this one; nothing tells how large it is.
    Moved((i32, i32), bool),
    Shown,
    Hidden,
    /// Just above that one in the stack.
    Placed(Place, u32),
    Shifted((i32, i32)),
    /// On top of the others, or below them.
    Circled(bool),
}

#[derive(Debug, Default)]
pub(super) struct Mirror {
    root: u32,
    own_bits: u32,
    screen: Option<Area>,
    ours: HashSet<u32>,
    /// The windows in each that is heard of, from the lowest.
    levels: HashMap<u32, Vec<u32>>,
    known: HashMap<u32, (u32, Known)>,
    /// Ours of which something changed that lies on them, or lay.
    touched: HashSet<u32>,
    /// Whether the events do not say all.
    stale: bool,
}

impl Mirror {
    pub(super) fn new(root: u32, own_bits: u32) -> Self {
        Self { root, own_bits, ..Self::default() }
    }

    /// As the display has them now: the windows in each that is heard of.
    pub(super) fn renew(&mut self, screen: Area, ours: HashSet<u32>, levels: Vec<(u32, Vec<(u32, Known)>)>) {
        (self.screen, self.ours, self.stale) = (Some(screen), ours, false);
        self.touched.retain(|window| self.ours.contains(window));
        self.levels.clear();
        self.known.clear();
        for (parent, windows) in levels {
            self.levels.insert(parent, windows.iter().map(|(window, _)| *window).collect());
            self.known.extend(windows.into_iter().map(|(window, known)| (window, (parent, known))));
        }
    }

    /// Once for all that was touched.
    pub(super) fn touched(&mut self) -> HashSet<u32> {
        std::mem::take(&mut self.touched)
    }

    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// This happened to a window in that one.
    pub(super) fn hear(&mut self, parent: u32, window: u32, what: What) {
        if self.levels.contains_key(&parent) {
            let before = self.all_on();
            self.apply(parent, window, what);
            for (ours, before) in before {
                let was_on = before.as_ref().is_some_and(|on| on.contains(&window));
                if was_on || self.on(ours) != before {
                    self.touched.insert(ours);
                }
            }
        }
    }

    /// This window has another outline.
    pub(super) fn hear_outline(&mut self, window: u32) {
        for (ours, on) in self.all_on() {
            if on.is_some_and(|on| on.contains(&window)) {
                self.touched.insert(ours);
            }
        }
    }

    fn apply(&mut self, parent: u32, window: u32, what: What) {
        let known = |place, unmanaged| Known { place, shown: false, input_only: false, unmanaged };
        match what {
            What::Made(place, unmanaged) => self.enter(parent, window, known(place, unmanaged)),
            What::Moved(at, unmanaged) => {
                // Until it is asked for, it may be as large as any.
                let place = Place { at, size: (i32::from(u16::MAX), i32::from(u16::MAX)), border: 0 };
                self.enter(parent, window, known(place, unmanaged));
                self.stale = true;
            }
            What::Gone => {
                self.stale |= self.ours.contains(&window) || self.levels.contains_key(&window);
                self.leave(window);
            }
            What::Shown | What::Hidden => self.change(window, |known| known.shown = matches!(what, What::Shown)),
            What::Placed(place, below) => {
                self.change(window, |known| known.place = place);
                self.stack(parent, window, |level| {
                    level.iter().position(|other| *other == below).map_or(0, |place| place + 1)
                });
            }
            What::Shifted(at) => self.change(window, |known| known.place.at = at),
            What::Circled(up) => self.stack(parent, window, |level| if up { level.len() } else { 0 }),
        }
    }

    fn change(&mut self, window: u32, change: impl FnOnce(&mut Known)) {
        match self.known.get_mut(&window) {
            Some((_, known)) => change(known),
            None => self.stale = true,
        }
    }

    fn enter(&mut self, parent: u32, window: u32, known: Known) {
        self.leave(window);
        self.known.insert(window, (parent, known));
        self.levels.entry(parent).or_default().push(window);
    }

    fn leave(&mut self, window: u32) {
        if let Some((parent, _)) = self.known.remove(&window)
            && let Some(level) = self.levels.get_mut(&parent)
        {
            level.retain(|other| *other != window);
        }
    }

    fn stack(&mut self, parent: u32, window: u32, place: impl FnOnce(&[u32]) -> usize) {
        if let Some(level) = self.levels.get_mut(&parent).filter(|level| level.contains(&window)) {
            level.retain(|other| *other != window);
            let place = place(level);
            level.insert(place, window);
        }
    }

    fn all_on(&self) -> Vec<(u32, Option<Vec<u32>>)> {
        self.ours.iter().map(|ours| (*ours, self.on(*ours))).collect()
    }

    /// The windows that lie on it, whatever their outline. Nothing if it is not wholly on the screen itself.
    fn on(&self, window: u32) -> Option<Vec<u32>> {
        // From it to what stands on the root, and where each begins.
        let mut way = Vec::new();
        let mut next = window;
        while next != self.root {
            let (parent, known) = self.known.get(&next).filter(|(_, known)| known.shown)?;
            // No display has windows in a circle; a mirror that lost an event might.
            if way.len() > self.levels.len() {
                return None;
            }
            way.push((next, *known));
            next = *parent;
        }
        let mut origin = (0, 0);
        let mut levels = vec![(self.root, origin)];
        for (window, known) in way.iter().rev() {
            origin =
                (origin.0 + known.place.at.0 + known.place.border, origin.1 + known.place.at.1 + known.place.border);
            levels.push((*window, origin));
        }
        let size = way.first()?.1.place.size;
        let ours = Ours { area: Area::new(origin, size), maker: Maker::of(window, self.own_bits) };
        if !self.screen.is_some_and(|screen| ours.is_on(screen)) {
            return None;
        }
        let mut on = Vec::new();
        for (level, origin) in levels {
            let windows = self.levels.get(&level).map_or(&[][..], Vec::as_slice);
            // What stands in ours lies on it if others put it there; else what is above the one that holds ours.
            let own = windows.iter().position(|other| way.iter().any(|(window, _)| window == other));
            let above = windows.get(own.map_or(0, |place| place + 1)..).unwrap_or_default();
            on.extend(above.iter().copied().filter(|above| {
                (level != window || Maker::of(*above, self.own_bits) != ours.maker)
                    && self.known.get(above).is_some_and(|(_, known)| {
                        known.shown && ours.is_under(&known.above(Maker::of(*above, self.own_bits), origin))
                    })
            }));
        }
        Some(on)
    }
}

impl Known {
    fn above(&self, maker: Maker, origin: (i32, i32)) -> Above {
        let Place { at, size, border } = self.place;
        let size = (size.0 + 2 * border, size.1 + 2 * border);
        let area = Area::new((origin.0 + at.0, origin.1 + at.1), size);
        Above { area, maker, input_only: self.input_only, unmanaged: self.unmanaged }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: u32 = 0x10;
    const FRAME: u32 = 0x20_0001;
    const OURS: u32 = 0x40_0001;
    /// The toolkit's own, in ours.
    const OWN: u32 = 0x40_0002;
    const MENU: u32 = 0x40_0003;
    /// In ours, in the frame, above it, below it, beside it.
    const INSIDE: u32 = 0x80_0001;
    const BESIDE_IN_FRAME: u32 = 0x80_0002;
    const ABOVE: u32 = 0x80_0003;
    const BELOW: u32 = 0x80_0004;
    const ELSEWHERE: u32 = 0x80_0005;
    const HIDDEN: u32 = 0x80_0006;

    const fn place(x: i32, y: i32, width: i32, height: i32) -> Place {
        Place { at: (x, y), size: (width, height), border: 0 }
    }

    fn mirror() -> Mirror {
        let known = |place| Known { place, shown: true, input_only: false, unmanaged: false };
        let whole = place(0, 0, 1280, 800);
        let mut mirror = Mirror::new(ROOT, 0x1f_ffff);
        let on_root = vec![
            (BELOW, known(whole)),
            (FRAME, known(place(700, 50, 470, 650))),
            (ABOVE, known(whole)),
            (ELSEWHERE, known(place(0, 0, 300, 300))),
            (HIDDEN, Known { shown: false, ..known(whole) }),
            (MENU, Known { unmanaged: true, ..known(whole) }),
        ];
        let in_frame = vec![(OURS, known(place(5, 25, 460, 620))), (BESIDE_IN_FRAME, known(place(0, 0, 470, 25)))];
        let in_ours = vec![(OWN, known(place(0, 0, 460, 620))), (INSIDE, known(place(0, 0, 460, 400)))];
        let levels = vec![(ROOT, on_root), (FRAME, in_frame), (OURS, in_ours)];
        mirror.renew(Area::new((0, 0), (1280, 800)), HashSet::from([OURS]), levels);
        mirror
    }

    // holds: desktop-cover-told
    #[test]
    fn what_comes_goes_or_changes_on_ours_begins_its_time_anew() {
        let (small, whole) = (place(0, 0, 200, 200), place(0, 0, 1280, 800));
        let table = [
            ("inside of ours, hidden", OURS, INSIDE, What::Hidden, true),
            ("inside of ours, gone", OURS, INSIDE, What::Gone, true),
            ("inside of ours, moved off the text", OURS, INSIDE, What::Placed(place(900, 0, 9, 9), OWN), true),
            ("inside of ours, shifted", OURS, INSIDE, What::Shifted((900, 0)), true),
            ("made in ours, and not shown", OURS, 0x80_0009, What::Made(small, false), false),
            ("the toolkit's own, hidden", OURS, OWN, What::Hidden, false),
            ("the toolkit's own, moved", OURS, OWN, What::Placed(small, 0), false),
            ("in the frame, over ours", FRAME, BESIDE_IN_FRAME, What::Placed(place(0, 0, 470, 300), OURS), true),
            ("in the frame, beside ours", FRAME, BESIDE_IN_FRAME, What::Placed(place(0, 0, 400, 25), OURS), false),
            ("above ours, hidden", ROOT, ABOVE, What::Hidden, true),
            ("above ours, moved away", ROOT, ABOVE, What::Placed(small, FRAME), true),
            ("above ours, lowered", ROOT, ABOVE, What::Circled(false), true),
            ("hidden above ours, shown", ROOT, HIDDEN, What::Shown, true),
            ("hidden above ours, moved", ROOT, HIDDEN, What::Placed(whole, ELSEWHERE), false),
            ("below ours, moved", ROOT, BELOW, What::Placed(small, 0), false),
            ("below ours, raised", ROOT, BELOW, What::Placed(whole, ELSEWHERE), true),
            ("elsewhere, moved", ROOT, ELSEWHERE, What::Placed(small, ABOVE), false),
            ("elsewhere, moved onto ours", ROOT, ELSEWHERE, What::Placed(whole, ABOVE), true),
            ("elsewhere, hidden", ROOT, ELSEWHERE, What::Hidden, false),
            ("our own menu, hidden", ROOT, MENU, What::Hidden, false),
            ("ours, hidden", FRAME, OURS, What::Hidden, true),
            ("its frame, moved", ROOT, FRAME, What::Placed(place(600, 50, 470, 650), BELOW), false),
            ("its frame, off the screen", ROOT, FRAME, What::Placed(place(-300, 50, 470, 650), BELOW), true),
            ("its frame, lowered", ROOT, FRAME, What::Circled(false), true),
            ("in a window that is not heard of", ELSEWHERE, 0x80_0009, What::Shown, false),
        ];
        for (name, parent, window, what, restarts) in table {
            let mut mirror = mirror();
            mirror.hear(parent, window, what);
            assert_eq!(mirror.touched().contains(&OURS), restarts, "{name}");
            assert!(mirror.touched().is_empty(), "{name}, once");
        }
    }

    // holds: desktop-cover-told
    #[test]
    fn what_is_on_ours_between_two_looks_alone_begins_its_time_anew() {
        for moved in [What::Moved((0, 0), false), What::Made(place(0, 0, 460, 400), true)] {
            let mut mirror = mirror();
            mirror.hear(OURS, 0x80_0009, moved);
            assert!(mirror.touched().is_empty());
            assert_eq!(mirror.is_stale(), matches!(moved, What::Moved(..)));
            for what in [What::Shown, What::Hidden] {
                mirror.hear(OURS, 0x80_0009, what);
                assert!(mirror.touched().contains(&OURS), "{what:?}");
            }
        }
    }

    // holds: desktop-cover-told
    #[test]
    fn another_outline_begins_it_anew_where_the_window_is_above_ours() {
        for (window, restarts) in [(ABOVE, true), (INSIDE, true), (ELSEWHERE, false), (BELOW, false), (MENU, false)] {
            let mut mirror = mirror();
            mirror.hear_outline(window);
            assert_eq!(mirror.touched().contains(&OURS), restarts, "{window:x}");
        }
    }
}
