use serde_json::{Value, json};

use super::*;

const URL: &str = "http://127.0.0.1:27182/mcp";
const TOKEN: &str = "aaaa.bb-b_b.cccc";

fn id(text: &str) -> ClientId {
    text.parse().unwrap()
}

fn text(host: &str) -> String {
    filled(host, URL, &id("my.wallet"), TOKEN).unwrap()
}

// holds: desktop-connect-shapes
#[test]
fn each_json_host_gets_the_shape_that_it_reads() {
    let headers = json!({ "Authorization": format!("Bearer {TOKEN}") });
    let table = [
        ("cursor", json!({ "mcpServers": { "my-wallet": { "url": URL, "headers": headers } } })),
        ("vs-code", json!({ "servers": { "my-wallet": { "type": "http", "url": URL, "headers": headers } } })),
        ("gemini-cli", json!({ "mcpServers": { "my-wallet": { "httpUrl": URL, "headers": headers } } })),
        ("windsurf", json!({ "mcpServers": { "my-wallet": { "serverUrl": URL, "headers": headers } } })),
        ("zed", json!({ "context_servers": { "my-wallet": { "url": URL, "headers": headers } } })),
        ("lm-studio", json!({ "mcpServers": { "my-wallet": { "url": URL, "headers": headers } } })),
        ("json", json!({ "mcpServers": { "my-wallet": { "type": "http", "url": URL, "headers": headers } } })),
    ];
    for (host, expected) in table {
        assert_eq!(serde_json::from_str::<Value>(&text(host)).unwrap(), expected, "{host}");
    }
}

// holds: desktop-connect-shapes
#[test]
fn json_is_written_in_the_order_in_which_people_read_it() {
    let expected = r#"{
  "servers": {
    "my-wallet": {
      "type": "http",
      "url": "http://127.0.0.1:27182/mcp",
      "headers": {
        "Authorization": "Bearer aaaa.bb-b_b.cccc"
      }
    }
  }
}"#;
    assert_eq!(text("vs-code"), expected);
}

// holds: desktop-connect-shapes
#[test]
fn codex_gets_toml() {
    let table: toml::Table = text("codex").parse().unwrap();
    let server = &table["mcp_servers"]["my-wallet"];
    assert_eq!(server["url"].as_str(), Some(URL));
    assert_eq!(server["http_headers"]["Authorization"].as_str(), Some(format!("Bearer {TOKEN}").as_str()));
    assert_eq!(server["tool_timeout_sec"].as_integer(), Some(300));
}

// holds: desktop-connect-shapes
#[test]
fn goose_gets_yaml() {
    let expected = r#"extensions:
  my-wallet:
    name: my-wallet
    description: "Tools of my-wallet, through ClientMCP"
    type: streamable_http
    uri: "http://127.0.0.1:27182/mcp"
    headers:
      Authorization: "Bearer aaaa.bb-b_b.cccc"
    enabled: true
    timeout: 300
"#;
    assert_eq!(text("goose"), expected);
}

// holds: desktop-connect-shapes
#[test]
fn terminals_get_commands_whose_words_are_quoted() {
    let claude = "claude mcp add --transport http --scope user my-wallet 'http://127.0.0.1:27182/mcp' \
                  --header 'Authorization: Bearer aaaa.bb-b_b.cccc'";
    assert_eq!(text("claude-code"), claude);
    let curl = "curl --noproxy '*' --header 'Authorization: Bearer aaaa.bb-b_b.cccc' \
                --header 'Content-Type: application/json' \
                --data '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}' 'http://127.0.0.1:27182/mcp'";
    assert_eq!(text("curl"), curl);
    let hostile = filled("claude-code", URL, &id("a"), "x'; rm -rf ~ '").unwrap();
    assert!(hostile.ends_with(r"'Authorization: Bearer x'\''; rm -rf ~ '\'''"), "{hostile}");
}

// holds: desktop-connect-no-token
#[test]
fn what_a_window_is_shown_differs_from_what_is_copied_by_the_token_alone() {
    let shown = snippets(URL, None, &id("my.wallet"));
    assert_eq!(shown.len(), 11);
    for snippet in shown {
        assert_eq!(snippet.by, SnippetBy::Url);
        assert_eq!(snippet.text.matches(PLACEHOLDER).count(), 1, "{}", snippet.host);
        assert_eq!(snippet.text.replace(PLACEHOLDER, TOKEN), text(&snippet.host));
    }
    assert_eq!(filled("unheard-of", URL, &id("my.wallet"), TOKEN), None);
}

fn program(path: &str) -> Program {
    Program { path: path.to_owned(), moves: false }
}

fn command(host: &str, path: &str) -> String {
    let all = snippets(URL, Some(&program(path)), &id("my.wallet")).into_iter();
    let mut found = all.filter(|snippet| snippet.host == host && snippet.by == SnippetBy::Command);
    found.next().unwrap_or_else(|| panic!("{host} starts no command")).text
}

// holds: desktop-connect-commands
#[test]
fn each_json_host_is_told_a_command_under_its_own_name_and_no_token() {
    let table = [
        ("claude-desktop", "Claude Desktop", "mcpServers"),
        ("cursor", "Cursor", "mcpServers"),
        ("gemini-cli", "Gemini CLI", "mcpServers"),
        ("windsurf", "Windsurf", "mcpServers"),
        ("lm-studio", "LM Studio", "mcpServers"),
        ("json", "Other hosts", "mcpServers"),
        ("zed", "Zed", "context_servers"),
        ("vs-code", "VS Code", "servers"),
    ];
    for path in ["/opt/client mcp/clientmcp", r"C:\Program Files\ClientMCP\clientmcp.exe", "/o'p\"t/\u{e4}/clientmcp"] {
        for (host, name, servers) in table {
            let mut arguments = vec!["stdio", "--host", name, "--app", "my.wallet"];
            // It never reads a list of tools again.
            arguments.extend((host == "claude-desktop").then_some("--static-tools"));
            let mut entry = json!({ "command": path, "args": arguments });
            if host == "vs-code" {
                entry["type"] = "stdio".into();
            }
            let expected = json!({ servers: { "my-wallet": entry } });
            assert_eq!(serde_json::from_str::<Value>(&command(host, path)).unwrap(), expected, "{host}");
        }
        let table: toml::Table = command("codex", path).parse().unwrap();
        let server = &table["mcp_servers"]["my-wallet"];
        assert_eq!(server["command"].as_str(), Some(path));
        let arguments: Vec<_> = server["args"].as_array().unwrap().iter().filter_map(toml::Value::as_str).collect();
        assert_eq!(arguments, ["stdio", "--host", "Codex", "--app", "my.wallet"]);
        assert_eq!(server["tool_timeout_sec"].as_integer(), Some(300));
    }
}

// holds: desktop-connect-commands
#[test]
fn goose_and_claude_code_get_a_command_each_in_its_own_form() {
    let expected = r#"extensions:
  my-wallet:
    name: my-wallet
    description: "Tools of my-wallet, through ClientMCP"
    type: stdio
    cmd: "C:\\Program Files\\clientmcp.exe"
    args: ["stdio", "--host", "Goose", "--app", "my.wallet"]
    enabled: true
    timeout: 300
"#;
    assert_eq!(command("goose", r"C:\Program Files\clientmcp.exe"), expected);
    let quote = if cfg!(windows) { '"' } else { '\'' };
    let expected = format!(
        "claude mcp add --scope user my-wallet -- /opt/clientmcp stdio --host {quote}Claude Code{quote} --app my.wallet"
    );
    assert_eq!(command("claude-code", "/opt/clientmcp"), expected);
}

// holds: desktop-connect-commands
#[test]
fn a_word_of_a_command_stays_one_in_each_shell() {
    let table = [
        ("/opt/clientmcp", "/opt/clientmcp", "/opt/clientmcp"),
        ("", "''", "\"\""),
        ("/o'p t/$x", r"'/o'\''p t/$x'", "'/o''p t/$x'"),
        (r"C:\Program Files\x.exe", r"'C:\Program Files\x.exe'", "\"C:\\Program Files\\x.exe\""),
    ];
    for (text, elsewhere, on_windows) in table {
        assert_eq!((write::word(text, false).as_str(), write::word(text, true).as_str()), (elsewhere, on_windows));
    }
}

// holds: desktop-connect-commands
#[test]
fn by_a_command_comes_first_and_what_will_move_is_said() {
    let moving = Program { moves: true, ..program("/tmp/.mount_x/clientmcp") };
    let all = snippets(URL, Some(&moving), &id("-x"));
    assert_eq!(all[0].name, "Claude Desktop");
    assert_eq!(all.iter().filter(|snippet| snippet.by == SnippetBy::Command).count(), 11);
    for (one, next) in all.iter().zip(&all[1..]) {
        assert!(one.host != next.host || one.by == SnippetBy::Command, "{}", one.host);
    }
    for snippet in all {
        let is_command = snippet.by == SnippetBy::Command;
        assert_eq!(snippet.note.is_some_and(|note| note.ends_with(program::MOVES)), is_command, "{}", snippet.host);
        assert_eq!(snippet.text.contains(PLACEHOLDER), !is_command);
        // As a word of its own it would be taken for an option.
        assert_eq!(snippet.text.contains("--app=-x"), is_command);
        assert!(snippet.by == SnippetBy::Url || label(&snippet.host).is_some());
    }
}

// holds: desktop-connect-names
#[test]
fn a_server_name_is_one_that_every_host_accepts() {
    let table = [
        ("wallet", "wallet"),
        ("com.example.My_App", "com-example-My-App"),
        ("-x", "app-x"),
        ("7zip", "app-7zip"),
        ("...", "app"),
        (&"a".repeat(128), &"a".repeat(30)),
        (&format!("{}.b", "a".repeat(29)), &"a".repeat(29)),
    ];
    for (application, expected) in table {
        assert_eq!(server_name(&id(application)), expected);
    }
}
