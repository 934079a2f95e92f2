//! Questions and their windows: what is asked about one, and which window opens.

use clientmcp_protocol::{
    control::{Command, Count, Decide, ErrorCode, QuestionPart, Reply, TextRef, Verdict},
    ids::QuestionId,
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
    wire::{AboutQuestion, Answer, Page},
};

impl App {
    /// What a window asks about one question.
    pub(super) fn about(&mut self, id: QuestionId, surface: Surface, about: &AboutQuestion, asker: Asker) {
        let now = Instant::now();
        match *about {
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

    fn answer_question(&mut self, id: QuestionId, surface: Surface, asker: Asker) {
        let theme = preferences::theme(self.book.settings().theme);
        let view = self.questions.view(id, surface, theme, Instant::now());
        let answer = match view {
            Some((view, _)) => Answer::Question(Box::new(view)),
            None => refused(ErrorCode::NoSuchQuestion, "this question is not open any more"),
        };
        self.answer(asker, answer);
    }

    fn question_text(&mut self, id: QuestionId, surface: Surface, (part, offset): (QuestionPart, Count), asker: Asker) {
        let text = TextRef::Question { id, part };
        self.command(Command::Get { text, offset }, move |app, reply| {
            if let (Ok(Reply::Text { piece, bytes }), QuestionPart::Arguments) = (&reply, part) {
                app.questions.read(id, surface, offset, Count::from(piece.len()), *bytes);
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
}
