//! The hosts that are known, as their documentation tells: where the text goes, and its shape.

use super::{Called, Started, write};

/// A host.
pub(super) struct Host {
    /// Stable.
    pub(super) id: &'static str,
    /// As it calls itself.
    pub(super) name: &'static str,
    pub(super) place: Place,
    pub(super) language: &'static str,
    /// How it is told to start a command, if it does.
    pub(super) command: Option<Way<WriteStarted>>,
    /// How it is told a URL, if it takes one.
    pub(super) url: Option<Way<WriteCalled>>,
    /// It never reads a list of tools again, and so needs those that list and call.
    pub(super) static_tools: bool,
}

type WriteStarted = fn(&Started<'_>) -> String;

type WriteCalled = fn(&Called<'_>) -> String;

/// One way to reach the bridge.
pub(super) struct Way<Write> {
    pub(super) note: Option<&'static str>,
    pub(super) write: Write,
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

const CURSOR: &str = "Cursor leaves out tools whose name has more than 60 characters together with the server's.";

const VS_CODE: &str = "Here the entry stands under \"servers\", not \"mcpServers\".";

const CODEX: &str = "Without the last line Codex gives up after a minute, which may be before you answered a question.";

const LM_STUDIO: &str = "In LM Studio: Program, Install, Edit mcp.json.";

/// Those that are known, the most used first.
pub(super) const HOSTS: [Host; 12] = [
    Host {
        id: "claude-desktop",
        name: "Claude Desktop",
        place: Place::Own {
            macos: "~/Library/Application Support/Claude/claude_desktop_config.json",
            windows: r"%APPDATA%\Claude\claude_desktop_config.json",
            linux: "~/.config/Claude/claude_desktop_config.json",
        },
        language: "json",
        command: Some(Way {
            note: Some(
                "In Claude Desktop: Settings, Developer, Edit Config. It reads the file when it starts: quit it and start it again.",
            ),
            write: |started| write::started("mcpServers", started, None),
        }),
        url: None,
        static_tools: true,
    },
    Host {
        id: "claude-code",
        name: "Claude Code",
        place: Place::Everywhere("a terminal"),
        language: "shell",
        command: Some(Way { note: None, write: write::claude_code_started }),
        url: Some(Way { note: Some(HISTORY), write: write::claude_code_called }),
        static_tools: false,
    },
    Host {
        id: "cursor",
        name: "Cursor",
        place: Place::Everywhere("~/.cursor/mcp.json"),
        language: "json",
        command: Some(Way { note: Some(CURSOR), write: |started| write::started("mcpServers", started, None) }),
        url: Some(Way { note: Some(CURSOR), write: |called| write::called("mcpServers", called, None, "url") }),
        static_tools: false,
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
        command: Some(Way { note: Some(VS_CODE), write: |started| write::started("servers", started, Some("stdio")) }),
        url: Some(Way { note: Some(VS_CODE), write: |called| write::called("servers", called, Some("http"), "url") }),
        static_tools: false,
    },
    Host {
        id: "codex",
        name: "Codex",
        place: Place::Everywhere("~/.codex/config.toml"),
        language: "toml",
        command: Some(Way { note: Some(CODEX), write: write::codex_started }),
        url: Some(Way { note: Some(CODEX), write: write::codex_called }),
        static_tools: false,
    },
    Host {
        id: "gemini-cli",
        name: "Gemini CLI",
        place: Place::Everywhere("~/.gemini/settings.json"),
        language: "json",
        command: Some(Way { note: None, write: |started| write::started("mcpServers", started, None) }),
        url: Some(Way {
            note: Some("It must be \"httpUrl\": with \"url\" it expects an older protocol."),
            write: |called| write::called("mcpServers", called, None, "httpUrl"),
        }),
        static_tools: false,
    },
    Host {
        id: "windsurf",
        name: "Windsurf",
        place: Place::Everywhere("~/.codeium/windsurf/mcp_config.json"),
        language: "json",
        command: Some(Way { note: None, write: |started| write::started("mcpServers", started, None) }),
        url: Some(Way {
            note: Some("It must be \"serverUrl\": with \"url\" it does not connect."),
            write: |called| write::called("mcpServers", called, None, "serverUrl"),
        }),
        static_tools: false,
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
        command: Some(Way { note: None, write: |started| write::started("context_servers", started, None) }),
        url: Some(Way { note: None, write: |called| write::called("context_servers", called, None, "url") }),
        static_tools: false,
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
        command: Some(Way { note: None, write: write::goose_started }),
        url: Some(Way { note: None, write: write::goose_called }),
        static_tools: false,
    },
    Host {
        id: "lm-studio",
        name: "LM Studio",
        place: Place::Everywhere("~/.lmstudio/mcp.json"),
        language: "json",
        command: Some(Way { note: Some(LM_STUDIO), write: |started| write::started("mcpServers", started, None) }),
        url: Some(Way { note: Some(LM_STUDIO), write: |called| write::called("mcpServers", called, None, "url") }),
        static_tools: false,
    },
    Host {
        id: "json",
        name: "Other hosts",
        place: Place::Everywhere("The host's list of MCP servers"),
        language: "json",
        command: Some(Way {
            note: Some(
                "For hosts that start a command. Put the host's own name in place of \"Other hosts\": you are asked about it once, and its calls are told apart by it.",
            ),
            write: |started| write::started("mcpServers", started, None),
        }),
        url: Some(Way {
            note: Some("For hosts that speak MCP over streamable HTTP; the names of the members differ between hosts."),
            write: |called| write::called("mcpServers", called, Some("http"), "url"),
        }),
        static_tools: false,
    },
    Host {
        id: "curl",
        name: "curl",
        place: Place::Everywhere("a terminal"),
        language: "shell",
        command: None,
        url: Some(Way { note: Some(HISTORY), write: write::curl }),
        static_tools: false,
    },
];
