//! Rows of webhook endpoints, and of what is sealed of them, as records: what every statement reads that shows an
//! endpoint or sends to it.

use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::client_certificate::ClientCertificate;
use authority_domain::endpoint::hold::HoldReason;
use authority_domain::endpoint::{Health, HealthState, SignatureProfile};
use authority_domain::merchant::limits::MaxInFlight;
use authority_domain::{DisabledReason, Endpoint, EndpointStatus, Timestamp};

use crate::hand_off::{DeliveryOptions, SealedSecret};
use crate::sql::{Result, Row, fields};

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
