//! The interface that makes an attempt: a signed request goes out, and a report of its outcome comes back (contract
//! 7.1, 7.2, 15.5).
//!
//! The dispatcher knows no more about the network than this. [`DeliveryClient`](super::client::DeliveryClient) is
//! the implementation that sends; a test uses one that answers from a script.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use authority_domain::AttemptOutcome;
use authority_domain::delivery::outcome::ReceiverWish;
use authority_domain::endpoint::TIMEOUT_MAX_MS;
use authority_domain::endpoint::url::TargetUrl;
use bytes::Bytes;
use http::HeaderMap;

use super::identity::ClientIdentity;

/// The longest deadline that an endpoint can have.
pub const DEADLINE_MAX: Duration = Duration::from_millis(TIMEOUT_MAX_MS.unsigned_abs());

/// What to send.
pub struct AttemptRequest<'a> {
    /// Where to.
    pub url: &'a TargetUrl,
    /// The headers of this attempt: signature, ids. The transport adds the headers that are the same for every
    /// delivery.
    pub headers: HeaderMap,
    /// The event's bytes.
    pub body: Bytes,
    /// The certificate that is shown to a receiver that asks for one, over https; `None` for none.
    pub identity: Option<Arc<ClientIdentity>>,
    /// The deadline of this attempt, at most [`DEADLINE_MAX`]; `None` for the transport's own.
    pub deadline: Option<Duration>,
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptReport {
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// The status, when a response came.
    pub status: Option<u16>,
    /// The wait in milliseconds that the response asks for, on the statuses where it is honoured (429, 503).
    pub retry_after_ms: Option<u64>,
    /// What else the receiver asks for (contract 15.7).
    pub wish: Option<ReceiverWish>,
    /// The beginning of the response's body as text, for the merchant's developers.
    pub excerpt: Option<String>,
    /// From the beginning of the attempt to the end of the response's headers, or to the failure. Reading the body
    /// does not count.
    pub duration_ms: u64,
}

/// Makes attempts.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Makes one attempt. The implementation bounds its time by the request's deadline or else its own, well below the
    /// length of a lease, whatever the receiver does; everything that can happen is a report. Dropping the future
    /// leaves nothing open.
    async fn attempt(&self, request: AttemptRequest<'_>) -> AttemptReport;
}
