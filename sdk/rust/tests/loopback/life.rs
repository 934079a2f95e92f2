//! Connections: made, lost, refused, replaced, closed.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use clientmcp::{Application, Ended, Refusal, State, Tool};
use futures_util::FutureExt;

use crate::bridge::{Bridge, within};

// holds: sdk-states
#[tokio::test]
async fn online_comes_with_the_first_registered_and_not_before() {
    let bridge = Bridge::new().await;
    let application = bridge.application().connect();
    assert_eq!(application.state(), State::Connecting);
    let mut peer = bridge.accept().await;
    peer.register().await;
    assert_eq!(application.state(), State::Connecting);
    peer.send(crate::bridge::REGISTERED).await;
    within("the application to be online", application.online()).await.unwrap();
    assert_eq!(application.state(), State::Online);
}

// holds: sdk-backoff, sdk-registers, sdk-states
#[tokio::test]
async fn a_lost_connection_is_made_again_with_the_newest_tools() {
    let bridge = Bridge::new().await;
    let application = bridge.application().connect();
    let peer = bridge.online().await;
    within("the application to be online", application.online()).await.unwrap();
    let mut states = application.states();
    drop(peer);
    within("a state", states.wait_for(|state| matches!(state, State::Waiting { .. }))).await.unwrap();
    application.set_tools([Tool::new("late").handler(|_| async {})]);

    let mut peer = bridge.accept().await;
    assert_eq!(peer.register().await["tools"][0]["name"], "late");
    peer.send(crate::bridge::REGISTERED).await;
    within("the application to be online", application.online()).await.unwrap();
}

// holds: sdk-backoff
#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let bridge = Bridge::new().await;
    let application = bridge.application().connect();
    for code in [1001, 1011] {
        bridge.online().await.close(code, "").await;
    }
    // A bridge that hangs up in the handshake, one that breaks the protocol, and a server that is no bridge. Between
    // them all is well, which keeps the waits short.
    drop(bridge.socket().await);
    bridge.online().await.close(1001, "").await;
    let mut peer = bridge.accept().await;
    peer.send("{").await;
    peer.hung_up().await;
    bridge.online().await.close(1001, "").await;
    bridge.accept_as("token-1").await.hung_up().await;
    let _peer = bridge.online().await;
    within("the application to be online", application.online()).await.unwrap();
}

// holds: sdk-protocol-error
#[tokio::test]
async fn a_protocol_error_is_final_and_says_why() {
    let bridge = Bridge::new().await;
    let application = bridge.application().connect();
    bridge.accept().await.close(4400, "tool 1: no name").await;
    let refusal = Refusal::Message { reason: "tool 1: no name".into() };
    assert_eq!(
        within("the application to be online", application.online()).await,
        Err(Ended::Refused(refusal.clone()))
    );
    assert_eq!(application.state(), State::Refused(refusal));
    application.take_over();
    // The application's task has ended: there is nobody who could connect.
    let mut states = application.states();
    within("the end of the states", async { while states.changed().await.is_ok() {} }).await;
}

// holds: sdk-unauthorized
#[tokio::test]
async fn a_refused_fixed_token_is_final() {
    let bridge = Bridge::new().await;
    let application = bridge.application().connect();
    bridge.accept().await.close(4401, "token expired").await;
    assert_eq!(
        within("the application's end", application.ended()).await,
        Ended::Refused(Refusal::Token { reason: "token expired".into() })
    );
}

/// An application that numbers the tokens it fetches.
fn numbered(bridge: &Bridge) -> Application {
    let count = Arc::new(AtomicUsize::new(1));
    let fetch = move || {
        let number = count.fetch_add(1, Ordering::Relaxed);
        async move { Ok::<_, ()>(format!("token-{number}")) }
    };
    Application::with_token_from(fetch).url(bridge.url())
}

// holds: sdk-unauthorized
#[tokio::test]
async fn a_refused_fetched_token_is_renewed_once() {
    let bridge = Bridge::new().await;
    let application = numbered(&bridge).connect();
    bridge.accept().await.close(4401, "").await;
    // The second is accepted, which makes good for the first.
    let peer = bridge.online().await;
    assert_eq!(peer.headers["sec-websocket-protocol"], "clientmcp.v1, token-2");
    peer.close(4401, "revoked").await;
    let peer = tokio::select! {
        peer = bridge.accept() => peer,
        ended = application.ended() => panic!("ended instead of renewing again: {ended}"),
    };
    peer.close(4401, "revoked again").await;
    let ended = tokio::select! {
        ended = application.ended() => ended,
        _ = bridge.accept() => panic!("renewed twice"),
    };
    assert_eq!(ended, Ended::Refused(Refusal::Token { reason: "revoked again".into() }));
}

// holds: sdk-unauthorized
#[tokio::test]
async fn a_token_function_that_fails_is_asked_again() {
    let bridge = Bridge::new().await;
    let count = AtomicUsize::new(0);
    let fetch = move || {
        let tries = count.fetch_add(1, Ordering::Relaxed);
        async move {
            assert!(tries != 0, "a panic is a failure like any other");
            if tries == 1 { Err("no network") } else { Ok("token-1") }
        }
    };
    let application = Application::with_token_from(fetch).url(bridge.url()).connect();
    let _peer = bridge.online().await;
    within("the application to be online", application.online()).await.unwrap();
}

// holds: sdk-protocol-error, sdk-take-over
#[tokio::test]
async fn a_replaced_application_comes_back_only_when_told() {
    let bridge = Bridge::new().await;
    let application = bridge.application().connect();
    let peer = bridge.online().await;
    within("the application to be online", application.online()).await.unwrap();
    // Online, it has nothing to take over, and it does not remember having been told.
    application.take_over();
    peer.close(4409, "").await;
    assert_eq!(within("the application's end", application.ended()).await, Ended::Replaced);
    assert_eq!(application.state(), State::Replaced);
    assert!(bridge.accept().now_or_never().is_none());

    let mut states = application.states();
    application.take_over();
    let _peer = bridge.online().await;
    within("a state", states.wait_for(|state| *state == State::Online)).await.unwrap();
}

// holds: sdk-close-graceful
#[tokio::test]
async fn close_says_1000_and_waits_for_the_end() {
    let bridge = Bridge::new().await;
    let application = bridge.application().connect();
    let mut peer = bridge.online().await;
    within("the application to be online", application.online()).await.unwrap();
    let (code, ()) = tokio::join!(
        async {
            let code = peer.closed().await;
            peer.hung_up().await;
            code
        },
        application.close()
    );
    assert_eq!((code, application.state()), (1000, State::Closed));
    assert_eq!(within("the application to be online", application.online()).await, Err(Ended::Closed));
}

// holds: sdk-close-graceful
#[tokio::test]
async fn close_ends_whatever_goes_on() {
    let bridge = Bridge::new().await;
    // In the handshake.
    let application = bridge.application().connect();
    let _socket = bridge.socket().await;
    within("the application to close", application.close()).await;
    assert_eq!(application.state(), State::Closed);
    // Replaced.
    let application = bridge.application().connect();
    bridge.accept().await.close(4409, "").await;
    within("the application's end", application.ended()).await;
    within("the application to close", application.close()).await;
    assert_eq!(application.state(), State::Closed);
    // While it waits.
    let application = bridge.application().connect();
    let mut states = application.states();
    drop(bridge.socket().await);
    within("a state", states.wait_for(|state| matches!(state, State::Waiting { .. }))).await.unwrap();
    drop(application);
    within("a state", states.wait_for(|state| *state == State::Closed)).await.unwrap();
}

// holds: sdk-token-refused, sdk-secrets
#[tokio::test]
async fn what_cannot_be_sent_is_refused_before_anything_is_sent() {
    let application = Application::new("my secret token").connect();
    let ended = within("the application's end", application.ended()).await;
    assert_eq!(ended, Ended::Refused(Refusal::TokenText));
    assert!(!format!("{ended} {ended:?} {application:?}").contains("secret"));

    let application = Application::new("t").url("http://127.0.0.1:1/connect").connect();
    assert!(matches!(within("the application's end", application.ended()).await, Ended::Refused(Refusal::Url { .. })));
}
