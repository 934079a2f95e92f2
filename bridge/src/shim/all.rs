//! All applications that the host may call, behind three tools.
//!
//! Each call goes through a connection of its own, which is closed when the host takes the call back.

use clientmcp_protocol::{
    door::{Said, Want},
    ids::{ClientId, Label},
};
use tokio::{io::AsyncWriteExt as _, sync::watch};

use super::{
    knock::{Away, Open, knock},
    link::Unanswered,
    message::instead,
    one::{inner, list, raw, result},
    tools::{ALL, OfAll},
};
use crate::{
    lines::Line,
    mcp::{
        self, Answer, Peer, StandIn,
        message::{Message, Request},
        session::Answers,
    },
    presence::{stdin_ended, stdin_has_ended},
    respond,
    text::{self, Object},
};

/// See the module.
pub(super) struct All {
    host: Label,
    stand_in: StandIn,
    /// The list never changes.
    _list: watch::Sender<u64>,
    /// The host says no more.
    ended: watch::Sender<bool>,
}

impl All {
    pub(super) fn new(host: Label) -> Self {
        let (sender, list) = watch::channel(0);
        let ended = watch::Sender::new(false);
        // An unknown host is asked about when it starts, rather than while its first call waits. Nobody needs the answer.
        let knock = knock(Want::Apps { host: host.clone() }, || ());
        let knock = while_there(ended.subscribe(), knock);
        drop(tokio::spawn(async move { knock.await.map(drop) }));
        Self { host, stand_in: stand_in(list, String::new()), _list: sender, ended }
    }

    async fn call(&self, request: &Request<'_>, line: &[u8], batches: bool) -> Answer {
        let name = request.params.get("name").and_then(text::string);
        let result = match name.as_deref().and_then(OfAll::named) {
            Some(OfAll::Apps) => self.apps().await,
            Some(OfAll::Tools) => match app(request) {
                Ok(app) => {
                    let answer = self.ask(app, instead(request, "tools/list", &[])).await;
                    answer.map_or_else(|unanswered| result(&unanswered), |answer| list(&answer))
                }
                Err(fault) => respond::told(fault, true),
            },
            Some(OfAll::Call) => match app(request).and_then(|app| Ok((app, inner(request, "tool")?))) {
                Ok((app, call)) => match self.ask(app, call).await {
                    Ok(answer) => return raw(answer),
                    Err(unanswered) => result(&unanswered),
                },
                Err(fault) => respond::told(fault, true),
            },
            None => return unknown(request, name.as_deref()),
        };
        self.alone(line, batches, result).await
    }

    async fn apps(&self) -> String {
        match while_there(self.ended.subscribe(), knock(Want::Apps { host: self.host.clone() }, || ())).await {
            Ok((Said::Apps { apps }, _)) => {
                let apps = serde_json::to_string(&apps).unwrap_or_default();
                respond::told(&format!("{{\"apps\":{apps}}}"), false)
            }
            Ok(_) => result(&Unanswered::Away(strange())),
            Err(away) => result(&Unanswered::Away(away)),
        }
    }

    /// One request to one application. Dropped, it closes the connection, and with that takes the request back.
    async fn ask(&self, application: ClientId, mut request: String) -> Result<String, Unanswered> {
        let want = Want::Mcp { host: self.host.clone(), application };
        let mut ended = self.ended.subscribe();
        let knocked = while_there(ended.clone(), knock(want, || ())).await;
        let (said, Open { mut lines, mut output }) = knocked.map_err(Unanswered::Away)?;
        if said != Said::Open {
            return Err(Unanswered::Away(strange()));
        }
        request.push('\n');
        let lost = |_| Unanswered::Lost;
        output.write_all(request.as_bytes()).await.map_err(lost)?;
        output.flush().await.map_err(lost)?;
        // The bridge hears at once that the host says no more; what it answers then is still read.
        let line = tokio::select! {
            line = lines.next() => line,
            () = until_ended(&mut ended) => {
                let _ = output.shutdown().await;
                lines.next().await
            }
        };
        match line {
            Some(Line::Text(line)) => String::from_utf8(line).map_err(|_| Unanswered::Lost),
            Some(Line::TooLong) | None => Err(Unanswered::Lost),
        }
    }

    async fn alone(&self, line: &[u8], batches: bool, result: String) -> Answer {
        let stand_in = stand_in(self.stand_in.list.clone(), result);
        mcp::answer(&Peer::alone(&stand_in, batches), line).await
    }
}

impl Answers for All {
    fn peer(&self, batches: bool) -> Peer<'_> {
        Peer::alone(&self.stand_in, batches)
    }

    async fn answer(&self, line: &[u8], batches: bool) -> Answer {
        match mcp::message::read(line) {
            Ok(Message::Request(request)) if request.method == "tools/call" => self.call(&request, line, batches).await,
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
        self.ended.send_replace(true);
    }
}

fn stand_in(list: watch::Receiver<u64>, result: String) -> StandIn {
    StandIn {
        title: "ClientMCP".to_owned(),
        instructions:
            "Applications that are open offer tools here. clientmcp_apps lists the applications, clientmcp_tools \
                       the tools of one, and clientmcp_call calls one. Both lists may change at any time."
                .to_owned(),
        tools: ALL,
        list,
        result,
    }
}

fn strange() -> Away {
    Away { code: None, sentence: "the bridge said something else".to_owned() }
}

/// What is asked for on behalf of the host, as long as it is there. Dropped, a question goes.
async fn while_there<T>(
    mut ended: watch::Receiver<bool>,
    asking: impl Future<Output = Result<T, Away>>,
) -> Result<T, Away> {
    tokio::select! {
        biased;
        () = until_ended(&mut ended) => Err(Away::ending()),
        asked = asking => asked,
    }
}

async fn until_ended(ended: &mut watch::Receiver<bool>) {
    // Whoever would say so is there as long as the call.
    let _ = ended.wait_for(|ended| *ended).await;
}

/// The application that the arguments name.
fn app(request: &Request<'_>) -> Result<ClientId, &'static str> {
    let arguments = request.params.get("arguments").and_then(|arguments| Object::parse(arguments.get()).ok());
    let app =
        arguments.and_then(|arguments| text::string(arguments.get("app")?).and_then(|app| ClientId::new(&app).ok()));
    app.ok_or("Nothing was done: \"app\" is missing, or names no application. clientmcp_apps lists them.")
}

fn unknown(request: &Request<'_>, name: Option<&str>) -> Answer {
    let refusal = match name {
        Some(name) => crate::refusal::Refusal::UnknownTool(name.to_owned()),
        None => crate::refusal::Refusal::InvalidParams("\"name\" is not a string".into()),
    };
    Answer::Refused(respond::refused(Some(request.id), crate::revision::Era::Legacy, &refusal))
}

#[cfg(test)]
mod tests {
    use std::{future::pending, sync::Arc};

    use super::*;

    // holds: leaving-stdio
    #[tokio::test(start_paused = true)]
    async fn nothing_is_asked_for_a_host_that_is_gone() {
        for dropped in [false, true] {
            let (sender, asking) = (watch::Sender::new(false), Arc::new(()));
            let held = Arc::clone(&asking);
            let asked = tokio::spawn(while_there(sender.subscribe(), async move {
                pending::<()>().await;
                drop(held);
                Ok(())
            }));
            tokio::task::yield_now().await;
            assert_eq!(Arc::strong_count(&asking), 2);
            if dropped {
                drop(sender);
            } else {
                sender.send_replace(true);
            }
            assert_eq!(asked.await.unwrap(), Err(Away::ending()));
            assert_eq!(Arc::strong_count(&asking), 1);
        }
        // It is not even begun.
        let gone = watch::Sender::new(true);
        let begun = while_there(gone.subscribe(), async { panic!("it knocks") });
        assert_eq!(begun.await, Err::<(), _>(Away::ending()));
    }
}
