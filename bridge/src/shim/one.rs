//! One application's tools, as they are, and beside them a few of the command's own where the host needs that.

use clientmcp_protocol::{
    door::{Said, Want},
    ids::{ClientId, Label},
    limits::DOOR_OPEN_TIME,
};
use serde_json::value::RawValue;
use tokio::{sync::watch, time::timeout};

use super::{
    knock::{Away, knock},
    link::{Link, Unanswered},
    message::{error, instead, tools, with_tools},
    not_reached,
    tools::{STATIC, Static},
};
use crate::{
    mcp::{
        self, Answer, Peer, StandIn,
        message::{Message, Request},
        session::Answers,
    },
    presence::{stdin_ended, stdin_has_ended},
    respond,
    text::{self, Kind},
};

/// See the module.
pub(super) struct One {
    application: ClientId,
    static_tools: bool,
    link: Link,
    stand_in: StandIn,
}

impl One {
    pub(super) fn new(host: Label, application: ClientId, static_tools: bool) -> Self {
        let link = Link::new(host, application.clone());
        let stand_in = stand_in(&application, static_tools, link.list(), String::new());
        Self { application, static_tools, link, stand_in }
    }

    async fn request(&self, request: &Request<'_>, line: &[u8], batches: bool) -> Answer {
        match request.method.as_ref() {
            "initialize" | "server/discover" => self.described(request, line, batches).await,
            "tools/list" => self.listed(request, line, batches).await,
            "tools/call" => match self.own(request) {
                Some(own) => self.called(own, request, line, batches).await,
                None => self.forwarded(request, whole(line), line, batches).await,
            },
            "subscriptions/listen" => {
                let _ = timeout(DOOR_OPEN_TIME, self.link.settled()).await;
                self.alone(line, batches, String::new()).await
            }
            _ => self.alone(line, batches, String::new()).await,
        }
    }

    /// Whoever opens a server must not wait long for its first words.
    async fn described(&self, request: &Request<'_>, line: &[u8], batches: bool) -> Answer {
        match timeout(DOOR_OPEN_TIME, self.link.ask(request.id, whole(line), false)).await {
            Ok(Ok(answer)) => raw(answer),
            Ok(Err(_)) | Err(_) => self.alone(line, batches, String::new()).await,
        }
    }

    async fn listed(&self, request: &Request<'_>, line: &[u8], batches: bool) -> Answer {
        match self.link.ask(request.id, whole(line), false).await {
            Ok(answer) if self.static_tools => {
                let is_ours = |name: &str| Static::named(name).is_some();
                raw(with_tools(&answer, STATIC, is_ours).unwrap_or(answer))
            }
            Ok(answer) => raw(answer),
            Err(_) => self.alone(line, batches, String::new()).await,
        }
    }

    /// A call as it goes to the application; `line` is the host's.
    async fn forwarded(&self, request: &Request<'_>, call: String, line: &[u8], batches: bool) -> Answer {
        match self.link.ask(request.id, call, true).await {
            Ok(answer) => raw(answer),
            Err(unanswered) => self.alone(line, batches, result(&unanswered)).await,
        }
    }

    fn own(&self, request: &Request<'_>) -> Option<Static> {
        let name = request.params.get("name").and_then(text::string)?;
        Static::named(&name).filter(|_| self.static_tools)
    }

    async fn called(&self, own: Static, request: &Request<'_>, line: &[u8], batches: bool) -> Answer {
        let result = match own {
            Static::Call => match inner(request, "name") {
                Ok(call) => return self.forwarded(request, call, line, batches).await,
                Err(fault) => respond::told(fault, true),
            },
            Static::List => match self.link.ask(request.id, instead(request, "tools/list", &[]), false).await {
                Ok(answer) => list(&answer),
                Err(unanswered) => result(&unanswered),
            },
            Static::Status => self.status(request).await,
        };
        self.alone(line, batches, result).await
    }

    async fn status(&self, request: &Request<'_>) -> String {
        let application = &self.application;
        let words = match self.link.ask(request.id, instead(request, "tools/list", &[]), false).await {
            Err(Unanswered::Away(away)) => {
                format!("{}. The tools of {application} cannot be called now.", away.sentence)
            }
            Err(Unanswered::Lost) => "The ClientMCP app went away.".to_owned(),
            Ok(answer) => match (tools(&answer).map_or(0, |tools| tools.len()), paused().await) {
                (0, _) => format!("ClientMCP is running. {application} offers no tools now: ask the user to open it."),
                (count, false) => format!("ClientMCP is running. {application} is connected and offers {count} tools."),
                (count, true) => format!("{application} offers {count} tools, and the user has paused all calls."),
            },
        };
        respond::told(&words, false)
    }

    /// What is said without the bridge; `result` is that of a call.
    async fn alone(&self, line: &[u8], batches: bool, result: String) -> Answer {
        let stand_in = stand_in(&self.application, self.static_tools, self.link.list(), result);
        mcp::answer(&Peer::alone(&stand_in, batches), line).await
    }
}

impl Answers for One {
    fn peer(&self, batches: bool) -> Peer<'_> {
        Peer::alone(&self.stand_in, batches)
    }

    async fn answer(&self, line: &[u8], batches: bool) -> Answer {
        match mcp::message::read(line) {
            Ok(Message::Request(request)) => self.request(&request, line, batches).await,
            _ => self.alone(line, batches, String::new()).await,
        }
    }

    /// Until the host goes.
    async fn over(&self) {
        std::future::pending::<()>().await;
    }

    fn has_left(&self) -> bool {
        stdin_has_ended()
    }

    async fn left(&self) {
        stdin_ended().await;
    }

    async fn ended(&self) {
        self.link.end();
    }
}

fn stand_in(application: &ClientId, static_tools: bool, list: watch::Receiver<u64>, result: String) -> StandIn {
    let hint = if static_tools { " Call clientmcp_list_tools for the tools that there are now." } else { "" };
    StandIn {
        title: application.to_string(),
        instructions: format!(
            "The tools of {application} appear when the ClientMCP app runs and {application} is open.{hint}"
        ),
        tools: if static_tools { STATIC } else { "" },
        list,
        result,
    }
}

/// The host's line.
pub(super) fn whole(line: &[u8]) -> String {
    // It was read as JSON before.
    String::from_utf8_lossy(line).into_owned()
}

/// An answer of the bridge, as it came.
pub(super) fn raw(answer: String) -> Answer {
    Answer::Result { body: answer.into(), session: None }
}

/// The result of a call that was not answered.
pub(super) fn result(unanswered: &Unanswered) -> String {
    match unanswered {
        Unanswered::Away(away) => not_reached(away),
        Unanswered::Lost => respond::bridge_lost(),
    }
}

/// The call that stands in the arguments of a call of ours, where `name` holds the tool's name.
pub(super) fn inner(request: &Request<'_>, name: &str) -> Result<String, &'static str> {
    let arguments = request.params.get("arguments").and_then(|arguments| text::Object::parse(arguments.get()).ok());
    let arguments = arguments.ok_or("Nothing was done: the arguments are missing.")?;
    if arguments.repeated().is_some() {
        return Err("Nothing was done: a member of the arguments is repeated.");
    }
    let tool = arguments.get(name).filter(|tool| text::kind(tool) == Kind::String);
    let tool = tool.ok_or("Nothing was done: the name of the tool is missing.")?;
    let mut params = vec![("name", tool.get())];
    match arguments.get("arguments") {
        None => {}
        Some(inside) if text::kind(inside) == Kind::Object => params.push(("arguments", inside.get())),
        Some(_) => return Err("Nothing was done: the tool's arguments must be a JSON object."),
    }
    Ok(instead(request, "tools/call", &params))
}

/// A list as the result of a call.
pub(super) fn list(answer: &str) -> String {
    match tools(answer) {
        Some(tools) => {
            let tools: Vec<_> = tools.into_iter().map(RawValue::get).collect();
            respond::told(&format!("{{\"tools\":[{}]}}", tools.join(",")), false)
        }
        None => respond::told(&error(answer).unwrap_or_default(), true),
    }
}

async fn paused() -> bool {
    let said: Result<_, Away> = knock(Want::Status, || ()).await;
    matches!(said, Ok((Said::Status { paused: true, .. }, _)))
}
