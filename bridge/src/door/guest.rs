//! One connection at the door: its hello, what the person says to it, and then MCP or one answer.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use clientmcp_protocol::{
    control::{Count, DoorProgram, DoorWants, Pair, Verdict},
    door::{Answer, App, DOOR_VERSION, DoorCode, Hello, Said, Want},
    ids::{ClientId, Label},
    limits::{CLOSE_TIME, DOOR_HELLO_BYTES, DOOR_HELLO_TIME, LAST_ANSWERS_TIME},
    strict,
};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::OwnedSemaphorePermit,
    time::timeout,
};

use super::{Door, words};
use crate::{
    call::Agent,
    hub::{Hub, Turned, View},
    lines::{Line, Lines},
    local::{self, Output, Stream},
    mcp::{
        self, Carrier, Peer,
        session::{self, Answers},
    },
    presence::Caller,
    text,
    token::{Claims, Minted, NumericDate},
};

/// Somebody at the door.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) door: Door,
    pub(super) program: DoorProgram,
    /// Nothing when the door is full.
    pub(super) place: Option<OwnedSemaphorePermit>,
}

/// What a guest is given.
enum Given {
    /// One line, and that is all.
    Said(Said),
    /// MCP from now on.
    Host(Host),
    /// Whoever asked is gone.
    Nothing,
}

type Input = Lines<BufReader<local::Input>>;

impl Guest {
    pub(super) async fn serve(self, stream: Stream) {
        let (input, mut output, caller) = local::halves(stream);
        let mut lines = Lines::new(BufReader::new(input), DOOR_HELLO_BYTES);
        let given = match timeout(DOOR_HELLO_TIME, lines.next()).await {
            Err(_) => Given::Said(words::refused(DoorCode::Hello)),
            Ok(None) => return,
            Ok(Some(_)) if self.place.is_none() => Given::Said(words::refused(DoorCode::Busy)),
            Ok(Some(line)) => match hello(&line) {
                Ok(hello) => self.give(hello.want, &mut lines, &mut output, caller).await.unwrap_or_else(|given| given),
                Err(said) => Given::Said(said),
            },
        };
        match given {
            Given::Nothing => {}
            // Who does not read keeps no place for it.
            Given::Said(said) => drop(timeout(CLOSE_TIME, say(&mut output, said)).await),
            Given::Host(host) => {
                if say(&mut output, Said::Open).await.is_ok() {
                    session::serve(&host, lines.into_inner(), &mut output, LAST_ANSWERS_TIME).await;
                }
            }
        }
        let _ = timeout(CLOSE_TIME, output.shutdown()).await;
    }

    async fn give(&self, want: Want, lines: &mut Input, output: &mut Output, caller: Caller) -> Result<Given, Given> {
        let access = self.door.hub.access();
        let said = match want {
            Want::Status => self.status(),
            Want::Mcp { host, application } => {
                self.ask(pair(&host, Some(&application)), lines, output, &caller).await?;
                return self.let_in(host, application, caller).map(Given::Host).map_err(Given::Said);
            }
            Want::Apps { host } => {
                let lets_in = |pair: &Pair| pair.host == host && pair.verdict == Verdict::Allow;
                let known = access.borrow().pairs().iter().any(lets_in);
                if !known {
                    self.ask(pair(&host, None), lines, output, &caller).await?;
                }
                Said::Apps { apps: apps(&self.door.hub, &host) }
            }
            Want::Headers { port: Some(port), .. } if port != self.door.port => words::refused(DoorCode::Port),
            Want::Headers { host, application, port: _ } => {
                self.ask(pair(&host, Some(&application)), lines, output, &caller).await?;
                let minted = access.borrow().mint_for(&host, &application);
                self.minted(minted.ok_or_else(|| words::turned(Turned::Declined)).map_err(Given::Said)?)
            }
            Want::Token { seconds: Some(0), .. } => words::refused(DoorCode::Value),
            Want::Token { application, role, label, seconds } => {
                let wants = DoorWants::Token { application: application.clone(), role, label: label.clone(), seconds };
                self.ask(wants, lines, output, &caller).await?;
                let minted = self.door.hub.mint(application, role, label, seconds.map(Duration::from_secs)).await;
                self.minted(minted)
            }
        };
        Ok(Given::Said(said))
    }

    /// The person's answer, given now or earlier.
    async fn ask(
        &self,
        wants: DoorWants,
        lines: &mut Input,
        output: &mut Output,
        caller: &Caller,
    ) -> Result<(), Given> {
        let said = |turned| Given::Said(words::turned(turned));
        let Some(waiting) = self.door.hub.knock(wants, self.program.clone(), caller.clone()).await.map_err(said)?
        else {
            return Ok(());
        };
        say(output, Said::Asking).await.map_err(|_| Given::Nothing)?;
        tokio::select! {
            answer = waiting.answer() => answer.map_err(said),
            // Nothing may come before the answer; mostly it is the end.
            _ = lines.next() => Err(Given::Nothing),
        }
    }

    fn let_in(&self, host: Label, application: ClientId, caller: Caller) -> Result<Host, Said> {
        let hub = self.door.hub.clone();
        let claims = hub.access().borrow().host(&host, &application);
        let claims = claims.ok_or_else(|| words::turned(Turned::Declined))?;
        let agent = Agent { application, label: Some(host) };
        Ok(Host { hub, agent, claims: Arc::new(claims), caller })
    }

    /// A token is of use, and safe to be sent, only while it is this bridge that listens.
    fn minted<E>(&self, minted: Result<Minted, E>) -> Said {
        if self.door.listening.has_changed().is_err() {
            return words::refused(DoorCode::Closing);
        }
        match minted {
            Ok(Minted { token, end, .. }) => Said::Token { token, ends: end.map(NumericDate::millis) },
            Err(_) => words::refused(DoorCode::Value),
        }
    }

    fn status(&self) -> Said {
        let Door { hub, mcp, connect, .. } = &self.door;
        let paused = hub.watch().borrow().paused();
        Said::Status { mcp: mcp.clone(), connect: connect.clone(), pid: std::process::id(), paused }
    }
}

/// A hello of ours, or what is said to another.
fn hello(line: &Line) -> Result<Hello, Said> {
    let none = || words::refused(DoorCode::Hello);
    let Line::Text(line) = line else { return Err(none()) };
    let members = std::str::from_utf8(line).ok().and_then(|line| text::Object::parse(line).ok());
    let version = members.and_then(|members| members.get("door")?.get().parse().ok()).ok_or_else(none)?;
    if version != u64::from(DOOR_VERSION) {
        return Err(words::other_version(version));
    }
    let mut hello: Hello = strict::from_slice(line).map_err(|_| none())?;
    // The person has to tell one name from another.
    if let Some(label) = hello.want.label_mut() {
        *label = Label::typed(label.as_str()).map_err(|_| none())?;
    }
    Ok(hello)
}

async fn say(output: &mut (impl AsyncWrite + Unpin), said: Said) -> std::io::Result<()> {
    let answer = Answer { door: DOOR_VERSION, version: env!("CARGO_PKG_VERSION").to_owned(), said };
    let mut line = serde_json::to_vec(&answer)?;
    line.push(b'\n');
    output.write_all(&line).await?;
    output.flush().await
}

fn pair(host: &Label, application: Option<&ClientId>) -> DoorWants {
    DoorWants::Pair { host: host.clone(), application: application.cloned() }
}

/// Those that the host was let in to, and where it was let in to all, those that are connected.
fn apps(hub: &Hub, host: &Label) -> Vec<App> {
    let access = hub.access().borrow().clone();
    let view = hub.watch();
    let view = view.borrow();
    let named = access.pairs().iter().filter(|pair| pair.host == *host).filter_map(|pair| pair.application.clone());
    let all: BTreeSet<_> = named.chain(view.applications().cloned()).collect();
    let allowed = all.into_iter().filter(|app| access.verdict(host, Some(app)) == Some(Verdict::Allow));
    let head = |app: ClientId| {
        let served = view.served(&app);
        let tools = Count::from(served.map_or(0, |served| served.declaration.tools().len()));
        App { connected: served.is_some(), tools, app }
    };
    allowed.map(head).collect()
}

/// A host that was let in: one agent of one application.
struct Host {
    hub: Hub,
    agent: Agent,
    claims: Arc<Claims>,
    caller: Caller,
}

impl Answers for Host {
    fn peer(&self, batches: bool) -> Peer<'_> {
        Peer::new(&self.hub, &self.agent, &self.claims, &self.caller, Carrier::Lines { batches }, true)
    }

    async fn answer(&self, request: &[u8], batches: bool) -> mcp::Answer {
        mcp::answer(&self.peer(batches), request).await
    }

    fn has_left(&self) -> bool {
        self.caller.has_left()
    }

    /// The step that sends asks.
    async fn left(&self) {
        std::future::pending::<()>().await;
    }

    /// What was sent may be answered for a moment; what waits for the person is over.
    async fn ended(&self) {
        self.hub.withdraw().await;
    }

    /// The bridge shuts down, or the person took back that they let it in.
    async fn over(&self) {
        let (mut access, mut view) = (self.hub.access(), self.hub.watch());
        loop {
            let closing = view.has_changed().is_err() || view.borrow_and_update().closing();
            if closing || !access.borrow_and_update().stands(&self.claims) {
                return;
            }
            tokio::select! {
                _ = view.wait_for(View::closing) => {}
                _ = access.changed() => {}
            }
        }
    }
}
