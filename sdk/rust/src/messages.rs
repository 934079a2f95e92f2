//! Messages of the bridge, read; messages to the bridge, written. Texts of others pass through untouched.

use clientmcp_protocol::{
    client::{FromApplication, Received},
    limits::MESSAGE_BYTES,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer::Answer;

/// A message of the bridge.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Registered,
    Call {
        id: String,
        name: String,
        arguments: &'a RawValue,
    },
    Cancel {
        id: String,
    },
    Pong,
    /// Of a type that is newer than this SDK.
    Unknown,
}

/// A message that breaks the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Breach;

/// Reads a message.
pub(crate) fn read(text: &str) -> Result<Message<'_>, Breach> {
    let Ok(received) = serde_json::from_str::<Received<'_>>(text) else {
        return read_type(text);
    };
    match received.kind.as_str() {
        "registered" => Ok(Message::Registered),
        "call" => {
            let (id, name) = (received.id.ok_or(Breach)?, received.name.ok_or(Breach)?);
            let arguments = received.arguments.filter(|text| text.get().starts_with('{')).ok_or(Breach)?;
            Ok(Message::Call { id, name, arguments })
        }
        "cancel" => Ok(Message::Cancel { id: received.id.ok_or(Breach)? }),
        "pong" => Ok(Message::Pong),
        _ => Ok(Message::Unknown),
    }
}

/// A type that is unknown here may use the members of the known ones as it likes.
fn read_type(text: &str) -> Result<Message<'_>, Breach> {
    #[derive(Deserialize)]
    struct Typed {
        r#type: String,
    }
    let typed: Typed = serde_json::from_str(text).map_err(|_| Breach)?;
    match typed.r#type.as_str() {
        "registered" | "call" | "cancel" | "pong" => Err(Breach),
        _ => Ok(Message::Unknown),
    }
}

/// Writes a `register`.
pub(crate) fn register(tools: &[Box<RawValue>], instructions: Option<&str>) -> String {
    write(&FromApplication::Register { tools, instructions })
}

/// Writes a `result`; one that no message can hold becomes a tool error that says so.
pub(crate) fn result(id: &str, answer: &Answer) -> String {
    let text = write(&FromApplication::Result { id, result: answer.as_raw() });
    if text.len() <= MESSAGE_BYTES {
        return text;
    }
    let excuse = format!(
        "the tool's result is too large: its message has {} bytes and may have {MESSAGE_BYTES}. The tool has run; ask \
         for less.",
        text.len()
    );
    write(&FromApplication::Result { id, result: Answer::error(excuse).as_raw() })
}

fn write(message: &FromApplication<'_>) -> String {
    // Strings and JSON texts alone: this cannot fail, and an empty text keeps it total without a panic.
    serde_json::to_string(message).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    // holds: sdk-unknown-type
    #[test]
    fn an_unknown_type_is_ignored_whatever_its_members() {
        for text in [r#"{"type":"news"}"#, r#"{"type":"news","id":5,"name":{},"id":6}"#, r#"{"arguments":1,"type":""}"#]
        {
            assert!(matches!(read(text), Ok(Message::Unknown)), "{text}");
        }
    }

    // holds: sdk-breach
    #[test]
    fn anything_else_that_does_not_fit_is_a_breach() {
        let bad = [
            "",
            "x",
            "[]",
            "{}",
            r#"{"type":1}"#,
            r#"{"type":"call","id":"1","name":"t"}"#,
            r#"{"type":"call","id":"1","name":"t","arguments":[]}"#,
            r#"{"type":"call","id":"1","name":"t","arguments":null}"#,
            r#"{"type":"call","id":1,"name":"t","arguments":{}}"#,
            r#"{"type":"call","name":"t","arguments":{}}"#,
            r#"{"type":"call","id":"1","id":"2","name":"t","arguments":{}}"#,
            r#"{"type":"cancel"}"#,
            r#"{"type":"cancel","id":null}"#,
            r#"{"type":"pong"}x"#,
        ];
        for text in bad {
            assert_eq!(read(text).unwrap_err(), Breach, "{text}");
        }
    }

    // holds: sdk-exact-text
    #[test]
    fn arguments_are_kept_to_the_byte() {
        let text = r#"{ "arguments" : { "a":1e400,"a":-0 ,"u":"\u00e9"} ,"type":"call","name":"t","id":"\u0031"}"#;
        let Ok(Message::Call { id, name, arguments }) = read(text) else { panic!("no call") };
        assert_eq!((id.as_str(), name.as_str()), ("1", "t"));
        assert_eq!(arguments.get(), r#"{ "a":1e400,"a":-0 ,"u":"\u00e9"}"#);
    }

    // holds: sdk-oversize
    #[test]
    fn a_result_may_fill_its_message_and_not_a_byte_more() {
        let envelope = result("1", &Answer::text("")).len();
        let largest = "x".repeat(MESSAGE_BYTES - envelope);
        assert_eq!(result("1", &Answer::text(largest.as_str())).len(), MESSAGE_BYTES);

        let excuse = result("1", &Answer::text(largest + "x"));
        assert!(excuse.len() < 400);
        assert!(excuse.contains(r#""isError":true"#) && excuse.contains("4194305 bytes and may have 4194304"));
    }

    // holds: sdk-ping-on-call
    #[test]
    fn a_ping_is_the_exact_text() {
        assert_eq!(write(&FromApplication::Ping), clientmcp_protocol::client::PING);
    }
}
