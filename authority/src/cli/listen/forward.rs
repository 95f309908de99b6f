//! Sends one event to the receiver on this machine the way a delivery is sent (contract 7.1): with the delivery
//! client, with its deadline, and with the address check at connection time.

use std::sync::Arc;

use authority_domain::endpoint::url::TargetUrl;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use verify_core::sign::signature_header;
use verify_core::{Secret, header};

use super::stream::Event;
use super::{Failure, failed};
use crate::clock::Clock;
use crate::dispatch::client::{DeliveryClient, DeliveryLimits};
use crate::dispatch::transport::{AttemptRequest, Transport as _};
use crate::names::SystemResolver;

/// The result of one forwarded event.
pub(super) struct Forwarded {
    /// When it was sent, Unix milliseconds.
    pub(super) at: i64,
    /// The receiver's status, if it answered.
    pub(super) status: Option<u16>,
    /// The outcome, with the same names as a delivery attempt's.
    pub(super) outcome: &'static str,
    /// Time until the response headers arrived.
    pub(super) duration_ms: u64,
}

/// Signs and sends events to one URL. Has no `Debug`: it holds the secret.
pub(super) struct Forwarder {
    client: DeliveryClient,
    clock: Arc<dyn Clock>,
    secret: Secret,
    target: TargetUrl,
}

impl Forwarder {
    pub(super) fn new(target: TargetUrl, secret: &str, clock: Arc<dyn Clock>) -> Result<Self, Failure> {
        let unusable =
            |_| Failure::Usage("--secret-env does not name a usable signing secret (whsec_…)".to_owned());
        let secret = Secret::parse(secret).map_err(unusable)?;
        let limits = DeliveryLimits::default();
        let client =
            DeliveryClient::new(limits, None, Arc::new(SystemResolver::default()), Arc::clone(&clock))
                .map_err(failed)?;
        Ok(Self { client, clock, secret, target })
    }

    pub(super) fn target(&self) -> &TargetUrl {
        &self.target
    }

    pub(super) async fn forward(&self, event: &Event) -> Forwarded {
        let at = self.clock.now_ms();
        let timestamp = format!("{:010}", at.div_euclid(1000));
        let body = Bytes::copy_from_slice(event.body.as_bytes());
        let signature = signature_header(std::slice::from_ref(&self.secret), &timestamp, &body);
        let mut headers = HeaderMap::new();
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
        let report = self.client.attempt(AttemptRequest { url: &self.target, headers, body }).await;
        Forwarded {
            at,
            status: report.status,
            outcome: report.outcome.as_str(),
            duration_ms: report.duration_ms,
        }
    }
}
