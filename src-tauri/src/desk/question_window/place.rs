//! Where the small window stands: at the top right of what the pointer's display leaves free, and as large as its text wants.

use std::ops::RangeInclusive;

use tauri::{AppHandle, Monitor};

/// Its size with text of the usual size, where the display has room, and what stays free around it. All in logical pixels.
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 620.0;
const MARGIN: f64 = 24.0;

/// What a window manager puts around a window, at most: nobody tells before it is shown.
const FRAME: f64 = 40.0;

/// A place, in logical pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// How much larger or smaller than usual text may be drawn for the window to follow.
const TEXT: RangeInclusive<f64> = 1.0..=3.0;

/// On the display with the pointer, or the first one, for text that is drawn so many times as large as usual. None when
/// there is none.
pub(super) fn near_the_pointer(app: &AppHandle, text: f64) -> Option<Place> {
    let pointer = app.cursor_position().ok();
    let at_pointer = pointer.and_then(|at| app.monitor_from_point(at.x, at.y).ok().flatten());
    let monitor = at_pointer.or_else(|| app.primary_monitor().ok().flatten())?;
    Some(at_the_top_right(free(&monitor), text))
}

/// What panels leave free.
fn free(monitor: &Monitor) -> Place {
    let (area, scale) = (monitor.work_area(), monitor.scale_factor());
    let position = area.position.to_logical::<f64>(scale);
    let size = area.size.to_logical::<f64>(scale);
    Place { x: position.x, y: position.y, width: size.width, height: size.height }
}

fn at_the_top_right(free: Place, text: f64) -> Place {
    let text = text.clamp(*TEXT.start(), *TEXT.end());
    let width = (WIDTH * text).min(free.width - 2.0 * MARGIN).max(1.0);
    let height = (HEIGHT * text).min(free.height - 2.0 * MARGIN - FRAME).max(1.0);
    Place { x: free.x + free.width - MARGIN - width, y: free.y + MARGIN, width, height }
}

#[cfg(test)]
mod tests {
    use super::*;

    // holds: desktop-question-place
    #[test]
    fn it_stands_inside_the_free_part_of_its_display() {
        let second = Place { x: 1920.0, y: 28.0, width: 1280.0, height: 800.0 };
        assert_eq!(at_the_top_right(second, 1.0), Place { x: 2716.0, y: 52.0, width: 460.0, height: 620.0 });
        let small = Place { x: 0.0, y: 0.0, width: 400.0, height: 480.0 };
        assert_eq!(at_the_top_right(small, 1.0), Place { x: 24.0, y: 24.0, width: 352.0, height: 392.0 });
        let none = Place { x: 0.0, y: 0.0, width: 0.0, height: 0.0 };
        assert!(at_the_top_right(none, 1.0).width > 0.0);
    }

    // holds: desktop-question-size
    #[test]
    fn it_grows_with_the_text_as_far_as_the_display_has_room() {
        let large = Place { x: 0.0, y: 0.0, width: 2560.0, height: 1440.0 };
        // (display, how large text is, width and height)
        let table = [
            (large, 1.0, (460.0, 620.0)),
            (large, 1.5, (690.0, 930.0)),
            (large, 2.0, (920.0, 1240.0)),
            (large, 0.5, (460.0, 620.0)),
            (large, 9.0, (1380.0, 1352.0)),
            (Place { width: 1280.0, height: 800.0, ..large }, 2.0, (920.0, 712.0)),
            (Place { width: 800.0, height: 600.0, ..large }, 2.0, (752.0, 512.0)),
        ];
        for (free, text, size) in table {
            let place = at_the_top_right(free, text);
            assert_eq!((place.width, place.height), size, "{free:?}, {text}");
            assert!(place.x >= MARGIN && place.x + place.width + MARGIN <= free.width, "{place:?}");
        }
    }
}
