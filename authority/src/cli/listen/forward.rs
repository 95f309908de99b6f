//! Sends one event to a receiver the way a delivery is sent (contract 7.1): with the delivery
//! client, with its deadline, and with the address check at connection time.

use std::sync::Arc;

use authority_domain::endpoint::url::TargetUrl;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use verify_core::sign::signature_header;
use verify_core::{Secret, header};
use zeroize::Zeroizing;

use super::refusal::{Refusal, Refused, code_member};
use super::stream::Event;
use super::{Failure, secret};
use crate::clock::Clock;
use crate::dispatch::client::{DeliveryClient, DeliveryLimits, Egress};
use crate::dispatch::transport::{AttemptRequest, Transport as _};
use crate::names::SystemResolver;

/// The most characters of a code that are shown.
const CODE_MAX: usize = 40;

/// The result of one forwarded event.
pub(super) struct Forwarded {
    /// When it was sent, Unix milliseconds.
    pub(super) at: i64,
    /// The receiver's status, if it answered.
    pub(super) status: Option<u16>,
    /// The code in the receiver's answer: `ok`, `duplicate`, `processing_failed`, …
    pub(super) code: Option<String>,
    /// The outcome, with the same names as a delivery attempt's.
    pub(super) outcome: &'static str,
    /// Time until the response headers arrived.
    pub(super) duration_ms: u64,
    /// Why it was probably refused, if the receiver answered 401.
    pub(super) refusal: Option<Refusal>,
}

/// Signs and sends events. Has no `Debug`: it holds the secret.
pub(super) struct Forwarder {
    client: DeliveryClient,
    clock: Arc<dyn Clock>,
    secret: Secret,
    /// The same as text, for the explainer.
    secret_text: Zeroizing<String>,
    /// Headers besides those of a delivery.
    headers: HeaderMap,
}

impl Forwarder {
    pub(super) fn new(
        headers: HeaderMap,
        secret_text: Zeroizing<String>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Failure> {
        let secret = secret::usable(&secret_text)?;
        let limits = DeliveryLimits::default();
        let client = DeliveryClient::new(
            limits,
            Egress::default(),
            Arc::new(SystemResolver::default()),
            Arc::clone(&clock),
        )
        .map_err(Failure::failed)?;
        Ok(Self { client, clock, secret, secret_text, headers })
    }

    /// Sends an event to this URL.
    pub(super) async fn forward(&self, event: &Event, target: &TargetUrl) -> Forwarded {
        let at = self.clock.now_ms();
        let timestamp = format!("{:010}", at.div_euclid(1000));
        let body = Bytes::copy_from_slice(event.body.as_bytes());
        let signature = signature_header(std::slice::from_ref(&self.secret), &timestamp, &body);
        let mut headers = self.headers.clone();
        for (name, text) in [
            (header::EVENT_ID, event.id.as_str()),
            (header::TIMESTAMP, &timestamp),
            (header::SIGNATURE, &signature),
            (header::VERSION, &event.api_version),
            ("service-attempt", "1"),
        ] {
            // The stored values fit into headers: the authority sends the same ones in its deliveries.
            if let Ok(value) = HeaderValue::from_str(text) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        let sent =
            AttemptRequest { url: target, headers, body: body.clone(), identity: None, deadline: None };
        let report = self.client.attempt(sent).await;
        let refusal = (report.status == Some(StatusCode::UNAUTHORIZED.as_u16())).then(|| {
            let refused = Refused {
                body: &body,
                event_id: &event.id,
                timestamp: &timestamp,
                signature: &signature,
                secret: &self.secret_text,
                now: self.clock.now_ms().div_euclid(1000),
                answer: report.excerpt.as_deref(),
            };
            refused.explain()
        });
        Forwarded {
            at,
            status: report.status,
            code: report.excerpt.as_deref().and_then(code_in),
            outcome: report.outcome.as_str(),
            duration_ms: report.duration_ms,
            refusal,
        }
    }
}

/// The word after `code` in the JSON object that receivers of this project answer with (contract 11.1). Of any other
/// answer nothing is shown: it is not this program's text.
fn code_in(answer: &str) -> Option<String> {
    let code = code_member(answer)?;
    let is_word =
        (1..=CODE_MAX).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    is_word.then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_an_answer_is_a_word_of_a_json_object() {
        for (answer, code) in [
            (r#"{"code":"duplicate"}"#, Some("duplicate")),
            (r#"{"code":"processing_failed","id":1}"#, Some("processing_failed")),
            (r#"{"code":""}"#, None),
            (r#"{"code":"Some text"}"#, None),
            (r#"{"code":7}"#, None),
            (r#"{"status":"ok"}"#, None),
            ("ok", None),
        ] {
            assert_eq!(code_in(answer).as_deref(), code, "{answer}");
        }
        assert_eq!(code_in(&format!(r#"{{"code":"{}"}}"#, "x".repeat(CODE_MAX + 1))), None);
    }
}
