//! What lies on our windows under X11: the windows above them in the order in which the display stacks them.
//!
//! On threads of its own, with a connection of its own: a display that is slow to answer holds up nothing but what is
//! asked of it. What cannot be asked counts as covered.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex,
        atomic::Ordering,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;
use x11rb::{
    connection::{Connection as _, RequestConnection as _},
    errors::{ConnectionError, ReplyError},
    protocol::{
        shape::{self, ConnectionExt as _, SK},
        xproto::{ChangeWindowAttributesAux, ConnectionExt as _, EventMask, MapState, Window, WindowClass},
    },
    rust_connection::RustConnection,
};

use super::{
    mirror::{Known, Mirror, Place},
    news::{News, held},
    stacking::{Above, Area, Maker, Ours},
};
use crate::shell::AppWindow;

/// How often windows are looked at whatever the display tells, and nothing that it tells puts that off.
const AGAIN: Duration = Duration::from_secs(1);

/// The shortest time between two looks that changes ask for: a window that is dragged tells of many.
const PAUSE: Duration = Duration::from_millis(50);

/// How long to wait while there is no window to look at.
const REST: Duration = Duration::from_secs(3_600);

/// How long to wait before a display that could not be asked is tried anew.
const RETRY: Duration = Duration::from_secs(1);

/// Asks the display. Cheap to clone; all clones are the same one.
#[derive(Clone, Debug)]
pub(in crate::desk) struct Display {
    /// Without a bound: filled by our own windows and by the person's clicks.
    orders: mpsc::Sender<Order>,
}

#[derive(Debug)]
pub(super) enum Order {
    Watch(AppWindow, Window),
    Forget(AppWindow),
    Look(AppWindow, oneshot::Sender<bool>),
    /// Windows came, went or moved.
    Changed,
}

impl Display {
    /// Starts the thread, for the display of this name. Changes are told to this.
    pub(super) fn start(name: String, tell: impl Fn(AppWindow, bool) + Send + 'static) -> Self {
        let (orders, heard) = mpsc::channel();
        let changed = News { orders: orders.clone(), told: Arc::default() };
        let work = move || Eyes { name, heard, changed, watched: HashMap::new(), tell: Box::new(tell) }.live();
        if let Err(fault) = thread::Builder::new().name("display".into()).spawn(work) {
            tracing::error!("no thread to ask the display, so nothing can be allowed: {fault}");
        }
        Self { orders }
    }

    /// This window has this number now.
    pub(super) fn watch(&self, window: AppWindow, id: Window) {
        drop(self.orders.send(Order::Watch(window, id)));
    }

    /// This window is no more.
    pub(super) fn forget(&self, window: AppWindow) {
        drop(self.orders.send(Order::Forget(window)));
    }

    /// Tells whether something lies on it now.
    pub(in crate::desk) fn look(&self, window: AppWindow, told: oneshot::Sender<bool>) {
        drop(self.orders.send(Order::Look(window, told)));
    }
}

struct Eyes {
    name: String,
    heard: mpsc::Receiver<Order>,
    changed: News,
    watched: HashMap<AppWindow, Watched>,
    tell: Box<dyn Fn(AppWindow, bool) + Send>,
}

struct Watched {
    id: Window,
    /// As it was told.
    covered: bool,
}

impl Eyes {
    /// As long as the app.
    fn live(mut self) {
        let mut told = false;
        loop {
            let fault = match Screen::open(&self.name, &self.changed) {
                Ok(screen) => match self.serve(&screen) {
                    Ok(()) => return,
                    Err(fault) => fault.to_string(),
                },
                Err(fault) => fault,
            };
            if !std::mem::replace(&mut told, true) {
                tracing::error!(
                    "the display cannot be asked what lies on a window, so nothing can be allowed: {fault}"
                );
            }
            if self.serve_blindly().is_none() {
                return;
            }
        }
    }

    fn serve(&mut self, screen: &Screen) -> Result<(), ConnectionError> {
        for watched in self.watched.values() {
            screen.hear_of(watched.id)?;
        }
        // Each has its own time: who moves windows does not choose the moment of the other look.
        let mut looked = Instant::now();
        let (mut again, mut soon) = (looked, None::<Instant>);
        loop {
            let now = Instant::now();
            let due = soon.map_or(again, |soon| soon.min(again));
            if !self.watched.is_empty() && due <= now {
                if again <= now || held(&screen.mirror).is_stale() {
                    screen.reflect(self.watched.values().map(|watched| watched.id).collect())?;
                }
                for window in self.watched.keys().copied().collect::<Vec<_>>() {
                    self.look_at(screen, window)?;
                }
                looked = Instant::now();
                if again <= now {
                    again = looked + AGAIN;
                }
                soon = None;
                continue;
            }
            let wait = if self.watched.is_empty() { REST } else { due.saturating_duration_since(now) };
            match self.heard.recv_timeout(wait) {
                Ok(Order::Watch(window, id)) => {
                    self.watched.insert(window, Watched { id, covered: true });
                    screen.hear_of(id)?;
                    again = Instant::now();
                }
                Ok(Order::Forget(window)) => drop(self.watched.remove(&window)),
                Ok(Order::Look(window, told)) => {
                    // One that is not known is not seen.
                    let covered = self.look_at(screen, window)?.unwrap_or(true);
                    let _ = told.send(self.restart(screen).contains(&window) || covered);
                    soon = soon.or(Some(looked + PAUSE));
                }
                Ok(Order::Changed) => {
                    self.changed.told.store(false, Ordering::Release);
                    self.restart(screen);
                    soon = soon.or(Some(looked + PAUSE));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// What something came on or went from since the last time counts as covered until the next look, however short that
    /// was: its time in view begins anew.
    fn restart(&mut self, screen: &Screen) -> Vec<AppWindow> {
        let touched = held(&screen.mirror).touched();
        let mut restarted = Vec::new();
        for (window, watched) in self.watched.iter_mut().filter(|(_, watched)| touched.contains(&watched.id)) {
            watched.covered = true;
            (self.tell)(*window, true);
            restarted.push(*window);
        }
        restarted
    }

    /// Whether something lies on it. What is new is told, however it came to be known.
    fn look_at(&mut self, screen: &Screen, window: AppWindow) -> Result<Option<bool>, ConnectionError> {
        let Some(watched) = self.watched.get_mut(&window) else { return Ok(None) };
        let covered = screen.is_covered(watched.id)?;
        if std::mem::replace(&mut watched.covered, covered) != covered {
            (self.tell)(window, covered);
        }
        Ok(Some(covered))
    }

    /// For a while, as one that sees nothing. Nothing once nobody asks any more.
    fn serve_blindly(&mut self) -> Option<()> {
        for (window, watched) in &mut self.watched {
            watched.covered = true;
            (self.tell)(*window, true);
        }
        let end = Instant::now() + RETRY;
        loop {
            match self.heard.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Order::Watch(window, id)) => drop(self.watched.insert(window, Watched { id, covered: true })),
                Ok(Order::Forget(window)) => drop(self.watched.remove(&window)),
                Ok(Order::Look(_, told)) => drop(told),
                Ok(Order::Changed) => self.changed.told.store(false, Ordering::Release),
                Err(RecvTimeoutError::Timeout) => return Some(()),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

/// A connection to the display.
struct Screen {
    connection: Arc<RustConnection>,
    /// What in a window's number is its maker's own.
    own_bits: u32,
    /// Whether windows can have outlines that are no rectangles.
    outlines: bool,
    root: Window,
    mirror: Arc<Mutex<Mirror>>,
}

impl Screen {
    fn open(name: &str, changed: &News) -> Result<Self, String> {
        let (connection, number) = RustConnection::connect(Some(name)).map_err(|fault| fault.to_string())?;
        let (own_bits, root) = {
            let setup = connection.setup();
            (setup.resource_id_mask, setup.roots.get(number).ok_or("it has no screen")?.root)
        };
        let outlines = connection.extension_information(shape::X11_EXTENSION_NAME);
        let outlines = outlines.map_err(|fault| fault.to_string())?.is_some();
        let mirror = Arc::new(Mutex::new(Mirror::new(root, own_bits)));
        let screen = Self { connection: Arc::new(connection), own_bits, outlines, root, mirror };
        screen.hear(root, EventMask::SUBSTRUCTURE_NOTIFY).map_err(|fault| fault.to_string())?;
        let (connection, mirror) = (Arc::clone(&screen.connection), Arc::clone(&screen.mirror));
        let changed = changed.clone();
        let hear = move || changed.hear(&connection, &mirror);
        thread::Builder::new().name("display news".into()).spawn(hear).map_err(|fault| fault.to_string())?;
        Ok(screen)
    }

    /// When it comes to the screen, and goes, and what others do inside of it.
    fn hear_of(&self, window: Window) -> Result<(), ConnectionError> {
        self.hear(window, EventMask::STRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_NOTIFY)
    }

    /// Hears from now on of all that stands around these, and knows how it stands now. What the display tells meanwhile
    /// waits, and is told after that.
    fn reflect(&self, ours: HashSet<Window>) -> Result<(), ConnectionError> {
        let mut mirror = held(&self.mirror);
        let Some((screen, root)) = still(self.level(self.root))? else { return Ok(()) };
        let mut levels = HashMap::from([(self.root, root)]);
        for window in &ours {
            let mut next = *window;
            // One that went meanwhile has no news, and its frames are others'.
            while next != x11rb::NONE && !levels.contains_key(&next) {
                self.hear_of(next)?;
                let Some((_, level)) = still(self.level(next))? else { break };
                levels.insert(next, level);
                let parent = still(self.connection.query_tree(next)?.reply())?;
                next = parent.map_or(x11rb::NONE, |tree| tree.parent);
            }
        }
        mirror.renew(screen, ours, levels.into_iter().collect());
        Ok(())
    }

    /// Its own area, and the windows in it.
    fn level(&self, window: Window) -> Result<(Area, Vec<(Window, Known)>), ReplyError> {
        let x = &self.connection;
        let (tree, size) = (x.query_tree(window)?, x.get_geometry(window)?);
        let (tree, size) = (tree.reply()?, size.reply()?);
        let asked: Vec<_> = tree
            .children
            .into_iter()
            .map(|child| Ok((child, x.get_window_attributes(child)?, x.get_geometry(child)?)))
            .collect::<Result<_, ConnectionError>>()?;
        let mut level = Vec::new();
        for (child, attributes, geometry) in asked {
            if let (Some(attributes), Some(geometry)) = (still(attributes.reply())?, still(geometry.reply())?) {
                let known = Known {
                    place: Place::from(&geometry),
                    shown: attributes.map_state != MapState::UNMAPPED,
                    input_only: attributes.class == WindowClass::INPUT_ONLY,
                    unmanaged: attributes.override_redirect,
                };
                level.push((child, known));
            }
        }
        Ok((Area::new((0, 0), (size.width.into(), size.height.into())), level))
    }

    /// A window that is gone has no news.
    fn hear(&self, window: Window, events: EventMask) -> Result<(), ConnectionError> {
        let events = ChangeWindowAttributesAux::new().event_mask(events);
        still(self.connection.change_window_attributes(window, &events)?.check()).map(drop)
    }

    /// Whether something lies on it, or it is not wholly on the screen.
    fn is_covered(&self, window: Window) -> Result<bool, ConnectionError> {
        still(self.sees(window)).map(|sees| sees != Some(true))
    }

    fn sees(&self, window: Window) -> Result<bool, ReplyError> {
        let x = &self.connection;
        let (tree, attributes) = (x.query_tree(window)?, x.get_window_attributes(window)?);
        let (tree, attributes) = (tree.reply()?, attributes.reply()?);
        if attributes.map_state != MapState::VIEWABLE {
            return Ok(false);
        }
        let (size, screen) = (x.get_geometry(window)?, x.get_geometry(tree.root)?);
        let (size, screen) = (size.reply()?, screen.reply()?);
        let area = Area::new(self.origin(window, tree.root)?, (size.width.into(), size.height.into()));
        let ours = Ours { area, maker: self.maker(window) };
        if !ours.is_on(Area::new((0, 0), (screen.width.into(), screen.height.into()))) {
            return Ok(false);
        }
        // Where others put a window inside of ours, it lies on it.
        let foreign: Vec<_> = tree.children.into_iter().filter(|child| self.maker(*child) != ours.maker).collect();
        if self.lies_on(&ours, &foreign, area.origin())? {
            return Ok(false);
        }
        self.sees_above(&ours, window, tree.parent, tree.root)
    }

    /// All the way up: a window manager's frames hold several windows, too.
    fn sees_above(&self, ours: &Ours, window: Window, parent: Window, root: Window) -> Result<bool, ReplyError> {
        let (mut window, mut parent) = (window, parent);
        while parent != x11rb::NONE {
            let level = self.connection.query_tree(parent)?.reply()?;
            // The topmost is the last. One that just went elsewhere has all of them above it.
            let above: Vec<_> = level.children.into_iter().rev().take_while(|child| *child != window).collect();
            if self.lies_on(ours, &above, self.origin(parent, root)?)? {
                return Ok(false);
            }
            (window, parent) = (parent, level.parent);
        }
        Ok(true)
    }

    /// Whether one of these lies on it. They stand in a window that begins there.
    fn lies_on(&self, ours: &Ours, windows: &[Window], origin: (i32, i32)) -> Result<bool, ReplyError> {
        let x = &self.connection;
        let asked: Vec<_> = windows
            .iter()
            .map(|window| Ok((*window, x.get_window_attributes(*window)?, x.get_geometry(*window)?)))
            .collect::<Result<_, ConnectionError>>()?;
        for (window, attributes, geometry) in asked {
            let (Some(attributes), Some(geometry)) = (still(attributes.reply())?, still(geometry.reply())?) else {
                continue;
            };
            if attributes.map_state != MapState::VIEWABLE {
                continue;
            }
            let border = i32::from(geometry.border_width);
            let begins = (origin.0 + i32::from(geometry.x), origin.1 + i32::from(geometry.y));
            let size = (i32::from(geometry.width) + 2 * border, i32::from(geometry.height) + 2 * border);
            let above = Above {
                area: Area::new(begins, size),
                maker: self.maker(window),
                input_only: attributes.class == WindowClass::INPUT_ONLY,
                unmanaged: attributes.override_redirect,
            };
            let inner = (begins.0 + border, begins.1 + border);
            if ours.is_under(&above) && self.is_drawn_on(ours, window, above, inner)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a part of its outline meets ours. What is never drawn has no outline that matters.
    fn is_drawn_on(&self, ours: &Ours, window: Window, above: Above, at: (i32, i32)) -> Result<bool, ReplyError> {
        if above.input_only || !self.outlines {
            return Ok(true);
        }
        // From now on, when it gets another one. A window that is gone has none.
        still(self.connection.shape_select_input(window, true)?.check())?;
        let outline = self.connection.shape_get_rectangles(window, SK::BOUNDING)?;
        let Some(outline) = still(outline.reply())? else { return Ok(false) };
        let mut parts = outline.rectangles.iter().map(|part| {
            Area::new((at.0 + i32::from(part.x), at.1 + i32::from(part.y)), (part.width.into(), part.height.into()))
        });
        Ok(parts.any(|area| ours.is_under(&Above { area, ..above })))
    }

    /// Where it begins on the screen.
    fn origin(&self, window: Window, root: Window) -> Result<(i32, i32), ReplyError> {
        let at = self.connection.translate_coordinates(window, root, 0, 0)?.reply()?;
        Ok((at.dst_x.into(), at.dst_y.into()))
    }

    fn maker(&self, window: Window) -> Maker {
        Maker::of(window, self.own_bits)
    }
}

/// What the display says of a window; nothing of one that went meanwhile.
fn still<T>(told: Result<T, ReplyError>) -> Result<Option<T>, ConnectionError> {
    match told {
        Ok(told) => Ok(Some(told)),
        Err(ReplyError::X11Error(_)) => Ok(None),
        Err(ReplyError::ConnectionError(fault)) => Err(fault),
    }
}
