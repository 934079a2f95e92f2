//! The desktop around the app, as the app sees it: windows, tray, notifications, clipboard. One trait, so that a test can
//! stand in for all of it.
//!
//! Nothing here is waited for. What a person does comes back as a [`Deed`].

use clientmcp_protocol::ids::{ClientId, QuestionId};
use tokio::sync::oneshot;

use crate::{
    tray::menu::Tray,
    wire::{AboutQuestion, Answer, Ask, DoorQuestionView, FinishedCalls, Page, QuestionView, View},
};

/// What the app asks of the desktop. Each returns at once.
pub trait Shell: Send + Sync + 'static {
    /// Tells the main window, if there is one, what there is to see.
    fn show_view(&self, view: &View);

    /// Tells the main window, if there is one, of calls that ended.
    fn show_finished(&self, calls: &FinishedCalls);

    /// Tells the small window of this question what there is to see now.
    fn show_question(&self, question: &QuestionView);

    /// The same for a question at the local door.
    fn show_door_question(&self, question: &DoorQuestionView);

    /// Replaces icon and menu of the tray.
    fn show_tray(&self, tray: &Tray);

    /// Opens the main window, or raises it. Which page it shows stands in the view.
    fn open_main(&self);

    /// Opens a small window for this question, on the pointer's display and without the keyboard; the one of another
    /// question is closed. Without a question: closes it.
    fn ask(&self, question: Option<&QuestionId>);

    /// Asks the display whether something lies on this window now. Where the system does not tell, nothing is known to. Who
    /// is never told cannot know.
    fn look_at(&self, window: AppWindow, covered: oneshot::Sender<bool>);

    /// Shows a notification. A click on it is a [`Deed::Open`].
    fn notify(&self, notification: &Notification);

    /// Puts a text into the clipboard and tells what came of it. A concealed one is kept out of histories where the system
    /// can, and cleared after [`CONCEALED_SECONDS`] and at quit, if it is still ours.
    fn copy(&self, text: ToCopy, copied: oneshot::Sender<Result<Copied, String>>);

    /// Starts the app when the person logs in, or not.
    fn start_at_login(&self, on: bool) -> Result<(), String>;

    /// Ends the process with this code, after what it still has to clear.
    fn exit(&self, code: i32);
}

/// Seconds that a token stays in the clipboard.
pub const CONCEALED_SECONDS: u64 = 90;

/// A text for the clipboard. It is never printed.
pub struct ToCopy {
    /// The text.
    pub text: String,
    /// It holds a token.
    pub concealed: bool,
}

impl std::fmt::Debug for ToCopy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToCopy").field("concealed", &self.concealed).finish_non_exhaustive()
    }
}

/// What came of copying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// It stays until something else is copied.
    Plainly,
    /// It is cleared after [`CONCEALED_SECONDS`].
    Passing,
    /// It cannot be told whether it would still be ours, so it is not cleared.
    Staying,
}

/// A notification: names only, never a text of another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// One line.
    pub title: String,
    /// A line or more: a name that another program chose stands alone on the first one.
    pub body: String,
    /// The page that a click opens.
    pub opens: Page,
}

/// What a person, or the system, did.
#[derive(Debug)]
pub enum Deed {
    /// The main window asks.
    Asked(Ask, oneshot::Sender<Answer>),
    /// The small window of a question asks.
    AskedOf(QuestionId, AboutQuestion, oneshot::Sender<Answer>),
    /// A menu entry was picked.
    Picked(Action),
    /// The window is wanted: a second launch, a click on a notification or on the icon.
    Open(Option<Page>),
    /// The main window is there and in front, or not.
    Main(Standing),
    /// The small window of a question came to stand so.
    Small(QuestionId, Standing),
    /// The display tells whether something lies on this window. One of which it told nothing yet is free.
    Cover(AppWindow, bool),
    /// A small window was moved, raised or resized.
    SmallMoved(QuestionId),
    /// The person closed the small window of a question, without an answer.
    SmallClosed(QuestionId),
    /// There is no tray. One sentence says why.
    NoTray(String),
    /// There is one, now.
    TrayThere,
    /// The system ends the session, or asks the app to end: nothing is asked.
    Ending,
}

/// A window of the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AppWindow {
    /// The main window.
    Main,
    /// The small window of this question.
    Small(QuestionId),
}

/// How a window stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// On the screen, and nothing lies on it, as far as can be told.
    Clear,
    /// On the screen, and something lies on it, or it is not in front.
    Covered,
    /// Not on the screen.
    Gone,
}

/// What a menu entry does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Opens the window at this page.
    Open(Page),
    /// Copies the agents' URL.
    CopyUrl,
    /// Makes an agent token and copies it.
    CopyAgentToken(ClientId),
    /// Makes a client token and copies it.
    CopyClientToken(ClientId),
    /// Opens the page where an application is named.
    NewClientToken,
    /// Pauses.
    Pause,
    /// Resumes.
    Resume,
    /// Starts at login from now on, or not.
    StartAtLogin(bool),
    /// Starts the bridge again.
    Retry,
    /// Quits, after a question when calls are under way.
    Quit,
}
