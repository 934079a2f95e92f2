//! The shapes of the texts.

use serde::{Serialize, Serializer};

use super::{Called, Started};

/// A JSON object whose members stay in the order in which people read them.
struct Members<'a>(Vec<(&'a str, Member<'a>)>);

/// A member of it.
#[derive(Serialize)]
#[serde(untagged)]
enum Member<'a> {
    Text(&'a str),
    Texts(&'a [String]),
    Members(Members<'a>),
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, member)| (name, member)))
    }
}

/// A list of servers with one that is started.
pub(super) fn started(servers: &str, started: &Started<'_>, kind: Option<&str>) -> String {
    let of_entry = [("command", Member::Text(&started.program.path)), ("args", Member::Texts(&started.arguments))];
    list(servers, started.name, kind, of_entry)
}

/// A list of servers with one that is called.
pub(super) fn called(servers: &str, called: &Called<'_>, kind: Option<&str>, url: &str) -> String {
    let authorization = called.authorization();
    let headers = Members(vec![("Authorization", Member::Text(&authorization))]);
    list(servers, called.name, kind, [(url, Member::Text(called.url)), ("headers", Member::Members(headers))])
}

fn list<'a>(servers: &'a str, name: &'a str, kind: Option<&'a str>, of_entry: [(&'a str, Member<'a>); 2]) -> String {
    let kind = kind.map(|kind| ("type", Member::Text(kind)));
    let entry = Members(kind.into_iter().chain(of_entry).collect());
    let list = Members(vec![(name, Member::Members(entry))]);
    // Strings under string keys cannot fail to be written.
    serde_json::to_string_pretty(&Members(vec![(servers, Member::Members(list))])).unwrap_or_default()
}

/// What stands behind the two hyphens is the command.
pub(super) fn claude_code_started(started: &Started<'_>) -> String {
    let words = std::iter::once(&started.program.path).chain(&started.arguments);
    let command: Vec<_> = words.map(|text| word(text, cfg!(windows))).collect();
    format!("claude mcp add --scope user {} -- {}", started.name, command.join(" "))
}

/// The header last: it takes all the words behind it.
pub(super) fn claude_code_called(called: &Called<'_>) -> String {
    let header = quoted(&format!("Authorization: {}", called.authorization()));
    format!("claude mcp add --transport http --scope user {} {} --header {header}", called.name, quoted(called.url))
}

pub(super) fn codex_started(started: &Started<'_>) -> String {
    let (command, arguments) = (string(&started.program.path), strings(&started.arguments));
    format!("[mcp_servers.{}]\ncommand = {command}\nargs = {arguments}\ntool_timeout_sec = 300\n", started.name)
}

pub(super) fn codex_called(called: &Called<'_>) -> String {
    let (url, authorization) = (string(called.url), string(&called.authorization()));
    format!(
        "[mcp_servers.{}]\nurl = {url}\nhttp_headers = {{ Authorization = {authorization} }}\ntool_timeout_sec = 300\n",
        called.name
    )
}

pub(super) fn goose_started(started: &Started<'_>) -> String {
    let (command, arguments) = (string(&started.program.path), strings(&started.arguments));
    goose(started.name, &format!("type: stdio\n    cmd: {command}\n    args: {arguments}"))
}

pub(super) fn goose_called(called: &Called<'_>) -> String {
    let (url, authorization) = (string(called.url), string(&called.authorization()));
    goose(
        called.name,
        &format!("type: streamable_http\n    uri: {url}\n    headers:\n      Authorization: {authorization}"),
    )
}

fn goose(name: &str, way: &str) -> String {
    format!(
        "extensions:
  {name}:
    name: {name}
    description: \"Tools of {name}, through ClientMCP\"
    {way}
    enabled: true
    timeout: 300
"
    )
}

pub(super) fn curl(called: &Called<'_>) -> String {
    let header = quoted(&format!("Authorization: {}", called.authorization()));
    let body = quoted(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    format!(
        "curl --noproxy '*' --header {header} --header 'Content-Type: application/json' --data {body} {}",
        quoted(called.url)
    )
}

/// A JSON string, which is also a string of TOML and of YAML.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A JSON array of strings, which is also an array of TOML and of YAML.
fn strings(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| string(text)).collect::<Vec<_>>().join(", "))
}

/// One word of a shell's command, whatever it holds.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// One word of a command, in quotes where it needs some. On Windows both shells read double quotes; what they would not
/// leave as it is between those, PowerShell alone reads in single ones.
pub(super) fn word(text: &str, windows: bool) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:".contains(char);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else if !windows {
        quoted(text)
    } else if text.contains(['$', '`', '%', '"', '!']) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        format!("\"{text}\"")
    }
}
