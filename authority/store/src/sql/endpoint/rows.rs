//! Rows of webhook endpoints, and of what is sealed of them, as records: what every statement reads that shows an
//! endpoint or sends to it.

use authority_domain::delivery::retry::RetrySchedule;
use authority_domain::endpoint::client_certificate::ClientCertificate;
use authority_domain::endpoint::hold::HoldReason;
use authority_domain::endpoint::{
    DisabledReason, Endpoint, EndpointStatus, Health, HealthState, SignatureProfile,
};
use authority_domain::id::EndpointId;
use authority_domain::merchant::limits::MaxInFlight;
use authority_domain::time::Timestamp;

use crate::StoreError;
use crate::driver::Row;
use crate::ports::{DeliveryOptions, SealedSecret};

/// The columns of an endpoint, as [`endpoint`] reads them.
pub(crate) const COLUMNS: &str = "id, livemode, url, description, enabled_events, status, disabled_reason, disabled_at, \
     api_version, secret_hint, previous_secret_expires_at, secret_rotated_at, health_state, consecutive_failures, \
     last_success_at, last_failure_at, last_response_status, last_error, metadata, resource_version, \
     created_sequence, created_at, updated_at, max_in_flight, held_until, held_reason, signature_profile, \
     header_names, timeout_ms, retry_schedule, client_certificate_sha256, client_certificate_expires_at, \
     (SELECT m.max_in_flight FROM merchants m WHERE m.id = webhook_endpoints.merchant_id) AS merchant_max_in_flight";

/// The endpoint of a row.
pub(crate) fn endpoint(row: &Row) -> Result<Endpoint, StoreError> {
    let time = |name: &str| -> Result<Option<Timestamp>, StoreError> {
        Ok(row.get::<Option<i64>>(name)?.map(Timestamp::from_ms))
    };
    let text = |name: &str| -> Result<String, StoreError> { Ok(row.get(name)?) };
    let unknown = |name: &str| StoreError::Broken(format!("webhook_endpoints.{name} holds an unknown word"));
    Ok(Endpoint {
        id: EndpointId::from_store(text("id")?),
        url: text("url")?,
        description: row.get("description")?,
        enabled_events: serde_json::from_str(&text("enabled_events")?)?,
        status: EndpointStatus::parse(&text("status")?).ok_or_else(|| unknown("status"))?,
        disabled_reason: row
            .get::<Option<String>>("disabled_reason")?
            .map(|word| DisabledReason::parse(&word).ok_or_else(|| unknown("disabled_reason")))
            .transpose()?,
        disabled_at: time("disabled_at")?,
        api_version: text("api_version")?,
        signature_profile: signature_profile(row)?,
        header_names: serde_json::from_str(&text("header_names")?)?,
        client_certificate: client_certificate(row)?,
        timeout_ms: row.get("timeout_ms")?,
        retry_schedule: retry_schedule(row)?,
        secret_hint: text("secret_hint")?,
        previous_secret_expires_at: time("previous_secret_expires_at")?,
        secret_rotated_at: time("secret_rotated_at")?,
        health: Health {
            state: HealthState::parse(&text("health_state")?).ok_or_else(|| unknown("health_state"))?,
            consecutive_failures: row.get("consecutive_failures")?,
            last_success_at: time("last_success_at")?,
            last_failure_at: time("last_failure_at")?,
            last_response_status: row.get("last_response_status")?,
            last_error: row.get("last_error")?,
        },
        max_in_flight: MaxInFlight {
            own: row.get("max_in_flight")?,
            of_merchant: row.get("merchant_max_in_flight")?,
        },
        held_until: time("held_until")?,
        held_reason: held_reason(row)?,
        metadata: serde_json::from_str(&text("metadata")?)?,
        resource_version: row.get("resource_version")?,
        livemode: row.get("livemode")?,
        created_at: Timestamp::from_ms(row.get("created_at")?),
        updated_at: Timestamp::from_ms(row.get("updated_at")?),
    })
}

/// What is shown of the client certificate of a row.
fn client_certificate(row: &Row) -> Result<Option<ClientCertificate>, StoreError> {
    let fingerprint_sha256: Option<String> = row.get("client_certificate_sha256")?;
    let expires_at: Option<i64> = row.get("client_certificate_expires_at")?;
    Ok(fingerprint_sha256.zip(expires_at).map(|(fingerprint_sha256, at)| ClientCertificate {
        fingerprint_sha256,
        expires_at: Timestamp::from_ms(at),
    }))
}

/// Why the endpoint of a row is held back.
pub(crate) fn held_reason(row: &Row) -> Result<Option<HoldReason>, StoreError> {
    let word: Option<String> = row.get("held_reason")?;
    let unknown = || StoreError::Broken("webhook_endpoints.held_reason holds an unknown word".to_owned());
    word.map(|word| HoldReason::parse(&word).ok_or_else(unknown)).transpose()
}

/// The profile of the endpoint of a row.
pub(crate) fn signature_profile(row: &Row) -> Result<SignatureProfile, StoreError> {
    SignatureProfile::parse(row.get("signature_profile")?).ok_or_else(|| {
        StoreError::Broken("webhook_endpoints.signature_profile holds an unknown word".to_owned())
    })
}

/// The retry schedule of the endpoint of a row.
pub(crate) fn retry_schedule(row: &Row) -> Result<RetrySchedule, StoreError> {
    RetrySchedule::parse(row.get("retry_schedule")?).ok_or_else(|| {
        StoreError::Broken("webhook_endpoints.retry_schedule holds an unknown word".to_owned())
    })
}

/// The columns of `webhook_endpoints e` that [`delivery_options`] reads.
pub(crate) const OPTIONS: &str =
    "e.headers_sealed, e.client_certificate_sealed, e.timeout_ms, e.retry_schedule";

/// What the endpoint of a row asks of its deliveries.
pub(crate) fn delivery_options(row: &Row) -> Result<DeliveryOptions, StoreError> {
    Ok(DeliveryOptions {
        headers_sealed: row.get("headers_sealed")?,
        client_certificate_sealed: row.get("client_certificate_sealed")?,
        timeout_ms: row.get("timeout_ms")?,
        retry_schedule: retry_schedule(row)?,
    })
}

/// A row of `version, sealed, expires_at`.
pub(crate) fn sealed_secret(row: &Row) -> Result<SealedSecret, StoreError> {
    Ok(SealedSecret {
        version: row.get("version")?,
        sealed: row.get("sealed")?,
        expires_at: row.get::<Option<i64>>("expires_at")?.map(Timestamp::from_ms),
    })
}
