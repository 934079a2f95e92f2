//! One application's WebSocket: one task that reads, writes and closes.
//!
//! A connection that is to be closed has ended first: its calls are answered and its tools are gone before the close
//! frame is written.

use std::sync::Arc;

use clientmcp_protocol::{
    client::PONG,
    codes::CloseCode,
    limits::{CLOSE_DRAIN_BYTES, CLOSE_REASON_BYTES, CLOSE_TIME, MESSAGE_BYTES, SILENCE},
};
use futures_util::{
    SinkExt as _, StreamExt as _,
    stream::{SplitSink, SplitStream},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite},
    sync::{mpsc, watch},
    task::{consume_budget, yield_now},
    time::{Instant, sleep_until, timeout},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message as Frame, Utf8Bytes,
        error::ProtocolError,
        protocol::{CloseFrame, Role, WebSocketConfig},
    },
};

use super::{
    message::{self, Message},
    rate::Rate,
};
use crate::{
    hub::{self, Arrival, Connection, Hub, Inbox, Pulse, Rejected, Unsent, View},
    token::Claims,
};

/// Pongs that wait to be written. An application that leaves them unread is not read either.
const PONGS: usize = 256;

/// Bytes of a message whose reading takes so long that others should come in between.
const LARGE: usize = 64 * 1024;

/// A WebSocket whose handshake is done.
pub(super) struct Socket<S> {
    stream: WebSocketStream<S>,
}

/// How a connection came to its end.
enum End {
    /// We close it; the parser can go on reading what the application still sends.
    Close(CloseCode, String),
    /// We close it, and nothing it sends can be read any more.
    Unreadable(CloseCode, &'static str),
    /// The application closed it.
    Closed,
    /// The network did.
    Lost,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Socket<S> {
    pub(super) async fn new(io: S) -> Self {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_BYTES))
            .max_frame_size(Some(MESSAGE_BYTES))
            // One message and some pongs: those of an application that does not read are not kept beyond this.
            .max_write_buffer_size(2 * MESSAGE_BYTES);
        Self { stream: WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await }
    }

    /// Holds the application's place until the connection ends.
    pub(super) async fn serve(self, hub: &Hub, claims: Arc<Claims>, origin: Option<String>) {
        let application = claims.subject.clone();
        let (outbox, Inbox { frames, unsent, closing, pulse }) = hub::outbox(Instant::now());
        let connection = match hub.connect(Arrival { claims, origin, outbox }).await {
            Ok(connection) => connection,
            Err(Rejected::TooMany) => {
                return self.close(CloseCode::ProtocolError, "too many applications are connected").await;
            }
            Err(Rejected::Revoked) => {
                return self.close(CloseCode::Unauthorized, "the token was revoked").await;
            }
            Err(Rejected::Origin) => {
                tracing::info!(%application, "refused: it comes from another origin than before");
                return self.close(CloseCode::Unauthorized, "this application may not connect from this origin").await;
            }
            Err(Rejected::ShuttingDown) => return self.close(CloseCode::GoingAway, "the bridge shuts down").await,
        };
        tracing::info!(%application, "connected");
        let (mut sink, mut stream) = self.stream.split();
        let (pongs, pong_queue) = mpsc::channel(PONGS);
        let view = hub.watch();
        let end = tokio::select! {
            biased;
            close = closing => match close {
                Ok(close) => End::Close(close.code, close.reason.to_owned()),
                Err(_) => End::Close(CloseCode::GoingAway, "the bridge shuts down".to_owned()),
            },
            end = read(&mut stream, &connection, &pongs, &pulse, &view) => end,
            end = write(&mut sink, frames, pong_queue, &unsent) => end,
        };
        connection.end().await;
        tracing::info!(%application, end = %end, "disconnected");
        let Ok(stream) = sink.reunite(stream) else { return };
        Self { stream }.finish(end).await;
    }

    async fn finish(mut self, end: End) {
        match end {
            End::Close(code, reason) => self.close(code, &reason).await,
            End::Unreadable(code, reason) => self.close_unreadable(code, reason).await,
            // The answer to its close frame is queued already (RFC 6455, section 5.5.1).
            End::Closed => {
                let _ = timeout(CLOSE_TIME, self.stream.flush()).await;
            }
            End::Lost => {}
        }
    }

    /// Says why and waits for the application to agree, reading and dropping what it still sends.
    pub(super) async fn close(mut self, code: CloseCode, reason: &str) {
        let closing = async {
            self.stream.send(Frame::Close(Some(close_frame(code, reason)))).await?;
            let mut left = CLOSE_DRAIN_BYTES;
            while let Some(frame) = self.stream.next().await {
                left = left.saturating_sub(frame?.len());
                if left == 0 {
                    break;
                }
            }
            Ok::<_, Error>(())
        };
        let _ = timeout(CLOSE_TIME, closing).await;
    }

    /// The same where frames can no longer be told apart: bytes are dropped, so that the code arrives and not a reset.
    async fn close_unreadable(mut self, code: CloseCode, reason: &str) {
        let closing = async {
            self.stream.send(Frame::Close(Some(close_frame(code, reason)))).await?;
            let mut rest = self.stream.get_mut().take(CLOSE_DRAIN_BYTES as u64);
            tokio::io::copy(&mut rest, &mut tokio::io::sink()).await?;
            Ok::<_, Error>(())
        };
        let _ = timeout(CLOSE_TIME, closing).await;
    }
}

/// Takes messages until one of them, or their absence, ends the connection.
async fn read<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut SplitStream<WebSocketStream<S>>,
    connection: &Connection,
    pongs: &mpsc::Sender<()>,
    pulse: &Pulse,
    view: &watch::Receiver<View>,
) -> End {
    let mut rate = Rate::new(Instant::now());
    loop {
        let wakes = view.borrow().wakes();
        let frame = match timeout(SILENCE, stream.next()).await {
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(error))) => return broken(&error),
            Ok(None) => return End::Lost,
            // The machine slept meanwhile: nobody could be heard.
            Err(_) if view.borrow().wakes() != wakes => continue,
            Err(_) => return End::Close(CloseCode::GoingAway, "nothing was heard for 90 seconds".to_owned()),
        };
        // Many frames can stand in one read: others are served between them, too.
        consume_budget().await;
        if frame.len() > LARGE {
            yield_now().await;
        }
        let text = match frame {
            Frame::Text(text) => text,
            Frame::Binary(_) => return End::Close(CloseCode::ProtocolError, "a binary frame".to_owned()),
            Frame::Close(_) => return End::Closed,
            Frame::Ping(_) | Frame::Pong(_) | Frame::Frame(_) => {
                pulse.restart(Instant::now());
                continue;
            }
        };
        let message = message::read(&text);
        pulse.heard(Instant::now(), matches!(message, Ok(Message::Ping)));
        match message {
            Ok(Message::Register(declaration)) => {
                sleep_until(rate.take(Instant::now())).await;
                connection.register(declaration).await;
            }
            Ok(Message::Result { number: Some(number), result }) => connection.result(number, result).await,
            Ok(Message::Ping) => drop(pongs.send(()).await),
            Ok(Message::Result { number: None, .. } | Message::Unknown) => {}
            Err(fault) => return End::Close(CloseCode::ProtocolError, fault.to_string()),
        }
    }
}

fn broken(error: &Error) -> End {
    if matches!(error, Error::Capacity(_)) {
        return End::Unreadable(CloseCode::ProtocolError, "a message is longer than 4194304 bytes");
    }
    if matches!(error, Error::Protocol(fault) if *fault != ProtocolError::ResetWithoutClosingHandshake) {
        return End::Unreadable(CloseCode::ProtocolError, "a frame breaks RFC 6455");
    }
    if matches!(error, Error::Utf8(_)) {
        return End::Unreadable(CloseCode::InvalidUtf8, "text that is not UTF-8");
    }
    End::Lost
}

/// Writes what the hub queues, and pongs; returns when the connection is lost.
async fn write<S: AsyncRead + AsyncWrite + Unpin>(
    sink: &mut SplitSink<WebSocketStream<S>, Frame>,
    mut frames: mpsc::UnboundedReceiver<hub::Frame>,
    mut pongs: mpsc::Receiver<()>,
    unsent: &Unsent,
) -> End {
    loop {
        let (frame, bytes) = tokio::select! {
            biased;
            Some(()) = pongs.recv() => (Frame::Text(Utf8Bytes::from_static(PONG)), 0),
            Some(frame) = frames.recv() => {
                let bytes = frame.len();
                (Frame::Text(frame.into()), bytes)
            }
            // The hub has let go: its close is on the way, and decides.
            else => return std::future::pending().await,
        };
        if sink.feed(frame).await.is_err() {
            return End::Lost;
        }
        unsent.written(bytes);
        if frames.is_empty() && pongs.is_empty() && sink.flush().await.is_err() {
            return End::Lost;
        }
    }
}

fn close_frame(code: CloseCode, reason: &str) -> CloseFrame {
    let mut end = reason.len().min(CLOSE_REASON_BYTES);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    CloseFrame { code: code.number().into(), reason: reason.get(..end).unwrap_or_default().into() }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Close(code, reason) => write!(f, "{}: {reason}", code.number()),
            Self::Unreadable(code, reason) => write!(f, "{}: {reason}", code.number()),
            Self::Closed => f.write_str("closed by the application"),
            Self::Lost => f.write_str("connection lost"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clientmcp_protocol::{
        control::{Memory, Settings},
        ids::{ClientId, Role as TokenRole},
    };
    use tokio::io::DuplexStream;

    use super::*;
    use crate::{
        approvals::Asking,
        hub::{Beginning, NATIVE},
        token::{Access, Grant, Secret, mint},
    };

    fn claims(access: &Access) -> Arc<Claims> {
        let subject = ClientId::new("a").expect("a client ID");
        let grant = Grant { subject, role: TokenRole::Client, label: None, generation: 0, ttl: None };
        let token = mint(access.secrets(), &grant, std::time::SystemTime::now()).expect("minted");
        Arc::new(access.admit(&token, TokenRole::Client).expect("it is ours"))
    }

    /// A connected application over an in-memory stream.
    async fn connected() -> (Hub, WebSocketStream<DuplexStream>) {
        let access = Access::new(Secret::new(&"s".repeat(32)).expect("32 bytes").into());
        let claims = claims(&access);
        let hub = Hub::start(Beginning {
            asking: Asking::Off,
            room: 1,
            settings: Settings::default(),
            access,
            memory: Memory::default(),
            paused: false,
        });
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let served = hub.clone();
        tokio::spawn(async move {
            let socket = Socket::new(ours).await;
            socket.serve(&served, claims, Some(NATIVE.to_owned())).await;
        });
        (hub, WebSocketStream::from_raw_socket(theirs, Role::Client, None).await)
    }

    async fn close_code(stream: &mut WebSocketStream<DuplexStream>) -> u16 {
        loop {
            match stream.next().await {
                Some(Ok(Frame::Close(Some(frame)))) => return frame.code.into(),
                Some(Ok(_)) => {}
                other => panic!("no close frame, but {other:?}"),
            }
        }
    }

    // holds: channel-silence
    #[tokio::test(start_paused = true)]
    async fn silence_ends_a_connection_after_90_seconds_and_not_before() {
        let (_hub, mut stream) = connected().await;
        for _ in 0..3 {
            tokio::time::sleep(SILENCE.saturating_sub(Duration::from_millis(1))).await;
            stream.send(Frame::text(r#"{"type":"ping"}"#)).await.expect("sent");
            assert_eq!(stream.next().await.expect("open").expect("a frame"), Frame::text(PONG));
        }
        let quiet = Instant::now();
        assert_eq!(close_code(&mut stream).await, 1001);
        assert_eq!(Instant::now() - quiet, SILENCE);
    }

    // holds: register-rate
    #[tokio::test(start_paused = true)]
    async fn registers_above_the_rate_are_read_more_slowly_and_all_answered() {
        let (_hub, mut stream) = connected().await;
        let begin = Instant::now();
        for _ in 0..40 {
            stream.send(Frame::text(r#"{"type":"register","tools":[]}"#)).await.expect("sent");
        }
        for _ in 0..40 {
            assert_eq!(stream.next().await.expect("open").expect("a frame"), Frame::text(r#"{"type":"registered"}"#));
        }
        assert_eq!((Instant::now() - begin).as_secs(), 2, "20 at once, 20 at ten a second");
    }

    // holds: channel-close-wait
    #[tokio::test(start_paused = true)]
    async fn a_peer_that_never_answers_a_close_is_waited_for_2_seconds() {
        let (ours, _theirs) = tokio::io::duplex(64 * 1024);
        let begin = Instant::now();
        Socket::new(ours).await.close(CloseCode::Unauthorized, "no").await;
        assert_eq!(Instant::now() - begin, CLOSE_TIME);
    }

    #[test]
    fn a_close_reason_is_cut_between_characters() {
        let reason = "ü".repeat(100);
        assert_eq!(close_frame(CloseCode::ProtocolError, &reason).reason.as_str(), "ü".repeat(61));
    }
}
