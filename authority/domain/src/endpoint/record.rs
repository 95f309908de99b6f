//! The webhook endpoint: where a merchant wants events sent, and which (contract 2.8).
//!
//! The signing secret is no part of the record: it is shown once in the answer that made it and kept sealed.

use serde::{Deserialize, Serialize};
use verify_core::Profile;
use verify_core::catalog::EventType;

use crate::delivery::retry::RetrySchedule;
use crate::endpoint::client_certificate::ClientCertificate;
use crate::endpoint::health::Health;
use crate::endpoint::hold::HoldReason;
use crate::id::EndpointId;
use crate::merchant::limits::MaxInFlight;
use crate::parts::Metadata;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// Whether deliveries are made for an endpoint.
    EndpointStatus {
        /// Deliveries are made.
        Enabled = "enabled",
        /// None are; the events are in the list.
        Disabled = "disabled",
    }
}

text_enum! {
    /// Who or what disabled an endpoint.
    DisabledReason as "EndpointDisabledReason" {
        /// The merchant.
        Merchant = "merchant",
        /// It answered 410.
        Gone = "gone",
        /// It failed for too long.
        Failing = "failing",
        /// The operator.
        Operator = "operator",
    }
}

text_enum! {
    /// By which headers an endpoint's receiver can verify its deliveries (contract 15.12).
    SignatureProfile {
        /// `Service-*`.
        Service = "service",
        /// `Service-*`, and the `webhook-*` headers of Standard Webhooks beside them.
        StandardWebhooks = "standard-webhooks",
    }
}

impl SignatureProfile {
    /// The same for the core, which makes secrets and signatures by it.
    #[must_use]
    pub const fn of_core(self) -> Profile {
        match self {
            Self::Service => Profile::Service,
            Self::StandardWebhooks => Profile::StandardWebhooks,
        }
    }
}

/// The shortest deadline that an endpoint can have for an attempt, in milliseconds.
pub const TIMEOUT_MIN_MS: i64 = 1_000;

/// The longest, in milliseconds. With this and the time to read the answer an attempt ends well within its lease.
pub const TIMEOUT_MAX_MS: i64 = 30_000;

/// The endpoint record, in the member order of contract 2.8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename = "webhook_endpoint")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!(
        "url": Text(2048),
        "description": Text(255),
        "enabled_events": Items(1, 64),
        "max_in_flight": Between(1, crate::merchant::limits::IN_FLIGHT_MAX),
        "header_names": Items(0, 10),
        "timeout_ms": Between(TIMEOUT_MIN_MS, TIMEOUT_MAX_MS),
    ))
)]
pub struct Endpoint {
    /// Identifies the endpoint.
    pub id: EndpointId,
    /// Where deliveries are sent, at most 2048 characters.
    pub url: String,
    /// For people, at most 255 characters.
    pub description: Option<String>,
    /// 1 to 64 of `*`, event types and `<category>.*`; sorted.
    pub enabled_events: Vec<String>,
    /// The most requests that may be in flight to it: 128, or what its merchant is allowed, where none is set.
    pub max_in_flight: MaxInFlight,
    /// Whether deliveries are made.
    pub status: EndpointStatus,
    /// Who or what disabled it.
    pub disabled_reason: Option<DisabledReason>,
    /// When it was disabled.
    pub disabled_at: Option<Timestamp>,
    /// The version that its events have, `YYYY-MM-DD`.
    pub api_version: String,
    /// `standard-webhooks`: deliveries can be verified by the `webhook-*` headers of that standard too, and the signing
    /// secret is `whsec_` and base64. Chosen when the endpoint is created.
    pub signature_profile: SignatureProfile,
    /// The names of the headers that deliveries carry beside the service's own, sorted, in lower case. Their values are
    /// never shown.
    pub header_names: Vec<String>,
    /// What deliveries show to a receiver that asks for a certificate in the TLS handshake. The certificates and their
    /// private key are never shown.
    pub client_certificate: Option<ClientCertificate>,
    /// How long an attempt may take up to the end of the response's headers, in milliseconds; null for the platform's
    /// time.
    pub timeout_ms: Option<i64>,
    /// How long a delivery that fails is tried again.
    pub retry_schedule: RetrySchedule,
    /// The end of the signing secret, to tell secrets apart.
    pub secret_hint: String,
    /// Until when deliveries are signed with the previous secret as well.
    pub previous_secret_expires_at: Option<Timestamp>,
    /// When the signing secret was last replaced.
    pub secret_rotated_at: Option<Timestamp>,
    /// What recent attempts say.
    pub health: Health,
    /// Until when no request is sent to it, because its receiver cannot take any now.
    pub held_until: Option<Timestamp>,
    /// Why no request is sent to it.
    pub held_reason: Option<HoldReason>,
    /// Free key-value pairs, written by the merchant; at most 50.
    pub metadata: Metadata,
    /// Counts the changes of this record, from 1; for `If-Match` and to see gaps.
    pub resource_version: i64,
    /// `false` for test data, which never mixes with live data.
    pub livemode: bool,
    /// When the record was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Endpoint {
    /// Whether the filter lets `event_type` through.
    #[must_use]
    pub fn wants(&self, event_type: EventType) -> bool {
        self.enabled_events.iter().any(|filter| matches_filter(filter, event_type))
    }
}

/// Whether `filter` may stand in `enabled_events`: `*`, a catalog name, or `<category>.*`.
#[must_use]
pub fn is_filter(filter: &str) -> bool {
    EventType::ALL.iter().any(|event_type| matches_filter(filter, *event_type))
}

/// Whether one filter lets `event_type` through. Order-sharing events belong to `order.*`.
#[must_use]
pub fn matches_filter(filter: &str, event_type: EventType) -> bool {
    filter == "*"
        || filter == event_type.as_str()
        || filter.strip_suffix(".*").is_some_and(|category| category == event_type.category())
}
