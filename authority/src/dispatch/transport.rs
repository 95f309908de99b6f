//! What makes an attempt: a signed request goes out, and what came of it comes back (contract 7.1, 7.2, 15.5).
//!
//! The dispatcher knows no more of the network than this. [`DeliveryClient`](super::client::DeliveryClient) is the one
//! that sends; a test brings one that answers from a script.

use async_trait::async_trait;
use authority_domain::delivery::outcome::{AttemptOutcome, ReceiverWish};
use authority_domain::endpoint::url::TargetUrl;
use bytes::Bytes;
use http::HeaderMap;

/// What to send.
pub struct AttemptRequest<'a> {
    /// Where to.
    pub url: &'a TargetUrl,
    /// The headers of this attempt: signature, ids. What is the same for every delivery is added by the transport.
    pub headers: HeaderMap,
    /// The event's bytes.
    pub body: Bytes,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptReport {
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// The status, when a response came.
    pub status: Option<u16>,
    /// The wait in milliseconds that the response asks for, on statuses where that is honoured (429, 503).
    pub retry_after_ms: Option<u64>,
    /// What the receiver asks for besides (contract 15.7).
    pub wish: Option<ReceiverWish>,
    /// The beginning of the response's body as text, for the merchant's developers.
    pub excerpt: Option<String>,
    /// From the beginning to the end of the response's headers, or to the failure. The body's time does not count.
    pub duration_ms: u64,
}

/// Makes attempts.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Makes one attempt. It ends within a time that the implementation bounds, well before a lease does, whatever the
    /// receiver does; everything that may happen is a report. A future that is dropped leaves nothing open.
    async fn attempt(&self, request: AttemptRequest<'_>) -> AttemptReport;
}
