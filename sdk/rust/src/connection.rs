//! One connection, from the open WebSocket to its end: `register`, calls, pings. It never reconnects.

use std::sync::Arc;

use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
    time::{Instant, sleep_until},
};
use tokio_tungstenite::WebSocketStream;
use tracing::{debug, warn};

use crate::{
    answer::Answer,
    calls::Calls,
    declaration::{Declaration, Wanted},
    handle::{Orders, Reports},
    messages::{self, Breach, Message},
    pings::{Due, Pings},
    reconnect::Ending,
    wire::{Frame, Wire},
};

/// How a connection went.
#[derive(Debug)]
pub(crate) struct Served {
    /// The bridge accepted a declaration on it.
    pub(crate) accepted: bool,
    pub(crate) ending: Ending,
}

/// Serves an open WebSocket until it ends.
pub(crate) async fn serve<S>(socket: WebSocketStream<S>, orders: &mut Orders) -> Served
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut connection = Connection {
        wire: Wire::new(socket),
        wanted: &mut orders.wanted,
        reports: &orders.reports,
        in_flight: None,
        in_force: None,
        calls: Calls::default(),
        pings: Pings::new(Instant::now()),
    };
    let ending = connection.run().await;
    let Connection { wire, in_force, calls, .. } = connection;
    drop(calls);
    match ending {
        Ending::Left => wire.close().await,
        Ending::Closed { .. } => wire.answer_close().await,
        Ending::Lost | Ending::Refused(_) => {}
    }
    Served { accepted: in_force.is_some(), ending }
}

struct Connection<'a, S> {
    wire: Wire<S>,
    wanted: &'a mut watch::Receiver<Wanted>,
    reports: &'a Reports,
    /// Sent, and not accepted yet: one at a time.
    in_flight: Option<Arc<Declaration>>,
    /// Accepted by the bridge: calls are for its tools, since the bridge answers a `register` in order.
    in_force: Option<Arc<Declaration>>,
    calls: Calls,
    pings: Pings,
}

/// What happened.
enum Event {
    Frame(Frame),
    Answered(String, Answer),
    Wanted,
    Deadline,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<'_, S> {
    async fn run(&mut self) -> Ending {
        loop {
            if self.left() {
                return Ending::Left;
            }
            self.register();
            let ended = match self.event().await {
                Event::Frame(frame) => self.frame(frame),
                Event::Answered(id, answer) => {
                    self.send(messages::result(&id, &answer));
                    None
                }
                Event::Wanted => None,
                Event::Deadline => self.deadline(),
            };
            if let Some(ending) = ended {
                return ending;
            }
        }
    }

    /// In this order: what has arrived is heard before a deadline passes judgement, however late this task runs.
    async fn event(&mut self) -> Event {
        tokio::select! {
            biased;
            frame = self.wire.next() => Event::Frame(frame),
            Some((id, answer)) = self.calls.next() => Event::Answered(id, answer),
            _ = self.wanted.changed() => Event::Wanted,
            () = sleep_until(self.pings.deadline()) => Event::Deadline,
        }
    }

    /// True when the application closed, or dropped its handle.
    fn left(&self) -> bool {
        self.wanted.has_changed().is_err() || self.wanted.borrow().closing
    }

    /// Sends the newest declaration, unless the bridge has it or one is still in flight.
    fn register(&mut self) {
        let newest = Arc::clone(&self.wanted.borrow_and_update().declaration);
        let known = self.in_force.as_ref().is_some_and(|known| known.revision == newest.revision);
        if self.in_flight.is_some() || known {
            return;
        }
        self.send(messages::register(&newest.definitions, newest.instructions.as_deref()));
        self.in_flight = Some(newest);
    }

    fn frame(&mut self, frame: Frame) -> Option<Ending> {
        self.pings.heard(Instant::now());
        match frame {
            Frame::Text(text) => self.message(&text).err().map(|Breach| {
                warn!("the bridge sent a message that breaks the protocol");
                Ending::Lost
            }),
            Frame::Control => None,
            Frame::End(ending) => Some(ending),
        }
    }

    fn message(&mut self, text: &str) -> Result<(), Breach> {
        match messages::read(text)? {
            Message::Registered => self.registered(),
            Message::Call { id, name, arguments } => {
                // At once, so that the bridge can tell a frozen application from a slow tool.
                self.ping();
                if self.calls.contains(&id) {
                    return Err(Breach);
                }
                match self.in_force.as_ref().and_then(|tools| tools.handler(&name)) {
                    Some(handler) => self.calls.start(id, name, arguments, handler),
                    None => self.send(messages::result(&id, &Answer::error("there is no such tool"))),
                }
                Ok(())
            }
            Message::Cancel { id } => {
                self.calls.cancel(&id);
                Ok(())
            }
            Message::Pong | Message::Unknown => Ok(()),
        }
    }

    fn send(&mut self, text: String) {
        self.wire.push(text);
        self.pings.sent(Instant::now());
    }

    fn registered(&mut self) -> Result<(), Breach> {
        let accepted = self.in_flight.take().ok_or(Breach)?;
        debug!(tools = accepted.definitions.len(), "the bridge accepted the declaration");
        self.reports.accepted(accepted.revision);
        self.in_force = Some(accepted);
        Ok(())
    }

    fn ping(&mut self) {
        self.wire.ping();
        self.pings.asked(Instant::now());
    }

    fn deadline(&mut self) -> Option<Ending> {
        match self.pings.due(Instant::now()) {
            Due::Nothing => None,
            Due::Ping => {
                self.wire.ping();
                None
            }
            Due::Dead => {
                warn!("the bridge does not answer");
                Some(Ending::Lost)
            }
        }
    }
}

#[cfg(test)]
mod tests;
