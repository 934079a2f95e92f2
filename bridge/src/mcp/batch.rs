//! Batches, which revision 2025-03-26 alone has: an array of messages, each answered on its own (`docs/protocol.md`,
//! "Batches").

use clientmcp_protocol::limits::{BATCH, JSON_NESTING};
use serde_json::value::RawValue;

use super::{
    Answer, Carrier, Mirrored, Peer,
    classify::VERSION_HEADER,
    message::{self, Message},
};
use crate::{
    pieces::Pieces,
    refusal::Refusal,
    respond::{self, Refused},
    revision::{Era, Revision},
    text,
};

/// The messages of a batch as texts; nothing when the body is no array.
pub fn entries(peer: &Peer<'_>, body: &[u8]) -> Option<Result<Vec<String>, Refused>> {
    let is_array = body.trim_ascii_start().first() == Some(&b'[');
    is_array.then(|| read(peer, body).map_err(|refusal| respond::refused(None, Era::Modern, &refusal)))
}

fn read(peer: &Peer<'_>, body: &[u8]) -> Result<Vec<String>, Refusal> {
    let body = std::str::from_utf8(body).map_err(|_| Refusal::NotJson)?;
    let entries: Vec<&RawValue> = serde_json::from_str(body).map_err(|_| Refusal::NotJson)?;
    if text::nesting(body) > JSON_NESTING {
        return Err(Refusal::TooDeep);
    }
    let refused = |why: String| Err(Refusal::InvalidRequest(why));
    let known = match peer.carrier {
        Carrier::Lines { batches } => batches,
        Carrier::Requests(mirror) => match mirror.header(VERSION_HEADER) {
            Mirrored::Absent => true,
            Mirrored::Once(version) => version == Revision::V2025_03_26.as_str().as_bytes(),
            Mirrored::Repeated => false,
        },
    };
    if !known {
        return refused("only revision 2025-03-26 has batches".into());
    }
    if !(1..=BATCH).contains(&entries.len()) {
        return refused(format!("a batch has 1 to {BATCH} messages"));
    }
    Ok(entries.into_iter().map(|entry| entry.get().to_owned()).collect())
}

/// Answers one entry as it would be answered alone; nothing when there is nothing to say.
pub async fn answer(entry: &str, alone: impl Future<Output = Answer>) -> Result<Option<Pieces>, Refusal> {
    if let Ok(Message::Request(request)) = message::read(entry.as_bytes())
        && request.method == "initialize"
    {
        let refusal = Refusal::InvalidRequest("\"initialize\" stands alone, in no batch".into());
        return Ok(Some(respond::refused(Some(request.id), Era::Legacy, &refusal).body.into()));
    }
    match alone.await {
        // Only a modern request opens a stream, and no modern request stands in a batch.
        Answer::Accepted | Answer::Cancelled | Answer::Listen(_) => Ok(None),
        Answer::Result { body, session: _ } => Ok(Some(body)),
        Answer::Refused(Refused { status: _, body }) => Ok(Some(body.into())),
        Answer::Nothing => Err(Refusal::ShuttingDown),
    }
}

/// The answers of a batch as one message.
pub fn array(answers: Vec<Pieces>) -> Pieces {
    let mut array = Pieces::from("[".to_owned());
    for (place, answer) in answers.into_iter().enumerate() {
        array = if place == 0 { array.and(answer) } else { array.and(",".to_owned()).and(answer) };
    }
    array.and("]".to_owned())
}
