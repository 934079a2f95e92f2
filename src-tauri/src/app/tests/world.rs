//! What stands around the app in its tests.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use clientmcp_protocol::{
    control::{CONTROL_VERSION, Command, Count, Event, Hello, Reply, Request, Start},
    ids::QuestionId,
};
use clientmcp_settings::SettingsId;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines},
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

pub(super) use super::folder::Folder;
use super::heads::in_view;
use crate::{
    app::{Options, state::App},
    connect::Program,
    keys::{Item, Keys, Later, Place, Trouble},
    shell::{AppWindow, Copied, Deed, Notification, Shell, Standing, ToCopy},
    sidecar::{Ends, Process, Spawn, Unspawned},
    tray::menu::Tray,
    wire::{
        AboutQuestion, Answer, Ask, BridgeState, DoorQuestionView, FinishedCalls, KeysCode, KeysState, QuestionView,
        View,
    },
};

/// Where the played bridge says that agents call.
pub(super) const MCP: &str = "http://127.0.0.1:27182/mcp";

/// What the desktop was asked for.
pub(super) enum Seen {
    View(Box<View>),
    Finished(FinishedCalls),
    Question(Box<QuestionView>),
    DoorQuestion(Box<DoorQuestionView>),
    Tray,
    OpenMain,
    Ask(Option<QuestionId>),
    Notify(Notification),
    Copy(ToCopy, oneshot::Sender<Result<Copied, String>>),
    StartAtLogin(bool),
    Exit(i32),
}

pub(super) struct Desktop {
    seen: mpsc::UnboundedSender<Seen>,
    /// What something lies on, when the display is asked.
    covered: Arc<Mutex<HashSet<AppWindow>>>,
    /// A window that is to be opened is a fault of ours.
    broken: bool,
}

impl Desktop {
    fn new(seen: mpsc::UnboundedSender<Seen>) -> Self {
        Self { seen, covered: Arc::default(), broken: false }
    }

    /// One on which the app fails as soon as a window is to be opened.
    pub(super) fn broken(seen: mpsc::UnboundedSender<Seen>) -> Self {
        Self { broken: true, ..Self::new(seen) }
    }

    fn see(&self, seen: Seen) {
        drop(self.seen.send(seen));
    }
}

impl Shell for Desktop {
    fn show_view(&self, view: &View) {
        self.see(Seen::View(Box::new(view.clone())));
    }
    fn show_finished(&self, calls: &FinishedCalls) {
        self.see(Seen::Finished(calls.clone()));
    }
    fn show_question(&self, question: &QuestionView) {
        self.see(Seen::Question(Box::new(question.clone())));
    }
    fn show_door_question(&self, question: &DoorQuestionView) {
        self.see(Seen::DoorQuestion(Box::new(question.clone())));
    }
    fn show_tray(&self, _: &Tray) {
        self.see(Seen::Tray);
    }
    fn open_main(&self) {
        assert!(!self.broken, "a fault that a test made");
        self.see(Seen::OpenMain);
    }
    fn ask(&self, question: Option<&QuestionId>) {
        self.see(Seen::Ask(question.copied()));
    }
    fn look_at(&self, window: AppWindow, covered: oneshot::Sender<bool>) {
        let _ = covered.send(self.covered.lock().unwrap().contains(&window));
    }
    fn notify(&self, notification: &Notification) {
        self.see(Seen::Notify(notification.clone()));
    }
    fn copy(&self, text: ToCopy, copied: oneshot::Sender<Result<Copied, String>>) {
        self.see(Seen::Copy(text, copied));
    }
    fn start_at_login(&self, on: bool) -> Result<(), String> {
        self.see(Seen::StartAtLogin(on));
        Ok(())
    }
    fn exit(&self, code: i32) {
        self.see(Seen::Exit(code));
    }
}

/// Places that a test fills, and can make fail.
#[derive(Clone, Default)]
pub(super) struct Places(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    items: HashMap<PathBuf, Item>,
    reads: VecDeque<Trouble>,
    writes: VecDeque<Trouble>,
    forgets: VecDeque<Trouble>,
    written: usize,
    /// How long forgetting takes.
    slow: Duration,
}

fn key(place: &Place) -> PathBuf {
    match place {
        Place::Keychain => PathBuf::from("keychain"),
        Place::File(path) => path.clone(),
    }
}

pub(super) fn trouble(code: KeysCode) -> Trouble {
    Trouble { code, sentence: "it is locked".to_owned() }
}

impl Places {
    fn answer<T>(&self, act: impl FnOnce(&mut Kept) -> Result<T, Trouble>) -> Later<T> {
        let (answer, later) = oneshot::channel();
        drop(answer.send(act(&mut self.0.lock().unwrap())));
        later
    }

    pub(super) fn put(&self, place: &Place, item: Item) {
        self.0.lock().unwrap().items.insert(key(place), item);
    }

    pub(super) fn item(&self, place: &Place) -> Option<Item> {
        self.0.lock().unwrap().items.get(&key(place)).cloned()
    }

    pub(super) fn fail_read(&self, code: KeysCode) {
        self.0.lock().unwrap().reads.push_back(trouble(code));
    }

    pub(super) fn fail_write(&self, code: KeysCode) {
        self.0.lock().unwrap().writes.push_back(trouble(code));
    }

    pub(super) fn fail_forget(&self, code: KeysCode) {
        self.0.lock().unwrap().forgets.push_back(trouble(code));
    }

    pub(super) fn forget_slowly(&self) {
        self.0.lock().unwrap().slow = Duration::from_secs(1);
    }

    pub(super) fn written(&self) -> usize {
        self.0.lock().unwrap().written
    }
}

impl Keys for Places {
    fn read(&self, place: &Place) -> Later<Option<Item>> {
        self.answer(|kept| kept.reads.pop_front().map_or(Ok(kept.items.get(&key(place)).cloned()), Err))
    }
    fn write(&self, place: &Place, item: Item) -> Later<()> {
        self.answer(|kept| {
            kept.written += 1;
            if let Some(trouble) = kept.writes.pop_front() {
                return Err(trouble);
            }
            kept.items.insert(key(place), item);
            Ok(())
        })
    }
    fn forget(&self, place: &Place) -> Later<()> {
        let slow = self.0.lock().unwrap().slow;
        let forgotten = self.answer(|kept| {
            if let Some(trouble) = kept.forgets.pop_front() {
                return Err(trouble);
            }
            kept.items.remove(&key(place));
            Ok(())
        });
        let (answer, later) = oneshot::channel();
        tokio::spawn(async move {
            tokio::time::sleep(slow).await;
            drop(answer.send(forgotten.await.unwrap()));
        });
        later
    }
}

/// Bridges that a test plays.
pub(super) struct Bridges {
    born: mpsc::UnboundedSender<PlayedBridge>,
    missing: Arc<Mutex<bool>>,
}

impl Bridges {
    /// Bridges, and where they appear.
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<PlayedBridge>) {
        let (born, bridges) = mpsc::unbounded_channel();
        (Self { born, missing: Arc::default() }, bridges)
    }
}

impl Spawn for Bridges {
    fn spawn(&self) -> Result<Process, Unspawned> {
        if *self.missing.lock().unwrap() {
            return Err(Unspawned::Missing(PathBuf::from("/nowhere/clientmcp")));
        }
        let ((input, reads), (writes, output)) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
        let ((exits, exit), (kill, killed)) = (oneshot::channel(), oneshot::channel());
        let lines = BufReader::new(reads).lines();
        drop(self.born.send(PlayedBridge { lines, writes, exits, killed }));
        let ends = Ends { exit, kill };
        Ok(Process { input: Box::new(input), output: Box::new(output), log: Box::new(tokio::io::empty()), ends })
    }
}

/// One bridge, played.
pub(super) struct PlayedBridge {
    lines: Lines<BufReader<DuplexStream>>,
    writes: DuplexStream,
    pub(super) exits: oneshot::Sender<Option<i32>>,
    pub(super) killed: oneshot::Receiver<()>,
}

impl PlayedBridge {
    pub(super) async fn say(&mut self, event: &Event) {
        let line = serde_json::to_string(event).unwrap() + "\n";
        self.writes.write_all(line.as_bytes()).await.unwrap();
    }

    /// The next line; nothing when its stdin was closed.
    pub(super) async fn line(&mut self) -> Option<String> {
        soon(self.lines.next_line()).await.unwrap()
    }

    pub(super) async fn asked(&mut self) -> (Count, Command) {
        let line = self.line().await.expect("a command");
        let request: Request = serde_json::from_str(&line).expect("a command");
        (request.request, request.command)
    }

    /// Says hello, hears it and `start`.
    pub(super) async fn greet(&mut self) -> (Count, Start) {
        self.say(&Event::Hello(Hello { control: CONTROL_VERSION, version: "9.9".to_owned() })).await;
        assert!(self.line().await.expect("hello").contains("\"hello\""));
        match self.asked().await {
            (request, Command::Start(start)) => (request, *start),
            (_, other) => panic!("no start: {other:?}"),
        }
    }

    /// All the way until it serves.
    pub(super) async fn serve(&mut self) -> Start {
        let (request, start) = self.greet().await;
        let connect = "ws://127.0.0.1:27182/connect".to_owned();
        self.say(&Event::Listening { mcp: MCP.to_owned(), connect, pid: 1 }).await;
        self.say(&Event::Reply { request, reply: Reply::Done }).await;
        start
    }

    pub(super) async fn reply(&mut self, request: Count, reply: Reply) {
        self.say(&Event::Reply { request, reply }).await;
    }

    /// Expects a command, and does it.
    pub(super) async fn obey(&mut self) -> Command {
        let (request, command) = self.asked().await;
        self.reply(request, Reply::Done).await;
        command
    }

    /// Ends as one whose stdin was closed.
    pub(super) async fn stop(mut self) {
        assert_eq!(self.line().await, None, "stdin is closed");
        drop(self.writes);
        let _ = self.exits.send(Some(0));
    }

    /// Ends by itself.
    pub(super) fn crash(self, code: i32) {
        let _ = self.exits.send(Some(code));
    }
}

/// The app and all around it.
pub(super) struct World {
    pub(super) folder: Folder,
    pub(super) keys: Places,
    pub(super) seen: mpsc::UnboundedReceiver<Seen>,
    pub(super) deeds: mpsc::UnboundedSender<Deed>,
    bridges: mpsc::UnboundedReceiver<PlayedBridge>,
    pub(super) missing: Arc<Mutex<bool>>,
    pub(super) covered: Arc<Mutex<HashSet<AppWindow>>>,
    pub(super) app: JoinHandle<()>,
}

/// What seals settings of an earlier run.
pub(super) const SEAL: &str = "what the settings are sealed with in tests";

/// With an id as in the keychain, without one as in a file.
pub(super) fn item(secret: &str, id: Option<&SettingsId>) -> Item {
    Item { secrets: vec![secret.to_owned()], id: id.cloned(), seal: id.map(|_| SEAL.to_owned()) }
}

impl World {
    /// Begins with these around it.
    pub(super) fn begin(folder: Folder, keys: Places) -> Self {
        Self::with(folder, keys, true)
    }

    pub(super) fn with(folder: Folder, keys: Places, question_windows: bool) -> Self {
        Self::on_port(folder, keys, question_windows, None)
    }

    /// Begins with a port for this run.
    pub(super) fn on_port(folder: Folder, keys: Places, question_windows: bool, port: Option<u16>) -> Self {
        let ((shown, seen), (deeds, heard)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let (spawns, bridges) = Bridges::new();
        let missing = Arc::clone(&spawns.missing);
        let options = Options {
            settings_path: folder.settings(),
            port_override: port,
            program: Program::at(Path::new("/opt/clientmcp")),
            version: "1.2.3".to_owned(),
            question_windows,
        };
        let desktop = Desktop::new(shown);
        let covered = Arc::clone(&desktop.covered);
        let app = App::new(Arc::new(desktop), Box::new(keys.clone()), Box::new(spawns), options);
        let app = tokio::spawn(app.live(heard));
        Self { folder, keys, seen, deeds, bridges, missing, covered, app }
    }

    /// Begins for the first time, and serves.
    pub(super) async fn served() -> (Self, PlayedBridge) {
        Self::served_with(true).await
    }

    pub(super) async fn served_with(question_windows: bool) -> (Self, PlayedBridge) {
        let mut world = Self::with(Folder::new(), Places::default(), question_windows);
        let mut bridge = world.bridge().await;
        bridge.serve().await;
        world.running().await;
        (world, bridge)
    }

    pub(super) async fn bridge(&mut self) -> PlayedBridge {
        soon(self.bridges.recv()).await.expect("the app lives")
    }

    /// No other bridge was started so far.
    pub(super) fn no_bridge(&mut self) {
        assert!(self.bridges.try_recv().is_err());
    }

    /// Waits for something that the desktop is asked for. What comes before is passed over.
    pub(super) async fn until<T>(&mut self, mut wanted: impl FnMut(Seen) -> Option<T>) -> T {
        loop {
            let seen = soon(self.seen.recv()).await.expect("the app lives");
            if let Some(found) = wanted(seen) {
                return found;
            }
        }
    }

    pub(super) async fn view(&mut self, mut wanted: impl FnMut(&View) -> bool) -> View {
        self.until(|seen| match seen {
            Seen::View(view) if wanted(&view) => Some(*view),
            _ => None,
        })
        .await
    }

    pub(super) async fn running(&mut self) -> View {
        self.view(|view| matches!(view.bridge, BridgeState::Running { .. })).await
    }

    pub(super) async fn keys_trouble(&mut self) -> View {
        self.view(|view| matches!(view.keys, KeysState::Trouble { .. })).await
    }

    pub(super) async fn copied(&mut self) -> (ToCopy, oneshot::Sender<Result<Copied, String>>) {
        self.until(|seen| match seen {
            Seen::Copy(text, copied) => Some((text, copied)),
            _ => None,
        })
        .await
    }

    pub(super) async fn notified(&mut self) -> Notification {
        self.until(|seen| match seen {
            Seen::Notify(notification) => Some(notification),
            _ => None,
        })
        .await
    }

    pub(super) async fn small_window(&mut self) -> Option<QuestionId> {
        self.until(|seen| match seen {
            Seen::Ask(question) => Some(question),
            _ => None,
        })
        .await
    }

    pub(super) fn tell(&self, deed: Deed) {
        self.deeds.send(deed).unwrap();
    }

    /// Asks without waiting for the answer.
    pub(super) fn start_asking(&self, ask: Ask) -> oneshot::Receiver<Answer> {
        let (window, answer) = oneshot::channel();
        self.tell(Deed::Asked(ask, window));
        answer
    }

    pub(super) async fn ask(&self, ask: Ask) -> Answer {
        self.start_asking(ask).await.expect("an answer")
    }

    /// How things stand now.
    pub(super) async fn now(&self) -> View {
        match self.ask(Ask::View).await {
            Answer::View(view) => *view,
            other => panic!("no view: {other:?}"),
        }
    }

    pub(super) fn start_asking_of(&self, id: QuestionId, about: AboutQuestion) -> oneshot::Receiver<Answer> {
        let (window, answer) = oneshot::channel();
        self.tell(Deed::AskedOf(id, about, window));
        answer
    }

    pub(super) async fn ask_of(&self, id: QuestionId, about: AboutQuestion) -> Answer {
        self.start_asking_of(id, about).await.expect("an answer")
    }

    /// Something lies on this window when the display is asked, which has told nothing of it.
    pub(super) fn covers(&self, window: AppWindow, covered: bool) {
        let mut all = self.covered.lock().unwrap();
        if covered {
            all.insert(window)
        } else {
            all.remove(&window)
        };
    }

    /// Has the small window shown and painted, with the first line of the arguments in view.
    pub(super) async fn paint(&self, id: QuestionId) {
        self.tell(Deed::Small(id, Standing::Clear));
        self.ask_of(id, AboutQuestion::Painted).await;
        self.ask_of(id, in_view(true, false)).await;
        self.ask_of(id, AboutQuestion::DoorInView { all: true }).await;
    }

    /// Waits for the app's end.
    pub(super) async fn over(self) {
        soon(self.app).await.expect("it ended in order");
    }
}

/// By the clock that is moved on when everything waits: what did not come within an hour never comes.
async fn soon<F: Future>(wait: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(3_600), wait).await.expect("it comes")
}
