//! What a person can send to who helps them: versions, states and counts. No secret, no token, nothing that another
//! program wrote, and no name of the person's own folder.

use std::{fmt::Write as _, path::Path};

use clientmcp_protocol::limits;

use super::state::App;
use crate::wire::{BridgeState, KeysState};

impl App {
    /// As one text.
    pub(super) fn diagnostics(&self) -> String {
        let bridge_version = self.engine.version.as_deref().unwrap_or("unknown");
        let settings = self.book.settings();
        let mut text = format!(
            "ClientMCP Desktop {}\nbridge program: {bridge_version}\nsystem: {} {}\n",
            self.options.version,
            std::env::consts::OS,
            std::env::consts::ARCH,
        );
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name}: {value}");
        };
        line("bridge", bridge(&self.engine.state));
        line("bridges started", self.engine.run.to_string());
        line("secrets", keys(&self.vault.state));
        line("old secrets", self.vault.old().0.to_string());
        line("settings file", home(&self.options.settings_path));
        line("port", self.port().to_string());
        line("client origins", format!("{:?}", settings.client_origins));
        line("allowed origins", settings.allow_origins.len().to_string());
        line("seconds for a call, for a question", format!("{}, {}", settings.call_seconds, settings.question_seconds));
        line("question windows", self.options.question_windows.to_string());
        line("tray", self.window.no_tray.clone().unwrap_or_else(|| "yes".to_owned()));
        line("paused", self.paused.to_string());
        let known = self.book.known.shown();
        line("known applications", known.len().to_string());
        line("notices", format!("{:?}", self.notices.all().iter().map(|notice| notice.kind).collect::<Vec<_>>()));
        text + &self.snapshot_lines() + &limit_lines()
    }

    fn snapshot_lines(&self) -> String {
        let Some(snapshot) = &self.snapshot else { return "snapshot: none\n".to_owned() };
        let mut text = format!(
            "applications: {}\nquestions: {}\ncalls: {}\nfinished calls kept: {}\nmodes: {}\nrules: {}\nblocked agents: {}\n\
             refused (host, origin, token, client origin): {}, {}, {}, {}\nleft out: {:?}\n",
            snapshot.applications.len(),
            snapshot.questions.len(),
            snapshot.calls.len(),
            self.finished.all().calls.len(),
            snapshot.modes.len(),
            snapshot.rules.len(),
            snapshot.blocked.len(),
            snapshot.refused.host.0,
            snapshot.refused.origin.0,
            snapshot.refused.token.0,
            snapshot.refused.client_origin.0,
            snapshot.cut,
        );
        for head in &snapshot.applications {
            let sizes = (head.tools.0, head.tools_bytes.0, head.in_flight.0);
            let _ = writeln!(
                text,
                "application {}: registered {}, tools {}, bytes {}, calls {}, unresponsive {}",
                head.id, head.registered, sizes.0, sizes.1, sizes.2, head.unresponsive
            );
        }
        text
    }
}

fn limit_lines() -> String {
    format!(
        "limits: {} applications, {} HTTP connections, {} calls per application, {} questions per application\n",
        limits::APPLICATIONS,
        limits::HTTP_CONNECTIONS,
        limits::CALLS_IN_FLIGHT,
        limits::QUESTIONS,
    )
}

fn bridge(state: &BridgeState) -> String {
    match state {
        BridgeState::Held => "held".to_owned(),
        BridgeState::Starting => "starting".to_owned(),
        BridgeState::Running { mcp, .. } => format!("serves at {mcp}"),
        BridgeState::Waiting { sentence } => format!("waiting ({})", homeless(sentence)),
        BridgeState::Failed { code, sentence } => format!("failed, {code:?} ({})", homeless(sentence)),
    }
}

fn keys(state: &KeysState) -> String {
    match state {
        KeysState::Reading => "being read".to_owned(),
        KeysState::Keychain => "in the keychain".to_owned(),
        KeysState::Session => "in memory".to_owned(),
        KeysState::File { path } => format!("in {}", home(path)),
        KeysState::Trouble { code, sentence, .. } => format!("trouble, {code:?} ({})", homeless(sentence)),
    }
}

fn home(path: &Path) -> String {
    homeless(&path.to_string_lossy())
}

/// A text without the name of the person's own folder.
fn homeless(text: &str) -> String {
    let folder = directories::BaseDirs::new().map(|folders| folders.home_dir().to_string_lossy().into_owned());
    match folder.filter(|folder| folder.len() > 1) {
        Some(folder) => text.replace(&folder, "~"),
        None => text.to_owned(),
    }
}
