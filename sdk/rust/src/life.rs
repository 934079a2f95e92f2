//! An application's life: connect, serve, wait, connect again, until it ends.

use clientmcp_protocol::{
    client::SUBPROTOCOL,
    limits::{HANDSHAKE_TIME, MESSAGE_BYTES},
};
use tokio::{
    net::TcpStream,
    time::{Instant, sleep_until, timeout},
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{
        Error,
        client::IntoClientRequest,
        handshake::client::Request,
        http::{HeaderValue, header::SEC_WEBSOCKET_PROTOCOL},
        protocol::WebSocketConfig,
    },
};
use tracing::{debug, info, warn};

use crate::{
    connection::{self, Served},
    declaration::left,
    error::{Ended, Refusal},
    handle::{Orders, State},
    reconnect::{Backoff, Ending, Next, next},
    token::{Token, TokenSource},
};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// What lasts from one connection to the next.
pub(crate) struct Life {
    pub(crate) url: String,
    pub(crate) tokens: TokenSource,
    pub(crate) orders: Orders,
    pub(crate) backoff: Backoff,
    /// A new token was fetched after a refusal, and the bridge has accepted none since.
    pub(crate) renewed: bool,
}

impl Life {
    /// Lives it.
    pub(crate) async fn run(mut self) {
        loop {
            let ended = self.until_ended().await;
            info!(reason = %ended, "the application is no longer connected");
            // Read before the state is told: an order to take over comes after it was seen.
            let take_overs = self.orders.wanted.borrow().take_overs;
            self.orders.reports.state(ended.clone().into());
            if ended != Ended::Replaced {
                return;
            }
            let order = self.orders.wanted.wait_for(|wanted| wanted.closing || wanted.take_overs != take_overs).await;
            if order.map_or(true, |wanted| wanted.closing) {
                self.orders.reports.state(State::Closed);
                return;
            }
            self.accepted();
        }
    }

    /// Connects again and again, as long as that is right.
    async fn until_ended(&mut self) -> Ended {
        loop {
            self.orders.reports.state(State::Connecting);
            let Served { accepted, ending } = self.connect().await;
            if accepted {
                self.accepted();
            }
            match next(ending, self.tokens.can_renew() && !self.renewed) {
                Next::End(ended) => return ended,
                Next::Renew => self.renewed = true,
                Next::Retry => {}
            }
            if self.wait().await.is_err() {
                return Ended::Closed;
            }
        }
    }

    /// All is well: past failures count no more.
    fn accepted(&mut self) {
        self.backoff.reset();
        self.renewed = false;
    }

    /// One connection from beginning to end.
    async fn connect(&mut self) -> Served {
        let opened = tokio::select! {
            opened = open(&self.url, &self.tokens) => opened,
            () = left(self.orders.wanted.clone()) => Err(Ending::Left),
        };
        match opened {
            Ok(socket) => connection::serve(socket, &mut self.orders).await,
            Err(ending) => Served { accepted: false, ending },
        }
    }

    /// Waits for the next try; an error means that the application does not want one.
    async fn wait(&mut self) -> Result<(), Ended> {
        let next_try = Instant::now() + self.backoff.next(rand::random());
        self.orders.reports.state(State::Waiting { next_try });
        tokio::select! {
            () = sleep_until(next_try) => Ok(()),
            () = left(self.orders.wanted.clone()) => Err(Ended::Closed),
        }
    }
}

/// Opens a WebSocket: straight to the address, through no proxy, without an `Origin`.
async fn open(url: &str, tokens: &TokenSource) -> Result<Socket, Ending> {
    let Some(token) = tokens.token().await else {
        warn!("the token function failed");
        return Err(Ending::Lost);
    };
    let request = request(url, &token).map_err(Ending::Refused)?;
    let config = WebSocketConfig::default().max_message_size(Some(MESSAGE_BYTES)).max_frame_size(Some(MESSAGE_BYTES));
    let opened = timeout(HANDSHAKE_TIME, connect_async_with_config(request, Some(config), true)).await;
    let (socket, response) = match opened {
        Ok(Ok(opened)) => opened,
        Ok(Err(error)) => return Err(not_opened(&error)),
        Err(_) => return Err(Ending::Lost),
    };
    if response.headers().get(SEC_WEBSOCKET_PROTOCOL).is_none_or(|selected| selected != SUBPROTOCOL) {
        warn!("the other side of the connection is no ClientMCP bridge");
        return Err(Ending::Lost);
    }
    Ok(socket)
}

/// The handshake's request: two subprotocols, of which the second is the token.
fn request(url: &str, token: &Token) -> Result<Request, Refusal> {
    let mut request = url.into_client_request().map_err(|_| Refusal::Url { reason: "it is no WebSocket URL" })?;
    match request.uri().scheme_str() {
        Some("ws") => {}
        Some("wss") => return Err(Refusal::Url { reason: "this build has no TLS for `wss`" }),
        Some(_) | None => return Err(Refusal::Url { reason: "it does not begin with `ws://`" }),
    }
    let token = token.offered().ok_or(Refusal::TokenText)?;
    let mut offer = HeaderValue::try_from(format!("{SUBPROTOCOL}, {token}")).map_err(|_| Refusal::TokenText)?;
    offer.set_sensitive(true);
    request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, offer);
    Ok(request)
}

fn not_opened(error: &Error) -> Ending {
    if let Error::Http(response) = error {
        // A status is worth a word: a bridge that refuses the handshake itself does not like the address.
        warn!(status = response.status().as_u16(), "the bridge refused the handshake");
    } else {
        debug!("no connection");
    }
    Ending::Lost
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str, token: &str) -> Refusal {
        request(url, &Token::from(token)).unwrap_err()
    }

    // holds: sdk-subprotocols
    #[test]
    fn the_request_offers_two_values_and_no_origin() {
        let request = request("ws://127.0.0.1:27182/connect", &Token::from("e30.x")).unwrap();
        assert_eq!(request.headers()[SEC_WEBSOCKET_PROTOCOL], "clientmcp.v1, e30.x");
        assert!(!request.headers().contains_key("origin"));
        assert!(!format!("{request:?}").contains("e30.x"));
    }

    // holds: sdk-token-refused
    #[test]
    fn what_cannot_be_right_is_refused_without_showing_the_token() {
        let error = refusal("ws://127.0.0.1/connect", "se cret");
        assert_eq!(error, Refusal::TokenText);
        assert!(!format!("{error} {error:?}").contains("cret"));
        for url in ["", "x y", "/connect", "http://127.0.0.1/connect", "wss://127.0.0.1/connect"] {
            assert!(matches!(refusal(url, "t"), Refusal::Url { .. }), "{url}");
        }
    }
}
