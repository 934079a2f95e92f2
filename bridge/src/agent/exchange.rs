//! One request and its answer: whole and at once, or as a stream when it takes long or never ends.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{HeaderMap, Response, StatusCode},
};
use bytes::Bytes;
use clientmcp_protocol::{
    ids::ClientId,
    limits::{SLOW_ANSWER, STREAM_COMMENT},
};
use futures_util::{
    Stream, StreamExt as _,
    stream::{self, FuturesUnordered},
};
use tokio::time::{Instant, timeout};

use super::{
    Severed, reply,
    sse::{self, Message},
    streams::Streams,
};
use crate::{
    call::Agent,
    guard::Admitted,
    hub::Hub,
    mcp::{self, Answer, Carrier, Listening, Mirror, Mirrored, Peer},
    pieces::Pieces,
    presence::Caller,
    refusal::Refusal,
    token::Claims,
};

/// All that an answer needs, owned: as a stream it outlives the handler.
#[derive(Clone, Debug)]
pub(super) struct Post {
    pub(super) hub: Hub,
    pub(super) agent: Agent,
    pub(super) claims: Arc<Claims>,
    pub(super) caller: Caller,
    pub(super) headers: HeaderMap,
    pub(super) admitted: Admitted,
}

/// HTTP's headers as what repeats the body.
struct Headers<'a>(&'a HeaderMap);

impl Mirror for Headers<'_> {
    fn header(&self, name: &str) -> Mirrored<'_> {
        let mut values = self.0.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Mirrored::Absent,
            (Some(value), None) => Mirrored::Once(value.as_bytes().trim_ascii()),
            (Some(_), Some(_)) => Mirrored::Repeated,
        }
    }
}

impl Post {
    /// Opens the legacy era's stream of notifications.
    pub(super) fn listen(self, streams: &Streams) -> Result<Response<Body>, Refusal> {
        let listening = mcp::listen(&self.peer(&Headers(&self.headers)))?;
        if !self.admitted.events {
            return Err(Refusal::NotAcceptable);
        }
        let place = streams.enter(&self.agent.application)?;
        // A comment at once: the agent sees that it is heard.
        Ok(reply::events(sse::body(messages(listening, place), Instant::now(), STREAM_COMMENT)))
    }

    pub(super) async fn answer(self, body: Bytes, streams: &Streams) -> Response<Body> {
        let entries = mcp::batch::entries(&self.peer(&Headers(&self.headers)), &body);
        match entries {
            Some(Ok(entries)) => self.batch(entries).await,
            Some(Err(refused)) => reply::refused(refused),
            None => self.single(body, streams).await,
        }
    }

    async fn single(self, body: Bytes, streams: &Streams) -> Response<Body> {
        let (admitted, application) = (self.admitted, self.agent.application.clone());
        let mut answer = Box::pin(async move { mcp::answer(&self.peer(&Headers(&self.headers)), &body).await });
        if !admitted.events {
            return write(answer.await, admitted, &application, streams);
        }
        if let Ok(answer) = timeout(SLOW_ANSWER, &mut answer).await {
            return write(answer, admitted, &application, streams);
        }
        let message = stream::once(async move { message(answer.await) }).filter_map(std::future::ready);
        reply::events(sse::body(message, Instant::now(), SLOW_ANSWER))
    }

    async fn batch(self, entries: Vec<String>) -> Response<Body> {
        let admitted = self.admitted;
        let mut answers: FuturesUnordered<_> = entries.into_iter().map(|entry| self.clone().entry(entry)).collect();
        let mut ready = Vec::new();
        let collecting = collect(&mut answers, &mut ready);
        let finished = if admitted.events { timeout(SLOW_ANSWER, collecting).await } else { Ok(collecting.await) };
        match finished {
            Ok(Err(Severed)) => reply::severed(),
            Ok(Ok(())) if ready.is_empty() => reply::empty(StatusCode::ACCEPTED),
            Ok(Ok(())) if admitted.json => reply::json(StatusCode::OK, mcp::batch::array(ready)),
            Ok(Ok(())) | Err(_) => {
                let rest = answers.filter_map(|answer| std::future::ready(answer.transpose()));
                let messages = stream::iter(ready).map(Ok).chain(rest);
                reply::events(sse::body(messages, Instant::now(), SLOW_ANSWER))
            }
        }
    }

    async fn entry(self, entry: String) -> Result<Option<Pieces>, Severed> {
        let alone = async { mcp::answer(&self.peer(&Headers(&self.headers)), entry.as_bytes()).await };
        mcp::batch::answer(&entry, alone).await.map_err(|_| Severed)
    }

    fn peer<'a>(&'a self, headers: &'a Headers<'a>) -> Peer<'a> {
        let carrier = Carrier::Requests(headers);
        Peer::new(&self.hub, &self.agent, &self.claims, &self.caller, carrier, self.admitted.events)
    }
}

/// Takes the answers of a batch as they come.
async fn collect<S>(answers: &mut S, ready: &mut Vec<Pieces>) -> Result<(), Severed>
where
    S: Stream<Item = Result<Option<Pieces>, Severed>> + Unpin,
{
    while let Some(answer) = answers.next().await {
        ready.extend(answer?);
    }
    Ok(())
}

/// A whole answer. Where only events are read, every 200 is one.
fn write(answer: Answer, admitted: Admitted, application: &ClientId, streams: &Streams) -> Response<Body> {
    match answer {
        Answer::Result { body, session } => {
            let mut response = whole(body, admitted);
            if let Some(session) = session.and_then(|session| session.try_into().ok()) {
                response.headers_mut().insert("mcp-session-id", session);
            }
            response
        }
        Answer::Refused(refused) if refused.status == 200 => whole(refused.body.into(), admitted),
        Answer::Refused(refused) => reply::refused(refused),
        Answer::Listen(listening) => subscribe(*listening, application, streams),
        Answer::Cancelled if admitted.events => reply::events(Body::empty()),
        Answer::Accepted | Answer::Cancelled => reply::empty(StatusCode::ACCEPTED),
        Answer::Nothing => reply::severed(),
    }
}

fn whole(body: Pieces, admitted: Admitted) -> Response<Body> {
    if admitted.json { reply::json(StatusCode::OK, body) } else { reply::events(reply::body(sse::event(body))) }
}

fn subscribe(listening: Listening, application: &ClientId, streams: &Streams) -> Response<Body> {
    match streams.enter(application) {
        Ok(place) => {
            let first = Instant::now() + STREAM_COMMENT;
            reply::events(sse::body(messages(listening, place), first, STREAM_COMMENT))
        }
        Err(refusal) => reply::refused(listening.refused(&refusal)),
    }
}

/// What a slow request is answered with in the end; nothing when nobody reads it.
fn message(answer: Answer) -> Option<Message> {
    match answer {
        Answer::Result { body, session: _ } => Some(Ok(body)),
        Answer::Refused(refused) => Some(Ok(refused.body.into())),
        Answer::Nothing => Some(Err(Severed)),
        // These never take long, but for the call that was cancelled.
        Answer::Accepted | Answer::Listen(_) | Answer::Cancelled => None,
    }
}

fn messages<P>(listening: Listening, place: P) -> impl Stream<Item = Message> {
    stream::unfold((listening, place), |(mut listening, place)| async move {
        let message = listening.next().await?;
        Some((Ok(message), (listening, place)))
    })
}
