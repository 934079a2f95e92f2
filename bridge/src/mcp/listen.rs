//! Change announcements for one agent: the legacy stream and the modern `subscriptions/listen` (`docs/protocol.md`,
//! "Streams"). How messages are framed, and that a slow reader waits alone, is the transport's affair.

use std::sync::Arc;

use clientmcp_protocol::{ids::ClientId, limits::ANNOUNCE_PAUSE};
use serde_json::value::RawValue;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{Peer, Server, message::Request, modern};
use crate::{
    declaration::Declaration,
    hub::View,
    pieces::Pieces,
    refusal::Refusal,
    respond::{self, Refused},
    revision::Era,
    text::{self, Kind, Object},
    token::{Access, Claims},
};

/// One agent that waits for changes of one application's tools.
#[derive(Debug)]
pub struct Listening {
    /// Of the request that opened it.
    id: Option<Box<RawValue>>,
    list: List,
    words: Words,
    /// No announcement before this.
    rest_until: Instant,
}

/// The list that is followed.
#[derive(Debug)]
enum List {
    /// One application's, through the bridge.
    Bridge {
        view: watch::Receiver<View>,
        access: watch::Receiver<Arc<Access>>,
        claims: Arc<Claims>,
        application: ClientId,
        /// What the agent knows of.
        announced: Option<Arc<Declaration>>,
    },
    /// One that somebody else looks after: another number is another list.
    StandIn { number: watch::Receiver<u64>, announced: u64 },
}

/// Where a list stands.
enum News {
    /// Nobody may follow it any more.
    Revoked,
    /// The bridge shuts down.
    Closing,
    /// As it was announced.
    Same,
    Changed,
}

/// What is said in which era. Each is one JSON-RPC message.
#[derive(Debug)]
struct Words {
    opening: Option<Pieces>,
    /// Nothing, when the agent asked for no announcements.
    change: Option<Pieces>,
    end: Option<Pieces>,
}

/// The legacy stream.
pub(super) fn legacy(peer: &Peer<'_>) -> Listening {
    let change = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    Listening::new(peer, None, Words { opening: None, change: Some(change.to_owned().into()), end: None })
}

/// A modern subscription: every message names the request that opened it.
pub(super) fn modern(peer: &Peer<'_>, request: &Request<'_>) -> Result<Listening, Refusal> {
    let tools = wants_tools(request)?;
    if !peer.streams {
        return Err(Refusal::NotAcceptable);
    }
    let id = request.id.get();
    let subscription = format!("\"io.modelcontextprotocol/subscriptionId\":{id}");
    let honoured = if tools { r#"{"toolsListChanged":true}"# } else { "{}" };
    let notification = |method: &str, more: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{"_meta":{{{subscription}}}{more}}}}}"#
        )
    };
    let end = format!(r#"{{"resultType":"complete","_meta":{{{subscription},{}}}}}"#, modern::server_info_member(peer));
    let words = Words {
        opening: Some(notification("subscriptions/acknowledged", &format!(",\"notifications\":{honoured}")).into()),
        change: tools.then(|| notification("tools/list_changed", "").into()),
        end: Some(respond::result(request.id, end.into())),
    };
    Ok(Listening::new(peer, Some(request.id.to_owned()), words))
}

fn wants_tools(request: &Request<'_>) -> Result<bool, Refusal> {
    let wrong = |why: &str| Refusal::InvalidParams(why.to_owned());
    let filter = request.params.get("notifications").ok_or_else(|| wrong("\"notifications\" is missing"))?;
    let filter = Object::parse(filter.get()).map_err(|_| wrong("\"notifications\" is not an object"))?;
    match filter.get("toolsListChanged") {
        None => Ok(false),
        Some(tools) if text::kind(tools) == Kind::Bool => Ok(tools.get() == "true"),
        Some(_) => Err(wrong("\"toolsListChanged\" is neither true nor false")),
    }
}

impl Listening {
    fn new(peer: &Peer<'_>, id: Option<Box<RawValue>>, words: Words) -> Self {
        let list = match &peer.server {
            Server::Bridge { hub, agent, claims, .. } => {
                let (mut view, application) = (hub.watch(), agent.application.clone());
                let announced = declared(&view.borrow_and_update(), &application);
                List::Bridge { view, access: hub.access(), claims: Arc::clone(claims), application, announced }
            }
            Server::StandIn(stand_in) => {
                let mut number = stand_in.list.clone();
                let announced = *number.borrow_and_update();
                List::StandIn { number, announced }
            }
        };
        Self { id, list, words, rest_until: Instant::now() }
    }

    /// The answer where there is no place for another stream.
    pub fn refused(&self, refusal: &Refusal) -> Refused {
        respond::refused(self.id.as_deref(), Era::Modern, refusal)
    }

    /// The next message; nothing once the stream has ended.
    pub async fn next(&mut self) -> Option<Pieces> {
        if let Some(opening) = self.words.opening.take() {
            return Some(opening);
        }
        loop {
            match (self.list.look(), &self.words.change) {
                (News::Revoked, _) => return None,
                (News::Closing, _) => return self.words.end.take(),
                (News::Changed, Some(change)) => {
                    if Instant::now() >= self.rest_until {
                        self.list.announced();
                        self.rest_until = Instant::now() + ANNOUNCE_PAUSE;
                        return Some(change.clone());
                    }
                    self.list.rest(self.rest_until).await;
                }
                (News::Changed, None) | (News::Same, _) => self.list.changed().await,
            }
        }
    }
}

impl List {
    fn look(&mut self) -> News {
        match self {
            Self::Bridge { view, access, claims, application, announced } => {
                if !access.borrow_and_update().stands(claims) {
                    return News::Revoked;
                }
                let gone = view.has_changed().is_err();
                let view = view.borrow_and_update();
                if gone || view.closing() {
                    return News::Closing;
                }
                let same = same_tools(declared(&view, application).as_deref(), announced.as_deref());
                if same { News::Same } else { News::Changed }
            }
            Self::StandIn { number, announced } => {
                let gone = number.has_changed().is_err();
                let same = *number.borrow_and_update() == *announced;
                if gone {
                    return News::Closing;
                }
                if same { News::Same } else { News::Changed }
            }
        }
    }

    /// What is there now is what the agent is told of.
    fn announced(&mut self) {
        match self {
            Self::Bridge { view, application, announced, .. } => *announced = declared(&view.borrow(), application),
            Self::StandIn { number, announced } => *announced = *number.borrow(),
        }
    }

    async fn changed(&mut self) {
        // What is gone is seen at the next look.
        match self {
            Self::Bridge { view, access, .. } => {
                tokio::select! {
                    _ = view.changed() => {}
                    _ = access.changed() => {}
                }
            }
            Self::StandIn { number, .. } => drop(number.changed().await),
        }
    }

    /// Waits until the next announcement may be made, or the bridge shuts down.
    async fn rest(&mut self, until: Instant) {
        match self {
            Self::Bridge { view, access, .. } => {
                tokio::select! {
                    () = sleep_until(until) => {}
                    _ = view.wait_for(View::closing) => {}
                    _ = access.changed() => {}
                }
            }
            Self::StandIn { .. } => sleep_until(until).await,
        }
    }
}

fn declared(view: &View, application: &ClientId) -> Option<Arc<Declaration>> {
    view.served(application).map(|served| Arc::clone(&served.declaration))
}

/// An application that is offline has the same list as one without tools.
fn same_tools(one: Option<&Declaration>, other: Option<&Declaration>) -> bool {
    let texts = |declaration: Option<&Declaration>| {
        declaration
            .map_or_else(Vec::new, |declaration| declaration.tools().iter().map(|tool| tool.text.clone()).collect())
    };
    match (one, other) {
        (Some(one), Some(other)) if std::ptr::eq(one, other) => true,
        _ => texts(one) == texts(other),
    }
}
