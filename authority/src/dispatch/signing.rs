//! The headers that make an attempt verifiable (contract 7.1).
//!
//! Only the timestamp and the body are signed; the others are copies and hints for people. The secrets are those of
//! this moment, newest first, so that a receiver with either secret of an overlap accepts.

use authority_domain::time::Timestamp;
use authority_store::ports::LeasedDelivery;
use http::{HeaderMap, HeaderName, HeaderValue};
use verify_core::header;
use verify_core::secret::Secret;
use verify_core::sign::signature_header;

use crate::secret_box::{SecretBox, SecretContext};

const DELIVERY_ID: HeaderName = HeaderName::from_static("service-delivery-id");
const ATTEMPT: HeaderName = HeaderName::from_static("service-attempt");

/// A stored secret cannot be used: the key-encryption key is another one, or the row was altered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a signing secret of the endpoint cannot be opened")]
pub(super) struct UnusableSecret;

/// Signs the attempt to send `body` that starts at `now`.
///
/// # Errors
/// [`UnusableSecret`] when there is no secret that can be opened.
pub(super) fn headers(
    delivery: &LeasedDelivery,
    body: &[u8],
    number: i64,
    now: Timestamp,
    secrets: &SecretBox,
) -> Result<HeaderMap, UnusableSecret> {
    // Judged at the attempt: an overlap may end between the lease and now.
    let valid = delivery.secrets.iter().filter(|sealed| sealed.expires_at.is_none_or(|at| at > now));
    let opened: Vec<Secret> =
        valid.map(|sealed| open(delivery, sealed, secrets)).collect::<Result<_, _>>()?;
    if opened.is_empty() {
        return Err(UnusableSecret);
    }
    let timestamp = format!("{:010}", now.as_unix_seconds());
    let signature = signature_header(&opened, &timestamp, body);
    let mut headers = HeaderMap::with_capacity(6);
    for (name, text) in [
        (HeaderName::from_static(header::EVENT_ID), delivery.event_id.as_str()),
        (HeaderName::from_static(header::TIMESTAMP), timestamp.as_str()),
        (HeaderName::from_static(header::SIGNATURE), signature.as_str()),
        (HeaderName::from_static(header::VERSION), delivery.api_version.as_str()),
        (DELIVERY_ID, delivery.id.as_str()),
        (ATTEMPT, number.to_string().as_str()),
    ] {
        headers.insert(name, HeaderValue::from_str(text).map_err(|_| UnusableSecret)?);
    }
    Ok(headers)
}

fn open(
    delivery: &LeasedDelivery,
    sealed: &authority_store::ports::SealedSecret,
    secrets: &SecretBox,
) -> Result<Secret, UnusableSecret> {
    let secret_version = u32::try_from(sealed.version).map_err(|_| UnusableSecret)?;
    let context = SecretContext { endpoint_id: delivery.endpoint_id.as_str(), secret_version };
    let text = secrets.open(context, &sealed.sealed).map_err(|_| UnusableSecret)?;
    Secret::parse(&text).map_err(|_| UnusableSecret)
}
