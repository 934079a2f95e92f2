//! MCP in stdio framing: one message a line on one connection, which is the session (`docs/protocol.md`, "MCP on lines").
//! The same codecs answer as over HTTP; here is what HTTP does with requests of its own: cancelling, streams, batches.

use std::{collections::HashMap, io, pin::Pin};

use clientmcp_protocol::limits::{CLOSE_TIME, LAST_ANSWERS_TIME, LINE_REQUESTS, MESSAGE_BYTES};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::{
    io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _},
    sync::oneshot,
    time::{Instant, sleep_until},
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
}

/// Serves one connection until its agent goes, or it has to end; what is under way then has a moment to be answered.
pub async fn serve(answers: &impl Answers, input: impl AsyncBufRead + Unpin, output: impl AsyncWrite + Unpin) {
    let mut lines = Lines::new(input, MESSAGE_BYTES);
    let mut session = Session {
        answers,
        output,
        under_way: HashMap::new(),
        serial: 0,
        work: FuturesUnordered::new(),
        answering: 0,
        batches: false,
        announcing: false,
    };
    let mut over = std::pin::pin!(answers.over());
    let mut end = None;
    loop {
        if session.is_done(end) {
            return;
        }
        let written = tokio::select! {
            Some(done) = session.work.next() => session.finish(done, &mut end).await,
            line = lines.next(), if end.is_none() => match line {
                Some(line) => session.take(line).await,
                None => {
                    end = Some(End { by_agent: true, at: Instant::now() + LAST_ANSWERS_TIME });
                    Ok(())
                }
            },
            () = &mut over, if end.is_none() => {
                end = Some(End::ours());
                Ok(())
            }
            () = sleep_until(end.map_or_else(Instant::now, |end| end.at)), if end.is_some() => return,
        };
        // An agent that cannot be written to is gone.
        if written.is_err() {
            return;
        }
    }
}

/// That no more is read, and until when what is under way may go on.
#[derive(Clone, Copy, Debug)]
struct End {
    by_agent: bool,
    at: Instant,
}

impl End {
    fn ours() -> Self {
        Self { by_agent: false, at: Instant::now() + CLOSE_TIME }
    }
}

type Work<'a> = Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

struct Session<'a, A, W> {
    answers: &'a A,
    output: W,
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

impl<'a, A: Answers, W: AsyncWrite + Unpin> Session<'a, A, W> {
    /// Streams are waited for when it is us who end them: they have last words.
    fn is_done(&self, end: Option<End>) -> bool {
        end.is_some_and(|end| if end.by_agent { self.answering == 0 } else { self.work.is_empty() })
    }

    async fn take(&mut self, line: Line) -> io::Result<()> {
        let line = match line {
            Line::Text(line) => line,
            Line::TooLong => return self.refuse(None, &Refusal::BodyTooLarge).await,
        };
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let entries = batch::entries(&self.answers.peer(self.batches), &line);
        match entries {
            Some(Ok(entries)) => self.batch(entries).await,
            Some(Err(Refused { body, .. })) => self.write(body.into()).await,
            None => self.single(line).await,
        }
    }

    async fn single(&mut self, line: Vec<u8>) -> io::Result<()> {
        let (held, agreed) = match message::read(&line) {
            Err(unreadable) => return self.refuse(unreadable.id, &unreadable.refusal).await,
            Ok(Message::Response) => return Ok(()),
            Ok(Message::Notification(notification)) => {
                self.notified(&notification);
                return Ok(());
            }
            Ok(Message::Request(request)) => match self.hold(&request) {
                Ok(held) => (held, agreed(&request)),
                Err(refusal) => return self.refuse(None, &refusal).await,
            },
        };
        let (answers, batches) = (self.answers, self.batches);
        self.answering += 1;
        self.work.push(Box::pin(async move {
            let mut held = held;
            let answer = unless_taken_back(&mut held, answers.answer(&line, batches)).await;
            Done::Answered { answer, held: vec![held], agreed }
        }));
        Ok(())
    }

    async fn batch(&mut self, entries: Vec<String>) -> io::Result<()> {
        let (mut parts, mut refused) = (Vec::new(), Vec::new());
        for entry in entries {
            let held = match message::read(entry.as_bytes()) {
                Err(_) => Ok(Held::NOTHING),
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
        Ok(())
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

    async fn finish(&mut self, done: Done, end: &mut Option<End>) -> io::Result<()> {
        match done {
            Done::Answered { answer, held, agreed } => {
                self.answering -= 1;
                self.answered(answer, held, agreed, end).await
            }
            Done::Told { message: Some(message), listening, held } => {
                self.listen(listening, held);
                self.write(message).await
            }
            Done::Told { message: None, listening: _, held } => {
                self.release(&held);
                Ok(())
            }
        }
    }

    async fn answered(
        &mut self,
        answer: Answer,
        mut held: Vec<Held>,
        agreed: Option<Revision>,
        end: &mut Option<End>,
    ) -> io::Result<()> {
        if let Answer::Listen(listening) = answer {
            // Taken back meanwhile, it is never opened.
            if let Some(held) = held.pop() {
                self.listen(listening, held);
            }
            return Ok(());
        }
        held.iter().for_each(|held| self.release(held));
        match answer {
            Answer::Result { body, session: _ } => {
                if let Some(agreed) = agreed {
                    self.agree(agreed);
                }
                self.write(body).await
            }
            Answer::Refused(Refused { body, .. }) => self.write(body.into()).await,
            Answer::Nothing => {
                end.get_or_insert_with(End::ours);
                Ok(())
            }
            Answer::Accepted | Answer::Cancelled | Answer::Listen(_) => Ok(()),
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

    async fn refuse(&mut self, id: Option<&serde_json::value::RawValue>, refusal: &Refusal) -> io::Result<()> {
        self.write(respond::refused(id, Era::Legacy, refusal).body.into()).await
    }

    async fn write(&mut self, message: Pieces) -> io::Result<()> {
        for piece in message {
            self.output.write_all(&piece).await?;
        }
        self.output.write_all(b"\n").await?;
        self.output.flush().await
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
async fn answer_all(
    answers: &impl Answers,
    parts: Vec<(String, Held)>,
    refused: Vec<Pieces>,
) -> (Answer, Vec<Held>) {
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
    let answer = match ready.is_empty() {
        true => Answer::Accepted,
        false => Answer::Result { body: batch::array(ready), session: None },
    };
    (answer, all_held)
}

/// The revision that a legacy `initialize` will be answered with.
fn agreed(request: &Request<'_>) -> Option<Revision> {
    let named = request.params.meta(classify::VERSION_META).is_some();
    let asked = (request.method == "initialize" && !named).then(|| request.params.get("protocolVersion"))?;
    asked.and_then(text::string).map(|asked| legacy::agreed(&asked))
}
