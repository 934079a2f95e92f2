//! `clientmcp demo`, as somebody at a terminal meets it: what it shows, and whether what it prints to paste works.

use std::process::Stdio;

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use crate::support::within;

/// A running demo and its whole screen.
struct Demo {
    child: Child,
    screen: String,
}

impl Demo {
    async fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_clientmcp"))
            .arg("demo")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut screen = String::new();
        while !screen.ends_with("Ctrl-C ends it.\n") {
            let line = within(lines.next_line()).await.unwrap().expect("the screen goes on");
            screen += &line;
            screen.push('\n');
        }
        Self { child, screen }
    }

    /// The commands that begin with this word, each with its continued lines.
    fn commands(&self, word: &str) -> Vec<String> {
        let mut commands = Vec::new();
        let mut lines = self.screen.lines();
        while let Some(line) = lines.next() {
            if line.trim_start().starts_with(word) {
                let mut command = line.to_owned();
                while command.ends_with('\\') {
                    command = format!("{command}\n{}", lines.next().expect("a continued line"));
                }
                commands.push(command);
            }
        }
        commands
    }
}

// holds: demo-call
#[tokio::test]
async fn the_demo_shows_one_call_and_its_answer_and_says_that_nobody_is_asked() {
    let demo = Demo::start().await;
    assert!(demo.screen.contains("Nobody is asked"), "{}", demo.screen);
    let answer = demo.screen.lines().find_map(|line| line.trim().strip_prefix("answer ")).expect("an answer is shown");
    let answer: serde_json::Value = serde_json::from_str(answer.trim()).expect("it is JSON");
    assert_eq!(answer["result"]["structuredContent"]["quantity"], 2, "{answer}");
}

// holds: demo-curl
#[tokio::test]
async fn the_curl_lines_work_when_they_are_pasted() {
    let demo = Demo::start().await;
    let curls = demo.commands("curl ");
    assert_eq!(curls.len(), 2, "one for each era: {}", demo.screen);
    // The shown call has put 2 on the list already.
    for (command, quantity) in curls.iter().zip([4, 6]) {
        let ran = within(Command::new("sh").args(["-c", command]).kill_on_drop(true).output()).await.unwrap();
        assert!(ran.status.success(), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
        let answer: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("it answers JSON");
        assert_eq!(answer["result"]["structuredContent"]["quantity"], quantity, "{command}: {answer}");
    }
    let entry = demo.screen.lines().find(|line| line.contains("mcpServers")).expect("JSON for other hosts");
    let entry: serde_json::Value = serde_json::from_str(entry.trim()).expect("it is JSON");
    assert_eq!(entry["mcpServers"]["clientmcp-demo"]["type"], "http");
    assert_eq!(demo.commands("claude mcp add --transport http ").len(), 1);
}

// holds: demo-stop
#[cfg(unix)]
#[tokio::test]
async fn the_demo_stays_up_until_a_signal_and_then_exits_0() {
    for signal in ["-INT", "-TERM"] {
        let mut demo = Demo::start().await;
        assert_eq!(demo.child.try_wait().unwrap(), None, "it stays up");
        let pid = demo.child.id().expect("it runs").to_string();
        within(Command::new("kill").args([signal, &pid]).status()).await.unwrap();
        assert_eq!(within(demo.child.wait()).await.unwrap().code(), Some(0), "{signal}");
    }
}
