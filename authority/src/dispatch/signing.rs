//! The headers of an attempt: those that make it verifiable (contract 7.1), and those that the endpoint asks for
//! (4.10).
//!
//! Only the timestamp and the body are signed; the others are copies and hints for people. The secrets are the ones
//! valid now, newest first, so that a receiver with either secret of an overlap accepts.
//!
//! An endpoint with the profile `standard-webhooks` gets three headers more, of the same event, instant and secrets,
//! that the public libraries of that standard verify (contract 15.12).
//!
//! What the endpoint asks for is opened here, from the text that was sealed under the endpoint's id. It never takes the
//! place of a header of the service.
//!
//! The digest comes from the `hmac` crate. `verify-core`, which every receiver verifies with, defines how a secret
//! becomes a key and how a signature is written.

use authority_domain::Timestamp;
use authority_domain::endpoint::SignatureProfile;
use authority_domain::endpoint::headers::{HEADERS_MAX, RequestHeaders, is_free};
use authority_store::hand_off::LeasedDelivery;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;
use verify_core::sign::header_value;
use verify_core::{header, secret, standard_webhooks};
use zeroize::Zeroizing;

use crate::secret_box::{SecretBox, SecretContext};

const DELIVERY_ID: HeaderName = HeaderName::from_static("service-delivery-id");
const ATTEMPT: HeaderName = HeaderName::from_static("service-attempt");

/// What is stored sealed cannot be used: the key-encryption key is not the one it was sealed with, or the row was
/// altered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a signing secret, the headers or the client certificate of the endpoint cannot be opened")]
pub(super) struct UnusableSecret;

/// The headers of the attempt to send `body` that starts at `now`, signed.
///
/// # Errors
/// [`UnusableSecret`] when there is no secret that can be opened, or the endpoint's headers cannot be opened.
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
    let texts: Vec<_> = valid.map(|sealed| opened(delivery, sealed, secrets)).collect::<Result<_, _>>()?;
    if texts.is_empty() {
        return Err(UnusableSecret);
    }
    let digests: Vec<_> =
        texts.iter().map(|text| digest(text, &timestamp, body)).collect::<Result<_, _>>()?;
    let signature = header_value(digests);
    // They come first, so that the service's own take their places whatever the names are.
    let mut headers = of_endpoint(delivery, secrets)?;
    let mut insert = |name, text: &str| -> Result<(), UnusableSecret> {
        headers.insert(name, HeaderValue::from_str(text).map_err(|_| UnusableSecret)?);
        Ok(())
    };
    for (name, text) in [
        (HeaderName::from_static(header::EVENT_ID), delivery.event_id.as_str()),
        (HeaderName::from_static(header::TIMESTAMP), timestamp.as_str()),
        (HeaderName::from_static(header::SIGNATURE), signature.as_str()),
        (HeaderName::from_static(header::VERSION), delivery.api_version.as_str()),
        (DELIVERY_ID, delivery.id.as_str()),
        (ATTEMPT, number.to_string().as_str()),
    ] {
        insert(name, text)?;
    }
    if delivery.signature_profile == SignatureProfile::StandardWebhooks {
        let id = delivery.event_id.as_str();
        let digests: Vec<_> =
            texts.iter().map(|text| standard_digest(text, id, &timestamp, body)).collect::<Result<_, _>>()?;
        insert(HeaderName::from_static(standard_webhooks::EVENT_ID), id)?;
        insert(HeaderName::from_static(standard_webhooks::TIMESTAMP), &timestamp)?;
        let signature = standard_webhooks::header_value(digests);
        insert(HeaderName::from_static(standard_webhooks::SIGNATURE), &signature)?;
    }
    Ok(headers)
}

/// The headers that the endpoint asks for. They are marked as sensitive: no table of HTTP/2 header compression keeps
/// them, and `Debug` does not show them.
fn of_endpoint(delivery: &LeasedDelivery, secrets: &SecretBox) -> Result<HeaderMap, UnusableSecret> {
    let Some(sealed) = &delivery.options.headers_sealed else { return Ok(HeaderMap::with_capacity(9)) };
    let context = SecretContext::RequestHeaders { endpoint_id: delivery.endpoint_id.as_str() };
    let text = secrets.open(context, sealed).map_err(|_| UnusableSecret)?;
    let wanted = RequestHeaders::of_text(&text).ok_or(UnusableSecret)?;
    let mut headers = HeaderMap::with_capacity(9 + HEADERS_MAX);
    // A name that was free when the endpoint got it may have been refused since.
    for (name, value) in wanted.iter().filter(|(name, _)| is_free(name)) {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| UnusableSecret)?;
        let mut value = HeaderValue::from_str(value).map_err(|_| UnusableSecret)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// HMAC-SHA256 over the timestamp, a full stop and the body (contract 10.1).
fn digest(text: &str, timestamp: &str, body: &[u8]) -> Result<[u8; 32], UnusableSecret> {
    let key = secret::key(text.as_bytes()).map_err(|_| UnusableSecret)?;
    mac(key, &[timestamp.as_bytes(), b".", body])
}

/// HMAC-SHA256 over the event's id, the timestamp and the body, with full stops between them (contract 15.12).
fn standard_digest(text: &str, id: &str, timestamp: &str, body: &[u8]) -> Result<[u8; 32], UnusableSecret> {
    let key = standard_webhooks::Key::parse(text.as_bytes()).map_err(|_| UnusableSecret)?;
    mac(key.as_bytes(), &[id.as_bytes(), b".", timestamp.as_bytes(), b".", body])
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Result<[u8; 32], UnusableSecret> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|_| UnusableSecret)?;
    for part in parts {
        mac.update(part);
    }
    Ok(mac.finalize().into_bytes().into())
}

fn opened(
    delivery: &LeasedDelivery,
    sealed: &authority_store::hand_off::SealedSecret,
    secrets: &SecretBox,
) -> Result<Zeroizing<String>, UnusableSecret> {
    let secret_version = u32::try_from(sealed.version).map_err(|_| UnusableSecret)?;
    let context = SecretContext::SigningSecret { endpoint_id: delivery.endpoint_id.as_str(), secret_version };
    secrets.open(context, &sealed.sealed).map_err(|_| UnusableSecret)
}

#[cfg(test)]
mod tests {
    use verify_core::sign::signature_header;
    use verify_core::{Profile, Secret};

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

    #[test]
    fn the_profile_of_standard_webhooks_is_signed_as_the_core_verifies() {
        for random in [[0; 32], [255; 32], std::array::from_fn(|at| at as u8)] {
            let text = secret::generate_for(Profile::StandardWebhooks, random);
            let secret = Secret::parse_for(Profile::StandardWebhooks, &text).unwrap();
            for body in [&b""[..], b"{}", &[b'x'; 1000]] {
                let ours =
                    standard_webhooks::header_value([
                        standard_digest(&text, "evt_1", "1788264000", body).unwrap()
                    ]);
                let signature = secret.sign_standard(b"evt_1", b"1788264000", body);
                assert_eq!(ours, format!("v1,{}", std::str::from_utf8(&signature).unwrap()));
            }
        }
        let of_the_service = secret::generate([1; 32]);
        for unusable in ["", "whsec_", "whsec_a===", &of_the_service] {
            assert_eq!(standard_digest(unusable, "evt_1", "1788264000", b"{}"), Err(UnusableSecret));
        }
    }
}
