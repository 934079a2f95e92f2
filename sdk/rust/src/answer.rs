//! Answers to calls: what a handler returns, as an MCP `CallToolResult`.

use std::fmt;

use serde::Serialize;
use serde_json::{json, value::RawValue};

use crate::{
    error::{Malformed, ToolError},
    json::{Object, raw},
};

/// An MCP `CallToolResult`, ready to be sent. `Debug` does not show it.
#[derive(Clone)]
pub struct Answer(Box<RawValue>);

impl Answer {
    /// One block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self(raw(&json!({ "content": [text_block(&text.into())] })))
    }

    /// A value as `structuredContent`, and as text for agents that read text alone. MCP's older revisions, and a tool
    /// with an `outputSchema`, want an object here.
    pub fn json(value: &impl Serialize) -> Result<Self, ToolError> {
        let value = serde_json::to_value(value).map_err(|_| ToolError::new("the result cannot be written as JSON"))?;
        Ok(Self(raw(&json!({ "content": [text_block(&value.to_string())], "structuredContent": value }))))
    }

    /// A failure that the agent can read: `isError` is true.
    pub fn error(message: impl Into<String>) -> Self {
        Self(raw(&json!({ "content": [text_block(&message.into())], "isError": true })))
    }

    /// A whole `CallToolResult` as text, sent exactly as it stands: order, digits and escapes are kept. What the bridge
    /// would close the connection for is refused here.
    pub fn raw(text: impl Into<String>) -> Result<Self, Malformed> {
        let result = RawValue::from_string(text.into()).map_err(|_| Malformed::NotJson)?;
        let members = Object::parse(result.get())?;
        if !members.get("content").is_some_and(|content| content.get().starts_with('[')) {
            return Err(Malformed::NoContent);
        }
        if members.get("_meta").is_some_and(|meta| !meta.get().starts_with('{')) {
            return Err(Malformed::MetaNotObject);
        }
        Ok(Self(result))
    }

    pub(crate) fn as_raw(&self) -> &RawValue {
        &self.0
    }
}

fn text_block(text: &str) -> serde_json::Value {
    json!({ "type": "text", "text": text })
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer({} bytes)", self.0.get().len())
    }
}

/// What a handler may return.
///
/// Text, [`Json`], an [`Answer`], nothing at all, a [`ToolError`], or a `Result` of these whose error becomes a
/// [`ToolError`].
pub trait IntoAnswer {
    /// The result to send.
    fn into_answer(self) -> Answer;
}

/// A value to be answered as `structuredContent` and as text: see [`Answer::json`].
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl IntoAnswer for Answer {
    fn into_answer(self) -> Answer {
        self
    }
}

impl IntoAnswer for String {
    fn into_answer(self) -> Answer {
        Answer::text(self)
    }
}

impl IntoAnswer for &str {
    fn into_answer(self) -> Answer {
        Answer::text(self)
    }
}

impl IntoAnswer for () {
    fn into_answer(self) -> Answer {
        Answer(raw(&json!({ "content": [] })))
    }
}

impl<T: Serialize> IntoAnswer for Json<T> {
    fn into_answer(self) -> Answer {
        Answer::json(&self.0).into_answer()
    }
}

impl IntoAnswer for ToolError {
    fn into_answer(self) -> Answer {
        Answer::error(self.to_string())
    }
}

impl<T: IntoAnswer, E: Into<ToolError>> IntoAnswer for Result<T, E> {
    fn into_answer(self) -> Answer {
        self.map_or_else(|error| error.into().into_answer(), IntoAnswer::into_answer)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn sent(answer: impl IntoAnswer) -> serde_json::Value {
        serde_json::from_str(answer.into_answer().as_raw().get()).unwrap()
    }

    // holds: sdk-answers
    #[test]
    fn what_handlers_return_becomes_a_result() {
        let text = json!({ "content": [{ "type": "text", "text": "hi" }] });
        assert_eq!(sent("hi"), text);
        assert_eq!(sent("hi".to_owned()), text);
        assert_eq!(sent(Ok::<_, ToolError>(Answer::text("hi"))), text);
        assert_eq!(sent(()), json!({ "content": [] }));

        let structured =
            json!({ "content": [{ "type": "text", "text": r#"{"n":1}"# }], "structuredContent": { "n": 1 } });
        assert_eq!(sent(Json(json!({ "n": 1 }))), structured);

        let failed = json!({ "content": [{ "type": "text", "text": "no" }], "isError": true });
        assert_eq!(sent(ToolError::new("no")), failed);
        assert_eq!(sent(Err::<(), _>("no")), failed);
    }

    // holds: sdk-answers
    #[test]
    fn a_value_that_is_no_json_is_a_tool_error() {
        let odd = HashMap::from([(vec![1_u8], 1)]);
        assert_eq!(sent(Json(odd))["isError"], true);
    }

    // holds: sdk-exact-text
    #[test]
    fn a_raw_result_is_kept_to_the_byte() {
        let text = r#"{ "z":1e400,"content" : [ ],"a":0.10,"a":-0,"u":"\u00e9" }"#;
        assert_eq!(Answer::raw(text).unwrap().as_raw().get(), text);
    }

    // holds: sdk-answers
    #[test]
    fn a_raw_result_that_the_bridge_would_refuse_is_refused_here() {
        let cases = [
            ("", Malformed::NotJson),
            (r#"{"content":[]"#, Malformed::NotJson),
            ("[]", Malformed::NotObject),
            ("null", Malformed::NotObject),
            ("{}", Malformed::NoContent),
            (r#"{"content":{}}"#, Malformed::NoContent),
            (r#"{"content":[],"_meta":null}"#, Malformed::MetaNotObject),
        ];
        for (text, fault) in cases {
            assert_eq!(Answer::raw(text).unwrap_err(), fault, "{text}");
        }
    }
}
