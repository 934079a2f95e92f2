//! Tokens that are made and copied. They go from the bridge to the clipboard; no window, log or answer ever holds one.

use clientmcp_protocol::{
    control::{Command, ErrorCode, Reply},
    ids::{ClientId, Label, Role},
};
use tokio::sync::oneshot;

use super::{
    asks::{answer, no_bridge, refused},
    state::{App, Asker},
};
use crate::{
    connect,
    shell::{CONCEALED_SECONDS, Copied, Notification, ToCopy},
    wire::{Answer, NoticeKind, Page, RefusedCode, SnippetBy},
};

/// Days of an agent's token where nobody says otherwise.
const AGENT_DAYS: u32 = 90;

/// Days of an application's token where nobody says otherwise.
const CLIENT_DAYS: u32 = 365;

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// The label of tokens that the tray makes.
const TRAY: &str = "tray";

/// A token to be made.
pub(super) struct NewToken {
    pub(super) application: ClientId,
    pub(super) role: Role,
    pub(super) label: Option<Label>,
    /// Days until it ends; none for never.
    pub(super) days: Option<u32>,
    pub(super) kind: Kind,
}

/// What is copied.
pub(super) enum Kind {
    /// The token alone.
    Bare,
    /// What to paste into this host, with the token in it.
    Snippet(String),
}

impl App {
    pub(super) fn copy_url(&mut self, asker: Asker) {
        match self.engine.mcp_url().map(str::to_owned) {
            Some(url) => self.copy_plain(url, asker),
            None => self.answer(asker, no_bridge()),
        }
    }

    pub(super) fn copy_plain(&mut self, text: String, asker: Asker) {
        self.copy(ToCopy { text, concealed: false }, asker);
    }

    /// A token from the tray's menu.
    pub(super) fn copy_from_tray(&mut self, application: ClientId, role: Role) {
        let days = match role {
            Role::Agent => AGENT_DAYS,
            Role::Client => CLIENT_DAYS,
        };
        let asker = Asker::Tray(Some(application.clone()));
        let label = Label::new(TRAY).ok();
        self.copy_token(NewToken { application, role, label, days: Some(days), kind: Kind::Bare }, asker);
    }

    /// What to paste into each host.
    pub(super) fn snippets(&mut self, application: &ClientId, asker: Asker) {
        let answer = match self.engine.mcp_url() {
            Some(url) => Answer::Snippets(connect::snippets(url, self.options.program.as_ref(), application)),
            None => no_bridge(),
        };
        self.answer(asker, answer);
    }

    /// What a host is given: its agents are called by its name.
    pub(super) fn copy_snippet(&mut self, application: ClientId, host: &str, by: SnippetBy, asker: Asker) {
        let Some(url) = self.engine.mcp_url() else { return self.answer(asker, no_bridge()) };
        let all = connect::snippets(url, self.options.program.as_ref(), &application);
        let known = all.into_iter().find(|snippet| (snippet.host.as_str(), snippet.by) == (host, by));
        let Some((snippet, label)) = known.zip(connect::label(host)) else {
            let sentence = "this host is not known, or not to be reached this way: nothing was copied";
            return self.answer(asker, refused(ErrorCode::NotFound, sentence));
        };
        match by {
            SnippetBy::Command => self.copy_command(snippet.text, label, application, asker),
            SnippetBy::Url => {
                let (role, days, kind) = (Role::Agent, Some(AGENT_DAYS), Kind::Snippet(snippet.host));
                self.copy_token(NewToken { application, role, label: Some(label), days, kind }, asker);
            }
        }
    }

    /// Copies first: a host that is let in and was never told of it would be worse than one that is asked about.
    fn copy_command(&mut self, text: String, host: Label, application: ClientId, asker: Asker) {
        self.copy_then(ToCopy { text, concealed: false }, move |app, copied| {
            if let Err(sentence) = copied {
                return app.answer(asker, Answer::Refused { code: RefusedCode::Clipboard, sentence });
            }
            let sentence =
                format!("Copied. {host} is let in to {application}; calls are still asked about, as its mode says.");
            app.command(Command::AllowPair { host, application: Some(application) }, move |app, reply| {
                let answer = match reply {
                    Ok(Reply::Done) => Answer::Copied { sentence },
                    other => answer(other),
                };
                app.answer(asker, answer);
            });
        });
    }

    /// Makes a token and copies it.
    pub(super) fn copy_token(&mut self, new: NewToken, asker: Asker) {
        let command = Command::Mint {
            application: new.application.clone(),
            role: new.role,
            label: new.label.clone(),
            seconds: new.days.map(|days| u64::from(days) * DAY_SECONDS),
        };
        self.command(command, move |app, reply| match reply {
            Ok(Reply::Token { token, ends }) => {
                app.book.known.minted(&new.application, new.role, new.label, ends);
                app.book.known_changed();
                app.copy_filled(&new.application, new.kind, token, asker);
            }
            other => app.answer(asker, answer(other)),
        });
    }

    fn copy_filled(&mut self, application: &ClientId, kind: Kind, token: String, asker: Asker) {
        let filled = match kind {
            Kind::Bare => Some(token),
            Kind::Snippet(host) => {
                self.engine.mcp_url().and_then(|url| connect::filled(&host, url, application, &token))
            }
        };
        match filled {
            Some(text) => self.copy(ToCopy { text, concealed: true }, asker),
            None => self.answer(asker, no_bridge()),
        }
    }

    fn copy(&mut self, text: ToCopy, asker: Asker) {
        self.copy_then(text, |app, copied| {
            let answer = match copied {
                Ok(copied) => Answer::Copied { sentence: sentence(copied) },
                Err(sentence) => Answer::Refused { code: RefusedCode::Clipboard, sentence },
            };
            app.answer(asker, answer);
        });
    }

    fn copy_then(&mut self, text: ToCopy, then: impl FnOnce(&mut Self, Result<Copied, String>) + Send + 'static) {
        let (copied, copying) = oneshot::channel();
        self.shell.copy(text, copied);
        self.later(copying, |app, copied| {
            then(app, copied.unwrap_or_else(|_| Err("the clipboard cannot be reached".to_owned())));
        });
    }

    /// The tray has no room for an answer: what must be known is told by notification.
    pub(super) fn answer_tray(&mut self, application: Option<ClientId>, answer: Answer) {
        match (answer, application) {
            (Answer::Copied { sentence }, Some(application)) => self.shell.notify(&Notification {
                title: format!("Token for {application} copied"),
                body: sentence,
                opens: Page::Connect,
            }),
            (Answer::Refused { sentence, .. }, application) => {
                self.notice(NoticeKind::Trouble, application, Some(sentence));
                self.shell.notify(&Notification {
                    title: "ClientMCP could not do that".to_owned(),
                    body: "Nothing was done. Click to see why.".to_owned(),
                    opens: Page::Applications,
                });
            }
            (
                Answer::Copied { .. }
                | Answer::Done
                | Answer::View(_)
                | Answer::Calls(_)
                | Answer::Question(_)
                | Answer::DoorQuestion(_)
                | Answer::Text { .. }
                | Answer::Tried { .. }
                | Answer::Snippets(_)
                | Answer::Diagnostics(_),
                _,
            ) => {}
        }
    }
}

fn sentence(copied: Copied) -> String {
    match copied {
        Copied::Plainly => "Copied.".to_owned(),
        Copied::Passing => format!("Copied. The clipboard is cleared in {CONCEALED_SECONDS} seconds."),
        Copied::Staying => {
            "Copied. It cannot be told here whether it is still in the clipboard later, so it is not cleared: copy \
             something else when you have pasted it."
                .to_owned()
        }
    }
}
