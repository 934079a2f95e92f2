//! What waits to be written to one application: bounded in bytes, and a close that overtakes it all.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use clientmcp_protocol::limits::UNSENT_BYTES;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::{Close, Pulse};

/// A text message for the application.
pub type Frame = String;

/// The hub's end.
#[derive(Debug)]
pub struct Outbox {
    // Unbounded in messages, bounded in bytes by `push`.
    frames: mpsc::UnboundedSender<Frame>,
    unsent: Unsent,
    closing: Option<oneshot::Sender<Close>>,
    pulse: Pulse,
}

/// The socket's end.
#[derive(Debug)]
pub struct Inbox {
    /// What is to be written, in order.
    pub frames: mpsc::UnboundedReceiver<Frame>,
    /// To be told what was written.
    pub unsent: Unsent,
    /// Ahead of all frames.
    pub closing: Closing,
    /// To be told what was heard.
    pub pulse: Pulse,
}

/// Resolves when the hub ends the connection.
pub type Closing = oneshot::Receiver<Close>;

/// How many bytes were pushed and not written yet.
#[derive(Clone, Debug, Default)]
pub struct Unsent(Arc<AtomicUsize>);

impl Unsent {
    /// The socket has taken a message of this length.
    pub fn written(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A fresh outbox and the socket's end of it. Silence counts from now on.
pub fn outbox(now: Instant) -> (Outbox, Inbox) {
    let (frames, queue) = mpsc::unbounded_channel();
    let (closing, closed) = oneshot::channel();
    let (unsent, pulse) = (Unsent::default(), Pulse::new(now));
    let inbox = Inbox { frames: queue, unsent: unsent.clone(), closing: closed, pulse: pulse.clone() };
    (Outbox { frames, unsent, closing: Some(closing), pulse }, inbox)
}

/// The application does not take what is sent to it.
#[derive(Debug)]
pub(super) struct Full;

impl Outbox {
    pub(super) fn pulse(&self) -> &Pulse {
        &self.pulse
    }

    /// Queues a message, unless the application has left too much unread.
    pub(super) fn push(&self, frame: Frame) -> Result<(), Full> {
        if self.unsent.bytes().saturating_add(frame.len()) > UNSENT_BYTES {
            return Err(Full);
        }
        self.unsent.0.fetch_add(frame.len(), Ordering::Relaxed);
        // A closed queue means the socket has ended; the hub hears of that by itself.
        let _ = self.frames.send(frame);
        Ok(())
    }

    /// Ends the connection ahead of everything that is queued.
    pub(super) fn close(&mut self, close: Close) {
        if let Some(closing) = self.closing.take() {
            let _ = closing.send(close);
        }
    }
}
