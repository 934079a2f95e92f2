//! A call's way back, and words that are sent when their holder is dropped: giving up is an event.

use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::command::{Answer, Command};
use crate::{call::ConnectionId, refusal::Refusal, text::Text};

/// A call that was taken in. Dropped before its answer came, it says so.
#[derive(Debug)]
pub struct Ticket {
    pub(super) flight: Flight,
    pub(super) _place: OwnedSemaphorePermit,
}

impl Ticket {
    /// Its number, by which the desktop finds it.
    pub fn number(&self) -> u64 {
        self.flight.number
    }

    /// How the call ends. Dropping the future is the agent's hang-up.
    pub async fn answer(self) -> Result<Text, Refusal> {
        self.flight.landed().await
    }
}

/// A call's way back.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(super) number: u64,
    pub(super) answer: oneshot::Receiver<Answer>,
    pub(super) leave: Leave,
}

impl Flight {
    /// Whether the call has ended already.
    #[cfg(test)]
    pub(super) fn is_over(&self) -> bool {
        !self.answer.is_empty()
    }

    pub(super) async fn landed(mut self) -> Answer {
        let answer = (&mut self.answer).await.unwrap_or(Err(Refusal::ShuttingDown));
        self.leave.forget();
        answer
    }
}

/// Giving up is an event: words that are sent when their holder is dropped, with their place in the queue reserved.
#[derive(Debug)]
pub(crate) struct Leave {
    pub(super) place: Option<mpsc::OwnedPermit<Command>>,
    pub(super) words: Option<Farewell>,
}

/// What there is to say on leaving.
#[derive(Clone, Copy, Debug)]
pub(super) enum Farewell {
    /// The socket is gone.
    Disconnect(ConnectionId),
    /// Nobody waits for the answer any more.
    GiveUp(u64),
    /// Nobody waits at the local door any more.
    Unknock(u64),
}

impl Leave {
    pub(super) async fn reserve(commands: &mpsc::Sender<Command>) -> Option<Self> {
        let place = commands.clone().reserve_owned().await.ok()?;
        Some(Self { place: Some(place), words: None })
    }

    pub(super) fn say(&mut self, words: Farewell) {
        self.words = Some(words);
    }

    pub(super) fn forget(&mut self) {
        self.words = None;
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        let (Some(place), Some(words)) = (self.place.take(), self.words) else { return };
        place.send(match words {
            Farewell::Disconnect(connection) => Command::Disconnect { connection, done: None },
            Farewell::GiveUp(number) => Command::GiveUp { number },
            Farewell::Unknock(number) => Command::Unknock { number },
        });
    }
}
