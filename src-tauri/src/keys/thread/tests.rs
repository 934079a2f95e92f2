use std::{
    path::PathBuf,
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use keyring_core::{Entry, Error};

use super::*;
use crate::keys::{answered, keychain::Cause};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// A keychain that waits for the person, who says no.
struct Prompting {
    asked: Sender<()>,
    closed: std::sync::Mutex<Receiver<()>>,
}

impl Prompting {
    fn new() -> (Self, Sender<()>) {
        let (system, close, _) = Self::watched();
        (system, close)
    }

    /// The same, which tells when it begins to wait.
    fn watched() -> (Self, Sender<()>, Receiver<()>) {
        let ((close, closed), (asked, asks)) = (channel(), channel());
        (Self { asked, closed: closed.into() }, close, asks)
    }
}

impl System for Prompting {
    fn open(&self) -> keyring_core::Result<Entry> {
        // Most tests do not watch.
        let _ = self.asked.send(());
        let _ = self.closed.lock().unwrap().recv();
        Err(Error::NoStorageAccess("dismissed".into()))
    }

    fn reveal(&self) -> keyring_core::Result<bool> {
        Ok(false)
    }

    fn cause(&self, _: &Error) -> Option<Cause> {
        Some(Cause::Locked)
    }
}

fn item() -> Item {
    Item { secrets: vec![SECRET.into()], id: None, seal: None }
}

fn place(name: &str) -> (PathBuf, Place) {
    let path = std::env::temp_dir().join(format!("clientmcp-keys-{name}-{}", std::process::id()));
    drop(std::fs::remove_file(&path));
    (path.clone(), Place::File(path))
}

// holds: desktop-keys-wait
#[tokio::test]
async fn a_prompt_keeps_nobody_waiting_who_chose_a_file() {
    let (system, close) = Prompting::new();
    let keys = KeysThread::with(system);
    let mut later = keys.read(&Place::Keychain);
    let (path, file) = place("wait");
    assert_eq!(answered(keys.read(&file)).await, Ok(None));
    answered(keys.write(&file, item())).await.unwrap();
    assert_eq!(answered(keys.read(&file)).await, Ok(Some(item())));
    answered(keys.forget(&file)).await.unwrap();
    assert!(!path.exists());
    assert!(later.try_recv().is_err());
    close.send(()).unwrap();
    assert_eq!(answered(later).await.unwrap_err().code, KeysCode::Locked);
}

// holds: desktop-keys-wait
#[tokio::test]
async fn what_waits_for_the_keychain_is_bounded() {
    let (system, close, asks) = Prompting::watched();
    let keys = KeysThread::with(system);
    let first = keys.read(&Place::Keychain);
    // The thread has taken the first one out.
    asks.recv_timeout(Duration::from_secs(60)).expect("the keychain is asked");
    let waiting: Vec<_> = (0..WAITING).map(|_| keys.read(&Place::Keychain)).collect();
    assert_eq!(answered(keys.read(&Place::Keychain)).await, Err(busy()));
    drop(close);
    assert_eq!(answered(first).await.unwrap_err().code, KeysCode::Locked);
    for later in waiting {
        assert_eq!(answered(later).await.unwrap_err().code, KeysCode::Locked);
    }
}

// holds: desktop-secret-file
#[tokio::test]
async fn a_file_that_cannot_be_used_says_why() {
    let (path, file) = place("why");
    std::fs::write(&path, "hunter2").unwrap();
    let keys = KeysThread::with(Prompting::new().0);
    for refused in [answered(keys.read(&file)).await.map(drop), answered(keys.write(&file, item())).await] {
        let trouble = refused.unwrap_err();
        assert_eq!(trouble.code, KeysCode::File);
        assert!(trouble.sentence.ends_with('.') && !trouble.sentence.contains("hunter2"), "{trouble}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "hunter2");
    drop(std::fs::remove_file(path));
}

#[tokio::test]
async fn a_thread_that_ended_is_told() {
    let (answer, later) = oneshot::channel::<Result<(), Trouble>>();
    drop(answer);
    assert_eq!(answered(later).await, Err(gone()));
}
