//! Where the small window stands: at the top right of what the pointer's display leaves free.

use tauri::{AppHandle, Monitor};

/// Its size, where the display has room, and what stays free around it. All in logical pixels.
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

/// On the display with the pointer, or the first one. None when there is none.
pub(super) fn near_the_pointer(app: &AppHandle) -> Option<Place> {
    let pointer = app.cursor_position().ok();
    let at_pointer = pointer.and_then(|at| app.monitor_from_point(at.x, at.y).ok().flatten());
    let monitor = at_pointer.or_else(|| app.primary_monitor().ok().flatten())?;
    Some(at_the_top_right(free(&monitor)))
}

/// What panels leave free.
fn free(monitor: &Monitor) -> Place {
    let (area, scale) = (monitor.work_area(), monitor.scale_factor());
    let position = area.position.to_logical::<f64>(scale);
    let size = area.size.to_logical::<f64>(scale);
    Place { x: position.x, y: position.y, width: size.width, height: size.height }
}

fn at_the_top_right(free: Place) -> Place {
    let width = WIDTH.min(free.width - 2.0 * MARGIN).max(1.0);
    let height = HEIGHT.min(free.height - 2.0 * MARGIN - FRAME).max(1.0);
    Place { x: free.x + free.width - MARGIN - width, y: free.y + MARGIN, width, height }
}

#[cfg(test)]
mod tests {
    use super::*;

    // holds: desktop-question-place
    #[test]
    fn it_stands_inside_the_free_part_of_its_display() {
        let second = Place { x: 1920.0, y: 28.0, width: 1280.0, height: 800.0 };
        assert_eq!(at_the_top_right(second), Place { x: 2716.0, y: 52.0, width: 460.0, height: 620.0 });
        let small = Place { x: 0.0, y: 0.0, width: 400.0, height: 480.0 };
        assert_eq!(at_the_top_right(small), Place { x: 24.0, y: 24.0, width: 352.0, height: 392.0 });
        let none = Place { x: 0.0, y: 0.0, width: 0.0, height: 0.0 };
        assert!(at_the_top_right(none).width > 0.0);
    }
}
