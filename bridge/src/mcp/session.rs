//! MCP in stdio framing: one message a line on one connection, which is the session (`docs/protocol.md`, "MCP on lines").
//! The same codecs answer as over HTTP; here is what HTTP does with requests of its own: cancelling, streams, batches.

use std::{
    collections::{HashMap, VecDeque},
    io,
    pin::Pin,
};

use bytes::{Buf as _, Bytes};
use clientmcp_protocol::limits::{CLOSE_TIME, LINE_REQUESTS, LOOK_TIME, MESSAGE_BYTES, UNREAD_BYTES};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _},
    sync::oneshot,
    time::{Duration, Instant, MissedTickBehavior, interval, sleep_until},
};

use super::{
    Answer, Listening, Peer, batch, classify, legacy,
    message::{self, Message, Notification, Request},
};
use crate::{
    call::RequestId,
    lines::{Line, Lines},
    pieces::Pieces,
    refusal::Refusal,
    respond::{self, Refused},
    revision::{Era, Revision},
    text,
};

/// What answers the agent at the other end.
pub trait Answers: Sync {
    /// The agent as the codecs see it, as of now.
    fn peer(&self, batches: bool) -> Peer<'_>;

    /// Answers one request. Dropped before that, it takes the request back.
    fn answer(&self, request: &[u8], batches: bool) -> impl Future<Output = Answer> + Send;

    /// Resolves when the connection has to end.
    fn over(&self) -> impl Future<Output = ()> + Send;

    /// Whether the agent says no more, as far as the system tells without reading.
    fn has_left(&self) -> bool;

    /// Resolves when the system tells by itself that the agent says no more, whatever is unread; it need not.
    fn left(&self) -> impl Future<Output = ()> + Send;

    /// The agent says no more: what waits for somebody else's word on its behalf has to hear of that at once.
    fn ended(&self) -> impl Future<Output = ()> + Send;
}

/// Serves one connection until its agent goes, or it has to end. `patience` is what the answers under way may still take
/// once the agent says no more.
pub async fn serve(
    answers: &impl Answers,
    input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin,
    patience: Duration,
) {
    let mut lines = Lines::new(input, MESSAGE_BYTES);
    let mut output = Output { to: output, queue: VecDeque::new(), bytes: 0, unflushed: false };
    let mut session = Session::new(answers);
    let (mut over, mut left) = (std::pin::pin!(answers.over()), std::pin::pin!(answers.left()));
    let mut look = interval(LOOK_TIME);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut end, mut told) = (None::<End>, false);
    loop {
        if session.is_done(end) && output.is_done() {
            return;
        }
        tokio::select! {
            // An end before whatever else there is to do; and what is said before anything new is read.
            biased;
            // What it wrote before may still be answered.
            () = &mut left, if end.is_none() => end = Some(End { reads_on: true, ..End::by_agent(patience) }),
            () = &mut over, if end.is_none() => end = Some(End::ours()),
            () = sleep_until(end.map_or_else(Instant::now, |end| end.at)), if end.is_some() => return,
            _ = look.tick(), if end.is_none() && output.bytes >= UNREAD_BYTES => if answers.has_left() {
                end = Some(End::by_agent(patience));
            },
            // An agent that cannot be written to is gone.
            written = output.advance(), if !output.is_done() => if written.is_err() {
                return;
            },
            Some(done) = session.work.next() => session.finish(done, &mut end),
            // An agent that does not read is not read either, only looked at.
            line = lines.next(), if end.is_none_or(|end| end.reads_on) && output.bytes < UNREAD_BYTES => match line {
                Some(line) => session.take(line),
                None => end.get_or_insert_with(|| End::by_agent(patience)).reads_on = false,
            },
        }
        output.take(&mut session.out);
        if !told && end.is_some_and(|end| end.by_agent) {
            told = true;
            answers.ended().await;
        }
    }
}

/// What is still to be written.
struct Output<W> {
    to: W,
    queue: VecDeque<Bytes>,
    bytes: usize,
    unflushed: bool,
}

impl<W: AsyncWrite + Unpin> Output<W> {
    fn is_done(&self) -> bool {
        self.queue.is_empty() && !self.unflushed
    }

    fn take(&mut self, messages: &mut Vec<Pieces>) {
        for message in messages.drain(..) {
            self.bytes += message.bytes() + 1;
            self.queue.extend(message.and("\n".to_owned()));
        }
    }

    /// Writes on. Nothing is lost when the future is dropped.
    async fn advance(&mut self) -> io::Result<()> {
        let Some(piece) = self.queue.front_mut() else {
            self.to.flush().await?;
            self.unflushed = false;
            return Ok(());
        };
        if piece.is_empty() {
            self.queue.pop_front();
            return Ok(());
        }
        let written = self.to.write(piece).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        piece.advance(written);
        self.bytes = self.bytes.saturating_sub(written);
        self.unflushed = true;
        Ok(())
    }
}

/// That nobody is there for what comes, and until when what is under way may go on.
#[derive(Clone, Copy, Debug)]
struct End {
    by_agent: bool,
    /// The end itself is not read yet.
    reads_on: bool,
    at: Instant,
}

impl End {
    fn by_agent(patience: Duration) -> Self {
        Self { by_agent: true, reads_on: false, at: Instant::now() + patience }
    }

    fn ours() -> Self {
        Self { by_agent: false, reads_on: false, at: Instant::now() + CLOSE_TIME }
    }
}

type Work<'a> = Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

struct Session<'a, A> {
    answers: &'a A,
    /// Messages that are to be written.
    out: Vec<Pieces>,
    /// Requests that are not answered, and subscriptions: how each is taken back.
    under_way: HashMap<RequestId, Way>,
    serial: u64,
    work: FuturesUnordered<Work<'a>>,
    /// How much of `work` will answer.
    answering: usize,
    /// The revision that was agreed on has batches.
    batches: bool,
    /// An `initialize` was answered: changes of the list are told.
    announcing: bool,
}

struct Way {
    serial: u64,
    back: oneshot::Sender<()>,
}

/// A request's number and its way back, if it has an id.
struct Held {
    id: Option<(RequestId, u64)>,
    back: Option<oneshot::Receiver<()>>,
}

enum Done {
    /// One request or batch.
    Answered { answer: Answer, held: Vec<Held>, agreed: Option<Revision> },
    /// A stream has something to say, or has ended.
    Told { message: Option<Pieces>, listening: Box<Listening>, held: Held },
}

impl<'a, A: Answers> Session<'a, A> {
    fn new(answers: &'a A) -> Self {
        Self {
            answers,
            out: Vec::new(),
            under_way: HashMap::new(),
            serial: 0,
            work: FuturesUnordered::new(),
            answering: 0,
            batches: false,
            announcing: false,
        }
    }

    /// Streams are waited for when it is us who end them: they have last words.
    fn is_done(&self, end: Option<End>) -> bool {
        end.is_some_and(|end| !end.reads_on && if end.by_agent { self.answering == 0 } else { self.work.is_empty() })
    }

    fn take(&mut self, line: Line) {
        let line = match line {
            Line::Text(line) => line,
            Line::TooLong => return self.refuse(None, &Refusal::BodyTooLarge),
        };
        if line.trim_ascii().is_empty() {
            return;
        }
        let entries = batch::entries(&self.answers.peer(self.batches), &line);
        match entries {
            Some(Ok(entries)) => self.batch(entries),
            Some(Err(Refused { body, .. })) => self.out.push(body.into()),
            None => self.single(line),
        }
    }

    fn single(&mut self, line: Vec<u8>) {
        let (mut held, agreed) = match message::read(&line) {
            Err(unreadable) => return self.refuse(unreadable.id, &unreadable.refusal),
            Ok(Message::Response) => return,
            Ok(Message::Notification(notification)) => return self.notified(&notification),
            Ok(Message::Request(request)) => match self.hold(&request) {
                Ok(held) => (held, agreed(&request)),
                Err(refusal) => return self.refuse(None, &refusal),
            },
        };
        let (answers, batches) = (self.answers, self.batches);
        self.answering += 1;
        self.work.push(Box::pin(async move {
            let answer = unless_taken_back(&mut held, answers.answer(&line, batches)).await;
            Done::Answered { answer, held: vec![held], agreed }
        }));
    }

    fn batch(&mut self, entries: Vec<String>) {
        let (mut parts, mut refused) = (Vec::new(), Vec::new());
        for entry in entries {
            let held = match message::read(entry.as_bytes()) {
                Err(unreadable) => {
                    refused.push(respond::refused(unreadable.id, Era::Legacy, &unreadable.refusal).body.into());
                    continue;
                }
                Ok(Message::Response) => continue,
                Ok(Message::Notification(notification)) => {
                    self.notified(&notification);
                    continue;
                }
                Ok(Message::Request(request)) => self.hold(&request),
            };
            match held {
                Ok(held) => parts.push((entry, held)),
                Err(refusal) => refused.push(respond::refused(None, Era::Legacy, &refusal).body.into()),
            }
        }
        let answers = self.answers;
        self.answering += 1;
        self.work.push(Box::pin(async move {
            let (answer, held) = answer_all(answers, parts, refused).await;
            Done::Answered { answer, held, agreed: None }
        }));
    }

    /// Notes that a request is under way, if its id is not.
    fn hold(&mut self, request: &Request<'_>) -> Result<Held, Refusal> {
        let Some(id) = message::id(request.id) else { return Ok(Held::NOTHING) };
        if self.under_way.contains_key(&id) {
            return Err(Refusal::InvalidRequest("a request with this id is not answered yet".into()));
        }
        if self.under_way.len() >= LINE_REQUESTS {
            return Err(Refusal::InvalidRequest(format!("{LINE_REQUESTS} requests are not answered yet")));
        }
        self.serial += 1;
        let (back, taken_back) = oneshot::channel();
        self.under_way.insert(id.clone(), Way { serial: self.serial, back });
        Ok(Held { id: Some((id, self.serial)), back: Some(taken_back) })
    }

    /// In both eras the notification is what takes a request back.
    fn notified(&mut self, notification: &Notification<'_>) {
        if notification.method != "notifications/cancelled" {
            return;
        }
        let id = notification.params.get("requestId").and_then(message::id);
        if let Some(way) = id.and_then(|id| self.under_way.remove(&id)) {
            let _ = way.back.send(());
        }
    }

    fn finish(&mut self, done: Done, end: &mut Option<End>) {
        match done {
            Done::Answered { answer, held, agreed } => {
                self.answering -= 1;
                self.answered(answer, held, agreed, end);
            }
            Done::Told { message: Some(message), listening, held } => {
                self.out.push(message);
                self.listen(listening, held);
            }
            Done::Told { message: None, listening: _, held } => self.release(&held),
        }
    }

    fn answered(&mut self, answer: Answer, mut held: Vec<Held>, agreed: Option<Revision>, end: &mut Option<End>) {
        if let Answer::Listen(listening) = answer {
            return self.listen(listening, held.pop().unwrap_or(Held::NOTHING));
        }
        for held in &held {
            self.release(held);
        }
        match answer {
            Answer::Result { body, session: _ } => {
                self.out.push(body);
                if let Some(agreed) = agreed {
                    self.agree(agreed);
                }
            }
            Answer::Refused(Refused { body, .. }) => self.out.push(body.into()),
            Answer::Nothing => drop(end.get_or_insert_with(End::ours)),
            Answer::Accepted | Answer::Cancelled | Answer::Listen(_) => {}
        }
    }

    /// A legacy session has begun.
    fn agree(&mut self, revision: Revision) {
        self.batches = revision == Revision::V2025_03_26;
        if self.announcing {
            return;
        }
        if let Ok(listening) = super::listen(&self.answers.peer(self.batches)) {
            self.announcing = true;
            self.listen(Box::new(listening), Held::NOTHING);
        }
    }

    fn listen(&mut self, listening: Box<Listening>, held: Held) {
        self.work.push(Box::pin(async move {
            let (mut listening, mut held) = (listening, held);
            let message = match &mut held.back {
                None => listening.next().await,
                Some(back) => tokio::select! {
                    biased;
                    _ = back => None,
                    message = listening.next() => message,
                },
            };
            Done::Told { message, listening, held }
        }));
    }

    /// The id may be used again, unless it is already.
    fn release(&mut self, held: &Held) {
        let Some((id, serial)) = &held.id else { return };
        if self.under_way.get(id).is_some_and(|way| way.serial == *serial) {
            self.under_way.remove(id);
        }
    }

    fn refuse(&mut self, id: Option<&RawValue>, refusal: &Refusal) {
        self.out.push(respond::refused(id, Era::Legacy, refusal).body.into());
    }
}

impl Held {
    const NOTHING: Self = Self { id: None, back: None };
}

/// The answer, or that it was taken back, whichever is first. In doubt it was taken back: nothing more may be said then.
async fn unless_taken_back(held: &mut Held, answer: impl Future<Output = Answer>) -> Answer {
    let Some(back) = &mut held.back else { return answer.await };
    tokio::select! {
        biased;
        _ = back => Answer::Cancelled,
        answer = answer => answer,
    }
}

/// All entries side by side.
async fn answer_all(answers: &impl Answers, parts: Vec<(String, Held)>, refused: Vec<Pieces>) -> (Answer, Vec<Held>) {
    let mut work: FuturesUnordered<_> = parts
        .into_iter()
        .map(|(entry, mut held)| async move {
            let alone = answers.answer(entry.as_bytes(), true);
            let answer = batch::answer(&entry, unless_taken_back(&mut held, alone)).await;
            (answer, held)
        })
        .collect();
    let (mut ready, mut all_held) = (refused, Vec::new());
    while let Some((answer, held)) = work.next().await {
        all_held.push(held);
        match answer {
            Ok(answer) => ready.extend(answer),
            Err(_) => return (Answer::Nothing, all_held),
        }
    }
    drop(work);
    if ready.is_empty() {
        return (Answer::Accepted, all_held);
    }
    (Answer::Result { body: batch::array(ready), session: None }, all_held)
}

/// The revision that a legacy `initialize` will be answered with.
fn agreed(request: &Request<'_>) -> Option<Revision> {
    let named = request.params.meta(classify::VERSION_META).is_some();
    let asked = (request.method == "initialize" && !named).then(|| request.params.get("protocolVersion"))?;
    asked.and_then(text::string).map(|asked| legacy::agreed(&asked))
}

#[cfg(test)]
mod tests;
