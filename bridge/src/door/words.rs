//! What the door says to whom it does not serve: a code for programs, a sentence for people.

use clientmcp_protocol::door::{DOOR_VERSION, DoorCode, Said};

use crate::hub::Turned;

/// A refusal in words.
pub(super) fn refused(code: DoorCode) -> Said {
    let sentence = match code {
        DoorCode::Version => "update the ClientMCP app and this command together: they do not understand each other",
        DoorCode::Hello => "this is no hello that the local door of ClientMCP understands",
        DoorCode::Declined => {
            "the user does not let this program in: they can allow it under Connect in the ClientMCP app"
        }
        DoorCode::Unanswered => "the user was asked in the ClientMCP app and did not answer in time: try again",
        DoorCode::Busy => "too many programs are at the local door of ClientMCP: try again later",
        DoorCode::Port => "the ClientMCP bridge listens on another port: connect this host anew in the ClientMCP app",
        DoorCode::Value => "no token can be made with these values",
        DoorCode::Closing => "the ClientMCP bridge shuts down: try again",
    };
    Said::Refused { code, sentence: sentence.to_owned() }
}

/// What somebody of another version is told: which end is the older one.
pub(super) fn other_version(theirs: u64) -> Said {
    let sentence = if theirs > u64::from(DOOR_VERSION) {
        "this command is newer than the ClientMCP app that runs: update the app, or restart it"
    } else {
        "this command is older than the ClientMCP app that runs: update it, and the path to it in the host's settings"
    };
    Said::Refused { code: DoorCode::Version, sentence: sentence.to_owned() }
}

pub(super) fn turned(turned: Turned) -> Said {
    refused(match turned {
        Turned::Declined => DoorCode::Declined,
        Turned::Unanswered => DoorCode::Unanswered,
        Turned::Busy => DoorCode::Busy,
        Turned::Closing => DoorCode::Closing,
    })
}
