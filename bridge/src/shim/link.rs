//! The way to one application: a connection to the local door that is made anew whenever it is lost.
//!
//! Requests that come while there is none are refused, never kept for later; whoever comes makes it try at once.

use std::{collections::HashMap, time::Duration};

use bytes::{Buf as _, Bytes};
use clientmcp_protocol::{
    door::{DoorCode, Said, Want},
    ids::{ClientId, Label},
    limits::{DOOR_BACKOFF, DOOR_BACKOFF_MOST},
};
use futures_util::FutureExt as _;
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncWriteExt as _, WriteHalf},
    sync::{mpsc, oneshot, watch},
    task::{JoinHandle, coop::unconstrained},
    time::sleep,
};

use super::knock::{Away, Open, knock};
use crate::{
    call::RequestId,
    lines::Line,
    local::Stream,
    mcp::message,
    text::{self, Object},
};

/// The near end of the way. Dropped, it is closed.
#[derive(Debug)]
pub(super) struct Link {
    orders: mpsc::UnboundedSender<Order>,
    list: watch::Receiver<u64>,
    task: JoinHandle<()>,
}

/// Why a request was not answered.
#[derive(Clone, Debug)]
pub(super) enum Unanswered {
    /// It was not sent.
    Away(Away),
    /// It was sent, and what became of it nobody knows.
    Lost,
}

#[derive(Debug)]
enum Order {
    Ask(Ask),
    /// Nobody waits for the answer any more.
    TakeBack(RequestId),
    /// Dropped once it is known whether there is a connection.
    Settle(oneshot::Sender<()>),
    /// The host says no more.
    End,
}

#[derive(Debug)]
struct Ask {
    id: RequestId,
    /// The id as it was written.
    written: String,
    /// The whole request.
    line: String,
    /// A call may make the person be asked anew; a list, which hosts read again and again, may not.
    call: bool,
    answer: oneshot::Sender<Result<String, Unanswered>>,
}

/// Giving up is an event.
struct TakeBack<'a> {
    link: &'a Link,
    id: Option<RequestId>,
}

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let _ = self.link.orders.send(Order::TakeBack(id));
        }
    }
}

impl Link {
    /// Begins to make a connection.
    pub(super) fn new(host: Label, application: ClientId) -> Self {
        let (orders, inbox) = mpsc::unbounded_channel();
        let (number, list) = watch::channel(0);
        let want = Want::Mcp { host, application };
        let far = Far { want, list: number, inbox, waiting: Vec::new(), settling: Vec::new(), ended: false };
        let task = tokio::spawn(far.run());
        Self { orders, list, task }
    }

    /// Another number is perhaps another list of tools.
    pub(super) fn list(&self) -> watch::Receiver<u64> {
        self.list.clone()
    }

    /// Waits until it is known whether there is a connection: what opens only then is no news.
    pub(super) async fn settled(&self) {
        let (settle, settled) = oneshot::channel();
        if self.orders.send(Order::Settle(settle)).is_ok() {
            let _ = settled.await;
        }
    }

    /// Sends a request, a whole line, and waits for its answer, which is one too.
    pub(super) async fn ask(&self, id: &RawValue, line: String, call: bool) -> Result<String, Unanswered> {
        let gone = || Unanswered::Away(Away::ending());
        let (written, id) = (id.get().to_owned(), message::id(id).ok_or_else(gone)?);
        let (answer, answered) = oneshot::channel();
        let mut take_back = TakeBack { link: self, id: Some(id.clone()) };
        self.orders.send(Order::Ask(Ask { id, written, line, call, answer })).map_err(|_| gone())?;
        let answer = answered.await;
        take_back.id = None;
        answer.unwrap_or_else(|_| Err(gone()))
    }
}

impl Link {
    /// The host says no more, and the bridge has to hear of that at once. What it has answered then is still read.
    pub(super) fn end(&self) {
        let _ = self.orders.send(Order::End);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The far end: the task.
struct Far {
    want: Want,
    list: watch::Sender<u64>,
    inbox: mpsc::UnboundedReceiver<Order>,
    /// Came before the attempt that goes on now had an end.
    waiting: Vec<Ask>,
    settling: Vec<oneshot::Sender<()>>,
    /// The host says no more: nothing is attempted any longer.
    ended: bool,
}

impl Far {
    async fn run(mut self) {
        let mut bound = DOOR_BACKOFF;
        loop {
            let away = match self.attempt().await {
                Ok(open) => {
                    bound = DOOR_BACKOFF;
                    self.list.send_modify(|number| *number += 1);
                    self.settling.clear();
                    self.carry(open).await;
                    self.list.send_modify(|number| *number += 1);
                    Away { code: None, sentence: "the ClientMCP app went away".to_owned() }
                }
                Err(away) => away,
            };
            self.settling.clear();
            for ask in self.waiting.drain(..) {
                let _ = ask.answer.send(Err(Unanswered::Away(away.clone())));
            }
            if self.ended || !self.rest(&away, bound).await {
                return;
            }
            bound = (bound * 2).min(DOOR_BACKOFF_MOST);
        }
    }

    /// One try, whatever it leads to. Who comes meanwhile waits for its end, but not for the person.
    async fn attempt(&mut self) -> Result<Open, Away> {
        let (asking, mut asked) = watch::channel(false);
        let mut knocking = std::pin::pin!(knock(self.want.clone(), || {
            let _ = asking.send(true);
        }));
        loop {
            tokio::select! {
                said = &mut knocking => {
                    let (said, open) = said?;
                    let strange = || Away { code: None, sentence: "the bridge said something else".to_owned() };
                    return (said == Said::Open).then_some(open).ok_or_else(strange);
                }
                Ok(()) = asked.changed() => {
                    self.settling.clear();
                    self.waiting.drain(..).for_each(being_asked);
                }
                Some(order) = self.inbox.recv() => match order {
                    Order::Ask(ask) if *asked.borrow() => being_asked(ask),
                    Order::Ask(ask) => self.waiting.push(ask),
                    Order::TakeBack(id) => self.waiting.retain(|ask| ask.id != id),
                    Order::Settle(settle) if *asked.borrow() => drop(settle),
                    Order::Settle(settle) => self.settling.push(settle),
                    Order::End => {
                        self.ended = true;
                        return Err(Away::ending());
                    }
                },
            }
        }
    }

    /// Waits for the next attempt; false when nobody can want one any more.
    async fn rest(&mut self, away: &Away, bound: Duration) -> bool {
        // Full jitter: instances that lost the same bridge do not come back at the same moment.
        let time = bound.mul_f64(rand::random::<f64>());
        // A person who did not answer is not asked again by a clock.
        let by_clock = away.code != Some(DoorCode::Unanswered);
        let mut over = std::pin::pin!(sleep(time));
        loop {
            tokio::select! {
                () = &mut over, if by_clock => return true,
                order = self.inbox.recv() => match order {
                    None | Some(Order::End) => return false,
                    Some(Order::Ask(ask)) if by_clock || ask.call => {
                        self.waiting.push(ask);
                        return true;
                    }
                    Some(Order::Ask(ask)) => drop(ask.answer.send(Err(Unanswered::Away(away.clone())))),
                    Some(Order::Settle(settle)) if by_clock => {
                        self.settling.push(settle);
                        return true;
                    }
                    Some(Order::TakeBack(_) | Order::Settle(_)) => {}
                },
            }
        }
    }
}

fn being_asked(ask: Ask) {
    let sentence = "the user is being asked in the ClientMCP app whether this program may call these tools".to_owned();
    let _ = ask.answer.send(Err(Unanswered::Away(Away { code: Some(DoorCode::Unanswered), sentence })));
}

/// Requests that were sent and are not answered.
#[derive(Default)]
struct UnderWay(HashMap<RequestId, Ask>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        for (_, ask) in self.0.drain() {
            let _ = ask.answer.send(Err(Unanswered::Lost));
        }
    }
}

impl Far {
    /// Carries requests until the connection is lost or nobody wants one any more.
    async fn carry(&mut self, open: Open) {
        let Open { mut lines, output } = open;
        // Written by a task of its own: reading goes on meanwhile, so that two long messages never wait for each other.
        let (writing, queue) = mpsc::unbounded_channel();
        let (end, ended) = oneshot::channel();
        let writer = AbortOnDrop(tokio::spawn(write(output, queue, ended)));
        let mut end = Some(end);
        let mut under_way = UnderWay::default();
        let _ = writing.send(listen());
        for ask in self.waiting.drain(..) {
            send(ask, &writing, &mut under_way);
        }
        loop {
            tokio::select! {
                order = self.inbox.recv() => match order {
                    None => return,
                    Some(Order::Ask(ask)) if self.ended => drop(ask.answer.send(Err(Unanswered::Away(Away::ending())))),
                    Some(Order::Ask(ask)) => send(ask, &writing, &mut under_way),
                    Some(Order::End) => {
                        self.ended = true;
                        drop(end.take());
                    }
                    Some(Order::TakeBack(id)) => {
                        if let Some(ask) = under_way.0.remove(&id) {
                            let _ = writing.send(cancel(&ask.written));
                        }
                    }
                    Some(Order::Settle(settle)) => drop(settle),
                },
                line = lines.next() => match line {
                    Some(Line::Text(line)) => self.hear(line, &mut under_way),
                    // Longer than any answer: this is no bridge of ours.
                    Some(Line::TooLong) | None => break,
                },
            }
        }
        drop(writer);
    }

    fn hear(&self, line: Vec<u8>, under_way: &mut UnderWay) {
        let Ok(line) = String::from_utf8(line) else { return };
        let Ok(members) = Object::parse(&line) else { return };
        match members.get("method").and_then(text::string) {
            Some(method) if method == "notifications/tools/list_changed" => {
                self.list.send_modify(|number| *number += 1);
            }
            Some(_) => {}
            None => {
                let ask = members.get("id").and_then(message::id).and_then(|id| under_way.0.remove(&id));
                if let Some(ask) = ask {
                    let _ = ask.answer.send(Ok(line));
                }
            }
        }
    }
}

struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn send(mut ask: Ask, writing: &mpsc::UnboundedSender<String>, under_way: &mut UnderWay) {
    let _ = writing.send(std::mem::take(&mut ask.line));
    under_way.0.insert(ask.id.clone(), ask);
}

/// Writes until the host says no more. Then only what is taken at once still goes out, and the bridge hears of the end.
async fn write(
    mut output: WriteHalf<Stream>,
    mut queue: mpsc::UnboundedReceiver<String>,
    ended: oneshot::Receiver<()>,
) {
    let mut line = Bytes::new();
    tokio::select! {
        biased;
        _ = ended => {}
        () = write_on(&mut output, &mut queue, &mut line) => return,
    }
    let _ = unconstrained(write_on(&mut output, &mut queue, &mut line)).now_or_never();
    let _ = output.shutdown().await;
}

/// Nothing is lost when the future is dropped.
async fn write_on(output: &mut WriteHalf<Stream>, queue: &mut mpsc::UnboundedReceiver<String>, line: &mut Bytes) {
    loop {
        if line.is_empty() {
            // Whoever reads notices the end too.
            let (Ok(()), Some(next)) = (output.flush().await, queue.recv().await) else { return };
            *line = (next + "\n").into();
        }
        let Ok(written) = output.write(line).await else { return };
        line.advance(written);
    }
}

/// A subscription of our own, under an id that no host uses.
fn listen() -> String {
    let id = rand::random::<u128>();
    format!(
        r#"{{"jsonrpc":"2.0","id":"clientmcp-{id:032x}","method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

fn cancel(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}
