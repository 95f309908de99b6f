//! The headers that make an attempt verifiable (contract 7.1).
//!
//! Only the timestamp and the body are signed; the others are copies and hints for people. The secrets are the ones
//! valid now, newest first, so that a receiver with either secret of an overlap accepts.
//!
//! The digest comes from the `hmac` crate. `verify-core`, which every receiver verifies with, defines how a secret
//! becomes a key and how a signature is written.

use authority_domain::time::Timestamp;
use authority_store::ports::LeasedDelivery;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;
use verify_core::sign::header_value;
use verify_core::{header, secret};
use zeroize::Zeroizing;

use crate::secret_box::{SecretBox, SecretContext};

const DELIVERY_ID: HeaderName = HeaderName::from_static("service-delivery-id");
const ATTEMPT: HeaderName = HeaderName::from_static("service-attempt");

/// A stored secret cannot be used: the key-encryption key is not the one it was sealed with, or the row was altered.
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
    // Checked at the attempt: an overlap may end between the lease and now.
    let valid = delivery.secrets.iter().filter(|sealed| sealed.expires_at.is_none_or(|at| at > now));
    let timestamp = format!("{:010}", now.as_unix_seconds());
    let digests: Vec<_> = valid
        .map(|sealed| digest(&opened(delivery, sealed, secrets)?, &timestamp, body))
        .collect::<Result<_, _>>()?;
    if digests.is_empty() {
        return Err(UnusableSecret);
    }
    let signature = header_value(digests);
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

/// HMAC-SHA256 over the timestamp, a full stop and the body (contract 10.1).
fn digest(text: &str, timestamp: &str, body: &[u8]) -> Result<[u8; 32], UnusableSecret> {
    let key = secret::key(text.as_bytes()).map_err(|_| UnusableSecret)?;
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|_| UnusableSecret)?;
    for part in [timestamp.as_bytes(), b".", body] {
        mac.update(part);
    }
    Ok(mac.finalize().into_bytes().into())
}

fn opened(
    delivery: &LeasedDelivery,
    sealed: &authority_store::ports::SealedSecret,
    secrets: &SecretBox,
) -> Result<Zeroizing<String>, UnusableSecret> {
    let secret_version = u32::try_from(sealed.version).map_err(|_| UnusableSecret)?;
    let context = SecretContext { endpoint_id: delivery.endpoint_id.as_str(), secret_version };
    secrets.open(context, &sealed.sealed).map_err(|_| UnusableSecret)
}

#[cfg(test)]
mod tests {
    use verify_core::Secret;
    use verify_core::sign::signature_header;

    use super::*;

    #[test]
    fn a_delivery_is_signed_as_the_core_verifies() {
        for length in [7, 49, 64, 65, 512] {
            let text = format!("whsec_{}", "k".repeat(length - 6));
            let secret = Secret::parse(&text).unwrap();
            for body in [&b""[..], b"{}", &[b'x'; 1000]] {
                let ours = header_value([digest(&text, "1788264000", body).unwrap()]);
                assert_eq!(ours, signature_header([&secret], "1788264000", body), "{length}");
            }
        }
        for unusable in ["", "whsec_", "WHSEC_a", "whsec_a\n"] {
            assert_eq!(digest(unusable, "1788264000", b"{}"), Err(UnusableSecret), "{unusable:?}");
        }
    }
}
