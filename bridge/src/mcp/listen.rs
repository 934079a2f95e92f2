//! Change announcements for one agent: the legacy stream and the modern `subscriptions/listen` (`docs/protocol.md`,
//! "Streams"). How messages are framed, and that a slow reader waits alone, is the transport's affair.

use std::sync::Arc;

use clientmcp_protocol::{ids::ClientId, limits::ANNOUNCE_PAUSE};
use serde_json::value::RawValue;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{Peer, message::Request, modern};
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
    view: watch::Receiver<View>,
    access: watch::Receiver<Arc<Access>>,
    claims: Arc<Claims>,
    application: ClientId,
    words: Words,
    /// The list that the agent knows of.
    announced: Option<Arc<Declaration>>,
    /// No announcement before this.
    rest_until: Instant,
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
        let (mut view, application) = (peer.hub.watch(), peer.agent.application.clone());
        let announced = declared(&view.borrow_and_update(), &application);
        let (access, claims) = (peer.hub.access(), Arc::clone(peer.claims));
        Self { id, view, access, claims, application, words, announced, rest_until: Instant::now() }
    }

    /// Whose tools.
    pub fn application(&self) -> &ClientId {
        &self.application
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
            if !self.access.borrow_and_update().stands(&self.claims) {
                return None;
            }
            let (closing, now) = self.look();
            if closing {
                return self.words.end.take();
            }
            match &self.words.change {
                Some(change) if !same_tools(now.as_deref(), self.announced.as_deref()) => {
                    if Instant::now() >= self.rest_until {
                        self.announced = now;
                        self.rest_until = Instant::now() + ANNOUNCE_PAUSE;
                        return Some(change.clone());
                    }
                    self.rest().await;
                }
                Some(_) | None => self.changed().await,
            }
        }
    }

    fn look(&mut self) -> (bool, Option<Arc<Declaration>>) {
        let gone = self.view.has_changed().is_err();
        let view = self.view.borrow_and_update();
        (gone || view.closing(), declared(&view, &self.application))
    }

    async fn changed(&mut self) {
        // A hub that is gone is seen at the next look.
        tokio::select! {
            _ = self.view.changed() => {}
            _ = self.access.changed() => {}
        }
    }

    /// Waits until the next announcement may be made, or the bridge shuts down.
    async fn rest(&mut self) {
        tokio::select! {
            () = sleep_until(self.rest_until) => {}
            _ = self.view.wait_for(View::closing) => {}
            _ = self.access.changed() => {}
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
