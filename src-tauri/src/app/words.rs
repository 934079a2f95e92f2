//! Sentences about the bridge: what happened, what it means, what to do.

use clientmcp_protocol::{
    control::ErrorCode,
    shown::{SHOWN_CHARS, shown, shown_again},
};

use crate::{
    bridge::{End, Why},
    sidecar::{Unspawned, supervision::Failure},
};

/// How an end is to be judged.
pub(super) fn failure(why: &Why) -> Failure {
    match why {
        Why::Stopped | Why::Itself | Why::Silent | Why::Refused { code: ErrorCode::Listen, .. } => Failure::Ended,
        Why::Refused { code: ErrorCode::PortTaken, .. } => Failure::PortTaken,
        Why::Version | Why::Refused { .. } | Why::Unspawned(_) => Failure::ForGood,
    }
}

/// The code that the bridge gave.
pub(super) fn code(why: &Why) -> Option<ErrorCode> {
    match why {
        Why::Version => Some(ErrorCode::Version),
        Why::Refused { code, .. } => Some(*code),
        Why::Stopped | Why::Itself | Why::Silent | Why::Unspawned(_) => None,
    }
}

/// It is started again soon.
pub(super) fn waiting(end: &End, port: u16) -> String {
    format!("{}: agents get no answer until it is started again, which happens by itself", cause(end, port))
}

/// It is not started again by itself.
pub(super) fn failed(end: &End, port: u16) -> String {
    let cause = cause(end, port);
    match &end.why {
        Why::Refused { code: ErrorCode::PortTaken, .. } => format!(
            "{cause}, so nothing is served; tokens sent to this port may be known to who holds it: end that program or \
             choose another port in Settings, and revoke all tokens there unless you know the program"
        ),
        Why::Refused { code: ErrorCode::Secret, .. } => {
            format!(
                "{cause}, so nothing is served: correct the secret file, or revoke all tokens in Settings, and try again"
            )
        }
        Why::Version | Why::Unspawned(Unspawned::Missing(_)) => {
            format!("{cause}, so nothing is served: install ClientMCP Desktop again")
        }
        Why::Unspawned(Unspawned::Refused(_)) => {
            format!("{cause}, so nothing is served: allow it in what protects this computer, and try again")
        }
        Why::Refused { code: ErrorCode::Listen, .. } => {
            format!("{cause}, so nothing is served: choose another port in Settings, and try again")
        }
        Why::Refused { .. } => format!("{cause}, so nothing is served: change it in Settings, and try again"),
        Why::Stopped | Why::Itself | Why::Silent => format!(
            "{cause}, too often to be started again by itself, so nothing is served: try again, and if that does not \
             help, copy the diagnostics in Settings for who helps you"
        ),
    }
}

fn cause(end: &End, port: u16) -> String {
    match (&end.why, end.code) {
        (Why::Stopped | Why::Itself, Some(code)) => format!("the bridge ended by itself (exit code {code})"),
        (Why::Stopped | Why::Itself, None) => "the bridge ended by itself".to_owned(),
        (Why::Silent, _) => "the bridge did not say in time that it serves".to_owned(),
        (Why::Version, _) => "the bridge beside this app is of another version".to_owned(),
        (Why::Refused { code: ErrorCode::PortTaken, .. }, _) => format!("another program holds port {port}"),
        (Why::Refused { code: ErrorCode::Listen, sentence }, _) => {
            format!("port {port} cannot be listened on ({})", shown_again(sentence, SHOWN_CHARS))
        }
        (Why::Refused { sentence, .. }, _) => {
            format!("the bridge refuses to start ({})", shown_again(sentence, SHOWN_CHARS))
        }
        (Why::Unspawned(Unspawned::Missing(path)), _) => {
            format!("the program {} is missing", shown(&path.to_string_lossy()))
        }
        (Why::Unspawned(Unspawned::Refused(error)), _) => {
            format!("the system does not start the bridge ({})", shown(error))
        }
    }
}
