//! One desktop's session with the bridge: hello, start, commands, and the end of both.

use std::{process, time::Duration};

use clientmcp_protocol::{
    control::{CONTROL_VERSION, Command, Count, ErrorCode, Event, Hello, Reply, Request, Start},
    ids::{ClientId, Fingerprint, Label, Role, ToolName},
    limits::{CONTROL_BYTES, JSON_NESTING, MEMORY_BYTES},
    strict,
};
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncBufRead, AsyncWrite},
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use super::writer::{REPLIES, Writer};
use crate::{
    approvals::Asking,
    hub::{Beginning, Hub, Untried, ending, memory_fault, settings_fault, settled},
    lines::{Line, Lines},
    port::ListenError,
    room::Room,
    text::{self, Text},
    token::{Access, Minted, NumericDate, Secret, Secrets},
};

/// The person's own calls that may run at a time.
const OWN_CALLS: usize = 8;

/// How long a desktop may leave all places for replies filled: less than the bridge may take to end.
const UNREAD: Duration = Duration::from_secs(2);

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The desktop went away, or asked for it.
    Done,
    /// The other end is no desktop that is understood.
    Version,
    /// The port is taken.
    PortTaken,
    /// The port cannot be listened on, or the desktop cannot be written to.
    Failed,
    /// No usable secret.
    NoSecret,
}

/// Takes the port and serves the bridge's peers there.
pub trait Listener: Sized {
    /// Takes the port; 0 takes a free one.
    fn listen(port: u16) -> Result<Self, ListenError>;

    /// Where agents call.
    fn mcp_url(&self) -> String;

    /// Where applications connect.
    fn connect_url(&self) -> String;

    /// Serves until `stop` resolves; then ends in order.
    fn serve(
        self,
        hub: Hub,
        room: Room,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static;
}

/// The sample application, which runs in the bridge's process and connects like any other.
pub trait Sample {
    /// Its client ID.
    fn application(&self) -> ClientId;

    /// Connects it. One that runs already is connected anew.
    fn start(&mut self, connect_url: &str, token: String);

    /// Ends it.
    fn stop(&mut self);
}

/// Serves one desktop, until it goes away or `stopped` resolves.
pub async fn serve<L: Listener>(
    input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    mut sample: impl Sample,
    stopped: impl Future<Output = ()>,
) -> End {
    let (mut lines, mut writer) = (Lines::new(input, MEMORY_BYTES), Writer(output));
    let mut stopped = std::pin::pin!(stopped);
    let beginning = async {
        greet(&mut lines, &mut writer).await?;
        begin(&mut lines, &mut writer).await
    };
    let begun = tokio::select! {
        begun = beginning => begun,
        () = &mut stopped => Err(End::Done),
    };
    match begun {
        Ok((bridge, start, request)) => {
            let session = run::<L, _, _>(bridge, start, request, &mut lines, writer, &mut sample, stopped);
            session.await.unwrap_or_else(|end| end)
        }
        Err(end) => end,
    }
}

/// Both ends say who they are; another version is not served.
async fn greet<R, W>(lines: &mut Lines<R>, writer: &mut Writer<W>) -> Result<(), End>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let hello = Hello { control: CONTROL_VERSION, version: env!("CARGO_PKG_VERSION").to_owned() };
    write(writer, &Event::Hello(hello)).await?;
    let line = lines.next().await.ok_or(End::Done)?;
    let theirs = match &line {
        Line::Text(text) => hello_of(text),
        Line::TooLong => None,
    };
    if theirs == Some(CONTROL_VERSION) {
        return Ok(());
    }
    let sentence = format!(
        "the first line must be a hello of control version {CONTROL_VERSION}: update the desktop app and the bridge together"
    );
    write(writer, &Event::Error { code: ErrorCode::Version, sentence }).await?;
    Err(End::Version)
}

fn hello_of(line: &[u8]) -> Option<u32> {
    let members = text::Object::parse(std::str::from_utf8(line).ok()?).ok()?;
    let is_hello = members.get("type").and_then(text::string).as_deref() == Some("hello");
    is_hello.then(|| members.get("control")?.get().parse().ok())?
}

/// Waits for `start`, and takes the port.
async fn begin<L, R, W>(lines: &mut Lines<R>, writer: &mut Writer<W>) -> Result<(L, Start, Count), End>
where
    L: Listener,
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    loop {
        let request = match read(&lines.next().await.ok_or(End::Done)?) {
            Ok(request) => request,
            Err(event) => {
                write(writer, &event).await?;
                continue;
            }
        };
        let (reply, end) = match request.command {
            Command::Start(start) => match prepare(*start) {
                Ok((bridge, start)) => return Ok((bridge, start, request.request)),
                Err((code, sentence, end)) => (Reply::Refused { code, sentence }, end),
            },
            Command::Shutdown => (Reply::Done, Some(End::Done)),
            Command::Decide(_)
            | Command::SetMode { .. }
            | Command::SetRules { .. }
            | Command::AddOrigin { .. }
            | Command::Pause
            | Command::Resume
            | Command::Disconnect { .. }
            | Command::Revoke { .. }
            | Command::Unblock { .. }
            | Command::SetSecrets { .. }
            | Command::SetSettings { .. }
            | Command::Mint { .. }
            | Command::TryTool { .. }
            | Command::SampleStart
            | Command::SampleStop
            | Command::AllowPair { .. }
            | Command::ForgetPair { .. }
            | Command::DecideDoor { .. }
            | Command::Get { .. } => (refused(ErrorCode::Start, "the bridge has not been started"), None),
        };
        write(writer, &Event::Reply { request: request.request, reply }).await?;
        if let Some(end) = end {
            return Err(end);
        }
    }
}

type Fault = (ErrorCode, String, Option<End>);

fn prepare<L: Listener>(start: Start) -> Result<(L, Start), Fault> {
    if let Some(fault) = settings_fault(&start.settings) {
        return Err((ErrorCode::Value, fault.to_owned(), None));
    }
    if let Some(fault) = memory_fault(&start.memory) {
        return Err((ErrorCode::Value, fault.to_owned(), None));
    }
    let start = Start { memory: settled(start.memory), ..start };
    secrets(&start.secrets.0).map_err(|sentence| (ErrorCode::Secret, sentence, Some(End::NoSecret)))?;
    match L::listen(start.port) {
        Ok(bridge) => Ok((bridge, start)),
        Err(error @ ListenError::Taken { .. }) => Err((ErrorCode::PortTaken, error.to_string(), Some(End::PortTaken))),
        Err(error @ ListenError::Failed { .. }) => Err((ErrorCode::Listen, error.to_string(), Some(End::Failed))),
    }
}

fn secrets(texts: &[String]) -> Result<Secrets, String> {
    let secrets: Result<Vec<_>, _> = texts.iter().map(|text| Secret::new(text)).collect();
    let secrets = secrets.map_err(|fault| format!("a secret cannot be used: it is {fault}"))?;
    Secrets::new(secrets).ok_or_else(|| "at least one secret is needed".to_owned())
}

/// Serves, until the desktop is gone; then ends in order.
async fn run<L, R, W>(
    bridge: L,
    start: Start,
    request: Count,
    lines: &mut Lines<R>,
    mut writer: Writer<W>,
    sample: &mut impl Sample,
    stopped: impl Future<Output = ()>,
) -> Result<End, End>
where
    L: Listener,
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    // `start` was the one message that carries all there is to remember.
    lines.take_at_most(CONTROL_BYTES);
    let Start { secrets: texts, settings, memory, paused, port: _ } = start;
    let secrets = secrets(&texts.0).map_err(|_| End::NoSecret)?;
    // They may be dropped one day, which no copy here must outlive.
    drop(texts);
    let access =
        Access::new(secrets).with_revoked(&memory.generations, &memory.floors).with_pairs(memory.pairs.clone());
    let room = Room::make();
    let hub =
        Hub::start(Beginning { asking: Asking::Person, room: room.applications, settings, access, memory, paused });
    let desk = hub.desk().ok_or(End::Failed)?;
    let (mcp, connect) = (bridge.mcp_url(), bridge.connect_url());
    write(&mut writer, &Event::Listening { mcp, connect: connect.clone(), pid: process::id() }).await?;
    write(&mut writer, &Event::Reply { request, reply: Reply::Done }).await?;
    let (stop, stopping) = oneshot::channel::<()>();
    let serving = tokio::spawn(bridge.serve(hub.clone(), room, async move {
        let _ = stopping.await;
    }));
    let (replies, queue) = mpsc::channel(REPLIES);
    let mut writing = tokio::spawn(writer.run(hub.clone(), desk, queue));
    let mut session = Session { hub, connect, replies, own: JoinSet::new(), sample };
    tokio::select! {
        () = session.obey_all(lines) => {}
        // A desktop that cannot be written to is gone as well.
        _ = &mut writing => {}
        () = stopped => {}
    }
    session.sample.stop();
    drop(stop);
    let _ = serving.await;
    drop(session);
    if !writing.is_finished() {
        // It has read what it was told so far, or it will not.
        let _ = tokio::time::timeout(Duration::from_secs(1), writing).await;
    }
    Ok(End::Done)
}

/// What one session works with.
struct Session<'a, S> {
    hub: Hub,
    connect: String,
    replies: mpsc::Sender<Event>,
    own: JoinSet<()>,
    sample: &'a mut S,
}

impl<S: Sample> Session<'_, S> {
    async fn obey_all<R: AsyncBufRead + Unpin>(&mut self, lines: &mut Lines<R>) {
        while let Some(line) = lines.next().await {
            let event = match read(&line) {
                Err(event) => Some(event),
                Ok(Request { command: Command::Shutdown, request }) => {
                    let _ = self.replies.send_timeout(Event::Reply { request, reply: Reply::Done }, UNREAD).await;
                    return;
                }
                Ok(Request { command, request }) => {
                    self.obey(command, request).await.map(|reply| Event::Reply { request, reply })
                }
            };
            // A desktop that leaves so many replies unread is gone, whether or not it closed stdin behind them.
            if let Some(event) = event
                && self.replies.send_timeout(event, UNREAD).await.is_err()
            {
                return;
            }
        }
    }

    /// The reply, unless it comes later.
    async fn obey(&mut self, command: Command, request: Count) -> Option<Reply> {
        match command {
            Command::Start(_) => Some(refused(ErrorCode::Start, "the bridge was started already")),
            Command::Mint { application, role, label, seconds } => {
                Some(self.mint(application, role, label, seconds).await)
            }
            Command::TryTool { application, tool, fingerprint, arguments } => {
                self.try_tool(application, tool, fingerprint, &arguments, request)
            }
            Command::SampleStart => Some(self.start_sample().await),
            Command::SampleStop => {
                self.sample.stop();
                Some(Reply::Done)
            }
            Command::Decide(_)
            | Command::SetMode { .. }
            | Command::SetRules { .. }
            | Command::AddOrigin { .. }
            | Command::Pause
            | Command::Resume
            | Command::Disconnect { .. }
            | Command::Revoke { .. }
            | Command::Unblock { .. }
            | Command::SetSecrets { .. }
            | Command::SetSettings { .. }
            | Command::AllowPair { .. }
            | Command::ForgetPair { .. }
            | Command::DecideDoor { .. }
            | Command::Get { .. }
            | Command::Shutdown => self.hub.obey(command).await,
        }
    }

    async fn mint(&self, subject: ClientId, role: Role, label: Option<Label>, seconds: Option<u64>) -> Reply {
        if seconds == Some(0) {
            return refused(ErrorCode::Value, "a token that ends at once is none");
        }
        let label = match label.map(|label| Label::typed(label.as_str())).transpose() {
            Ok(label) => label,
            Err(fault) => return refused(ErrorCode::Value, &format!("no token was made: {fault}")),
        };
        match self.hub.mint(subject, role, label, seconds.map(Duration::from_secs)).await {
            Ok(Minted { token, end, .. }) => Reply::Token { token, ends: end.map(NumericDate::millis) },
            Err(fault) => refused(ErrorCode::Value, &format!("no token was made: {fault}")),
        }
    }

    async fn start_sample(&mut self) -> Reply {
        const DAY: u64 = 24 * 60 * 60;
        let reply = self.mint(self.sample.application(), Role::Client, None, Some(DAY)).await;
        let Reply::Token { token, .. } = reply else { return reply };
        self.sample.start(&self.connect, token);
        Reply::Done
    }

    fn try_tool(
        &mut self,
        application: ClientId,
        tool: ToolName,
        fingerprint: Fingerprint,
        arguments: &str,
        request: Count,
    ) -> Option<Reply> {
        while self.own.try_join_next().is_some() {}
        if self.own.len() >= OWN_CALLS {
            return Some(refused(ErrorCode::Value, "too many calls of yours are under way"));
        }
        let Some(arguments) = object(arguments) else {
            return Some(refused(ErrorCode::Value, "the arguments are not a JSON object that can be sent"));
        };
        let (hub, replies) = (self.hub.clone(), self.replies.clone());
        self.own.spawn(async move {
            let reply = tried(&hub, application, &tool, fingerprint, arguments).await;
            let _ = replies.send(Event::Reply { request, reply }).await;
        });
        None
    }
}

async fn tried(hub: &Hub, application: ClientId, tool: &ToolName, fingerprint: Fingerprint, arguments: Text) -> Reply {
    match hub.try_tool(application, tool.as_str(), fingerprint, arguments).await {
        Ok(ticket) => {
            let number = Count(ticket.number());
            Reply::Tried { outcome: ending(&ticket.answer().await), number }
        }
        Err(Untried::Stale) => refused(ErrorCode::Stale, "the tool has changed meanwhile: look at it again"),
        Err(Untried::Refused { refusal, number }) => {
            Reply::Tried { outcome: ending(&Err(refusal)), number: Count(number) }
        }
    }
}

fn object(arguments: &str) -> Option<Text> {
    let raw: &RawValue = serde_json::from_str(arguments).ok()?;
    let fits = text::kind(raw) == text::Kind::Object && text::nesting(arguments) < JSON_NESTING;
    fits.then(|| Text::of(raw))
}

/// One command, or what is to be said of a line that is none.
fn read(line: &Line) -> Result<Request, Event> {
    let sentence = match line {
        Line::Text(text) => match strict::whole_from_slice(text) {
            Ok(request) => return Ok(request),
            // Where it stands, never what stands there: that may be a secret.
            Err(fault) if fault.column() > 0 => {
                format!("a line that is no command was left out (column {})", fault.column())
            }
            Err(_) => "a line that is no command was left out: a member is missing or is none of this command, or a \
                       word, a number, a list or an object stands where another kind of value has to"
                .to_owned(),
        },
        Line::TooLong => "a line that is longer than a message may be was left out".to_owned(),
    };
    Err(Event::Error { code: ErrorCode::NotACommand, sentence })
}

async fn write<W: AsyncWrite + Unpin>(writer: &mut Writer<W>, event: &Event) -> Result<(), End> {
    writer.write(event).await.map_err(|_| End::Failed)
}

fn refused(code: ErrorCode, sentence: &str) -> Reply {
    Reply::Refused { code, sentence: sentence.to_owned() }
}
