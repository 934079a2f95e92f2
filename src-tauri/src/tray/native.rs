//! The one adapter between the tray as a value and the system's tray.
//!
//! Only what differs is touched, as a menu that is replaced while it is open closes on some desktops. All of it runs on
//! the main thread.

mod icons;
mod panel;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tauri::{
    AppHandle, Wry,
    menu::{CheckMenuItem, IsMenuItem, Menu, MenuItem, PredefinedMenuItem, Submenu},
    tray::{TrayIcon, TrayIconBuilder},
};

use super::menu::{Entry, Tray};
use crate::{
    commands::tell,
    shell::{Action, Deed},
};

/// The tray icon's name; on Linux it is part of the icon's D-Bus path.
const NAME: &str = "clientmcp";

/// The system's tray.
#[derive(Default)]
pub(crate) struct NativeTray {
    /// None before the first is shown, and for good where there can be none.
    shown: Mutex<Option<Shown>>,
    /// Why there can be none.
    missing: Option<String>,
}

/// What is shown now.
struct Shown {
    tray: Tray,
    icon: TrayIcon,
    /// One for each entry, in the order of [`flat`].
    items: Vec<Item>,
}

/// What the system was given for an entry.
enum Item {
    Plain(MenuItem<Wry>),
    Ticked(CheckMenuItem<Wry>),
    Menu(Submenu<Wry>),
    Separator(PredefinedMenuItem<Wry>),
}

impl NativeTray {
    /// A tray, unless the system cannot have one: asking it would then end the program.
    pub(crate) fn new(missing: Option<String>) -> Self {
        Self { shown: Mutex::default(), missing }
    }

    /// Tells what is picked in the menu from now on, and whether there is a tray at all.
    pub(crate) fn watch(self: &Arc<Self>, app: &AppHandle) {
        match &self.missing {
            Some(sentence) => tell(app, Deed::NoTray(sentence.clone())),
            None => panel::watch(app),
        }
        let tray = Arc::clone(self);
        app.on_menu_event(move |app, event| tray.picked(app, event.id().as_ref()));
    }

    /// Shows this.
    pub(crate) fn show(&self, app: &AppHandle, tray: &Tray) {
        if self.missing.is_some() {
            return;
        }
        let mut shown = self.shown();
        let outcome = match shown.as_mut() {
            Some(shown) => shown.change(app, tray),
            None => Shown::new(app, tray).map(|new| *shown = Some(new)),
        };
        if let Err(fault) = outcome {
            tracing::error!("the tray cannot be shown: {fault}");
        }
    }

    fn picked(&self, app: &AppHandle, id: &str) {
        let action = self.shown().as_ref().and_then(|shown| shown.picked(id));
        if let Some(action) = action {
            tell(app, Deed::Picked(action));
        }
    }

    fn shown(&self) -> MutexGuard<'_, Option<Shown>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    fn new(app: &AppHandle, tray: &Tray) -> tauri::Result<Self> {
        let (menu, items) = menu(app, &tray.menu)?;
        let icon = TrayIconBuilder::with_id(NAME)
            .icon(icons::of(tray.icon))
            .icon_as_template(true)
            .tooltip("ClientMCP")
            .menu(&menu)
            .build(app)?;
        Ok(Self { tray: tray.clone(), icon, items })
    }

    fn change(&mut self, app: &AppHandle, tray: &Tray) -> tauri::Result<()> {
        if tray.icon != self.tray.icon {
            self.icon.set_icon_with_as_template(Some(icons::of(tray.icon)), true)?;
        }
        if !alike(&tray.menu, &self.tray.menu) {
            let (menu, items) = menu(app, &tray.menu)?;
            self.icon.set_menu(Some(menu))?;
            self.items = items;
        } else if tray.menu != self.tray.menu {
            let entries = flat(&tray.menu).into_iter().zip(flat(&self.tray.menu));
            self.items.iter().zip(entries).try_for_each(|(item, (new, old))| item.change(new, old))?;
        }
        self.tray = tray.clone();
        Ok(())
    }

    /// What the entry with this id does. The system has moved its tick by itself; it moves when it is so.
    fn picked(&self, id: &str) -> Option<Action> {
        let mut entries = flat(&self.tray.menu).into_iter().zip(&self.items);
        entries.find_map(|(entry, item)| match (entry, item) {
            (Entry::Pick { action, enabled: true, checked, .. }, item) if action_id(action) == id => {
                if let (Item::Ticked(item), Some(checked)) = (item, checked) {
                    let _ = item.set_checked(*checked);
                }
                Some(action.clone())
            }
            _ => None,
        })
    }
}

impl Item {
    fn new(app: &AppHandle, entry: &Entry, under: &mut Vec<Item>) -> tauri::Result<Self> {
        Ok(match entry {
            Entry::Line(text) => Self::Plain(MenuItem::new(app, text, false, None::<&str>)?),
            Entry::Separator => Self::Separator(PredefinedMenuItem::separator(app)?),
            Entry::Pick { text, action, enabled, checked: None } => {
                Self::Plain(MenuItem::with_id(app, action_id(action), text, *enabled, None::<&str>)?)
            }
            Entry::Pick { text, action, enabled, checked: Some(on) } => {
                Self::Ticked(CheckMenuItem::with_id(app, action_id(action), text, *enabled, *on, None::<&str>)?)
            }
            Entry::Menu { text, entries } => {
                let menu = Submenu::new(app, text, true)?;
                fill(app, entries, under, |item| menu.append(item))?;
                Self::Menu(menu)
            }
        })
    }

    /// To another entry that is [`alike`].
    fn change(&self, new: &Entry, old: &Entry) -> tauri::Result<()> {
        match (self, new) {
            _ if new == old => Ok(()),
            (Self::Plain(item), Entry::Line(text)) => item.set_text(text),
            (Self::Plain(item), Entry::Pick { text, enabled, .. }) => {
                item.set_text(text)?;
                item.set_enabled(*enabled)
            }
            (Self::Ticked(item), Entry::Pick { text, enabled, checked, .. }) => {
                item.set_text(text)?;
                item.set_checked(checked.unwrap_or_default())?;
                item.set_enabled(*enabled)
            }
            // Their texts never differ between those that are alike.
            _ => Ok(()),
        }
    }

    fn as_menu_item(&self) -> &dyn IsMenuItem<Wry> {
        match self {
            Self::Plain(item) => item,
            Self::Ticked(item) => item,
            Self::Menu(item) => item,
            Self::Separator(item) => item,
        }
    }
}

fn menu(app: &AppHandle, entries: &[Entry]) -> tauri::Result<(Menu<Wry>, Vec<Item>)> {
    let (menu, mut items) = (Menu::new(app)?, Vec::new());
    fill(app, entries, &mut items, |item| menu.append(item))?;
    Ok((menu, items))
}

fn fill(
    app: &AppHandle,
    entries: &[Entry],
    items: &mut Vec<Item>,
    append: impl Fn(&dyn IsMenuItem<Wry>) -> tauri::Result<()>,
) -> tauri::Result<()> {
    for entry in entries {
        let mut under = Vec::new();
        let item = Item::new(app, entry, &mut under)?;
        append(item.as_menu_item())?;
        items.push(item);
        items.append(&mut under);
    }
    Ok(())
}

/// All entries, each before those of its own menu.
fn flat(entries: &[Entry]) -> Vec<&Entry> {
    let mut all = Vec::new();
    for entry in entries {
        all.push(entry);
        if let Entry::Menu { entries, .. } = entry {
            all.extend(flat(entries));
        }
    }
    all
}

/// Whether one menu can be made the other without moving anything: what is picked always does what it said.
fn alike(one: &[Entry], other: &[Entry]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|pair| are_alike(pair.0, pair.1))
}

fn are_alike(one: &Entry, other: &Entry) -> bool {
    match (one, other) {
        (Entry::Line(_), Entry::Line(_)) | (Entry::Separator, Entry::Separator) => true,
        (Entry::Pick { action: one, checked: ticked, .. }, Entry::Pick { action: other, checked, .. }) => {
            one == other && ticked.is_some() == checked.is_some()
        }
        (Entry::Menu { text: one, entries }, Entry::Menu { text: other, entries: others }) => {
            one == other && alike(entries, others)
        }
        (Entry::Line(_) | Entry::Separator | Entry::Pick { .. } | Entry::Menu { .. }, _) => false,
    }
}

/// By what it does, and not by where it stands: the menu may have changed between a click and its arrival.
fn action_id(action: &Action) -> String {
    format!("{action:?}")
}

#[cfg(test)]
mod tests;
