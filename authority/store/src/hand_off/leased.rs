//! Leases, and what was leased: a delivery with everything that sending it needs.

use std::collections::BTreeMap;

use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::SignatureProfile;
use authority_domain::event::cause::Cause;
use authority_domain::{DeliveryId, EndpointId, EventId, MerchantId, Timestamp};

use crate::slots::{Bounds, Want};

/// What a lease asks for.
#[derive(Clone, Debug)]
pub struct Lease {
    /// Names this lease; 128 random bits, of which the first 64 are the instance's ([`instance_of`]).
    pub token: String,
    /// Deliveries due at this time are taken.
    pub now: Timestamp,
    /// When others may take them.
    pub until: Timestamp,
    /// The most deliveries to take.
    pub limit: i64,
    /// What an endpoint may have in flight where neither it nor its merchant has a setting (contract 18.4-8).
    pub max_in_flight: i64,
    /// How much more this instance wants of endpoints that it knows.
    pub wants: BTreeMap<EndpointId, Want>,
    /// The most deliveries of one endpoint.
    pub each: i64,
    /// The most deliveries of one merchant, both modes together.
    pub per_merchant: i64,
    /// Merchants with a lower maximum than that.
    pub merchants: BTreeMap<MerchantId, i64>,
    /// Only deliveries to these endpoints; `None` for all.
    pub among: Option<Vec<EndpointId>>,
}

impl Lease {
    /// A lease under this token that sets no limits.
    #[must_use]
    pub fn unlimited(token: String, now: Timestamp, until: Timestamp) -> Self {
        Self {
            token,
            now,
            until,
            limit: i64::MAX,
            max_in_flight: i64::MAX,
            wants: BTreeMap::new(),
            each: i64::MAX,
            per_merchant: i64::MAX,
            merchants: BTreeMap::new(),
            among: None,
        }
    }
}

/// The part of a token that is the same in all leases of an instance.
#[must_use]
pub fn instance_of(token: &str) -> &str {
    token.get(..16).unwrap_or(token)
}

/// The lease that holds rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBy {
    /// Names the lease; 128 random bits.
    pub token: String,
    /// When others may take them.
    pub until: Timestamp,
}

/// A delivery that this instance is to attempt, with everything the attempt needs.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LeasedDelivery {
    pub id: DeliveryId,
    pub event_id: EventId,
    pub endpoint_id: EndpointId,
    /// The merchant of the endpoint; the operator for the platform's endpoint.
    pub merchant_id: MerchantId,
    pub trigger: String,
    pub livemode: bool,
    /// Attempts already made.
    pub attempt_count: i64,
    /// Of these, attempts that the receiver put off with `Retry-After`.
    pub put_off_count: i64,
    pub created_at: Timestamp,
    pub url: String,
    pub api_version: String,
    pub signature_profile: SignatureProfile,
    pub options: DeliveryOptions,
    /// The exact bytes to send.
    pub body: String,
    /// The usable secrets, newest first.
    pub secrets: Vec<SealedSecret>,
    /// The bounds of its endpoint.
    pub bounds: Bounds,
    /// What caused its event.
    pub cause: Cause,
}

/// A signing secret as it is stored: sealed under the key-encryption key, bound to its endpoint and version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedSecret {
    /// Counts the endpoint's secrets from 1.
    pub version: i64,
    /// Ciphertext.
    pub sealed: Vec<u8>,
    /// When it stops signing; `None` for the newest.
    pub expires_at: Option<Timestamp>,
}

/// What an endpoint asks of its deliveries (contract 4.10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryOptions {
    /// The headers that go with them beside the service's own: ciphertext, bound to the endpoint; `None` for none.
    pub headers_sealed: Option<Vec<u8>>,
    /// The client certificate that they show to a receiver that asks for one: ciphertext, bound to the endpoint; `None`
    /// for none.
    pub client_certificate_sealed: Option<Vec<u8>>,
    /// The deadline of an attempt in milliseconds; `None` for the deployment's.
    pub timeout_ms: Option<i64>,
    /// How long they are tried again.
    pub retry_schedule: RetrySchedule,
}
