//! Questions and their windows: what is asked about one, and which window opens.

use clientmcp_protocol::{
    control::{Also, Command, Count, Decide, DoorWants, ErrorCode, QuestionPart, Reply, TextRef, Verdict},
    ids::{ClientId, QuestionId},
    shown::{mixed, shown_again},
};
use tokio::{sync::oneshot, time::Instant};

use super::{
    asks::{answer, refused},
    preferences,
    questions::{Asked, COVERED, Named, NotNow, Said, SmallWindow, Surface},
    state::{App, Asker, clocks},
};
use crate::{
    bridge::Gone,
    shell::Notification,
    wire::{AboutDoorQuestion, AboutQuestion, Answer, Page},
};

/// Bytes of a question's arguments that are handed on at once, as many as a window shows at once (`AT_ONCE` in
/// `ui/src/reading.svelte.ts`): what is handed on counts as shown.
const AT_ONCE: usize = 64 * 1024;

/// Characters of a host's name in a notification, which has one line for it.
const NAME_CHARS: usize = 40;

impl App {
    /// What a window asks about one question.
    pub(super) fn about(&mut self, id: QuestionId, surface: Surface, about: &AboutQuestion, asker: Asker) {
        let now = Instant::now();
        match *about {
            AboutQuestion::Begin => self.questions.begins(id, surface, now),
            AboutQuestion::Look => {}
            AboutQuestion::Painted => self.questions.painted(id, surface, now),
            AboutQuestion::InView { fingerprint, first, all } => {
                self.questions.page_shows((id, fingerprint), surface, (first, all), now);
            }
            AboutQuestion::DoorInView { all } => self.questions.page_shows_door(id, surface, all, now),
            AboutQuestion::Moved => self.questions.moved(id, surface, now),
            AboutQuestion::Text { part, offset } => return self.question_text(id, surface, (part, offset), asker),
            AboutQuestion::Decide { fingerprint, verdict, also } => {
                return self.decide(id, surface, Said { fingerprint, verdict, also }, asker);
            }
            AboutQuestion::DecideDoor { verdict } => return self.decide_door(id, surface, verdict, asker),
        }
        self.answer_question(id, surface, asker);
    }

    /// What the Approvals page asks about a question at the local door.
    pub(super) fn about_door(&mut self, id: QuestionId, about: &AboutDoorQuestion, asker: Asker) {
        let about = match *about {
            AboutDoorQuestion::Begin => AboutQuestion::Begin,
            AboutDoorQuestion::Look => AboutQuestion::Look,
            AboutDoorQuestion::Painted => AboutQuestion::Painted,
            AboutDoorQuestion::InView { all } => AboutQuestion::DoorInView { all },
            AboutDoorQuestion::Moved => AboutQuestion::Moved,
            AboutDoorQuestion::Decide { verdict } => AboutQuestion::DecideDoor { verdict },
        };
        self.about(id, Surface::Main, &about, asker);
    }

    fn answer_question(&mut self, id: QuestionId, surface: Surface, asker: Asker) {
        let theme = preferences::theme(self.book.settings().theme);
        let answer = match self.questions.view(id, surface, theme, Instant::now()) {
            Some((Asked::Call(view), _)) => Answer::Question(Box::new(view)),
            Some((Asked::Door(view), _)) => Answer::DoorQuestion(Box::new(view)),
            None => not_open(),
        };
        self.answer(asker, answer);
    }

    fn question_text(&mut self, id: QuestionId, surface: Surface, (part, offset): (QuestionPart, Count), asker: Asker) {
        let text = TextRef::Question { id, part };
        self.command(Command::Get { text, offset }, move |app, mut reply| {
            match (&mut reply, part) {
                (Ok(Reply::Text { piece, bytes }), QuestionPart::Arguments) => {
                    cut(piece);
                    app.questions.read(id, surface, offset, Count::from(piece.len()), *bytes);
                }
                (_, QuestionPart::Arguments) => app.questions.unreadable(id, surface, Instant::now()),
                (_, QuestionPart::Tool) => {}
            }
            app.answer(asker, answer(reply));
        });
    }

    /// A yes counts when the clock says so and then the display, too; a no asks no display.
    fn decide(&mut self, id: QuestionId, surface: Surface, said: Said, asker: Asker) {
        match self.questions.decide(id, surface, said, clocks()) {
            Err(not_now) => self.not_now(asker, not_now),
            Ok(also) if said.verdict == Verdict::Deny => self.send(id, surface, (said, also), asker),
            Ok(_) => self.look_at(id, surface, asker, move |app, asker| {
                match app.questions.decide(id, surface, said, clocks()) {
                    Err(not_now) => app.not_now(asker, not_now),
                    Ok(also) => app.send(id, surface, (said, also), asker),
                }
            }),
        }
    }

    fn send(&mut self, id: QuestionId, surface: Surface, (said, also): (Said, Also), asker: Asker) {
        let Said { fingerprint, verdict, also: _ } = said;
        tracing::debug!(allow = (verdict == Verdict::Allow), "a question was answered");
        let command = Command::Decide(Decide { question: id, fingerprint, verdict, also });
        self.command(command, move |app, reply| app.decided(id, surface, reply, asker));
    }

    /// The same for a question at the local door.
    fn decide_door(&mut self, id: QuestionId, surface: Surface, verdict: Verdict, asker: Asker) {
        match self.questions.decide_door(id, surface, verdict, Instant::now()) {
            Err(not_now) => self.not_now(asker, not_now),
            Ok(()) if verdict == Verdict::Deny => self.send_door(id, surface, verdict, asker),
            Ok(()) => self.look_at(id, surface, asker, move |app, asker| {
                match app.questions.decide_door(id, surface, verdict, Instant::now()) {
                    Err(not_now) => app.not_now(asker, not_now),
                    Ok(()) => app.send_door(id, surface, verdict, asker),
                }
            }),
        }
    }

    fn send_door(&mut self, question: QuestionId, surface: Surface, verdict: Verdict, asker: Asker) {
        tracing::debug!(allow = (verdict == Verdict::Allow), "a question at the door was answered");
        let command = Command::DecideDoor { question, verdict };
        self.command(command, move |app, reply| app.decided(question, surface, reply, asker));
    }

    fn decided(&mut self, id: QuestionId, surface: Surface, reply: Result<Reply, Gone>, asker: Asker) {
        if reply == Ok(Reply::Done) {
            self.questions.answered(id, surface, Instant::now());
        }
        self.answer(asker, answer(reply));
    }

    /// Asks the display what lies on the question's window, and goes on if that is nothing.
    fn look_at(
        &mut self,
        id: QuestionId,
        surface: Surface,
        asker: Asker,
        then: impl FnOnce(&mut Self, Asker) + Send + 'static,
    ) {
        let (told, covered) = oneshot::channel();
        self.shell.look_at(surface.window(id), told);
        self.later(covered, move |app, covered| {
            if covered == Ok(false) {
                return then(app, asker);
            }
            app.questions.was_covered(id, surface, Instant::now());
            app.not_now(asker, COVERED);
        });
    }

    fn not_now(&mut self, asker: Asker, (code, sentence): NotNow) {
        self.answer(asker, Answer::Refused { code, sentence: sentence.to_owned() });
    }

    /// Opens and closes the small window, and tells of questions that have none.
    pub(super) fn settle_questions(&mut self, now: Instant) {
        if self.is_leaving() {
            return;
        }
        let wishes = self.questions.settle(now);
        match wishes.window {
            SmallWindow::Stays => {}
            SmallWindow::Opens(question) => self.shell.ask(Some(&question)),
            SmallWindow::Closes => self.shell.ask(None),
        }
        wishes.notify.iter().for_each(|named| self.notify_of(named));
        if let Some(wants) = &wishes.at_door {
            self.notify_of_door(wants);
        }
        self.show_question(now);
    }

    /// Names only: a notification is read on locked screens, and allows nothing.
    fn notify_of(&self, (application, tool): &Named) {
        self.shell.notify(&Notification {
            title: format!("{application} is asked for {tool}"),
            body: "An agent waits for your answer. Click to see what it wants.".to_owned(),
            opens: Page::Approvals,
        });
    }

    fn notify_of_door(&self, wants: &DoorWants) {
        let invitation = "It waits for your answer. Click to see who asks.";
        let (title, body) = match wants {
            DoorWants::Pair { host, application } => {
                let whose = application.as_ref().map_or("every application", ClientId::as_str);
                let name = named(host.as_str());
                (format!("A host wants to call tools of {whose}"), format!("{name}\n{invitation}"))
            }
            DoorWants::Token { application, .. } => {
                (format!("A program wants a token for {application}"), invitation.to_owned())
            }
        };
        self.shell.notify(&Notification { title, body, opens: Page::Approvals });
    }
}

/// A host's name is its own word, so it stands alone on its line, where it cannot go on in ours; what is to be known of it
/// stands on the next one.
fn named(host: &str) -> String {
    let alphabets = mixed(host).join(", ");
    let mixes = match alphabets.as_str() {
        "" => String::new(),
        alphabets => format!(" It has letters of more than one alphabet: {alphabets}."),
    };
    let name = shown_again(host, NAME_CHARS);
    format!("{name}\nIt came in without a token; nobody has checked this name.{mixes}")
}

fn not_open() -> Answer {
    refused(ErrorCode::NoSuchQuestion, "this question is not open any more")
}

/// Keeps what may be handed on at once, without half a character.
fn cut(piece: &mut String) {
    let mut end = piece.len().min(AT_ONCE);
    while !piece.is_char_boundary(end) {
        end -= 1;
    }
    piece.truncate(end);
}
