//! One conversation with one process: hello, `start`, commands and their replies, events, and the end of both.
//!
//! The end of the app's side closes the bridge's stdin, which is how a bridge is told to end; one that does not within
//! [`STOP_TIME`] is killed.

use std::{collections::HashMap, time::Duration};

use clientmcp_protocol::{
    control::{CONTROL_VERSION, Command, Count, ErrorCode, Event, Hello, Reply, Request, Start},
    limits::{CONTROL_BYTES, MEMORY_BYTES},
    shown::{SHOWN_CHARS, shown_again},
};
use serde::Serialize;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::{mpsc, oneshot},
    time::{Instant, timeout_at},
};

use super::{
    Asked, COMMANDS, End, Told, Why,
    lines::{Line, Lines},
};
use crate::sidecar::{Ends, Process};

/// Time from the process's start until it serves.
const START_TIME: Duration = Duration::from_secs(15);

/// Time from the end of its stdin until it is killed. The bridge itself takes 3 s at most.
pub(crate) const STOP_TIME: Duration = Duration::from_secs(5);

/// Bytes of a line of the bridge's log.
const LOG_BYTES: usize = 16 * 1024;

/// The number of `start`.
const START: Count = Count(1);

pub(super) async fn run(process: Process, start: Start, queue: mpsc::Receiver<Asked>, tell: impl Fn(Told) + Sync) {
    let Process { input, output, log, ends } = process;
    tokio::spawn(copy_log(log));
    let lines = Lines::new(output, MEMORY_BYTES);
    let session = Session { lines, pending: HashMap::new(), last: START, tell: &tell, began: false };
    let (why, since) = session.talk(input, start, queue).await;
    let code = ended(ends, since + STOP_TIME).await;
    tell(Told::Ended(End { why, code }));
}

/// What the bridge says on stderr is its log, and becomes part of ours.
async fn copy_log(log: impl AsyncRead + Unpin) {
    let mut lines = Lines::new(log, LOG_BYTES);
    while let Some(line) = lines.next().await {
        match line {
            Line::Text(line) => tracing::info!("bridge: {}", shown_again(&String::from_utf8_lossy(&line), SHOWN_CHARS)),
            Line::TooLong => tracing::info!("bridge: a line too long to be kept"),
        }
    }
}

/// The exit code, sooner or later.
async fn ended(ends: Ends, at_last: Instant) -> Option<i32> {
    let Ends { mut exit, kill } = ends;
    if let Ok(code) = timeout_at(at_last, &mut exit).await {
        return code.ok().flatten();
    }
    tracing::warn!("the bridge did not end, and is killed");
    let _ = kill.send(());
    exit.await.ok().flatten()
}

struct Session<'a, R, T> {
    lines: Lines<R>,
    pending: HashMap<Count, oneshot::Sender<Reply>>,
    /// The last command's number.
    last: Count,
    tell: &'a T,
    /// It serves.
    began: bool,
}

impl<R: AsyncRead + Unpin, T: Fn(Told) + Sync> Session<'_, R, T> {
    /// Talks until one side ends. Tells why, and when stdin was closed.
    async fn talk<W>(mut self, input: W, start: Start, mut queue: mpsc::Receiver<Asked>) -> (Why, Instant)
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (writer, lines) = mpsc::channel(COMMANDS + 2);
        // A bridge that does not read must not keep us from reading: it may be waiting for just that.
        tokio::spawn(write(input, lines));
        let by = Instant::now() + START_TIME;
        let beginning = self.begin(&writer, start);
        let why = match timeout_at(by, beginning).await {
            Ok(Ok(())) => self.go_on(&writer, &mut queue).await,
            Ok(Err(why)) => why,
            Err(_) => Why::Silent,
        };
        let since = Instant::now();
        drop((writer, queue));
        self.pending.clear();
        // What it has to say at its end is still to be written down.
        drop(timeout_at(since + STOP_TIME, self.listen()).await);
        (why, since)
    }

    /// Both say hello, then `start`.
    async fn begin(&mut self, writer: &mpsc::Sender<Vec<u8>>, start: Start) -> Result<(), Why> {
        let hello = Hello { control: CONTROL_VERSION, version: env!("CARGO_PKG_VERSION").to_owned() };
        drop(writer.try_send(line(&Event::Hello(hello))));
        let Some(Event::Hello(theirs)) = self.event().await? else { return Err(Why::Version) };
        if theirs.control != CONTROL_VERSION {
            return Err(Why::Version);
        }
        (self.tell)(Told::Hello(theirs.version));
        let start = line(&Request { request: START, command: Command::Start(Box::new(start)) });
        if start.len() > MEMORY_BYTES {
            let sentence = "what is remembered is too large to be handed over: remove rules".to_owned();
            return Err(Why::Refused { code: ErrorCode::Value, sentence });
        }
        drop(writer.try_send(start));
        loop {
            match self.event().await? {
                Some(Event::Listening { mcp, connect, pid: _ }) => (self.tell)(Told::Listening { mcp, connect }),
                Some(Event::Reply { request: START, reply: Reply::Refused { code, sentence } }) => {
                    return Err(Why::Refused { code, sentence });
                }
                Some(Event::Reply { request: START, reply: _ }) => {
                    self.began = true;
                    return Ok(());
                }
                Some(Event::Error { code: ErrorCode::Version, .. }) => return Err(Why::Version),
                Some(event) => self.hear(event),
                None => {}
            }
        }
    }

    async fn go_on(&mut self, writer: &mpsc::Sender<Vec<u8>>, queue: &mut mpsc::Receiver<Asked>) -> Why {
        loop {
            tokio::select! {
                event = self.event() => match event {
                    Ok(Some(event)) => self.hear(event),
                    Ok(None) => {}
                    Err(why) => return why,
                },
                asked = queue.recv() => match asked {
                    Some(asked) => self.ask(writer, asked),
                    None => return Why::Stopped,
                },
            }
        }
    }

    /// To the end of what it says.
    async fn listen(&mut self) {
        loop {
            match self.event().await {
                Ok(Some(event)) if self.began => self.hear(event),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// The next event; nothing for a line that is none.
    async fn event(&mut self) -> Result<Option<Event>, Why> {
        match self.lines.next().await.ok_or(Why::Itself)? {
            Line::Text(line) => {
                let event = serde_json::from_slice(&line);
                if event.is_err() {
                    tracing::warn!("the bridge said what is no message");
                }
                Ok(event.ok())
            }
            Line::TooLong => {
                tracing::warn!("the bridge said more than a message may hold");
                Ok(None)
            }
        }
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Reply { request, reply } => {
                let waiting = self.pending.remove(&request);
                drop(waiting.map(|waiting| waiting.send(reply)));
            }
            Event::Hello(_) | Event::Listening { .. } => {}
            Event::Snapshot(_) | Event::Finished { .. } | Event::Remember(_) | Event::Error { .. } => {
                (self.tell)(Told::Event(event));
            }
        }
    }

    fn ask(&mut self, writer: &mpsc::Sender<Vec<u8>>, asked: Asked) {
        self.last = Count(self.last.0 + 1);
        let text = line(&Request { request: self.last, command: asked.command });
        if text.len() > CONTROL_BYTES + 1 {
            // The bridge would drop it without a reply, as it cannot tell its number.
            let sentence = "it is too large: at most 1 MiB can be handed over".to_owned();
            drop(asked.reply.send(Reply::Refused { code: ErrorCode::Value, sentence }));
        } else if writer.try_send(text).is_ok() {
            self.pending.insert(self.last, asked.reply);
        }
    }
}

/// Writes lines until there are no more, then closes.
async fn write(mut input: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if input.write_all(&line).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

fn line(message: &impl Serialize) -> Vec<u8> {
    // These types have no map with keys that are not strings: it cannot fail.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}
