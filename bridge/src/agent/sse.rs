//! Server-sent events: one JSON-RPC message an event, comments so that nobody takes silence for an end. A reader that is
//! slow waits alone: nothing is made before it is asked for.

use std::{io, pin::Pin, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::Severed;
use crate::pieces::Pieces;

/// What is to be sent: a message, or an end that must not look like one.
pub(super) type Message = Result<Pieces, Severed>;

struct Events<S> {
    messages: Pin<Box<S>>,
    comments: Interval,
    /// What is left of the message that is being sent.
    rest: Pieces,
}

/// A body of these messages. The first comment comes at `first`, the others after each `pause`.
pub(super) fn body<S>(messages: S, first: Instant, pause: Duration) -> Body
where
    S: Stream<Item = Message> + Send + 'static,
{
    let mut comments = interval_at(first, pause);
    comments.set_missed_tick_behavior(MissedTickBehavior::Delay);
    Body::from_stream(stream::unfold(
        Events { messages: Box::pin(messages), comments, rest: Pieces::default() },
        Events::next,
    ))
}

impl<S: Stream<Item = Message>> Events<S> {
    async fn next(mut self) -> Option<(io::Result<Bytes>, Self)> {
        if let Some(piece) = self.rest.next() {
            return Some((Ok(piece), self));
        }
        let chunk = tokio::select! {
            biased;
            message = self.messages.next() => match message? {
                Ok(message) => {
                    self.rest = event(message);
                    Ok(self.rest.next().unwrap_or_default())
                }
                Err(Severed) => Err(io::Error::other("the bridge shuts down")),
            },
            _ = self.comments.tick() => Ok(Bytes::from_static(b":\n\n")),
        };
        Some((chunk, self))
    }
}

/// A message holds no line end, so one line holds it.
pub(super) fn event(message: Pieces) -> Pieces {
    Pieces::from(Bytes::from_static(b"data: ")).and(message).and(Bytes::from_static(b"\n\n"))
}
