//! `clientmcp serve`: the bridge on its own, without a desktop.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use clientmcp_bridge::{
    approvals::Asking,
    control::{self, End, Input},
    hub::{Beginning, Hub},
    origin,
    port::ListenError,
    room::Room,
    secret_file,
    server::Bridge,
    token::{Access, Secrets},
};
use clientmcp_protocol::{
    control::{ClientOrigins, Memory, Settings},
    limits::{CALL_TIME, CALL_TIME_RANGE},
};

use super::shopping::ShoppingList;
use crate::{Exit, complain, runtime, stop};

/// The port that is listened on when nobody says.
const PORT: u16 = 27_182;

/// What `clientmcp serve` is asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = PORT)]
    pub(crate) port: u16,
    /// The file with the secrets: the first signs, all verify
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Whether a call needs a yes, which without the desktop app nobody can give
    #[arg(long, value_enum, default_value_t = Confirm::Ask)]
    pub(crate) confirm: Confirm,
    /// A web page's origin that may send agent requests, as in `https://example.com`; repeatable
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    pub(crate) allow_origin: Vec<String>,
    /// Seconds that an application may take for a call
    #[arg(long, value_name = "SECONDS", default_value_t = CALL_TIME.as_secs(), value_parser = seconds())]
    call_timeout: u64,
    /// Be driven by the desktop app over stdin and stdout; everything else comes from there
    #[arg(long, conflicts_with_all = ["port", "secret_file", "confirm", "allow_origin", "call_timeout"])]
    control: bool,
}

/// `--confirm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Confirm {
    /// Every call needs a yes; without the desktop app nobody can give one, and calls are answered `unattended`
    Ask,
    /// Every call is allowed, without asking anybody
    Off,
}

impl From<Confirm> for Asking {
    fn from(confirm: Confirm) -> Self {
        match confirm {
            Confirm::Ask => Self::Nobody,
            Confirm::Off => Self::Off,
        }
    }
}

/// Runs the bridge until a signal, or the desktop's going, ends it.
pub(crate) fn run(arguments: Arguments) -> Exit {
    if arguments.control {
        return runtime::run(controlled());
    }
    let secrets = match secrets(arguments.secret_file.as_deref()) {
        Ok(secrets) => secrets,
        Err(exit) => return exit,
    };
    runtime::run(serve(arguments, secrets))
}

async fn serve(arguments: Arguments, secrets: Secrets) -> Exit {
    // Signals count from before the ready line: whoever reads it may send one at once.
    let stopped = match stop::signal() {
        Ok(stopped) => stopped,
        Err(error) => {
            complain(format_args!("signals cannot be heard: {error}"));
            return Exit::Failed;
        }
    };
    let bridge = match Bridge::listen(arguments.port) {
        Ok(bridge) => bridge,
        Err(error) => {
            complain(&error);
            return match error {
                ListenError::Taken { .. } => Exit::PortTaken,
                ListenError::Failed { .. } => Exit::Failed,
            };
        }
    };
    if let Err(error) = announce(&bridge) {
        complain(format_args!("the ready line could not be written to stdout: {error}"));
        return Exit::Failed;
    }
    if arguments.confirm == Confirm::Ask {
        tracing::warn!(
            "nobody can be asked here: every call is answered `unattended`; --confirm off sends calls unasked"
        );
    }
    let room = Room::make();
    let hub = Hub::start(arguments.beginning(secrets, room));
    bridge.serve(hub, room, stopped).await;
    Exit::Done
}

async fn controlled() -> Exit {
    let stopped = match stop::signal() {
        Ok(stopped) => stopped,
        Err(error) => {
            complain(format_args!("signals cannot be heard: {error}"));
            return Exit::Failed;
        }
    };
    let input = match Input::stdin() {
        Ok(input) => input,
        Err(error) => {
            complain(format_args!("stdin cannot be read: {error}"));
            return Exit::Failed;
        }
    };
    match control::serve::<Bridge>(input, tokio::io::stdout(), ShoppingList::default(), stopped).await {
        End::Done => Exit::Done,
        End::Version => Exit::Usage,
        End::PortTaken => Exit::PortTaken,
        End::Failed => Exit::Failed,
        End::NoSecret => Exit::NoSecret,
    }
}

fn secrets(file: Option<&Path>) -> Result<Secrets, Exit> {
    let Some(file) = file else {
        complain(
            "--secret-file is required: tokens are checked against its secrets. Write one with `clientmcp secret FILE`",
        );
        return Err(Exit::NoSecret);
    };
    secret_file::read(file).map_err(|error| {
        complain(error);
        Exit::NoSecret
    })
}

/// The ready line: all that this command ever writes to stdout.
fn announce(bridge: &Bridge) -> io::Result<()> {
    let (mcp, connect) = (bridge.mcp_url(), bridge.connect_url());
    let mut stdout = io::stdout().lock();
    writeln!(stdout, r#"{{"event":"listening","mcp":"{mcp}","connect":"{connect}","pid":{}}}"#, std::process::id())?;
    stdout.flush()
}

impl Arguments {
    /// How long an application may take for a call.
    fn call_time(&self) -> Duration {
        Duration::from_secs(self.call_timeout)
    }

    /// Without a desktop nothing is remembered, and any origin may connect.
    fn beginning(&self, secrets: Secrets, room: Room) -> Beginning {
        let settings = Settings {
            client_origins: ClientOrigins::Any,
            allow_origins: self.allow_origin.clone(),
            call_seconds: u32::try_from(self.call_time().as_secs()).unwrap_or(u32::MAX),
            ..Settings::default()
        };
        Beginning {
            asking: self.confirm.into(),
            room: room.applications,
            settings,
            access: Access::new(secrets),
            memory: Memory::default(),
            paused: false,
        }
    }
}

fn seconds() -> clap::builder::RangedU64ValueParser {
    let (shortest, longest) = CALL_TIME_RANGE;
    clap::builder::RangedU64ValueParser::new().range(shortest.as_secs()..=longest.as_secs())
}

fn origin(text: &str) -> Result<String, &'static str> {
    origin::check(text).map(|()| text.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Arguments, clap::Error> {
        let command = Arguments::augment_args(clap::Command::new("serve").no_binary_name(true));
        Arguments::from_arg_matches(&command.try_get_matches_from(arguments)?)
    }

    #[test]
    fn without_arguments_the_defaults_hold() {
        let arguments = parse(&[]).unwrap();
        assert_eq!((arguments.port, arguments.confirm), (27_182, Confirm::Ask));
        assert_eq!((arguments.secret_file, arguments.allow_origin.len()), (None, 0));
        assert_eq!(parse(&[]).unwrap().call_time(), Duration::from_secs(120));
    }

    #[test]
    fn each_argument_is_taken() {
        let arguments = parse(&[
            "--port=0",
            "--secret-file=F",
            "--confirm=off",
            "--allow-origin=https://a.example",
            "--allow-origin=http://localhost:5173",
            "--call-timeout=3600",
        ])
        .unwrap();
        assert_eq!((arguments.port, arguments.confirm), (0, Confirm::Off));
        assert_eq!(arguments.allow_origin, ["https://a.example", "http://localhost:5173"]);
        assert_eq!(arguments.call_time(), Duration::from_secs(3_600));
        assert_eq!(arguments.secret_file, Some("F".into()));
    }

    #[test]
    fn bad_values_are_refused() {
        for bad in [
            "--port=65536",
            "--port=-1",
            "--port=http",
            "--confirm=Ask",
            "--confirm=on",
            "--call-timeout=0",
            "--call-timeout=3601",
            "--call-timeout=1.5",
            "--allow-origin=null",
            "--host=0.0.0.0",
            "x",
        ] {
            assert!(parse(&[bad]).is_err(), "{bad}");
        }
    }
}
