//! `clientmcp serve` as a child process, with a folder and a secret of its own.

use std::{
    fs,
    io::Write,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicU16, AtomicU32, Ordering},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    net::TcpListener,
    process::{Child, ChildStdout, Command},
    task::JoinHandle,
};

use super::{expecting, tokens::SECRET, until, within};

/// A running bridge. It dies with this value.
pub(crate) struct Serve {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: JoinHandle<String>,
    /// The ready line as it was printed, with its line end.
    pub(crate) ready: String,
    /// The port that it listens on.
    pub(crate) port: u16,
    /// The agents' URL, as printed.
    pub(crate) mcp: String,
    /// The applications' URL, as printed.
    pub(crate) connect: String,
    /// The process id, as printed.
    pub(crate) pid: u32,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit code; none when a signal killed it.
    pub(crate) code: Option<i32>,
    /// What it printed on stdout (of a `Serve`: after the ready line).
    pub(crate) stdout: String,
    /// What it printed on stderr.
    pub(crate) stderr: String,
}

impl Serve {
    /// A bridge on a free port that allows every call, and gives an application more time for it than a test takes.
    pub(crate) async fn start() -> Self {
        Self::with(&["--confirm", "off", "--call-timeout", "3600"]).await
    }

    /// A bridge on a free port, with these arguments besides the port and the secret file.
    pub(crate) async fn with(arguments: &[&str]) -> Self {
        Self::on(0, arguments).await
    }

    /// A bridge on this port.
    pub(crate) async fn on(port: u16, arguments: &[&str]) -> Self {
        let folder = Folder::new();
        let secret = folder.file("secret", SECRET.as_bytes(), 0o600);
        let port = port.to_string();
        let mut all = vec!["--port", &port, "--secret-file", &secret];
        all.extend(arguments);
        // Whoever has printed that it listens has read its secrets.
        Self::spawn(&all).await
    }

    /// A bridge on a free port with this secret file.
    pub(crate) async fn using(secret_file: &str) -> Self {
        Self::spawn(&["--port", "0", "--secret-file", secret_file]).await
    }

    async fn spawn(arguments: &[&str]) -> Self {
        let mut child = program().arg("serve").args(arguments).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        // Read all the time: a full pipe would stop the bridge.
        let stderr = tokio::spawn(async move {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).await.unwrap();
            String::from_utf8(bytes).unwrap()
        });
        let mut ready = String::new();
        expecting("the ready line", stdout.read_line(&mut ready)).await.unwrap();
        if ready.is_empty() {
            let status = within(child.wait()).await.unwrap();
            panic!("no ready line: {status}, {}", within(stderr).await.unwrap());
        }
        let event: serde_json::Value = serde_json::from_str(&ready).expect(&ready);
        let mcp = event["mcp"].as_str().expect(&ready).to_owned();
        let connect = event["connect"].as_str().expect(&ready).to_owned();
        let pid = event["pid"].as_u64().and_then(|pid| pid.try_into().ok()).expect(&ready);
        let authority = mcp.strip_prefix("http://127.0.0.1:").and_then(|rest| rest.strip_suffix("/mcp")).expect(&ready);
        let port = authority.parse().expect(&ready);
        Self { child, stdout, stderr, ready, port, mcp, connect, pid }
    }

    /// The id of the process that was started.
    pub(crate) fn child_id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Sends SIGTERM and waits for the end.
    pub(crate) async fn stop(self) -> Ended {
        self.signal("TERM").await;
        self.ended().await
    }

    /// Sends a signal by its name.
    pub(crate) async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("the bridge has ended").to_string();
        assert!(within(Command::new("kill").args(["-s", name, &pid]).status()).await.unwrap().success());
    }

    /// Waits for the end.
    pub(crate) async fn ended(mut self) -> Ended {
        let code = within(self.child.wait()).await.unwrap().code();
        let mut stdout = String::new();
        within(self.stdout.read_to_string(&mut stdout)).await.unwrap();
        Ended { code, stdout, stderr: within(self.stderr).await.unwrap() }
    }
}

/// A free port that the system gives to nobody by itself, so that it stays free for a while: most of what starts beside a
/// test is given one from 32768 on.
pub(crate) async fn own_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let process = u16::try_from(std::process::id() * 16 % 12_000).unwrap();
    until("a free port", async || {
        let port = 20_000 + (process + NEXT.fetch_add(1, Ordering::Relaxed)) % 12_000;
        TcpListener::bind(("127.0.0.1", port)).await.map(|_| port).map_err(|fault| fault.to_string())
    })
    .await
}

/// Runs the program to its end.
pub(crate) async fn run(arguments: &[&str]) -> Ended {
    let output = within(program().args(arguments).output()).await.unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The same, with this folder as the user's runtime folder.
pub(crate) async fn run_in(runtime: &Path, arguments: &[&str]) -> Ended {
    let output = within(program().env("XDG_RUNTIME_DIR", runtime).args(arguments).output()).await.unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clientmcp"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// A folder of one test, removed with this value.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("clientmcp-tests-{}-{number}", std::process::id()));
            // A folder that a killed run left behind belongs to nobody here.
            if fs::DirBuilder::new().mode(0o700).create(&path).is_ok() {
                return Self(path);
            }
            assert!(number < 10_000, "no folder can be made in {}", path.display());
        }
    }

    /// A new file with exactly this Unix mode.
    pub(crate) fn file(&self, name: &str, content: &[u8], mode: u32) -> String {
        let path = self.0.join(name);
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
        file.write_all(content).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        path.into_os_string().into_string().unwrap()
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Best effort: a test that fails here would hide why it failed before.
        drop(fs::remove_dir_all(&self.0));
    }
}
