//! From where an application may connect (`docs/protocol.md`, "Handshake").

use serde_json::{Value, json};

use crate::support::{
    application::Application,
    desktop::{Desktop, list},
    scene::{CLIENT, TOOLS, heard_nothing},
};

const FIRST: &str = "Origin: https://first.example";
const SECOND: &str = "Origin: https://second.example";

fn settings(client_origins: &str) -> Value {
    json!({"client_origins": client_origins, "allow_origins": [], "call_seconds": 120, "question_seconds": 120})
}

fn add(origin: &str) -> Value {
    json!({"type": "add_origin", "application": CLIENT, "origin": origin})
}

async fn refused(desktop: &Desktop, lines: &[&str]) {
    let (code, _) = desktop.connect(CLIENT, lines).await.closed().await;
    assert_eq!(code, 4401, "{lines:?}");
}

/// Connects in earnest: the older connection is replaced.
async fn served(desktop: &Desktop, lines: &[&str]) -> Application {
    let mut application = desktop.connect(CLIENT, lines).await;
    application.register(TOOLS).await;
    application
}

async fn origins(desktop: &mut Desktop, expected: Value) {
    let pins = |desktop: &Desktop| list(&desktop.memory, "pins").iter().any(|pin| pin["origins"] == expected);
    desktop.until(pins).await;
    assert_eq!(desktop.memory["pins"], json!([{"application": CLIENT, "origins": expected}]));
}

// holds: pin-first, pin-refused, pin-evicts-nobody
#[tokio::test]
async fn the_first_origin_is_remembered_and_others_are_refused() {
    let mut desktop = Desktop::start().await;
    let mut application = served(&desktop, &[FIRST]).await;
    origins(&mut desktop, json!(["https://first.example"])).await;
    for lines in [
        &[SECOND][..],
        &[],
        &["Origin: null"],
        &[FIRST, FIRST],
        &[FIRST, SECOND],
        &["Origin: https://first.example:443"],
        &["Origin: http://first.example"],
        &["Origin: https://FIRST.example"],
        &["Origin: native"],
    ] {
        refused(&desktop, lines).await;
    }
    desktop.snapshot(|snapshot| snapshot["refused"]["client_origin"] == 9).await;
    assert_eq!(desktop.newest["refused"]["token"], 0);
    heard_nothing(&mut application).await;
    drop(application);
    let mut application = served(&desktop, &[FIRST]).await;
    heard_nothing(&mut application).await;
    assert_eq!(
        desktop.snapshot(|snapshot| snapshot["applications"][0]["registered"] == true).await["applications"][0]["origin"],
        "https://first.example"
    );
}

// holds: pin-native, pin-null
#[tokio::test]
async fn no_origin_is_one_of_its_own_and_null_is_never_the_first() {
    let mut desktop = Desktop::start().await;
    refused(&desktop, &["Origin: null"]).await;
    refused(&desktop, &[FIRST, FIRST]).await;
    drop(served(&desktop, &[]).await);
    origins(&mut desktop, json!(["native"])).await;
    refused(&desktop, &[FIRST]).await;
    refused(&desktop, &["Origin: null"]).await;
    drop(served(&desktop, &[]).await);
}

// holds: pin-first
#[tokio::test]
async fn a_connection_that_is_refused_pins_nothing() {
    let mut desktop = Desktop::start().await;
    let stranger = crate::support::tokens::agent(CLIENT);
    assert_eq!(desktop.connect_as(&stranger, &[SECOND]).await.closed().await.0, 4401);
    let _application = served(&desktop, &[FIRST]).await;
    origins(&mut desktop, json!(["https://first.example"])).await;
}

// holds: pin-add
#[tokio::test]
async fn the_person_may_add_origins() {
    let mut desktop = Desktop::start().await;
    let _first = served(&desktop, &[FIRST]).await;
    refused(&desktop, &[SECOND]).await;
    for wrong in ["null", "", "*", "second.example", "https://second.example/", "https://second.example/a", "Native"] {
        desktop.refused(add(wrong), "value").await;
    }
    desktop.done(add("https://second.example")).await;
    origins(&mut desktop, json!(["https://first.example", "https://second.example"])).await;
    let _second = served(&desktop, &[SECOND]).await;
    refused(&desktop, &[]).await;
    desktop.done(add("native")).await;
    desktop.done(add("tauri://localhost")).await;
    let _native = served(&desktop, &[]).await;
    let _tauri = served(&desktop, &["Origin: tauri://localhost"]).await;
    refused(&desktop, &["Origin: null"]).await;
}

// holds: pin-one-rule
#[tokio::test]
async fn what_may_be_pinned_and_what_may_be_added_is_the_same() {
    let mut desktop = Desktop::start().await;
    for none in [
        "",
        "a b",
        "[native]",
        "Native",
        "null",
        "*",
        "file://",
        "file:///home",
        "example.com",
        "https://",
        "https://a.example/",
        "https://A.example",
        "https://a.example, https://b.example",
        "HTTPS://a.example",
        "https://a.example:443",
        "http://[::ffff:127.0.0.1]:3000",
        "http://127.1:3000",
        "http://0x7f.0.0.1",
        "chrome-extension://",
        "moz-extension://a/b",
        &format!("https://{}", "a".repeat(293)),
    ] {
        refused(&desktop, &[&format!("Origin: {none}")]).await;
        desktop.refused(add(none), "value").await;
    }
    // What stands for no origin at all is nobody's to send.
    refused(&desktop, &["Origin: native"]).await;
    assert_eq!(list(&desktop.memory, "pins").len(), 0, "nothing of it was remembered");
    for origin in [
        "https://a.example",
        "http://localhost:5173",
        "http://[::1]:3000",
        "http://[::ffff:7f00:1]:3000",
        "tauri://localhost",
        "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
        "moz-extension://4ed7f644-c3b5-4bf1-983f-2c8718f52222",
        "safari-web-extension://E3449EA7-EC25-4696-8E6A-A58B12E2B1C3",
    ] {
        let mut desktop = Desktop::start().await;
        drop(served(&desktop, &[&format!("Origin: {origin}")]).await);
        origins(&mut desktop, json!([origin])).await;
        desktop.done(json!({"type": "add_origin", "application": "another", "origin": origin})).await;
        let mut settings = settings("pinned");
        settings["allow_origins"] = json!([origin]);
        desktop.done(json!({"type": "set_settings", "settings": settings})).await;
    }
    // Where any origin is allowed, one that names nobody is shown as that.
    let mut desktop = Desktop::with(json!({"settings": settings("any")})).await;
    let _application = served(&desktop, &["Origin: a b"]).await;
    let shown = desktop.snapshot(|snapshot| snapshot["applications"][0]["registered"] == true).await;
    assert_eq!(shown["applications"][0]["origin"], "null");
}

// holds: pin-bound
#[tokio::test]
async fn origins_are_bounded_in_number_and_length() {
    let mut desktop = Desktop::start().await;
    let named = |number: usize| format!("https://a{number}.example");
    for number in 0..64 {
        desktop.done(add(&named(number))).await;
    }
    desktop.refused(add(&named(64)), "value").await;
    // One that is there needs no place.
    desktop.done(add(&named(7))).await;
    let long = |bytes: usize| format!("https://{}", "a".repeat(bytes - "https://".len()));
    let other = |origin: &str| json!({"type": "add_origin", "application": "another", "origin": origin});
    desktop.done(other(&long(300))).await;
    desktop.refused(other(&long(301)), "value").await;

    let allowing = |count: usize| {
        let mut settings = settings("pinned");
        settings["allow_origins"] = (0..count).map(named).collect();
        json!({"type": "set_settings", "settings": settings})
    };
    desktop.done(allowing(64)).await;
    desktop.refused(allowing(65), "value").await;
}

// holds: pin-any, handshake-any-origin
#[tokio::test]
async fn where_any_origin_is_allowed_none_is_refused() {
    let mut desktop = Desktop::with(json!({"settings": settings("any")})).await;
    for lines in [&[FIRST][..], &[SECOND], &[], &["Origin: null"]] {
        let mut application = served(&desktop, lines).await;
        heard_nothing(&mut application).await;
    }
    // The setting may change while it runs. Who is connected stays.
    let mut application = served(&desktop, &[SECOND]).await;
    desktop.done(add("https://first.example")).await;
    desktop.done(json!({"type": "set_settings", "settings": settings("pinned")})).await;
    heard_nothing(&mut application).await;
    refused(&desktop, &["Origin: https://third.example"]).await;
    let _first = served(&desktop, &[FIRST]).await;
}

// holds: pin-remembered
#[tokio::test]
async fn pins_that_are_handed_over_hold() {
    let memory = json!({"pins": [{"application": CLIENT, "origins": ["https://first.example", "native"]}]});
    let desktop = Desktop::with(json!({"memory": memory})).await;
    refused(&desktop, &[SECOND]).await;
    drop(served(&desktop, &[FIRST]).await);
    drop(served(&desktop, &[]).await);
    // Of another application nothing is known.
    let mut other = desktop.connect("other", &[SECOND]).await;
    other.register(TOOLS).await;
}
