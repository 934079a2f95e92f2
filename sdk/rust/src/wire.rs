//! A WebSocket that writes what waits while it reads. One task owns it; nothing blocks on a slow peer.

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
};

use clientmcp_protocol::{client::PING, limits::CLOSE_TIME};
use futures_util::{Sink, Stream};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message, Utf8Bytes,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use crate::reconnect::Ending;

/// What arrived.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A message.
    Text(Utf8Bytes),
    /// A ping or pong of the WebSocket itself: a sign of life.
    Control,
    /// The end: closed, broken, or a frame that the protocol does not have.
    End(Ending),
}

/// One WebSocket and what is to be written to it.
pub(crate) struct Wire<S> {
    socket: WebSocketStream<S>,
    /// Bounded by the calls in flight, of which a bridge has few: each leaves a ping and a result here.
    waiting: VecDeque<Message>,
    /// Writing has failed. The close frame that says why may still be there to read.
    broken: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub(crate) fn new(socket: WebSocketStream<S>) -> Self {
        Self { socket, waiting: VecDeque::new(), broken: false }
    }

    /// Writes a message as soon as that can be done.
    pub(crate) fn push(&mut self, text: String) {
        self.waiting.push_back(Message::text(text));
    }

    /// Writes a ping before everything else that waits: it asks whether the other side lives, not whether it is fast.
    pub(crate) fn ping(&mut self) {
        self.waiting.push_front(Message::text(PING));
    }

    /// The next frame; what waits is written meanwhile. Safe to drop and ask again.
    pub(crate) async fn next(&mut self) -> Frame {
        poll_fn(|cx| {
            if !self.broken {
                self.broken = matches!(self.poll_write(cx), Poll::Ready(Err(_)));
            }
            Pin::new(&mut self.socket).poll_next(cx).map(frame)
        })
        .await
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let mut socket = Pin::new(&mut self.socket);
        while !self.waiting.is_empty() {
            ready!(socket.as_mut().poll_ready(cx))?;
            if let Some(message) = self.waiting.pop_front() {
                socket.as_mut().start_send(message)?;
            }
        }
        socket.poll_flush(cx)
    }

    /// Ends the connection with 1000 after what waits, and gives the peer a moment to answer.
    pub(crate) async fn close(mut self) {
        self.waiting.push_back(Message::Close(Some(CloseFrame { code: CloseCode::Normal, reason: "".into() })));
        let ended = async { while !matches!(self.next().await, Frame::End(_)) {} };
        // Whether it came or not, the socket is dropped now.
        let _ = timeout(CLOSE_TIME, ended).await;
    }

    /// Lets the answer to the bridge's close frame go out.
    pub(crate) async fn answer_close(mut self) {
        let flushed = poll_fn(|cx| Pin::new(&mut self.socket).poll_flush(cx));
        let _ = timeout(CLOSE_TIME, flushed).await;
    }
}

fn frame(received: Option<Result<Message, Error>>) -> Frame {
    match received {
        Some(Ok(Message::Text(text))) => Frame::Text(text),
        Some(Ok(Message::Ping(_) | Message::Pong(_))) => Frame::Control,
        Some(Ok(Message::Close(Some(close)))) => {
            let (code, reason) = (close.code.into(), close.reason.as_str().to_owned());
            Frame::End(Ending::Closed { code, reason })
        }
        // It is answered as one with a code is.
        Some(Ok(Message::Close(None))) => {
            Frame::End(Ending::Closed { code: CloseCode::Status.into(), reason: String::new() })
        }
        Some(Ok(Message::Binary(_) | Message::Frame(_)) | Err(_)) | None => Frame::End(Ending::Lost),
    }
}
