//! A [`Refusal`] in the agent's words: status, code and text, all in this one file.

use std::time::Duration;

use clientmcp_protocol::{
    codes::{OutcomeCode, rpc},
    ids::ClientId,
    limits::{
        BODY_TIME, CALLS_IN_ALL, CALLS_IN_FLIGHT, JSON_NESTING, MESSAGE_BYTES, QUESTIONS, QUESTIONS_OF_AGENT,
        UNSENT_BYTES,
    },
};
use serde_json::value::RawValue;

use crate::{
    pieces::Pieces,
    refusal::{Ended, Limit, Outcome, Refusal},
    revision::{Era, Revision},
    text,
};

/// A refusal ready to be sent.
#[derive(Debug)]
pub struct Refused {
    /// The HTTP status.
    pub status: u16,
    /// A JSON-RPC error on one line.
    pub body: String,
}

/// A JSON-RPC result for a request.
pub fn result(id: &RawValue, result: Pieces) -> Pieces {
    let id = text::one_line(id.get());
    Pieces::from(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":")).and(result).and("}".to_owned())
}

/// A JSON-RPC error. The era matters from "method known" on: there legacy agents are answered 200, since several SDKs
/// lose the code otherwise.
pub fn refused(id: Option<&RawValue>, era: Era, refusal: &Refusal) -> Refused {
    let (status, code) = status_and_code(era, refusal);
    let id = id.map(|id| format!("\"id\":{},", id.get())).unwrap_or_default();
    let message = text::json_string(&sentence(refusal));
    let data = data(refusal).map(|data| format!(",\"data\":{data}")).unwrap_or_default();
    let body = format!("{{\"jsonrpc\":\"2.0\",{id}\"error\":{{\"code\":{code},\"message\":{message}{data}}}}}");
    Refused { status, body }
}

fn status_and_code(era: Era, refusal: &Refusal) -> (u16, i32) {
    let by_era = |modern: u16| match era {
        Era::Modern => modern,
        Era::Legacy => 200,
    };
    match refusal {
        Refusal::ForeignHost | Refusal::ForeignOrigin => (403, rpc::INVALID_REQUEST),
        Refusal::UnknownPath => (404, rpc::INVALID_REQUEST),
        Refusal::NoCredential | Refusal::BadCredential => (401, rpc::INVALID_REQUEST),
        Refusal::MethodNotAllowed { .. } => (405, rpc::INVALID_REQUEST),
        Refusal::MediaType => (415, rpc::INVALID_REQUEST),
        Refusal::NotAcceptable => (406, rpc::INVALID_REQUEST),
        Refusal::BodyTooLarge => (413, rpc::INVALID_REQUEST),
        Refusal::BodyTooSlow => (408, rpc::INVALID_REQUEST),
        Refusal::TooManyStreams => (429, rpc::INVALID_REQUEST),
        Refusal::NotJson => (400, rpc::PARSE_ERROR),
        Refusal::TooDeep | Refusal::InvalidRequest(_) => (400, rpc::INVALID_REQUEST),
        Refusal::HeaderMismatch(_) => (400, rpc::HEADER_MISMATCH),
        Refusal::UnsupportedVersion { .. } => (400, rpc::UNSUPPORTED_VERSION),
        Refusal::IncompleteMeta(_) => (400, rpc::INVALID_PARAMS),
        Refusal::UnknownMethod(_) => (by_era(404), rpc::METHOD_NOT_FOUND),
        Refusal::InvalidParams(_) => (by_era(400), rpc::INVALID_PARAMS),
        Refusal::UnknownTool(_) => (200, rpc::INVALID_PARAMS),
        // Calls that ended are results; what the bridge's end cuts off is not answered at all.
        Refusal::Ended(_) | Refusal::Cancelled | Refusal::Revoked | Refusal::ShuttingDown => {
            (200, rpc::INVALID_REQUEST)
        }
    }
}

/// What happened, what it means, what to do.
pub fn sentence(refusal: &Refusal) -> String {
    match refusal {
        Refusal::ForeignHost => {
            "the Host header is not this bridge's own: use the URL with 127.0.0.1 that the bridge printed".into()
        }
        Refusal::UnknownPath => "there is nothing at this path".into(),
        Refusal::ForeignOrigin => {
            "requests from this Origin are not allowed: if it is a page of yours, allow its origin (--allow-origin, or the \
             settings of the app)"
                .into()
        }
        Refusal::NoCredential => "an agent token is needed, as \"Authorization: Bearer <token>\"".into(),
        Refusal::BadCredential => {
            "this is not one valid agent token for this bridge: it may have ended or been revoked, or two were sent; \
             get a new one from the person who runs the bridge"
                .into()
        }
        Refusal::MethodNotAllowed { allow } => format!("this method is not served here; allowed: {allow}"),
        Refusal::MediaType => "the body must be sent as Content-Type: application/json".into(),
        Refusal::NotAcceptable => {
            "the Accept header admits nothing that this answer could be sent as: send \"application/json, \
             text/event-stream\""
                .into()
        }
        Refusal::BodyTooLarge => format!("the body is larger than {MESSAGE_BYTES} bytes"),
        Refusal::BodyTooSlow => format!("the body did not arrive within {} seconds", BODY_TIME.as_secs()),
        Refusal::TooManyStreams => "too many notification streams are open: close one, then try again".into(),
        Refusal::NotJson => "the body is not JSON in UTF-8".into(),
        Refusal::TooDeep => format!("arrays and objects stand more than {JSON_NESTING} deep inside each other"),
        Refusal::InvalidRequest(why) => format!("not a JSON-RPC message that can be served: {why}"),
        Refusal::HeaderMismatch(why) => format!("Header mismatch: {why}"),
        Refusal::UnsupportedVersion { requested } => {
            format!("Unsupported protocol version {}: use one of the supported ones", text::quoted(requested))
        }
        Refusal::IncompleteMeta(why) => format!("the request's _meta is not complete: {why}"),
        Refusal::UnknownMethod(method) => format!("Method not found: {}", text::quoted(method)),
        Refusal::InvalidParams(why) => format!("the parameters are not right: {why}"),
        Refusal::UnknownTool(name) => format!("Unknown tool: {}", text::shown(name)),
        Refusal::Ended(ended) => detail(ended.outcome),
        Refusal::Cancelled => "the call was cancelled".into(),
        Refusal::Revoked => "the token was revoked".into(),
        Refusal::ShuttingDown => "the bridge shuts down".into(),
    }
}

fn data(refusal: &Refusal) -> Option<String> {
    let Refusal::UnsupportedVersion { requested } = refusal else { return None };
    let supported = Revision::ALL.map(|revision| format!("\"{}\"", revision.as_str())).join(",");
    Some(format!("{{\"supported\":[{supported}],\"requested\":{}}}", text::json_string(requested)))
}

/// The `CallToolResult` of a call that the application did not answer: words for the model, a code for programs.
pub fn error_result(ended: &Ended, application: &ClientId) -> String {
    let outcome = ended.outcome;
    let detail = detail(outcome);
    if outcome.code().may_have_happened() {
        let words = format!("{detail} The action may or may not have happened: check before you try again.");
        return format!("{{\"content\":{},\"isError\":true}}", content(&words));
    }
    let words = format!("Nothing was done: {detail} {}", advice(outcome, application));
    let rejected = format!(
        "{{\"status\":\"rejected\",\"reason\":{{\"code\":\"{}\",\"detail\":{}}}}}",
        outcome.code().as_str(),
        text::json_string(&detail)
    );
    let structured = if ended.structured { format!(",\"structuredContent\":{rejected}") } else { String::new() };
    format!(
        "{{\"content\":{},\"isError\":true{structured},\"_meta\":{{\"io.github.clientmcp/outcome\":{rejected}}}}}",
        content(&words)
    )
}

/// The `CallToolResult` of a call that came to no bridge, or to no application that may be called.
pub fn not_reached(detail: &str, advice: &str) -> String {
    let rejected = format!(
        "{{\"status\":\"rejected\",\"reason\":{{\"code\":\"{}\",\"detail\":{}}}}}",
        OutcomeCode::Offline.as_str(),
        text::json_string(detail)
    );
    format!(
        "{{\"content\":{},\"isError\":true,\"_meta\":{{\"io.github.clientmcp/outcome\":{rejected}}}}}",
        content(&format!("Nothing was done: {detail} {advice}"))
    )
}

/// The `CallToolResult` of a call whose bridge went away before it answered.
pub fn bridge_lost() -> String {
    let words = "The ClientMCP bridge went away before it answered. The action may or may not have happened: check before \
                 you try again.";
    format!("{{\"content\":{},\"isError\":true}}", content(words))
}

/// A `CallToolResult` of one text.
pub fn told(words: &str, is_error: bool) -> String {
    let error = if is_error { ",\"isError\":true" } else { "" };
    format!("{{\"content\":{}{error}}}", content(words))
}

fn content(words: &str) -> String {
    format!("[{{\"type\":\"text\",\"text\":{}}}]", text::json_string(words))
}

fn detail(outcome: Outcome) -> String {
    match outcome {
        Outcome::Offline => "the application is not connected.".into(),
        Outcome::Disconnected => "The application disconnected before it answered.".into(),
        Outcome::Timeout(time) => format!("The application did not answer within {}.", seconds(time)),
        Outcome::Unresponsive => "The application shows no sign of life: its window may be frozen.".into(),
        Outcome::Unattended => "this call needs the user's approval, and nobody can be asked.".into(),
        Outcome::Declined => "the user declined this call.".into(),
        Outcome::Unanswered(time) => format!("the user did not answer within {}.", seconds(time)),
        Outcome::Paused => "the user has paused all calls.".into(),
        Outcome::Blocked => "the user has blocked these calls.".into(),
        Outcome::Changed => "the tool was changed before the call was sent.".into(),
        Outcome::Busy(limit) => over(limit),
    }
}

fn over(limit: Limit) -> String {
    match limit {
        Limit::CallsInFlight => format!("the application has {CALLS_IN_FLIGHT} calls to answer already."),
        Limit::CallsInAll => format!("the bridge has {CALLS_IN_ALL} calls under way already."),
        Limit::UnsentBytes => format!("the application has not read {UNSENT_BYTES} bytes it was sent."),
        Limit::MessageBytes => format!("the call would be a message of more than {MESSAGE_BYTES} bytes."),
        Limit::Questions => format!("{QUESTIONS} calls of this application wait for the user's answer already."),
        Limit::QuestionsOfAgent => format!("{QUESTIONS_OF_AGENT} calls of yours wait for the user's answer already."),
    }
}

fn advice(outcome: Outcome, application: &ClientId) -> String {
    match outcome {
        Outcome::Offline => format!("Ask the user to open {application}, then try again."),
        Outcome::Unattended => "Tell the user that the bridge runs without anybody who can approve calls.".into(),
        Outcome::Declined => "Do not try again unless the user asks for it.".into(),
        Outcome::Unanswered(_) => "Ask the user whether to try again.".into(),
        Outcome::Paused => "Try again when the user has resumed them.".into(),
        Outcome::Blocked => "Do not try again; the user can lift the block in the ClientMCP app.".into(),
        Outcome::Changed => "List the tools again before you try again.".into(),
        Outcome::Busy(
            Limit::CallsInFlight | Limit::CallsInAll | Limit::UnsentBytes | Limit::Questions | Limit::QuestionsOfAgent,
        ) => "Wait for other calls to end, then try again.".into(),
        Outcome::Busy(Limit::MessageBytes) => "Try again with shorter arguments.".into(),
        Outcome::Disconnected | Outcome::Timeout(_) | Outcome::Unresponsive => String::new(),
    }
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        1 => "1 second".into(),
        seconds => format!("{seconds} seconds"),
    }
}
