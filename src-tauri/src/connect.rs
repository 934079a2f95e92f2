//! What a person pastes into a host, so that its agents can call one application's tools: one text per host that takes a
//! URL, in the shape that this host reads.
//!
//! It reads and writes no file. A token goes into a text only on its way to the clipboard, never to a window.

mod hosts;

use clientmcp_protocol::ids::ClientId;
use serde::{Serialize, Serializer};

use self::hosts::{HOSTS, Host};
use crate::wire::Snippet;

/// What stands where the token will be.
const PLACEHOLDER: &str = "<token>";

/// Characters of a server's name. Cursor lets server and tool have 60 together, so this leaves the tool half of them.
const NAME_CHARS: usize = 30;

/// What to paste into each host, with `<token>` where the token will be.
pub fn snippets(mcp_url: &str, application: &ClientId) -> Vec<Snippet> {
    let server = Server { name: server_name(application), url: mcp_url, token: PLACEHOLDER };
    HOSTS.iter().map(|host| snippet(host, &server)).collect()
}

/// The text for one host with the token in it; none for a host that is not known.
pub fn filled(host: &str, mcp_url: &str, application: &ClientId, token: &str) -> Option<String> {
    let host = HOSTS.iter().find(|known| known.id == host)?;
    Some((host.write)(&Server { name: server_name(application), url: mcp_url, token }))
}

/// What a text says.
struct Server<'a> {
    /// How the host calls it.
    name: String,
    url: &'a str,
    token: &'a str,
}

impl Server<'_> {
    fn authorization(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

fn snippet(host: &Host, server: &Server<'_>) -> Snippet {
    Snippet {
        host: host.id.into(),
        name: host.name.into(),
        place: host.place.here().into(),
        language: host.language.into(),
        text: (host.write)(server),
        note: host.note.map(str::to_owned),
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

/// A JSON object whose members stay in the order in which people read them.
struct Members<'a>(Vec<(&'a str, Member<'a>)>);

/// A member of it.
#[derive(Serialize)]
#[serde(untagged)]
enum Member<'a> {
    Text(&'a str),
    Members(Members<'a>),
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, member)| (name, member)))
    }
}

#[cfg(test)]
mod tests;
