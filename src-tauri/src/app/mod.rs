//! The app without its desktop: one task that owns all state, is told what happens, and says what is to follow
//! (`docs/desktop.md`).
//!
//! It opens no window and draws no menu: that is behind [`Shell`]. It blocks on nothing that a person could notice: the
//! keychain is behind [`Keys`], files are written on another thread.

mod asking;
mod asks;
mod book;
mod bridged;
mod deeds;
mod diagnostics;
mod engine;
mod finished;
mod known;
mod lock;
mod notices;
mod opening;
mod preferences;
mod questions;
mod secrets;
mod showing;
mod state;
#[cfg(test)]
mod tests;
mod tokens;
mod until;
mod vault;
mod words;

use std::{
    io,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

use tokio::{
    runtime::Handle as Runtime,
    sync::mpsc,
    time::{Instant, sleep},
};

use self::state::{App, LEAVE_TIME};
use crate::{
    connect::Program,
    keys::Keys,
    shell::{Deed, Shell},
    sidecar::Spawn,
};

/// The exit code after a fault of the app itself: a tray that does nothing would look as if all were well.
const FAULT: i32 = 1;

/// What the app is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The settings file.
    pub settings_path: PathBuf,
    /// The port to serve on, whatever the settings say; 0 takes a free one.
    pub port_override: Option<u16>,
    /// The bridge's program, as hosts are told to start it.
    pub program: Option<Program>,
    /// The app's own version.
    pub version: String,
    /// Whether a question can have a small window that never takes the keyboard.
    pub question_windows: bool,
}

/// The app, from outside. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Handle {
    deeds: mpsc::UnboundedSender<Deed>,
    ended: Arc<Ended>,
}

#[derive(Debug, Default)]
struct Ended {
    over: Mutex<bool>,
    told: Condvar,
}

impl Handle {
    /// Tells what a person or the system did. Never blocks, and after the end does nothing.
    ///
    /// The queue has no bound: it is filled by people and by our own windows, and no deed may be lost, least of all one
    /// that says that a window is covered.
    pub fn tell(&self, deed: Deed) {
        drop(self.deeds.send(deed));
    }

    /// Waits until the app has ended. False when that took longer.
    pub fn wait(&self, at_most: Duration) -> bool {
        let over = self.ended.over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.ended.told.wait_timeout_while(over, at_most, |over| !*over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Ended {
    fn tell(&self) {
        *self.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.told.notify_all();
    }
}

/// Starts the app on a thread of its own.
pub fn start(shell: impl Shell, keys: impl Keys, bridges: impl Spawn, options: Options) -> io::Result<Handle> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (deeds, heard) = mpsc::unbounded_channel();
    let handle = Handle { deeds, ended: Arc::default() };
    let ended = Arc::clone(&handle.ended);
    thread::Builder::new().name("app".to_owned()).spawn(move || {
        let shell: Arc<dyn Shell> = Arc::new(shell);
        let app = App::new(Arc::clone(&shell), Box::new(keys), Box::new(bridges), options);
        let lived = panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(app.live(heard))));
        if lived.is_err() {
            tracing::error!("the app cannot go on after this fault of its own, and ends");
            runtime.block_on(last_tasks());
        }
        // A bridge that is still there, against all agreements, is killed with the runtime.
        drop(runtime);
        ended.tell();
        shell.exit(lived.map_or(FAULT, |()| 0));
    })?;
    Ok(handle)
}

/// Waits until what the app began has ended without it: above all its bridge, whose stdin was closed with it.
async fn last_tasks() {
    let at_last = Instant::now() + LEAVE_TIME;
    while Runtime::current().metrics().num_alive_tasks() > 0 && Instant::now() < at_last {
        sleep(Duration::from_millis(20)).await;
    }
}
