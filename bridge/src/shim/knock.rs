//! Going to the local door: hello, and what the bridge says to it.

use clientmcp_protocol::{
    door::{Answer, DOOR_VERSION, DoorCode, Hello, Said, Want},
    limits::{DOOR_ANSWER_BYTES, DOOR_OPEN_TIME},
};
use tokio::{
    io::{AsyncWriteExt as _, BufReader, ReadHalf, WriteHalf, split},
    time::timeout,
};

use crate::{
    lines::{Line, Lines},
    local::{self, Fault, Stream},
    text,
};

/// A connection behind its first lines.
#[derive(Debug)]
pub struct Open {
    pub(super) lines: Lines<BufReader<ReadHalf<Stream>>>,
    pub(super) output: WriteHalf<Stream>,
}

/// Why nothing came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Away {
    /// The bridge's, if it said one.
    pub code: Option<DoorCode>,
    /// What happened, and what to do, in one sentence without a full stop.
    pub sentence: String,
}

impl Away {
    /// The host is gone.
    pub(super) fn ending() -> Self {
        Self::new("the command is ending")
    }

    fn new(sentence: impl Into<String>) -> Self {
        Self { code: None, sentence: sentence.into() }
    }
}

impl From<Fault> for Away {
    fn from(fault: Fault) -> Self {
        Self::new(fault.to_string())
    }
}

/// Says what is wanted and waits for the answer. `asking` is told when the person has to answer, which may take long.
pub async fn knock(want: Want, mut asking: impl FnMut()) -> Result<(Said, Open), Away> {
    let stream = local::reach().await?;
    let (input, mut output) = split(stream);
    let mut lines = Lines::new(BufReader::new(input), DOOR_ANSWER_BYTES);
    let hello = Hello { door: DOOR_VERSION, version: env!("CARGO_PKG_VERSION").to_owned(), want };
    let broken = |_| Away::new("the ClientMCP app went away");
    let mut line = serde_json::to_vec(&hello).unwrap_or_default();
    line.push(b'\n');
    output.write_all(&line).await.map_err(broken)?;
    output.flush().await.map_err(broken)?;
    let mut first = true;
    loop {
        let line = if first {
            timeout(DOOR_OPEN_TIME, lines.next()).await.map_err(|_| Away::new("the ClientMCP app does not answer"))?
        } else {
            lines.next().await
        };
        match read(line)? {
            Said::Asking => asking(),
            Said::Refused { code, sentence } => return Err(Away { code: Some(code), sentence }),
            said @ (Said::Open | Said::Token { .. } | Said::Apps { .. } | Said::Status { .. }) => {
                return Ok((said, Open { lines, output }));
            }
        }
        first = false;
    }
}

fn read(line: Option<Line>) -> Result<Said, Away> {
    let line = match line {
        Some(Line::Text(line)) => line,
        Some(Line::TooLong) => return Err(Away::new("what is at the local door is no bridge that is understood")),
        None => return Err(Away::new("the ClientMCP app went away")),
    };
    if let Ok(Answer { said, .. }) = serde_json::from_slice(&line) {
        return Ok(said);
    }
    // Of another version only the sentence is read.
    let members = std::str::from_utf8(&line).ok().and_then(|line| text::Object::parse(line).ok());
    let sentence = members.and_then(|members| members.get("sentence").and_then(text::string).map(String::from));
    let sentence = sentence.map(|sentence| text::shown_again(&sentence));
    Err(Away::new(sentence.unwrap_or_else(|| "update the ClientMCP app and this command together".to_owned())))
}
