//! The hosts that take a URL, as their documentation tells: where the text goes, and its shape.

use super::{Member, Members, Server};

/// A host.
pub(super) struct Host {
    /// Stable.
    pub(super) id: &'static str,
    /// As it calls itself.
    pub(super) name: &'static str,
    pub(super) place: Place,
    pub(super) language: &'static str,
    pub(super) note: Option<&'static str>,
    pub(super) write: fn(&Server<'_>) -> String,
}

/// Where the text goes, as people write it.
pub(super) enum Place {
    /// The same everywhere.
    Everywhere(&'static str),
    /// Each system its own.
    Own { macos: &'static str, windows: &'static str, linux: &'static str },
}

impl Place {
    /// On this system.
    pub(super) fn here(&self) -> &'static str {
        match self {
            Self::Everywhere(place) => place,
            Self::Own { macos, .. } if cfg!(target_os = "macos") => macos,
            Self::Own { windows, .. } if cfg!(windows) => windows,
            Self::Own { linux, .. } => linux,
        }
    }
}

const HISTORY: &str = "Your shell may keep the command, and the token in it, in its history.";

/// Those that are known, the most used first.
pub(super) const HOSTS: [Host; 11] = [
    Host {
        id: "claude-code",
        name: "Claude Code",
        place: Place::Everywhere("A terminal"),
        language: "shell",
        note: Some(HISTORY),
        write: claude_code,
    },
    Host {
        id: "cursor",
        name: "Cursor",
        place: Place::Everywhere("~/.cursor/mcp.json"),
        language: "json",
        note: Some("Cursor leaves out tools whose name has more than 60 characters together with the server's."),
        write: |server| json("mcpServers", server, None, "url"),
    },
    Host {
        id: "vs-code",
        name: "VS Code",
        place: Place::Own {
            macos: "~/Library/Application Support/Code/User/mcp.json",
            windows: r"%APPDATA%\Code\User\mcp.json",
            linux: "~/.config/Code/User/mcp.json",
        },
        language: "json",
        note: Some("Here the entry stands under \"servers\", not \"mcpServers\"."),
        write: |server| json("servers", server, Some("http"), "url"),
    },
    Host {
        id: "codex",
        name: "Codex",
        place: Place::Everywhere("~/.codex/config.toml"),
        language: "toml",
        note: Some("Without the last line Codex gives up after a minute, which may be before you answered a question."),
        write: codex,
    },
    Host {
        id: "gemini-cli",
        name: "Gemini CLI",
        place: Place::Everywhere("~/.gemini/settings.json"),
        language: "json",
        note: Some("It must be \"httpUrl\": with \"url\" it expects an older protocol."),
        write: |server| json("mcpServers", server, None, "httpUrl"),
    },
    Host {
        id: "windsurf",
        name: "Windsurf",
        place: Place::Everywhere("~/.codeium/windsurf/mcp_config.json"),
        language: "json",
        note: Some("It must be \"serverUrl\": with \"url\" it does not connect."),
        write: |server| json("mcpServers", server, None, "serverUrl"),
    },
    Host {
        id: "zed",
        name: "Zed",
        place: Place::Own {
            macos: "~/.config/zed/settings.json",
            windows: r"%APPDATA%\Zed\settings.json",
            linux: "~/.config/zed/settings.json",
        },
        language: "json",
        note: None,
        write: |server| json("context_servers", server, None, "url"),
    },
    Host {
        id: "goose",
        name: "Goose",
        place: Place::Own {
            macos: "~/.config/goose/config.yaml",
            windows: r"%APPDATA%\Block\goose\config\config.yaml",
            linux: "~/.config/goose/config.yaml",
        },
        language: "yaml",
        note: None,
        write: goose,
    },
    Host {
        id: "lm-studio",
        name: "LM Studio",
        place: Place::Everywhere("~/.lmstudio/mcp.json"),
        language: "json",
        note: Some("In LM Studio: Program, Install, Edit mcp.json."),
        write: |server| json("mcpServers", server, None, "url"),
    },
    Host {
        id: "json",
        name: "Other hosts",
        place: Place::Everywhere("The host's list of MCP servers"),
        language: "json",
        note: Some("For hosts that speak MCP over streamable HTTP; the names of the members differ between hosts."),
        write: |server| json("mcpServers", server, Some("http"), "url"),
    },
    Host {
        id: "curl",
        name: "curl",
        place: Place::Everywhere("A terminal"),
        language: "shell",
        note: Some(HISTORY),
        write: curl,
    },
];

fn json(servers: &str, server: &Server<'_>, kind: Option<&str>, url: &str) -> String {
    let authorization = server.authorization();
    let headers = Members(vec![("Authorization", Member::Text(&authorization))]);
    let mut entry = Vec::new();
    entry.extend(kind.map(|kind| ("type", Member::Text(kind))));
    entry.extend([(url, Member::Text(server.url)), ("headers", Member::Members(headers))]);
    let list = Members(vec![(server.name.as_str(), Member::Members(Members(entry)))]);
    // Strings under string keys cannot fail to be written.
    serde_json::to_string_pretty(&Members(vec![(servers, Member::Members(list))])).unwrap_or_default()
}

/// The header last: it takes all the words behind it.
fn claude_code(server: &Server<'_>) -> String {
    let header = quoted(&format!("Authorization: {}", server.authorization()));
    format!("claude mcp add --transport http --scope user {} {} --header {header}", server.name, quoted(server.url))
}

fn codex(server: &Server<'_>) -> String {
    let (url, authorization) = (string(server.url), string(&server.authorization()));
    format!(
        "[mcp_servers.{}]\nurl = {url}\nhttp_headers = {{ Authorization = {authorization} }}\ntool_timeout_sec = 300\n",
        server.name
    )
}

fn goose(server: &Server<'_>) -> String {
    let (name, url, authorization) = (&server.name, string(server.url), string(&server.authorization()));
    format!(
        "extensions:
  {name}:
    name: {name}
    description: \"Tools of {name}, through ClientMCP\"
    type: streamable_http
    uri: {url}
    headers:
      Authorization: {authorization}
    enabled: true
    timeout: 300
"
    )
}

fn curl(server: &Server<'_>) -> String {
    let header = quoted(&format!("Authorization: {}", server.authorization()));
    let body = quoted(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    format!(
        "curl --noproxy '*' --header {header} --header 'Content-Type: application/json' --data {body} {}",
        quoted(server.url)
    )
}

/// A JSON string, which is also a string of TOML and of YAML.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// One word of a shell's command, whatever it holds.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
