//! The threads that may block: one for the keychain, which waits for the person while it is locked, and one for files, so
//! that a person who is asked to unlock the keychain can choose a file instead.

use std::sync::mpsc::{self, SyncSender, TrySendError};

use tokio::sync::oneshot;

use super::{
    Item, Keys, Later, Place, Trouble, file,
    keychain::{Keychain, System, ThisSystem},
};
use crate::wire::KeysCode;

/// Requests that wait for one thread, at most: the app asks one after the other, so more mean that it hangs.
const WAITING: usize = 16;

/// The places of this system.
#[derive(Debug)]
pub struct KeysThread {
    keychain: Worker<Keychain>,
    files: Worker<()>,
}

impl KeysThread {
    /// Starts the threads. The keychain is opened when it is first asked for something.
    pub fn start() -> Self {
        Self::with(ThisSystem)
    }

    fn with(system: impl System) -> Self {
        Self { keychain: Worker::start("keychain", Keychain::new(system)), files: Worker::start("secret file", ()) }
    }
}

impl Keys for KeysThread {
    fn read(&self, place: &Place) -> Later<Option<Item>> {
        match place.clone() {
            Place::Keychain => self.keychain.ask(Keychain::read),
            Place::File(path) => self.files.ask(move |()| file::read(&path)),
        }
    }

    fn write(&self, place: &Place, item: Item) -> Later<()> {
        match place.clone() {
            Place::Keychain => self.keychain.ask(|keychain| keychain.write(item)),
            Place::File(path) => self.files.ask(move |()| file::write(&path, &item)),
        }
    }

    fn forget(&self, place: &Place) -> Later<()> {
        match place.clone() {
            Place::Keychain => self.keychain.ask(Keychain::forget),
            Place::File(path) => self.files.ask(move |()| file::forget(&path)),
        }
    }
}

/// A thread and what only it touches.
#[derive(Debug)]
struct Worker<S> {
    requests: SyncSender<Request<S>>,
}

type Request<S> = Box<dyn FnOnce(&mut S) + Send>;

impl<S: Send + 'static> Worker<S> {
    fn start(name: &str, mut state: S) -> Self {
        let (requests, queue) = mpsc::sync_channel::<Request<S>>(WAITING);
        let work = move || queue.into_iter().for_each(|request| request(&mut state));
        if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(work) {
            tracing::error!("no thread for the {name}: {error}");
        }
        Self { requests }
    }

    fn ask<T: Send + 'static>(&self, request: impl FnOnce(&mut S) -> Result<T, Trouble> + Send + 'static) -> Later<T> {
        let (answer, later) = oneshot::channel();
        // Whoever asked may have gone: what was to be written is written all the same.
        let request: Request<S> = Box::new(move |state| drop(answer.send(request(state))));
        match self.requests.try_send(request) {
            Ok(()) => later,
            Err(TrySendError::Full(_)) => at_once(busy()),
            Err(TrySendError::Disconnected(_)) => at_once(gone()),
        }
    }
}

fn at_once<T>(trouble: Trouble) -> Later<T> {
    let (answer, later) = oneshot::channel();
    drop(answer.send(Err(trouble)));
    later
}

fn busy() -> Trouble {
    let sentence = "The keychain has not answered for some time, so nothing more is asked of it. Answer its prompt, \
                    which another window may hide, and try again.";
    Trouble { code: KeysCode::Failed, sentence: sentence.into() }
}

/// The thread has ended, by a fault of ours.
pub(super) fn gone() -> Trouble {
    let sentence = "The part of this app that uses the keychain has ended by a fault of its own, so secrets can be \
                    neither read nor kept. Quit the app and start it again.";
    Trouble { code: KeysCode::Failed, sentence: sentence.into() }
}

#[cfg(test)]
mod tests;
