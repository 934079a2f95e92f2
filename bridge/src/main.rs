//! The `clientmcp` command (`docs/protocol.md`, "Command line"): arguments in, one of five exit codes out.

mod commands;
mod runtime;
mod stop;

use std::{
    alloc::System,
    error::Error as _,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{Parser, Subcommand, error::ContextKind};
use clientmcp_protocol::ids::NameFault;
use zeroizing_alloc::ZeroAlloc;

use crate::commands::{demo, headers, secret, serve, stdio, token};

/// Memory is overwritten when it is given back, so that no secret stays in what nobody uses any more, in whosever buffers it
/// lay on its way.
#[global_allocator]
static MEMORY: ZeroAlloc<System> = ZeroAlloc(System);

/// A bridge between live applications and MCP agents.
#[derive(Debug, Parser)]
#[command(name = "clientmcp", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the bridge until a signal ends it
    Serve(serve::Arguments),
    /// Show one call from an agent to a small application and back, then stay up to be tried
    Demo(demo::Arguments),
    /// Write a new secret to a new file that only you can read
    Secret(secret::Arguments),
    /// Serve MCP on stdin and stdout, for hosts that start a command
    Stdio(stdio::Arguments),
    /// Print the header with a token of an hour, for hosts that ask a command for it
    Headers(headers::Arguments),
    /// Print a token for an application or for an agent that is to call its tools
    Token(token::Arguments),
}

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Exit {
    /// It did what it was asked, or was stopped by a signal.
    Done = 0,
    /// Anything that has no code of its own.
    Failed = 1,
    /// Bad usage or configuration; `clap` ends with the same code.
    Usage = 2,
    /// The port is taken.
    PortTaken = 3,
    /// No usable secret.
    NoSecret = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(fault) => return refuse(&fault).into(),
    };
    let exit = match arguments.command {
        Command::Serve(arguments) => serve::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Secret(arguments) => secret::run(&arguments),
        Command::Stdio(arguments) => stdio::run(arguments),
        Command::Headers(arguments) => headers::run(arguments),
        Command::Token(arguments) => token::run(arguments),
    };
    exit.into()
}

/// Tells what is wrong with the arguments. A name that cannot be shown is not printed as it is.
fn refuse(fault: &clap::Error) -> Exit {
    let name = fault.source().and_then(|source| source.downcast_ref::<NameFault>());
    match (name, fault.get(ContextKind::InvalidArg)) {
        (Some(name), Some(argument)) => {
            complain(format_args!("{argument}: {name}"));
            Exit::Usage
        }
        _ => fault.exit(),
    }
}

/// Says on stderr what went wrong. A closed stderr changes nothing.
fn complain(sentence: impl std::fmt::Display) {
    note(format_args!("clientmcp: {sentence}"));
}

/// Tells the person something on stderr; stdout is for programs.
fn note(sentence: impl std::fmt::Display) {
    drop(writeln!(io::stderr(), "{sentence}"));
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
