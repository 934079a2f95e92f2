//! `clientmcp serve` as a command: its options, what it prints, how it ends.

use tokio::net::{TcpListener, TcpStream};

use crate::support::{
    application::{Application, Upgrade},
    post::Agent,
    serve::{Folder, Serve, own_port, run},
    tokens::{self, SECRET},
};

const TOOLS: &str = r#"[{"name":"t","inputSchema":{"type":"object"}}]"#;

/// The program ends with this code, one sentence on stderr and nothing on stdout.
async fn fails(arguments: &[&str], code: i32) -> String {
    let ended = run(arguments).await;
    assert_eq!(ended.code, Some(code), "{arguments:?}: {ended:?}");
    assert_eq!(ended.stdout, "", "{arguments:?}");
    assert!(!ended.stderr.trim().is_empty(), "{arguments:?}: no sentence");
    ended.stderr
}

// holds: cli-ready-line, cli-port-zero
#[tokio::test]
async fn the_ready_line_is_all_that_stands_on_stdout() {
    let serve = Serve::start().await;
    let (port, pid) = (serve.port, serve.pid);
    assert_ne!(port, 0);
    let expected = format!(
        "{{\"event\":\"listening\",\"mcp\":\"http://127.0.0.1:{port}/mcp\",\"connect\":\"ws://127.0.0.1:{port}/connect\",\"pid\":{pid}}}\n"
    );
    assert_eq!(serve.ready, expected);
    assert_eq!(serve.mcp, format!("http://127.0.0.1:{port}/mcp"));
    assert_eq!(serve.connect, format!("ws://127.0.0.1:{port}/connect"));
    assert_eq!(Some(pid), serve.child_id());
    // On 127.0.0.1 alone: the same port of another loopback address is not taken.
    assert!(TcpStream::connect(("127.0.0.2", port)).await.is_err());
    let mut application = Application::serving(&serve, "app", TOOLS).await;
    application.send("nonsense").await;
    application.closed().await;
    let ended = serve.stop().await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{ended:?}");
}

// holds: token-not-logged
#[tokio::test]
async fn no_token_and_no_secret_stands_in_the_log() {
    let serve = Serve::with(&["--confirm", "off"]).await;
    let client = tokens::client("app");
    let foreign =
        tokens::signed(tokens::HEADER, r#"{"sub":"app","role":"client"}"#, "a secret of somebody else entirely!");
    let mut application = Application::serving(&serve, "app", TOOLS).await;
    for token in [foreign.as_str(), &tokens::agent("app"), "no-token-at-all"] {
        let mut refused = Application::offering(&serve, &format!("clientmcp.v1, {token}")).await;
        let (_, reason) = refused.closed().await;
        assert!(!reason.contains(token));
    }
    let refused = Upgrade::offering(serve.port, &client).send().await;
    assert_eq!(refused.head.status, 400);
    assert!(!refused.body().await.contains(&client));
    Agent::of(&serve, "app").list().await;
    let stranger = Agent::with_token(&serve, &foreign).try_post("{}").await.unwrap();
    assert_eq!(stranger.head.status, 401);
    assert!(!stranger.body.contains(&foreign));
    application.send(&format!(r#"{{"type":"{client}","tools":"{client}"}}"#)[..]).await;
    let ended = serve.stop().await;
    let signature = |token: &str| token.rsplit('.').next().unwrap().to_owned();
    for secret in [SECRET.to_owned(), signature(&client), signature(&foreign), signature(&tokens::agent("app"))] {
        assert!(!ended.stderr.contains(&secret), "{secret} in {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("no-token-at-all"), "{}", ended.stderr);
}

// holds: cli-usage
#[tokio::test]
async fn bad_options_and_values_are_bad_usage() {
    let folder = Folder::new();
    let secret = folder.file("secret", SECRET.as_bytes(), 0o600);
    let cases: [&[&str]; 22] = [
        &["--nonsense"],
        &["extra"],
        &["--port", "65536"],
        &["--port", "-1"],
        &["--port", "http"],
        &["--port", ""],
        &["--confirm", "maybe"],
        &["--confirm", "OFF"],
        &["--call-timeout", "0"],
        &["--call-timeout", "3601"],
        &["--call-timeout", "1.5"],
        &["--call-timeout", "1s"],
        &["--allow-origin", "null"],
        &["--allow-origin", "*"],
        &["--allow-origin", ""],
        &["--allow-origin", "shop.example"],
        &["--allow-origin", "https://shop.example/"],
        &["--allow-origin", "https://shop.example/path"],
        &["--allow-origin", "https://a.example", "--allow-origin", "https://*"],
        &["--allow-origin", "https://a.example:"],
        &["--allow-origin", "https://a.example:99999"],
        &["--control"],
    ];
    for case in cases {
        // A port that is named twice would be bad usage, too.
        let port: &[&str] = if case[0] == "--port" { &[] } else { &["--port", "0"] };
        let arguments = [&["serve", "--secret-file", &secret], port, case].concat();
        fails(&arguments, 2).await;
    }
    // Options are checked before anything is opened.
    fails(&["serve", "--secret-file", "/nowhere/at/all", "--confirm", "maybe"], 2).await;
    fails(&["nonsense"], 2).await;
    fails(&[], 2).await;
}

// holds: cli-usage
#[tokio::test]
async fn right_values_are_taken_at_their_ends() {
    let cases: [&[&str]; 4] = [
        &["--call-timeout", "1"],
        &["--call-timeout", "3600"],
        &["--allow-origin", "https://shop.example", "--allow-origin", "http://a.example:8080"],
        &["--allow-origin", "tauri://localhost"],
    ];
    for case in cases {
        assert_eq!(Serve::with(case).await.stop().await.code, Some(0), "{case:?}");
    }
    for option in ["--help", "--version"] {
        assert_eq!(run(&[option]).await.code, Some(0), "{option}");
        assert_eq!(run(&["serve", "--help"]).await.code, Some(0));
    }
}

// holds: cli-no-secret
#[tokio::test]
async fn a_secret_file_that_is_no_good_ends_the_start() {
    let folder = Folder::new();
    let right = SECRET.as_bytes();
    let link_to_nothing = folder.path().join("link").to_str().unwrap().to_owned();
    std::os::unix::fs::symlink(folder.path().join("nothing"), &link_to_nothing).unwrap();
    let files = [
        folder.file("group", right, 0o640),
        folder.file("others", right, 0o604),
        folder.file("executed", right, 0o610),
        folder.file("empty", b"", 0o600),
        folder.file("blank", b"\xef\xbb\xbf\r\n  \t\n\n", 0o600),
        folder.file("short", &[b'x'; 31], 0o600),
        folder.file("one short", &[right, b"\nshort\n"].concat(), 0o600),
        folder.file("not utf8", &[right, b"\xff"].concat(), 0o600),
        folder.path().join("missing").to_str().unwrap().to_owned(),
        folder.path().to_str().unwrap().to_owned(),
        "/dev/null".to_owned(),
        link_to_nothing,
    ];
    for file in files {
        let stderr = fails(&["serve", "--port", "0", "--secret-file", &file], 4).await;
        assert!(!stderr.contains(SECRET), "{file}: {stderr}");
    }
    fails(&["serve", "--port", "0"], 4).await;
}

// holds: cli-secret-lines, token-rotation
#[tokio::test]
async fn every_line_of_a_secret_file_verifies() {
    let folder = Folder::new();
    let spaced = " a secret with spaces at its ends, which count ";
    let shortest = "0123456789abcdef0123456789abcdef";
    let content = format!("\u{feff}{SECRET}\r\n\r\n \t \n{spaced}\n\n{shortest}");
    let file = folder.file("secret", content.as_bytes(), 0o400);
    let serve = Serve::using(&file).await;
    let token = |secret| tokens::signed(tokens::HEADER, r#"{"sub":"app","role":"client"}"#, secret);
    for secret in [SECRET, spaced, shortest] {
        Application::offering(&serve, &format!("clientmcp.v1, {}", token(secret))).await.register(TOOLS).await;
    }
    for secret in [spaced.trim(), " \t ", ""] {
        let mut refused = Application::offering(&serve, &format!("clientmcp.v1, {}", token(secret))).await;
        assert_eq!(refused.closed().await.0, 4401, "{secret:?}");
    }
}

// holds: cli-port-taken
#[tokio::test]
async fn a_taken_port_is_named() {
    let folder = Folder::new();
    let secret = folder.file("secret", SECRET.as_bytes(), 0o600);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let foreign = listener.local_addr().unwrap().port();
    let serve = Serve::start().await;
    for port in [foreign, serve.port].map(|port| port.to_string()) {
        let stderr = fails(&["serve", "--port", &port, "--secret-file", &secret], 3).await;
        assert!(stderr.contains(&port), "{stderr}");
    }
    Application::serving(&serve, "app", TOOLS).await;
}

// holds: cli-port-again
#[tokio::test]
async fn the_port_of_an_ended_bridge_is_free_at_once() {
    let port = own_port().await;
    let serve = Serve::on(port, &["--confirm", "off"]).await;
    // Connections that the bridge closes first would keep the port without the right option.
    let mut applications = Vec::new();
    for number in 0..4 {
        applications.push(Application::serving(&serve, &format!("app{number}"), TOOLS).await);
    }
    Agent::of(&serve, "app0").list().await;
    serve.signal("TERM").await;
    for application in &mut applications {
        assert_eq!(application.closed().await.0, 1001);
    }
    assert_eq!(serve.ended().await.code, Some(0));
    let again = Serve::on(port, &["--confirm", "off"]).await;
    assert_eq!(again.port, port);
    Application::serving(&again, "app", TOOLS).await;
}
