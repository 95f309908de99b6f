//! Rows of webhook endpoints, and of what is sealed of them, as records: what every statement reads that shows an
//! endpoint or sends to it.

use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::client_certificate::ClientCertificate;
use authority_domain::endpoint::hold::HoldReason;
use authority_domain::endpoint::{Health, HealthState, SignatureProfile};
use authority_domain::merchant::limits::MaxInFlight;
use authority_domain::{DisabledReason, Endpoint, EndpointId, EndpointStatus, Tenant, Timestamp};

use crate::sql::{Result, Row, fields};
use crate::tx::Bounds;

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

/// An endpoint that may want an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscriber {
    /// Its id.
    pub endpoint_id: EndpointId,
    /// Its event filters.
    pub enabled_events: Vec<String>,
    /// Its owner: the event's tenant, or the operator.
    pub owner: Tenant,
    /// What this instance needs to send to it at once, if it may.
    pub reach: Option<DispatchTarget>,
}

/// How an endpoint is reached, and how much more it may get now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct DispatchTarget {
    pub url: String,
    pub api_version: String,
    pub signature_profile: SignatureProfile,
    pub options: DeliveryOptions,
    /// The usable secrets, newest first.
    pub secrets: Vec<SealedSecret>,
    /// How many requests it may have in flight.
    pub bounds: Bounds,
    /// Where a hold or its health bounds it, the requests it may have beside those of all instances
    /// ([`authority_domain::endpoint::hold::cap`]). 0 while a due delivery that nobody holds is pending, because that
    /// delivery goes first.
    pub room: i64,
    /// It is held back: no request begins for some time.
    pub held_back: bool,
    /// It is held back, and no probe is under way.
    pub probes: bool,
}

/// The columns of an endpoint, as [`endpoint`] reads them.
pub(crate) const COLUMNS: &str = "id, livemode, url, description, enabled_events, status, disabled_reason, disabled_at, \
     api_version, secret_hint, previous_secret_expires_at, secret_rotated_at, health_state, consecutive_failures, \
     last_success_at, last_failure_at, last_response_status, last_error, metadata, resource_version, \
     created_sequence, created_at, updated_at, max_in_flight, held_until, held_reason, signature_profile, \
     header_names, timeout_ms, retry_schedule, client_certificate_sha256, client_certificate_expires_at, \
     (SELECT m.max_in_flight FROM merchants m WHERE m.id = webhook_endpoints.merchant_id) AS merchant_max_in_flight";

/// The endpoint of a row.
pub(crate) fn endpoint(row: &Row) -> Result<Endpoint> {
    Ok(fields!(row => Endpoint {
        id, url, description, disabled_at, api_version, timeout_ms, secret_hint,
        previous_secret_expires_at, secret_rotated_at, held_until, resource_version, livemode, created_at,
        updated_at;
        enabled_events: row.record("enabled_events")?,
        status: row.word("webhook_endpoints.status", EndpointStatus::parse)?,
        disabled_reason: row.optional_word("webhook_endpoints.disabled_reason", DisabledReason::parse)?,
        signature_profile: signature_profile(row)?,
        header_names: row.record("header_names")?,
        client_certificate: client_certificate(row)?,
        retry_schedule: retry_schedule(row)?,
        health: health(row)?,
        max_in_flight: MaxInFlight {
            own: row.get("max_in_flight")?,
            of_merchant: row.get("merchant_max_in_flight")?,
        },
        held_reason: held_reason(row)?,
        metadata: row.record("metadata")?,
    }))
}

/// What is shown of the client certificate of a row.
fn client_certificate(row: &Row) -> Result<Option<ClientCertificate>> {
    let fingerprint_sha256: Option<String> = row.get("client_certificate_sha256")?;
    let expires_at: Option<i64> = row.get("client_certificate_expires_at")?;
    Ok(fingerprint_sha256.zip(expires_at).map(|(fingerprint_sha256, at)| ClientCertificate {
        fingerprint_sha256,
        expires_at: Timestamp::from_ms(at),
    }))
}

/// What the last attempts say of the endpoint.
pub(crate) fn health(row: &Row) -> Result<Health> {
    Ok(fields!(row => Health {
        consecutive_failures, last_success_at, last_failure_at, last_response_status, last_error;
        state: row.word("webhook_endpoints.health_state", HealthState::parse)?,
    }))
}

/// Why the endpoint of a row is held back.
pub(crate) fn held_reason(row: &Row) -> Result<Option<HoldReason>> {
    row.optional_word("webhook_endpoints.held_reason", HoldReason::parse)
}

/// The profile of the endpoint of a row.
pub(crate) fn signature_profile(row: &Row) -> Result<SignatureProfile> {
    row.word("webhook_endpoints.signature_profile", SignatureProfile::parse)
}

/// The retry schedule of the endpoint of a row.
pub(crate) fn retry_schedule(row: &Row) -> Result<RetrySchedule> {
    row.word("webhook_endpoints.retry_schedule", RetrySchedule::parse)
}

/// The columns of `webhook_endpoints e` that [`delivery_options`] reads.
pub(crate) const OPTIONS: &str =
    "e.headers_sealed, e.client_certificate_sealed, e.timeout_ms, e.retry_schedule";

/// What the endpoint of a row asks of its deliveries.
pub(crate) fn delivery_options(row: &Row) -> Result<DeliveryOptions> {
    Ok(fields!(row => DeliveryOptions {
        headers_sealed, client_certificate_sealed, timeout_ms;
        retry_schedule: retry_schedule(row)?,
    }))
}

/// A row of `version, sealed, expires_at`.
pub(crate) fn sealed_secret(row: &Row) -> Result<SealedSecret> {
    Ok(fields!(row => SealedSecret { version, sealed, expires_at }))
}
