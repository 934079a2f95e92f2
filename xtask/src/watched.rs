//! A command whose output is shown as it comes, and kept to be read once more when the command failed.

use std::{
    env,
    io::{self, IsTerminal, PipeReader, Read, Write},
    process::{Command, ExitStatus},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use crate::tools;

/// What is kept of the output: its end, where every kind of test says what failed.
const KEPT: usize = 16 * 1024 * 1024;

/// Of who stays behind when the command has ended, and holds its output open: it is shown still, and not waited for longer.
const LINGER: Duration = Duration::from_secs(5);

/// A command that failed.
pub(crate) struct Failed {
    /// How it ended, or why it did not start.
    pub(crate) fault: String,
    /// The command, as a person would type it.
    pub(crate) command: String,
    /// What it said, on stdout and stderr, in the order in which it came.
    pub(crate) output: String,
}

/// Shows the command, runs it and waits for it, as [`tools::finish`] does.
///
/// # Errors
/// Says how it ended, or why it did not start, and what it said.
pub(crate) fn finish(mut command: Command) -> Result<(), Failed> {
    println!("$ {}", tools::shown(&command));
    keep_colours(&mut command);
    finish_on(io::stdout(), command)
}

/// The same, shown elsewhere.
fn finish_on(screen: impl Write + Send + 'static, command: Command) -> Result<(), Failed> {
    let shown = tools::shown(&command);
    let kept = Arc::default();
    let fault = match run(command, screen, &kept) {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(fault) => format!("it does not start: {fault}"),
    };
    let output = String::from_utf8_lossy(&kept.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
    Err(Failed { fault, command: shown, output })
}

/// Both outputs are one pipe, so that they stay in order.
fn run(
    mut command: Command,
    screen: impl Write + Send + 'static,
    kept: &Arc<Mutex<Vec<u8>>>,
) -> io::Result<ExitStatus> {
    let (output, input) = io::pipe()?;
    command.stdout(input.try_clone()?).stderr(input);
    let mut child = command.spawn()?;
    // It holds our own ends of the pipe.
    drop(command);
    let (whole, end) = mpsc::channel::<()>();
    let kept = Arc::clone(kept);
    thread::spawn(move || {
        show(output, screen, &kept);
        drop(whole);
    });
    let status = child.wait();
    // Nothing is ever sent: what comes is the end, or the time.
    let _ = end.recv_timeout(LINGER);
    status
}

fn show(mut output: PipeReader, mut screen: impl Write, kept: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 8 * 1024];
    loop {
        let read = match output.read(&mut bytes) {
            Ok(0) => return,
            Ok(read) => &bytes[..read],
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        keep(read, &mut kept.lock().unwrap_or_else(PoisonError::into_inner));
        // Whoever reads us no more wants no output; the command goes on all the same.
        let _ = screen.write_all(read).and_then(|()| screen.flush());
    }
}

fn keep(read: &[u8], kept: &mut Vec<u8>) {
    kept.extend_from_slice(read);
    if kept.len() > 2 * KEPT {
        kept.drain(..kept.len() - KEPT);
    }
}

/// Programs ask whether their output is a terminal, and ours is, though theirs is a pipe.
fn keep_colours(command: &mut Command) {
    if io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none() {
        command.envs([("CARGO_TERM_COLOR", "always"), ("FORCE_COLOR", "1")]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_said_is_shown_and_there_when_it_failed() {
        let mut command = tools::cargo();
        command.arg("no-such-command");
        let (mut shown, screen) = io::pipe().unwrap();
        let failed = finish_on(screen, command).err().unwrap();
        assert!(failed.output.contains("no such command: `no-such-command`"), "{}", failed.output);
        assert_eq!(failed.command, "cargo no-such-command");
        assert!(failed.fault.contains("101"), "{}", failed.fault);
        let mut seen = String::new();
        shown.read_to_string(&mut seen).unwrap();
        assert_eq!(seen, failed.output);

        let mut command = tools::cargo();
        command.arg("--version");
        assert!(finish_on(io::sink(), command).is_ok());
    }

    #[test]
    fn a_command_that_does_not_start_says_so() {
        let failed = finish_on(io::sink(), Command::new("no-such-program-at-all")).err().unwrap();
        assert!(failed.fault.starts_with("it does not start: "), "{}", failed.fault);
        assert_eq!(failed.output, "");
    }

    #[cfg(unix)]
    #[test]
    fn who_holds_the_output_open_is_not_waited_for() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo before; sleep 600 & echo $! >&2; exit 3"]);
        let failed = finish_on(io::sink(), command).err().unwrap();
        let stays = failed.output.strip_prefix("before\n").unwrap().trim().to_owned();
        assert!(Command::new("kill").arg(stays).status().unwrap().success(), "it still runs");
    }

    #[test]
    fn of_an_endless_output_the_end_is_kept() {
        let mut kept = Vec::new();
        for number in 0..=2 * KEPT / 1_024 {
            keep(&[u8::try_from(number % 251).unwrap(); 1_024], &mut kept);
        }
        assert_eq!(kept.len(), KEPT);
        assert_eq!(usize::from(*kept.last().unwrap()), 2 * KEPT / 1_024 % 251);
    }
}
