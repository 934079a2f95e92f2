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
    let shown = snippets(URL, &id("my.wallet"));
    assert_eq!(shown.len(), 11);
    for snippet in shown {
        assert_eq!(snippet.text.matches(PLACEHOLDER).count(), 1, "{}", snippet.host);
        assert_eq!(snippet.text.replace(PLACEHOLDER, TOKEN), text(&snippet.host));
    }
    assert_eq!(filled("unheard-of", URL, &id("my.wallet"), TOKEN), None);
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
