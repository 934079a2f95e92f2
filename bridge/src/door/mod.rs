//! The local door: a socket for programs of the same user, which need no token here (`docs/protocol.md`, "Local door").
//!
//! Opened only with a desktop, for the person says who comes in. Behind the first line a connection is MCP, by the same
//! codecs and on the same road as over HTTP. It decides nothing about a call.

mod guest;
mod words;

use std::{sync::Arc, time::Duration};

use clientmcp_protocol::{
    control::DoorHead,
    limits::{CLOSE_TIME, DOOR_CONNECTIONS},
};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{sleep, timeout},
};

use self::guest::Guest;
use crate::{
    hub::Hub,
    local::{self, Opened},
};

/// How long a door that cannot be opened, or an accept that failed, is left alone.
const PAUSE: Duration = Duration::from_secs(1);

/// What the door is opened with.
#[derive(Clone, Debug)]
pub struct Door {
    /// Where calls go.
    pub hub: Hub,
    /// The port that the bridge listens on.
    pub port: u16,
    /// Where agents call.
    pub mcp: String,
    /// Where applications connect.
    pub connect: String,
    /// Closed when the bridge no longer listens there.
    pub listening: watch::Receiver<()>,
}

impl Door {
    /// Serves until the bridge no longer listens; then lets what is under way come to its end.
    pub async fn serve(self) {
        let mut listening = self.listening.clone();
        let mut guests = JoinSet::new();
        tokio::select! {
            () = self.receive(&mut guests) => {}
            // Nothing is ever sent: it is closed.
            _ = listening.changed() => {}
        }
        let _ = timeout(CLOSE_TIME, async { while guests.join_next().await.is_some() {} }).await;
    }

    async fn receive(&self, guests: &mut JoinSet<()>) {
        let opened = self.open().await;
        let places = Arc::new(Semaphore::new(DOOR_CONNECTIONS));
        loop {
            match opened.accept().await {
                Ok((stream, pid)) => {
                    while guests.try_join_next().is_some() {}
                    let place = Arc::clone(&places).try_acquire_owned().ok();
                    // Who comes when it is full is told so, and even of those there may be only so many.
                    if place.is_some() || guests.len() < 2 * DOOR_CONNECTIONS {
                        let guest = Guest { door: self.clone(), program: local::program(pid), place };
                        guests.spawn(guest.serve(stream));
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection at the local door could not be accepted");
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Tries until it is open: another bridge of ours may be ending.
    async fn open(&self) -> Opened {
        loop {
            match local::open() {
                Ok(opened) => {
                    self.hub.door_stands(DoorHead { open: true, fault: None }).await;
                    return opened;
                }
                Err(fault) => {
                    self.hub.door_stands(DoorHead { open: false, fault: Some(fault.to_string()) }).await;
                    sleep(PAUSE).await;
                }
            }
        }
    }
}
