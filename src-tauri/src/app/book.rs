//! What is remembered, and when it is written down. Without clock or file: it says what to save, and is told what came of it.

use std::{sync::Arc, time::Duration};

use clientmcp_protocol::control::Memory;
use clientmcp_settings::{Remembered, SealKey, Settings, SettingsFile, SettingsId};
use tokio::time::Instant;

use super::known::KnownOnes;

/// The longest time that a last use is not written down.
const LAST_USES: Duration = Duration::from_secs(60);

/// All that is remembered.
#[derive(Debug)]
pub(super) struct Book {
    remembered: Remembered,
    /// Nothing is written without it.
    file: Option<Arc<SettingsFile>>,
    /// What it is sealed with. Nothing is written without it.
    key: Option<SealKey>,
    /// What the bridge told last, with what ends when the app quits.
    memory: Memory,
    /// Applications and labels.
    pub(super) known: KnownOnes,
    /// What is remembered is not what was written last.
    changed: bool,
    /// Last uses are not, and may wait until then.
    used: Option<Instant>,
    saving: bool,
    /// Nothing is written any more.
    closed: bool,
}

/// A file, what is to be in it, and what it is sealed with.
pub(super) type ToSave = (Arc<SettingsFile>, Remembered, SealKey);

impl Book {
    /// What was in the file, or the strictest state.
    pub(super) fn new(remembered: Remembered, file: Option<SettingsFile>) -> Self {
        let known = KnownOnes::new(remembered.applications(), remembered.labels());
        let memory = remembered.memory();
        let file = file.map(Arc::new);
        Self { remembered, file, key: None, memory, known, changed: false, used: None, saving: false, closed: false }
    }

    /// Seals what is written from now on with this.
    pub(super) fn seal_with(&mut self, key: Option<SealKey>) {
        self.key = key;
    }

    /// What is in the file is to have another seal.
    pub(super) fn reseal(&mut self) {
        self.changed = true;
    }

    /// Writes what was read once more, before anything else does. Whether that went well.
    pub(super) fn save_at_once(&self) -> bool {
        let Some((file, key)) = self.file.as_ref().zip(self.key.as_ref()) else { return false };
        let saved = file.save(&self.remembered, key);
        if let Err(error) = &saved {
            tracing::warn!("the settings have no seal yet: {error}");
        }
        saved.is_ok()
    }

    /// Which settings these are.
    pub(super) fn id(&self) -> &SettingsId {
        &self.remembered.id
    }

    /// Where they are written, if they are.
    pub(super) fn file(&self) -> Option<&SettingsFile> {
        self.file.as_deref()
    }

    /// What the person set.
    pub(super) fn settings(&self) -> &Settings {
        &self.remembered.settings
    }

    /// Changes what the person set.
    pub(super) fn set(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.remembered.settings);
        self.changed = true;
    }

    /// What the next bridge is handed: also what ends when the app quits.
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// What the bridge wants written down.
    pub(super) fn remember(&mut self, memory: Memory) {
        self.remembered.set_memory(memory.clone());
        self.memory = memory;
        self.changed = true;
    }

    /// Applications or labels changed.
    pub(super) fn known_changed(&mut self) {
        self.changed = true;
    }

    /// A last use changed, which may wait for a while.
    pub(super) fn used(&mut self, now: Instant) {
        self.used.get_or_insert(now + LAST_USES);
    }

    /// All that waits is to be written now: the app quits.
    pub(super) fn hurry(&mut self) {
        self.changed |= self.used.is_some();
    }

    /// Nothing is written from now on. What is being written is still waited for.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Whether something is being written.
    pub(super) fn is_saving(&self) -> bool {
        self.saving
    }

    /// When there will be something to write by itself.
    pub(super) fn due(&self) -> Option<Instant> {
        self.used.filter(|_| self.file.is_some() && self.key.is_some() && !self.saving && !self.closed)
    }

    /// What to write, if anything. One is written after the other, and the newest state counts.
    pub(super) fn take_unsaved(&mut self, now: Instant) -> Option<ToSave> {
        let wanted = self.changed || self.used.is_some_and(|at| at <= now);
        let (file, key) = self.file.clone().zip(self.key.clone()).filter(|_| wanted && !self.saving && !self.closed)?;
        self.remembered.set_applications(self.known.applications());
        self.remembered.set_labels(self.known.labels());
        (self.changed, self.used, self.saving) = (false, None, true);
        Some((file, self.remembered.clone(), key))
    }

    /// It was written, or not. What was not is written with the next change.
    pub(super) fn saved(&mut self) {
        self.saving = false;
    }

    /// Whether all is written that can be.
    pub(super) fn is_written(&self) -> bool {
        self.file.is_none()
            || self.key.is_none()
            || self.closed && !self.saving
            || !(self.changed || self.saving || self.used.is_some())
    }
}

#[cfg(test)]
mod tests {
    use clientmcp_protocol::{
        control::{Millis, Mode, ModeOf, Until},
        ids::{ClientId, Role},
    };
    use clientmcp_settings::Sealed;

    use super::*;

    fn book(folder: &std::path::Path) -> Book {
        let (path, fresh) = (folder.join("settings.json"), SettingsId::random().unwrap());
        let opened = clientmcp_settings::open(&path, None, Sealed::With(&[]), fresh);
        let mut book = Book::new(opened.remembered, Some(opened.file));
        book.seal_with(SealKey::of(&"x".repeat(32)).ok());
        book
    }

    // holds: desktop-remembered
    #[tokio::test(start_paused = true)]
    async fn one_save_at_a_time_and_the_newest_state_is_the_last() {
        let mut book = book(std::path::Path::new("/nonexistent"));
        let now = Instant::now();
        assert!(book.take_unsaved(now).is_none() && book.is_written());
        book.set(|settings| settings.port = 1);
        let first = book.take_unsaved(now).expect("changed");
        book.set(|settings| settings.port = 2);
        book.set(|settings| settings.port = 3);
        assert!(book.take_unsaved(now).is_none(), "one is being written");
        book.saved();
        let second = book.take_unsaved(now).expect("changed meanwhile");
        assert_eq!((first.1.settings.port, second.1.settings.port), (1, 3));
        book.saved();
        assert!(book.take_unsaved(now).is_none() && book.is_written());
    }

    // holds: desktop-last-use
    #[tokio::test(start_paused = true)]
    async fn last_uses_are_written_once_a_minute_and_at_quit() {
        let mut book = book(std::path::Path::new("/nonexistent"));
        let (now, a) = (Instant::now(), ClientId::new("a").unwrap());
        book.known.minted(&a, Role::Agent, None, None);
        assert!(book.known.called(&a, None, Millis(5)) && !book.known.called(&a, None, Millis(5)));
        book.used(now);
        book.used(now + Duration::from_secs(30));
        assert!(book.take_unsaved(now + Duration::from_secs(59)).is_none());
        assert_eq!(book.due(), Some(now + LAST_USES));
        let (_, saved, _) = book.take_unsaved(now + LAST_USES).expect("a minute later");
        assert_eq!(saved.labels()[0].last_use, Some(Millis(5)));
        book.saved();
        book.used(now + LAST_USES);
        book.hurry();
        assert!(book.take_unsaved(now + LAST_USES).is_some());
    }

    // holds: desktop-until-quit
    #[test]
    fn what_ends_at_quit_is_handed_over_again_and_never_written() {
        let mut book = book(std::path::Path::new("/nonexistent"));
        let application = ClientId::new("a").unwrap();
        let modes = vec![ModeOf { application, mode: Mode::AllowAll, until: Until::Quit, ends: Some(Millis(9)) }];
        book.remember(Memory { modes: modes.clone(), ..Memory::default() });
        assert_eq!(book.memory().modes, modes);
        let (_, saved, _) = book.take_unsaved(Instant::now()).expect("changed");
        assert_eq!(saved.memory().modes, []);
    }
}
