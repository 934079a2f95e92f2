//! Requests that the command makes out of a host's, and what it reads in answers. What others wrote stays as it was written.

use serde_json::value::RawValue;

use crate::{
    mcp::message::Request,
    text::{self, Object},
};

/// The request with another method and other parameters; its id and its `_meta`, and with that its era, stay.
pub(super) fn instead(request: &Request<'_>, method: &str, params: &[(&str, &str)]) -> String {
    let meta = request.params.get("_meta").map(|meta| ("_meta", meta.get()));
    let params = params.iter().copied().chain(meta);
    let params: Vec<_> = params.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    let id = request.id.get();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{}}}}}"#, params.join(","))
}

/// The definitions in an answer to `tools/list`, as they were written.
pub(super) fn tools(answer: &str) -> Option<Vec<&RawValue>> {
    let result = Object::parse(answer).ok()?.get("result")?;
    let tools = Object::parse(result.get()).ok()?.get("tools")?;
    serde_json::from_str(tools.get()).ok()
}

/// The answer to `tools/list` with other definitions behind its own; of two of one name ours stays.
pub(super) fn with_tools(answer: &str, ours: &str, is_ours: impl Fn(&str) -> bool) -> Option<String> {
    let theirs = tools(answer)?;
    let ours_too = |tool: &RawValue| {
        let name = Object::parse(tool.get()).ok().and_then(|tool| tool.get("name"));
        name.and_then(text::string).is_some_and(|name| is_ours(&name))
    };
    let theirs = theirs.into_iter().filter(|tool| !ours_too(tool));
    let all: Vec<_> = theirs.map(RawValue::get).chain([ours]).collect();
    let tools = format!("[{}]", all.join(","));
    let answer = Object::parse(answer).ok()?;
    let result = Object::parse(answer.get("result")?.get()).ok()?;
    let result = object(result.iter().map(|(name, value)| (name, if name == "tools" { &tools } else { value.get() })));
    Some(object(answer.iter().map(|(name, value)| (name, if name == "result" { &result } else { value.get() }))))
}

fn object<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let members: Vec<_> = members.map(|(name, value)| format!("{}:{value}", text::json_string(name))).collect();
    format!("{{{}}}", members.join(","))
}

/// The sentence of an error answer.
pub(super) fn error(answer: &str) -> Option<String> {
    let error = Object::parse(answer).ok()?.get("error")?;
    let message = Object::parse(error.get()).ok()?.get("message")?;
    text::string(message).map(|message| text::shown_again(&message))
}
