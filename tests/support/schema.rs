//! Checks messages of the bridge against the JSON Schemas of the MCP revisions, which are copies and fetch nothing.
//!
//! A schema says what must be there and of what type. Members that only another revision knows pass.

use std::{collections::BTreeMap, sync::LazyLock};

use jsonschema::Validator;
use serde_json::{Value, json, value::RawValue};

use super::agent::{LEGACY, MODERN};

/// The revision of a request that names none.
const UNNAMED: &str = "2025-03-26";

const SCHEMAS: [(&str, &str); 4] = [
    (UNNAMED, include_str!("../fixtures/mcp-schema/2025-03-26.schema.json")),
    ("2025-06-18", include_str!("../fixtures/mcp-schema/2025-06-18.schema.json")),
    (LEGACY, include_str!("../fixtures/mcp-schema/2025-11-25.schema.json")),
    (MODERN, include_str!("../fixtures/mcp-schema/2026-07-28.schema.json")),
];

/// What a result must be, by the method that was asked for.
const RESULTS: [(&str, &str); 6] = [
    ("initialize", "InitializeResult"),
    ("ping", "EmptyResult"),
    ("server/discover", "DiscoverResult"),
    ("subscriptions/listen", "SubscriptionsListenResult"),
    ("tools/call", "CallToolResult"),
    ("tools/list", "ListToolsResult"),
];

/// The notifications that the bridge sends.
const NOTIFICATIONS: [(&str, &str); 2] = [
    ("notifications/subscriptions/acknowledged", "SubscriptionsAcknowledgedNotification"),
    ("notifications/tools/list_changed", "ToolListChangedNotification"),
];

/// The errors that have a type of their own, since the modern revision.
const ERRORS_BY_CODE: [(i64, &str); 2] = [(-32020, "HeaderMismatchError"), (-32022, "UnsupportedProtocolVersionError")];

/// An answer with a result, and one with an error: in older schemas, in newer ones.
const RESPONSES: [&str; 2] = ["JSONRPCResponse", "JSONRPCResultResponse"];
const ERRORS: [&str; 2] = ["JSONRPCError", "JSONRPCErrorResponse"];
const NOTIFICATION: &str = "JSONRPCNotification";

/// By revision and type. A type that a schema does not have is not here.
static VALIDATORS: LazyLock<BTreeMap<(&str, &str), Validator>> = LazyLock::new(|| {
    let mut validators = BTreeMap::new();
    for (revision, text) in SCHEMAS {
        let mut schema: Value = serde_json::from_str(text).unwrap();
        let types = ["$defs", "definitions"].into_iter().find(|name| schema[name].is_object()).unwrap();
        for name in names().filter(|name| schema[types][name].is_object()).collect::<Vec<_>>() {
            schema["$ref"] = json!(format!("#/{types}/{name}"));
            let validator = jsonschema::options().offline().build(&schema).unwrap();
            validators.insert((revision, name), validator);
        }
    }
    validators
});

fn names() -> impl Iterator<Item = &'static str> {
    let by_method = RESULTS.into_iter().chain(NOTIFICATIONS).map(|(_, name)| name);
    let by_code = ERRORS_BY_CODE.map(|(_, name)| name);
    by_method.chain(by_code).chain(RESPONSES).chain(ERRORS).chain([NOTIFICATION])
}

/// What was asked, as far as it decides what may be answered.
#[derive(Debug, Default, Clone)]
pub(crate) struct Asked {
    /// The value of the version header.
    pub(crate) version: Option<String>,
    /// The body, which need not be JSON.
    pub(crate) body: Vec<u8>,
    /// The answer need not be what a schema demands.
    pub(crate) unchecked: bool,
}

/// Fails the test unless the bridge may send this message under this revision, in answer to this method. Where it is not
/// known what was asked, the type of a result stays open.
#[track_caller]
pub(crate) fn check(revision: &str, method: Option<&str>, message: &str) {
    let faults = faults(revision, method, message);
    assert!(faults.is_empty(), "not as MCP {revision} has it:\n{}\n{message}", faults.join("\n"));
}

/// Checks every JSON-RPC message of an answer from `/mcp`: those of a JSON body, and the events of a stream.
#[track_caller]
pub(crate) fn check_answer(asked: &Asked, content_type: Option<&str>, body: &str) {
    if asked.unchecked {
        return;
    }
    for text in messages(content_type, body) {
        let message: Value = serde_json::from_str(&holdable(&text)).unwrap_or_else(|fault| panic!("{fault}: {text}"));
        let request = asked.request(message.get("id"));
        let method = request.as_ref().map(|request| request["method"].as_str().unwrap_or_default());
        check(asked.revision(request.as_ref(), &message), method, &text);
    }
}

fn messages(content_type: Option<&str>, body: &str) -> Vec<String> {
    match content_type {
        // The answer to HEAD.
        _ if body.is_empty() => Vec::new(),
        Some("application/json") if body.starts_with('[') => {
            let batch: Vec<Box<RawValue>> = serde_json::from_str(body).unwrap();
            batch.iter().map(|message| message.get().to_owned()).collect()
        }
        Some("application/json") => vec![body.to_owned()],
        // Of an event that the bridge sends, the data is one line.
        Some("text/event-stream") => {
            body.lines().filter_map(|line| line.strip_prefix("data:")).map(|data| data.trim().to_owned()).collect()
        }
        _ => Vec::new(),
    }
}

impl Asked {
    /// The request that a message of this id belongs to. None when the body is not known or no JSON.
    fn request(&self, id: Option<&Value>) -> Option<Value> {
        let body = std::str::from_utf8(&self.body).ok()?;
        let request: Value = serde_json::from_str(&holdable(body)).ok()?;
        let Some(batch) = request.as_array() else { return Some(request) };
        let own = batch.iter().find(|request| id.is_some() && request.get("id") == id);
        Some(own.cloned().unwrap_or_default())
    }

    fn revision(&self, request: Option<&Value>, answer: &Value) -> &'static str {
        let params = request.map(|request| &request["params"]);
        let named =
            params.and_then(|params| known(params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str()));
        if let Some(revision) = named {
            return revision;
        }
        if request.is_some_and(|request| request["method"] == "initialize") {
            return known(answer["result"]["protocolVersion"].as_str()).unwrap_or(LEGACY);
        }
        match self.version.as_deref() {
            None => UNNAMED,
            // An unknown revision: the answer is an error, which newer schemas describe better.
            version => known(version).unwrap_or(LEGACY),
        }
    }
}

fn known(revision: Option<&str>) -> Option<&'static str> {
    SCHEMAS.into_iter().map(|(own, _)| own).find(|own| Some(*own) == revision)
}

/// What is wrong with a single message, a line each.
pub(crate) fn faults(revision: &str, method: Option<&str>, message: &str) -> Vec<String> {
    let Ok(message) = serde_json::from_str::<Value>(&holdable(message)) else { return vec!["not JSON".into()] };
    let has = |name| message.get(name).is_some();
    match (has("method"), has("error"), has("result")) {
        (true, false, false) => notification_faults(revision, &message),
        (false, true, false) => error_faults(revision, &message),
        (false, false, true) => result_faults(revision, method, &message),
        _ => vec!["not exactly one of method, error and result".into()],
    }
}

fn notification_faults(revision: &str, message: &Value) -> Vec<String> {
    if message.get("id").is_some() {
        return vec!["a request, and the bridge sends none".into()];
    }
    match named(&NOTIFICATIONS, message["method"].as_str()) {
        Some(name) => [typed(revision, NOTIFICATION, message), typed(revision, name, message)].concat(),
        None => vec![format!("the bridge sends no {}", message["method"])],
    }
}

fn error_faults(revision: &str, message: &Value) -> Vec<String> {
    // Older schemas demand an id even where the request's could not be read.
    let revision = if message.get("id").is_none() { revision.max(LEGACY) } else { revision };
    let code = message["error"]["code"].as_i64();
    let own = ERRORS_BY_CODE.into_iter().find(|(own, _)| Some(*own) == code);
    let own = own.map(|(_, name)| typed(MODERN, name, message)).unwrap_or_default();
    [typed(revision, one_of(revision, ERRORS), message), own].concat()
}

fn result_faults(revision: &str, method: Option<&str>, message: &Value) -> Vec<String> {
    let response = typed(revision, one_of(revision, RESPONSES), message);
    let result = match (method, named(&RESULTS, method)) {
        (_, Some(name)) => typed(revision, name, &message["result"]),
        (None, None) => Vec::new(),
        (Some(method), None) => vec![format!("a result, and {method:?} has none")],
    };
    [response, result].concat()
}

/// The newer name where the schema has it: there the older one means both kinds of answer.
fn one_of(revision: &str, [old, new]: [&'static str; 2]) -> &'static str {
    if VALIDATORS.keys().any(|key| *key == (revision, new)) { new } else { old }
}

fn named(table: &[(&str, &'static str)], key: Option<&str>) -> Option<&'static str> {
    table.iter().find(|(own, _)| Some(*own) == key).map(|(_, name)| *name)
}

/// Where the value is not of this type.
fn typed(revision: &str, name: &str, value: &Value) -> Vec<String> {
    let validator = VALIDATORS.iter().find(|((own, of), _)| (*own, *of) == (revision, name)).map(|(_, found)| found);
    let Some(validator) = validator else { return vec![format!("MCP {revision} has no {name}")] };
    validator.iter_errors(value).map(|fault| format!("{name}{}: {fault}", fault.instance_path())).collect()
}

/// The text without what a `Value` cannot hold: numbers beyond a double become 1, halves of surrogate pairs letters,
/// values below [`DEEP`] 0. No schema looks at any of these.
fn holdable(text: &str) -> String {
    let mut held = String::with_capacity(text.len());
    let mut depth = 0;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '"' => string(rest),
            '-' | '0'..='9' => number(rest),
            _ => next.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        let opens = matches!(next, '[' | '{');
        depth += usize::from(opens);
        match depth {
            DEEP if opens => held.push('0'),
            DEEP.. => {}
            _ => held.push_str(&replaced(token)),
        }
        depth = depth.saturating_sub(usize::from(matches!(next, ']' | '}')));
    }
    held
}

/// Where no schema looks any more, and `serde_json` nearly refuses to.
const DEEP: usize = 100;

fn replaced(token: &str) -> String {
    if token.parse().is_ok_and(f64::is_infinite) {
        return "1".into();
    }
    let mut replaced = String::new();
    let mut rest = token;
    while let Some(at) = rest.find('\\') {
        let (before, from) = rest.split_at(at);
        let length = if from.starts_with("\\u") { 6 } else { 2 };
        // Cut short only where the text is no JSON.
        let Some((escape, after)) = from.split_at_checked(length) else { break };
        let unit = escape.get(2..).and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let is_half = unit.is_some_and(|unit| (0xd800..0xe000).contains(&unit));
        replaced.extend([before, if is_half { "?" } else { escape }]);
        rest = after;
    }
    replaced + rest
}

/// The length of the string that the text begins with; all of the text where that does not end.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

fn number(text: &str) -> usize {
    text.find(|next: char| !next.is_ascii_digit() && !"+-.eE".contains(next)).unwrap_or(text.len())
}
