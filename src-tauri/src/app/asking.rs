//! Questions and their windows: what is asked about one, and which window opens.

use clientmcp_protocol::{
    control::{Command, Count, Decide, DoorWants, ErrorCode, QuestionPart, Reply, TextRef, Verdict},
    ids::{ClientId, QuestionId},
    shown::shown_again,
};
use tokio::time::Instant;

use super::{
    asks::{answer, refused},
    preferences,
    questions::{Named, Said, SmallWindow, Surface},
    state::{App, Asker, clocks},
};
use crate::{
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
            AboutQuestion::Begin => {
                self.questions.begins(id, surface);
                self.answer_question(id, surface, asker);
            }
            AboutQuestion::Look => self.answer_question(id, surface, asker),
            AboutQuestion::Painted => {
                self.questions.painted(id, surface, now);
                self.answer_question(id, surface, asker);
            }
            AboutQuestion::Moved => {
                self.questions.moved(id, surface, now);
                self.answer_question(id, surface, asker);
            }
            AboutQuestion::Text { part, offset } => self.question_text(id, surface, (part, offset), asker),
            AboutQuestion::Decide { fingerprint, verdict, also } => {
                self.decide(id, surface, Said { fingerprint, verdict, also }, asker);
            }
        }
    }

    /// What the Approvals page asks about a question at the local door.
    pub(super) fn about_door(&mut self, id: QuestionId, about: &AboutDoorQuestion, asker: Asker) {
        let now = Instant::now();
        match *about {
            AboutDoorQuestion::Look => {}
            AboutDoorQuestion::Begin => self.questions.door.begins(id),
            AboutDoorQuestion::Painted => self.questions.door.painted(id, now),
            AboutDoorQuestion::Moved => self.questions.door.moved(id, now),
            AboutDoorQuestion::Decide { verdict } => return self.decide_door(id, verdict, asker),
        }
        let answer = match self.questions.door.view(id, now) {
            Some(view) => Answer::DoorQuestion(Box::new(view)),
            None => not_open(),
        };
        self.answer(asker, answer);
    }

    fn decide_door(&mut self, question: QuestionId, verdict: Verdict, asker: Asker) {
        if let Err((code, sentence)) = self.questions.door.decide(question, verdict, Instant::now()) {
            return self.answer(asker, Answer::Refused { code, sentence: sentence.to_owned() });
        }
        tracing::debug!(allow = (verdict == Verdict::Allow), "a question at the door was answered");
        self.command(Command::DecideDoor { question, verdict }, move |app, reply| {
            if reply == Ok(Reply::Done) {
                app.questions.door.answered(question);
            }
            app.answer(asker, answer(reply));
        });
    }

    fn answer_question(&mut self, id: QuestionId, surface: Surface, asker: Asker) {
        let theme = preferences::theme(self.book.settings().theme);
        let view = self.questions.view(id, surface, theme, Instant::now());
        let answer = match view {
            Some((view, _)) => Answer::Question(Box::new(view)),
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
                (_, QuestionPart::Arguments) => app.questions.unreadable(id, surface),
                (_, QuestionPart::Tool) => {}
            }
            app.answer(asker, answer(reply));
        });
    }

    fn decide(&mut self, id: QuestionId, surface: Surface, said: Said, asker: Asker) {
        let also = match self.questions.decide(id, surface, said, clocks()) {
            Ok(also) => also,
            Err((code, sentence)) => {
                return self.answer(asker, Answer::Refused { code, sentence: sentence.to_owned() });
            }
        };
        let Said { fingerprint, verdict, also: _ } = said;
        tracing::debug!(allow = (verdict == Verdict::Allow), "a question was answered");
        self.command(Command::Decide(Decide { question: id, fingerprint, verdict, also }), move |app, reply| {
            if reply == Ok(Reply::Done) {
                app.questions.answered(id);
            }
            app.answer(asker, answer(reply));
        });
    }

    /// Opens and closes the small window, and tells of questions that have none.
    pub(super) fn settle_questions(&mut self, now: Instant) {
        if self.is_leaving() {
            return;
        }
        let wishes = self.questions.settle();
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

    /// A host's name is its own word, so it stands in quotes.
    fn notify_of_door(&self, wants: &DoorWants) {
        let title = match wants {
            DoorWants::Pair { host, application } => {
                let host = shown_again(host.as_str(), NAME_CHARS);
                let whose = application.as_ref().map_or("every application", ClientId::as_str);
                format!("\u{201c}{host}\u{201d} wants to call tools of {whose}")
            }
            DoorWants::Token { application, .. } => format!("A program wants a token for {application}"),
        };
        self.shell.notify(&Notification {
            title,
            body: "It waits for your answer. Click to see who asks.".to_owned(),
            opens: Page::Approvals,
        });
    }
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
