//! `clientmcp token`: a token on stdout and nothing else there, so that a script can take it.

use std::{
    io::{self, Write as _},
    path::PathBuf,
    time::{Duration, SystemTime},
};

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clientmcp_bridge::{
    secret_file,
    shim::{Away, knock},
    token::{self, AGENT_LIFETIME, CLIENT_LIFETIME, Grant, MintError, NumericDate},
};
use clientmcp_protocol::{
    door::{DoorCode, Said, Want},
    ids::{ClientId, Label, Role},
};

use super::starter::while_there;
use crate::{Exit, complain, note, runtime};

/// What `clientmcp token` is asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The application: 1 to 128 of the letters A-Z and a-z, digits, `_`, `-` and `.`
    client_id: ClientId,
    /// What the token is for: to be the application (client), or to call its tools (agent)
    #[arg(long, value_parser = PossibleValuesParser::new(["agent", "client"]).map(|name| role(&name)))]
    role: Role,
    /// How long it lasts: a number with s, m, h or d, or never [default: 90d for an agent, 365d for a client]
    #[arg(long, value_parser = lifetime)]
    ttl: Option<Lifetime>,
    /// The generation it belongs to; without the desktop app `clientmcp serve` takes generation 0 alone
    #[arg(long = "gen", value_name = "N", default_value_t = 0)]
    generation: u64,
    /// What the agent is called: 1 to 64 characters
    #[arg(long, value_parser = Label::typed)]
    label: Option<Label>,
    /// The file with the secrets, of which the first signs; without it the person is asked in the running app
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
}

/// `--ttl`, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lifetime {
    Never,
    For(Duration),
}

pub(crate) fn run(arguments: Arguments) -> Exit {
    let Some(file) = &arguments.secret_file else { return through_the_door(arguments) };
    let secrets = match secret_file::read(file) {
        Ok(secrets) => secrets,
        Err(error) => {
            complain(error);
            return Exit::NoSecret;
        }
    };
    let (grant, now) = (grant(arguments), SystemTime::now());
    match token::mint(&secrets, &grant, now) {
        Ok(token) => print(&token, grant.end(now), grant.generation),
        Err(error) => {
            complain(error);
            match error {
                MintError::TooFar | MintError::Spent => Exit::Usage,
                MintError::Signing => Exit::Failed,
            }
        }
    }
}

fn grant(arguments: Arguments) -> Grant {
    let Arguments { client_id, role, ttl, generation, label, secret_file: _ } = arguments;
    let ttl = match (ttl, role) {
        (Some(Lifetime::Never), _) => None,
        (Some(Lifetime::For(time)), _) => Some(time),
        (None, Role::Agent) => Some(AGENT_LIFETIME),
        (None, Role::Client) => Some(CLIENT_LIFETIME),
    };
    Grant { subject: client_id, role, label, generation, ttl }
}

/// The running app makes it, when the person says yes.
fn through_the_door(arguments: Arguments) -> Exit {
    let Grant { subject: application, role, label, generation, ttl } = grant(arguments);
    if generation != 0 {
        complain("--gen goes with --secret-file: the ClientMCP app knows the generation itself");
        return Exit::Usage;
    }
    let want = Want::Token { application, role, label, seconds: ttl.map(|ttl| ttl.as_secs()) };
    runtime::run(async {
        let knocked = while_there(knock(want, || note("answer the question in the ClientMCP app"))).await;
        let Some(knocked) = knocked else {
            complain("nobody waits for the token any more");
            return Exit::Failed;
        };
        match knocked {
            Ok((Said::Token { token, ends }, _)) => {
                #[expect(clippy::cast_precision_loss, reason = "exact until the year 287396")]
                let end = ends.and_then(|end| NumericDate::new(end.0 as f64 / 1_000.0));
                print(&token, end, 0)
            }
            Ok(_) => {
                complain("the bridge said something else");
                Exit::Failed
            }
            Err(Away { code: None, sentence }) => {
                complain(format_args!(
                    "{sentence}, and there is no --secret-file: the first secret in it would sign the token. Take the file \
                     that `clientmcp serve` is started with, or write one with `clientmcp secret FILE`"
                ));
                Exit::NoSecret
            }
            Err(Away { code: Some(code), sentence }) => {
                complain(sentence);
                if code == DoorCode::Value { Exit::Usage } else { Exit::Failed }
            }
        }
    })
}

fn print(token: &str, end: Option<NumericDate>, generation: u64) -> Exit {
    let mut stdout = io::stdout();
    if let Err(error) = writeln!(stdout, "{token}").and_then(|()| stdout.flush()) {
        complain(format_args!("the token could not be printed ({error}); it is lost, so ask for it again"));
        return Exit::Failed;
    }
    match end {
        Some(end) => note(format_args!("valid until {}", utc(end))),
        None => note("valid for ever: only a new secret, or a revocation in the app, ends it"),
    }
    if generation != 0 {
        note(format_args!("of generation {generation}: `clientmcp serve` without the app takes generation 0 alone"));
    }
    Exit::Done
}

/// The parser lets nothing else through.
fn role(name: &str) -> Role {
    if name == "client" { Role::Client } else { Role::Agent }
}

fn lifetime(text: &str) -> Result<Lifetime, String> {
    if text == "never" {
        return Ok(Lifetime::Never);
    }
    for (unit, seconds) in [("s", 1), ("m", 60), ("h", 60 * 60), ("d", 24 * 60 * 60)] {
        let Some(digits) = text.strip_suffix(unit) else { continue };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        let time = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(seconds));
        return match time {
            Some(0) => Err("a token that ends at once is of no use".into()),
            Some(time) => Ok(Lifetime::For(Duration::from_secs(time))),
            None => Err(MintError::TooFar.to_string()),
        };
    }
    Err("write a whole number with s, m, h or d, as in 90d or 12h, or never".into())
}

/// The moment as `2027-01-15 08:00:00 UTC`.
fn utc(moment: NumericDate) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "a token ends within the year 9999")]
    let seconds = moment.seconds() as i64;
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let time = seconds.rem_euclid(86_400);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", time / 3_600, time / 60 % 60, time % 60)
}

/// Year, month and day of a day counted from 1970-01-01. Years are counted from March, so that the leap day is the last.
fn civil(days: i64) -> (i64, i64, i64) {
    const DAYS_IN_400_YEARS: i64 = 146_097;
    let since_0000_03_01 = days + 719_468;
    let (era, day) = (since_0000_03_01.div_euclid(DAYS_IN_400_YEARS), since_0000_03_01.rem_euclid(DAYS_IN_400_YEARS));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month_from_march = (5 * day + 2) / 153;
    let day = day - (153 * month_from_march + 2) / 5 + 1;
    let (month, next_year) = if month_from_march < 10 { (month_from_march + 3, 0) } else { (month_from_march - 9, 1) };
    (era * 400 + year + next_year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_has_a_unit() {
        for (text, seconds) in [("1s", 1), ("30m", 1_800), ("12h", 43_200), ("90d", 7_776_000), ("007d", 604_800)] {
            assert_eq!(lifetime(text), Ok(Lifetime::For(Duration::from_secs(seconds))), "{text}");
        }
        assert_eq!(lifetime("never"), Ok(Lifetime::Never));
    }

    #[test]
    fn anything_else_is_no_lifetime() {
        let most = format!("{}d", u64::MAX);
        for text in ["", "d", "90", "90 d", "-1d", "+1d", "1.5h", "1h30m", "0d", "0s", "Never", "90D", "9ö", &most] {
            assert!(lifetime(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_end_is_shown_as_a_date() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (951_868_800, "2000-03-01 00:00:00 UTC"),
            (1_800_000_000, "2027-01-15 08:00:00 UTC"),
            (4_107_542_399, "2100-02-28 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
            (253_402_300_799, "9999-12-31 23:59:59 UTC"),
        ] {
            let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(utc(moment.into()), text);
        }
    }
}
