//! The bridge's process: `clientmcp serve --control`, from the program beside our own.
//!
//! It is given nothing in its arguments or environment. It ends when its stdin does, and is killed when the app is gone
//! without having closed that.

pub mod supervision;

use std::{
    fmt, io,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    process::{Child, Command},
    sync::oneshot,
};

/// Starts bridges.
pub trait Spawn: Send + 'static {
    /// Starts one. Called inside the app's runtime.
    fn spawn(&self) -> Result<Process, Unspawned>;
}

/// A process and its three streams.
pub struct Process {
    /// What it reads.
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    /// What it says.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// What it logs.
    pub log: Box<dyn AsyncRead + Send + Unpin>,
    /// Its end.
    pub ends: Ends,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").finish_non_exhaustive()
    }
}

/// The end of a process, both ways.
#[derive(Debug)]
pub struct Ends {
    /// Resolves when it has ended, with its exit code if it has one.
    pub exit: oneshot::Receiver<Option<i32>>,
    /// Ends it at once.
    pub kill: oneshot::Sender<()>,
}

/// Why there is no process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unspawned {
    /// The program is not where it belongs.
    Missing(PathBuf),
    /// The system did not start it: its words.
    Refused(String),
}

/// The program that is installed beside ours.
#[derive(Clone, Debug)]
pub struct Sidecar {
    program: PathBuf,
}

impl Sidecar {
    /// The one beside the program that runs.
    pub fn beside_us() -> io::Result<Self> {
        let name = format!("clientmcp{}", std::env::consts::EXE_SUFFIX);
        Ok(Self { program: std::env::current_exe()?.with_file_name(name) })
    }

    /// Where it is.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Another one.
    pub fn at(program: PathBuf) -> Self {
        Self { program }
    }
}

impl Spawn for Sidecar {
    fn spawn(&self) -> Result<Process, Unspawned> {
        let mut command = Command::new(&self.program);
        command.args(["serve", "--control"]).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        without_console(&mut command);
        let mut child = command.spawn().map_err(|error| {
            let missing = error.kind() == io::ErrorKind::NotFound;
            if missing { Unspawned::Missing(self.program.clone()) } else { Unspawned::Refused(error.to_string()) }
        })?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(log)) = streams else {
            return Err(Unspawned::Refused("its streams are missing".to_owned()));
        };
        let ends = watch(child);
        Ok(Process { input: Box::new(input), output: Box::new(output), log: Box::new(log), ends })
    }
}

fn watch(mut child: Child) -> Ends {
    let (exited, exit) = oneshot::channel();
    let (kill, killed) = oneshot::channel::<()>();
    tokio::spawn(async move {
        let status = tokio::select! {
            status = child.wait() => status,
            Ok(()) = killed => {
                drop(child.start_kill());
                child.wait().await
            }
        };
        let _ = exited.send(status.ok().and_then(|status| status.code()));
    });
    Ends { exit, kill }
}

/// A console program of an app without a console would get a window of its own.
#[cfg(windows)]
fn without_console(command: &mut Command) {
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    command.creation_flags(CREATE_NO_WINDOW);
}

#[cfg(not(windows))]
fn without_console(_: &mut Command) {}
