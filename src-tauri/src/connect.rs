//! What a person pastes into a host, so that its agents can call one application's tools: by a command that the host
//! starts, by the agents' URL, or either, in the shape that this host reads.
//!
//! It reads and writes no file. A command needs no token. A URL does: it goes into a text only on its way to the
//! clipboard, never to a window.

mod hosts;
mod program;
mod write;

use clientmcp_protocol::ids::{ClientId, Label};

use self::hosts::{HOSTS, Host};
pub use self::program::Program;
use crate::wire::{Snippet, SnippetBy};

/// What stands where the token will be.
const PLACEHOLDER: &str = "<token>";

/// Characters of a server's name. Cursor lets server and tool have 60 together, so this leaves the tool half of them.
const NAME_CHARS: usize = 30;

/// What to paste into each host, with `<token>` where the token will be. Without a program there are no commands.
pub fn snippets(mcp_url: &str, program: Option<&Program>, application: &ClientId) -> Vec<Snippet> {
    let name = server_name(application);
    let by_command = |host: &Host| {
        let (way, program) = (host.command.as_ref()?, program?);
        let text = (way.write)(&Started { name: &name, program, arguments: arguments(host, application) });
        let notes = [way.note, program.moves.then_some(program::MOVES)].into_iter().flatten();
        let note = notes.collect::<Vec<_>>().join(" ");
        Some(snippet(host, SnippetBy::Command, text, (!note.is_empty()).then_some(note)))
    };
    let by_url = |host: &Host| {
        let way = host.url.as_ref()?;
        let text = (way.write)(&Called { name: &name, url: mcp_url, token: PLACEHOLDER });
        Some(snippet(host, SnippetBy::Url, text, way.note.map(str::to_owned)))
    };
    HOSTS.iter().flat_map(|host| by_command(host).into_iter().chain(by_url(host))).collect()
}

/// The text for one host by the agents' URL, with the token in it; none for a host that is not known, or takes none.
pub fn filled(host: &str, mcp_url: &str, application: &ClientId, token: &str) -> Option<String> {
    let way = HOSTS.iter().find(|known| known.id == host)?.url.as_ref()?;
    Some((way.write)(&Called { name: &server_name(application), url: mcp_url, token }))
}

/// What a host is called at the local door and in tokens.
pub fn label(host: &str) -> Option<Label> {
    Label::new(HOSTS.iter().find(|known| known.id == host)?.name).ok()
}

/// What a text by the agents' URL says.
struct Called<'a> {
    /// How the host calls the server.
    name: &'a str,
    url: &'a str,
    token: &'a str,
}

impl Called<'_> {
    fn authorization(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

/// What a text by a command says.
struct Started<'a> {
    /// How the host calls the server.
    name: &'a str,
    program: &'a Program,
    arguments: Vec<String>,
}

fn arguments(host: &Host, application: &ClientId) -> Vec<String> {
    let mut arguments: Vec<String> = ["stdio", "--host", host.name].map(str::to_owned).into();
    // As a word of its own it would be taken for an option.
    if application.as_str().starts_with('-') {
        arguments.push(format!("--app={application}"));
    } else {
        arguments.extend(["--app".to_owned(), application.to_string()]);
    }
    if host.static_tools {
        arguments.push("--static-tools".to_owned());
    }
    arguments
}

fn snippet(host: &Host, by: SnippetBy, text: String, note: Option<String>) -> Snippet {
    Snippet {
        host: host.id.into(),
        name: host.name.into(),
        by,
        place: host.place.here().into(),
        language: host.language.into(),
        text,
        note,
    }
}

/// A name that every host accepts: letters, digits and hyphens, a letter first.
///
/// A dot is part of no TOML key without quotes, and Gemini CLI parts server and tool at an underscore.
fn server_name(application: &ClientId) -> String {
    let id: String = application.as_str().replace(['.', '_'], "-");
    let is_plain = id.starts_with(|first: char| first.is_ascii_alphabetic());
    let whole = if is_plain { id } else { format!("app-{}", id.trim_start_matches('-')) };
    whole.chars().take(NAME_CHARS).collect::<String>().trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests;
