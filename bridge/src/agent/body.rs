//! Reading a request's body, bounded in size and time.

use axum::{
    body::Body,
    http::{
        HeaderMap,
        header::{CONTENT_LENGTH, EXPECT},
    },
};
use bytes::{Bytes, BytesMut};
use clientmcp_protocol::limits::{BODY_TIME, CLOSE_DRAIN_BYTES, CLOSE_TIME, MESSAGE_BYTES};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::time::timeout;

use crate::refusal::Refusal;

/// The whole body. One that is too large is still read for a moment, so that the refusal arrives instead of a reset.
pub(super) async fn read(headers: &HeaderMap, mut body: Body) -> Result<Bytes, Refusal> {
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|length| length > MESSAGE_BYTES as u64) {
        // Who waits for "100 Continue" has sent nothing, and reading would ask for it.
        if !headers.contains_key(EXPECT) {
            drain(&mut body).await;
        }
        return Err(Refusal::BodyTooLarge);
    }
    let whole = timeout(BODY_TIME, collect(&mut body)).await.map_err(|_| Refusal::BodyTooSlow)?;
    if whole == Err(Refusal::BodyTooLarge) {
        drain(&mut body).await;
    }
    whole
}

async fn collect(body: &mut Body) -> Result<Bytes, Refusal> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        // A body that breaks off takes its connection with it: nobody reads this answer.
        let broken = || Refusal::InvalidRequest("the body broke off, or its chunks cannot be read".into());
        let Ok(data) = frame.map_err(|_| broken())?.into_data() else { continue };
        if whole.len() + data.len() > MESSAGE_BYTES {
            return Err(Refusal::BodyTooLarge);
        }
        if whole.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

async fn drain(body: &mut Body) {
    let reading = async {
        let mut left = CLOSE_DRAIN_BYTES;
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                return;
            }
        }
    };
    let _ = timeout(CLOSE_TIME, reading).await;
}
