//! The display's events, as they come.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
    mpsc,
};

use x11rb::{
    connection::Connection as _,
    protocol::{
        Event,
        shape::SK,
        xproto::{GetGeometryReply, Place as End},
    },
    rust_connection::RustConnection,
};

use super::{
    mirror::{Mirror, Place, What},
    x11::Order,
};

/// Tells of changes, however many there are, once until they were looked at.
#[derive(Clone)]
pub(super) struct News {
    pub(super) orders: mpsc::Sender<Order>,
    pub(super) told: Arc<AtomicBool>,
}

impl News {
    /// As long as the display is there.
    pub(super) fn hear(self, connection: &RustConnection, mirror: &Mutex<Mirror>) {
        while let Ok(event) = connection.wait_for_event() {
            reflect(&mut held(mirror), &event);
            if !self.told.swap(true, Ordering::AcqRel) && self.orders.send(Order::Changed).is_err() {
                return;
            }
        }
    }
}

pub(super) fn held(mirror: &Mutex<Mirror>) -> MutexGuard<'_, Mirror> {
    mirror.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<&GetGeometryReply> for Place {
    fn from(told: &GetGeometryReply) -> Self {
        place((told.x, told.y), (told.width, told.height), told.border_width)
    }
}

fn place(at: (i16, i16), size: (u16, u16), border: u16) -> Place {
    Place { at: both(at), size: both(size), border: border.into() }
}

fn both<T: Into<i32>>(numbers: (T, T)) -> (i32, i32) {
    (numbers.0.into(), numbers.1.into())
}

/// A window tells of itself, too: that is no window in it, and its parent tells the same.
#[expect(clippy::wildcard_enum_match_arm, reason = "the display has many more events, and more with each extension")]
fn reflect(mirror: &mut Mirror, event: &Event) {
    let (parent, window, what) = match event {
        Event::CreateNotify(told) => {
            let place = place((told.x, told.y), (told.width, told.height), told.border_width);
            (told.parent, told.window, What::Made(place, told.override_redirect))
        }
        Event::DestroyNotify(told) => (told.event, told.window, What::Gone),
        Event::ReparentNotify(told) if told.event == told.parent => {
            (told.event, told.window, What::Moved(both((told.x, told.y)), told.override_redirect))
        }
        Event::ReparentNotify(told) => (told.event, told.window, What::Gone),
        Event::MapNotify(told) => (told.event, told.window, What::Shown),
        Event::UnmapNotify(told) => (told.event, told.window, What::Hidden),
        Event::ConfigureNotify(told) => {
            let place = place((told.x, told.y), (told.width, told.height), told.border_width);
            (told.event, told.window, What::Placed(place, told.above_sibling))
        }
        Event::GravityNotify(told) => (told.event, told.window, What::Shifted(both((told.x, told.y)))),
        Event::CirculateNotify(told) => (told.event, told.window, What::Circled(told.place == End::ON_TOP)),
        Event::ShapeNotify(told) if told.shape_kind != SK::INPUT => {
            return mirror.hear_outline(told.affected_window);
        }
        _ => return,
    };
    if parent != window {
        mirror.hear(parent, window, what);
    }
}
