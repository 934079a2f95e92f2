//! Tools: what an agent reads about them, and the handler that runs when one calls.

use std::{fmt, sync::Arc};

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use tokio::sync::watch;

use crate::{
    answer::{Answer, IntoAnswer},
    error::{Malformed, ToolError},
    json::{Object, raw},
};

/// A tool: its definition, and the handler that answers its calls.
///
/// One without a handler does not compile: [`Tool::new`] gives a [`Definition`], and its
/// [`handler`](Definition::handler) makes it a tool.
#[derive(Clone)]
pub struct Tool {
    pub(crate) name: String,
    pub(crate) definition: Box<RawValue>,
    pub(crate) handler: Handler,
}

pub(crate) type Handler = Arc<dyn Fn(Call) -> BoxFuture<'static, Answer> + Send + Sync>;

impl Tool {
    /// Begins a definition. The name has 1 to 128 characters from `A-Z a-z 0-9 _ - .`, and no other tool has it.
    #[expect(clippy::new_ret_no_self, reason = "a tool begins as its definition")]
    pub fn new(name: impl Into<String>) -> Definition {
        let mut members = Map::new();
        members.insert("inputSchema".into(), json!({ "type": "object" }));
        Definition { name: name.into(), text: Text::Built(members) }
    }

    /// Takes a whole MCP `Tool` object as text, sent exactly as it stands. Whether it is a good definition is the
    /// bridge's to say; here it only needs a `name`.
    pub fn from_json(text: impl Into<String>) -> Result<Definition, Malformed> {
        let text = RawValue::from_string(text.into()).map_err(|_| Malformed::NotJson)?;
        let name = Object::parse(text.get())?.get("name").ok_or(Malformed::NoName)?;
        let name = serde_json::from_str(name.get()).map_err(|_| Malformed::NoName)?;
        Ok(Definition { name, text: Text::Given(text) })
    }

    /// The name by which agents call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The MCP `Tool` object as it is sent.
    pub fn definition(&self) -> &str {
        self.definition.get()
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A tool to be: everything but its handler.
///
/// The hints are MCP's `annotations`: the application's own claims, which a person or host may trust or not.
#[derive(Clone, Debug)]
#[must_use = "a definition becomes a tool by its handler"]
pub struct Definition {
    name: String,
    text: Text,
}

#[derive(Clone, Debug)]
enum Text {
    Built(Map<String, Value>),
    Given(Box<RawValue>),
}

impl Definition {
    /// A name for people.
    pub fn title(self, title: impl Into<String>) -> Self {
        self.member("title", title.into())
    }

    /// What the tool does, when to use it, and what it answers: the agent decides by this text.
    pub fn description(self, description: impl Into<String>) -> Self {
        self.member("description", description.into())
    }

    /// The JSON Schema of the arguments, an object with `"type": "object"`. Without one, any object is taken.
    ///
    /// Neither the bridge nor the SDK checks arguments against it: they are untrusted, and the handler's to check.
    pub fn input_schema(self, schema: Value) -> Self {
        self.member("inputSchema", schema)
    }

    /// The JSON Schema of the answer's `structuredContent`.
    pub fn output_schema(self, schema: Value) -> Self {
        self.member("outputSchema", schema)
    }

    /// The tool changes nothing (`readOnlyHint`).
    pub fn read_only(self, yes: bool) -> Self {
        self.hint("readOnlyHint", yes)
    }

    /// The tool may destroy what was there, rather than only add to it (`destructiveHint`; MCP assumes it when absent).
    pub fn destructive(self, yes: bool) -> Self {
        self.hint("destructiveHint", yes)
    }

    /// Calling it again with the same arguments changes nothing more (`idempotentHint`).
    pub fn idempotent(self, yes: bool) -> Self {
        self.hint("idempotentHint", yes)
    }

    /// The tool reaches out of the application, as a web search does (`openWorldHint`; MCP assumes it when absent).
    pub fn open_world(self, yes: bool) -> Self {
        self.hint("openWorldHint", yes)
    }

    /// Sets any other member of the MCP `Tool` object: `icons`, `_meta`, or what MCP adds next. A definition given as
    /// text stays as it was given.
    pub fn member(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        if let Text::Built(members) = &mut self.text {
            members.insert(name.into(), value.into());
        }
        self
    }

    fn hint(mut self, name: &str, yes: bool) -> Self {
        if let Text::Built(members) = &mut self.text {
            let annotations = members.entry("annotations").or_insert_with(|| json!({}));
            if let Some(annotations) = annotations.as_object_mut() {
                annotations.insert(name.into(), yes.into());
            }
        }
        self
    }

    /// Adds the handler: an async function that takes the [`Call`] and returns what [`IntoAnswer`] knows.
    ///
    /// Calls run at the same time, each in a task of its own. When a call is cancelled, or the connection ends, nobody
    /// waits for the answer any more and the handler's future is dropped at its next `await`. Work that must be
    /// finished, or that runs outside of the future (a thread, a task), watches [`Call::cancellation`] instead. A
    /// handler that panics answers a tool error that says no more than that.
    pub fn handler<F, Fut>(self, handler: F) -> Tool
    where
        F: Fn(Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoAnswer> + Send + 'static,
    {
        let definition = match self.text {
            Text::Given(text) => text,
            Text::Built(mut members) => {
                members.insert("name".into(), self.name.clone().into());
                raw(&Value::Object(members))
            }
        };
        let handler = Arc::new(handler);
        let handler: Handler = Arc::new(move |call| {
            let handler = Arc::clone(&handler);
            // The handler is called inside the future: what it does before its first `await` runs in the call's task.
            Box::pin(async move { handler(call).await.into_answer() })
        });
        Tool { name: self.name, definition, handler }
    }
}

/// One call of a tool. `Debug` does not show the arguments.
pub struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Box<RawValue>,
    pub(crate) cancellation: Cancellation,
}

impl Call {
    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as the agent wrote them: a JSON object, untrusted.
    pub fn arguments_text(&self) -> &str {
        self.arguments.get()
    }

    /// The arguments as a type of yours. What does not fit is a tool error that says what is wrong.
    pub fn arguments<'a, T: Deserialize<'a>>(&'a self) -> Result<T, ToolError> {
        serde_json::from_str(self.arguments.get())
            .map_err(|error| ToolError::new(format!("the arguments are not right: {error}")))
    }

    /// A signal for work that goes on outside of the handler's future.
    pub fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Tells that a call is over: it was cancelled, its connection ended, or its handler has answered.
#[derive(Clone, Debug)]
pub struct Cancellation(pub(crate) watch::Receiver<()>);

impl Cancellation {
    /// True when nobody waits for the answer any more.
    pub fn is_cancelled(&self) -> bool {
        self.0.has_changed().is_err()
    }

    /// Resolves when nobody waits for the answer any more.
    pub async fn cancelled(&self) {
        let mut call = self.0.clone();
        while call.changed().await.is_ok() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str) -> (Call, watch::Sender<()>) {
        let (over, cancellation) = watch::channel(());
        let arguments = RawValue::from_string(arguments.into()).unwrap();
        (Call { name: "t".into(), arguments, cancellation: Cancellation(cancellation) }, over)
    }

    // holds: sdk-definitions
    #[test]
    fn a_definition_has_what_was_said() {
        let tool = Tool::new("add")
            .title("Add")
            .description("Adds")
            .output_schema(json!({ "type": "object" }))
            .destructive(false)
            .idempotent(true)
            .read_only(false)
            .open_world(false)
            .member("_meta", json!({ "k": 1 }))
            .handler(|_| async {});
        let hints =
            json!({ "destructiveHint": false, "idempotentHint": true, "openWorldHint": false, "readOnlyHint": false });
        let expected = json!({
            "name": "add", "title": "Add", "description": "Adds", "inputSchema": { "type": "object" },
            "outputSchema": { "type": "object" }, "annotations": hints, "_meta": { "k": 1 },
        });
        assert_eq!(serde_json::from_str::<Value>(tool.definition()).unwrap(), expected);
    }

    // holds: sdk-exact-text
    #[test]
    fn a_definition_given_as_text_is_kept_to_the_byte() {
        let text = r#"{ "x":1e400, "name":"\u0061", "name" : "b","inputSchema":{"type":"object"},"n":0.10 }"#;
        let tool = Tool::from_json(text).unwrap().title("ignored").read_only(true).handler(|_| async {});
        assert_eq!((tool.name(), tool.definition()), ("b", text));
    }

    // holds: sdk-definitions
    #[test]
    fn a_definition_without_a_name_is_refused() {
        let cases = [("{", Malformed::NotJson), ("[]", Malformed::NotObject), (r#"{"name":1}"#, Malformed::NoName)];
        for (text, fault) in cases {
            assert_eq!(Tool::from_json(text).unwrap_err(), fault, "{text}");
        }
    }

    // holds: sdk-bad-arguments
    #[test]
    fn bad_arguments_are_a_tool_error_that_says_what_is_wrong() {
        #[derive(Debug, Deserialize)]
        struct Add<'a> {
            name: &'a str,
        }
        let (good, _over) = call(r#"{"name":"milk"}"#);
        assert_eq!(good.arguments::<Add<'_>>().unwrap().name, "milk");
        let (bad, _over) = call("{}");
        let error = bad.arguments::<Add<'_>>().unwrap_err().to_string();
        assert!(error.starts_with("the arguments are not right: missing field `name`"), "{error}");
    }

    // holds: sdk-exact-text, sdk-secrets
    #[test]
    fn arguments_keep_their_text_and_stay_out_of_debug() {
        let text = r#"{ "secret":1e400,"secret":0.10 }"#;
        let (call, _over) = call(text);
        assert_eq!(call.arguments_text(), text);
        assert!(!format!("{call:?}").contains("secret"));
    }

    // holds: sdk-cancel
    #[tokio::test]
    async fn the_signal_comes_when_the_call_is_over() {
        let (call, over) = call("{}");
        let signal = call.cancellation();
        assert!(!signal.is_cancelled());
        drop(over);
        assert!(signal.is_cancelled());
        signal.cancelled().await;
    }
}
