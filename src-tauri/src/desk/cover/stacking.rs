//! Which windows above ours count as lying on it. Rectangles and numbers alone.

/// How far in from its edges a window shows what is to be read: sensors and hidden panels of desktops that lie along the
/// edge hide nothing.
const EDGE: i32 = 4;

/// A part of the display, in its own pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) right: i32,
    pub(super) bottom: i32,
}

impl Area {
    pub(super) fn new((left, top): (i32, i32), (width, height): (i32, i32)) -> Self {
        Self { left, top, right: left.saturating_add(width), bottom: top.saturating_add(height) }
    }

    pub(super) fn origin(self) -> (i32, i32) {
        (self.left, self.top)
    }

    fn meets(self, other: Self) -> bool {
        self.left.max(other.left) < self.right.min(other.right)
            && self.top.max(other.top) < self.bottom.min(other.bottom)
    }

    fn holds(self, other: Self) -> bool {
        self.left <= other.left && self.top <= other.top && self.right >= other.right && self.bottom >= other.bottom
    }

    /// Without what lies along its edges.
    fn inside(self) -> Self {
        Self {
            left: self.left.saturating_add(EDGE),
            top: self.top.saturating_add(EDGE),
            right: self.right.saturating_sub(EDGE),
            bottom: self.bottom.saturating_sub(EDGE),
        }
    }
}

/// The bits of a window's number that say who made it. The display gives them out: nobody makes a window in another's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Maker(u32);

impl Maker {
    /// Who made it, where these bits are everybody's own.
    pub(super) fn of(window: u32, own_bits: u32) -> Self {
        /// The topmost three are never used.
        const NUMBER: u32 = 0x1fff_ffff;
        Self(window & NUMBER & !own_bits)
    }

    /// The display made it itself: what a compositor draws all windows on.
    fn is_display(self) -> bool {
        self.0 == 0
    }
}

/// A window of ours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ours {
    pub(super) area: Area,
    pub(super) maker: Maker,
}

/// A window above ours that is on the screen, or inside of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Above {
    pub(super) area: Area,
    pub(super) maker: Maker,
    /// It is never drawn, and takes clicks alone.
    pub(super) input_only: bool,
    /// No window manager puts a frame around it: a menu, a tooltip.
    pub(super) unmanaged: bool,
}

impl Ours {
    /// Whether all that is to be read of it is on this screen.
    pub(super) fn is_on(&self, screen: Area) -> bool {
        screen.holds(self.area.inside())
    }

    /// Whether this window lies on it. Where its outline is no rectangle, that is to be asked with each part of it.
    ///
    /// What is drawn counts wherever it meets ours, whether it takes clicks or lets them through. What is never drawn hides
    /// nothing and takes the click that it catches; over all of ours it is what desktops lay there while they show
    /// something else. Our own menus and tooltips are the app's words, and go with the click.
    pub(super) fn is_under(&self, above: &Above) -> bool {
        if above.maker.is_display() || (above.unmanaged && above.maker == self.maker) {
            return false;
        }
        if above.input_only { above.area.holds(self.area.inside()) } else { above.area.meets(self.area.inside()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BITS: u32 = 0x1f_ffff;

    const OURS: Ours = Ours { area: area(800, 50, 460, 620), maker: Maker(0x40_0000) };

    const fn area(left: i32, top: i32, width: i32, height: i32) -> Area {
        Area { left, top, right: left + width, bottom: top + height }
    }

    fn above(area: Area) -> Above {
        Above { area, maker: Maker(0x80_0000), input_only: false, unmanaged: false }
    }

    // holds: desktop-cover-counts
    #[test]
    fn a_window_counts_wherever_it_meets_what_is_to_be_read() {
        let table = [
            ("all of it", area(0, 0, 1280, 800), true),
            ("the text and no button", area(810, 60, 400, 200), true),
            ("one pixel of it", area(1000, 300, 1, 1), true),
            ("from the side", area(700, 300, 105, 10), true),
            ("beside it", area(340, 50, 460, 620), false),
            ("along its edge", area(0, 50, 804, 620), false),
            ("below its edge", area(800, 666, 460, 100), false),
            ("far away", area(-1000, -1000, 5, 5), false),
            ("without a size", area(900, 100, 0, 0), false),
        ];
        for (name, area, covers) in table {
            assert_eq!(OURS.is_under(&above(area)), covers, "{name}");
            assert_eq!(OURS.is_under(&Above { unmanaged: true, ..above(area) }), covers, "{name}, without a frame");
        }
    }

    // holds: desktop-cover-counts
    #[test]
    fn a_window_that_is_never_drawn_counts_over_all_of_ours_alone() {
        let input_only = |area| Above { input_only: true, unmanaged: true, ..above(area) };
        assert!(OURS.is_under(&input_only(area(0, 0, 1280, 800))));
        assert!(OURS.is_under(&input_only(OURS.area)));
        assert!(!OURS.is_under(&input_only(area(1279, 0, 1, 800))));
        assert!(!OURS.is_under(&input_only(area(800, 50, 460, 300))));
    }

    // holds: desktop-cover-counts
    #[test]
    fn what_the_display_made_and_our_own_menus_do_not_count() {
        let whole = area(0, 0, 1280, 800);
        assert_eq!(Maker::of(0x3f, BITS), Maker(0));
        assert!(!OURS.is_under(&Above { maker: Maker::of(0x3f, BITS), unmanaged: true, ..above(whole) }));
        let menu = Above { maker: Maker::of(0x40_1234, BITS), unmanaged: true, ..above(whole) };
        assert!(!OURS.is_under(&menu));
        assert!(OURS.is_under(&Above { unmanaged: false, ..menu }), "another window of the app");
        assert!(OURS.is_under(&Above { maker: Maker::of(0x60_1234, BITS), ..menu }), "another program's");
    }

    // holds: desktop-cover-counts
    #[test]
    fn all_that_is_to_be_read_must_be_on_the_screen() {
        let screen = area(0, 0, 1280, 800);
        for (left, top, on) in [(800, 50, true), (823, 50, true), (826, 50, false), (-5, 50, false), (800, 190, false)]
        {
            assert_eq!(Ours { area: area(left, top, 460, 620), ..OURS }.is_on(screen), on, "{left}, {top}");
        }
    }
}
