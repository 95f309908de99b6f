//! Integration health: how events reach a merchant, in one answer (contract 2.12).
//!
//! The use case reads endpoints, figures, alerts and the stream; [`IntegrationHealth::of`] puts them together. Two
//! things are judged here and stored nowhere: whether due deliveries wait too long, and the overall status. A
//! checkpoint that lags does not worsen the status: each consumer decides for itself how far behind it may be.

mod record;

use sha2::{Digest, Sha256};

use crate::alert::{Alert, AlertCode, Severity};
use crate::endpoint::{Endpoint, EndpointStatus, HealthState};
use crate::id::AlertId;
use crate::sync::checkpoint::Checkpoint;
use crate::tenant::Tenant;
use crate::time::Timestamp;

pub use record::{CheckpointLag, EndpointHealth, HealthStatus, IntegrationHealth, OpenAlert, Outbox};

/// The time the figures of recent attempts look back: 24 h, in milliseconds.
pub const RECENT_MS: i64 = 24 * 60 * 60 * 1000;

/// How many of an endpoint's newest attempts its latency is taken from.
pub const LATENCY_SAMPLE: i64 = 500;

/// A due delivery that waits longer makes the outbox late: 5 min, in milliseconds.
pub const OUTBOX_DELAY_MS: i64 = 5 * 60 * 1000;

/// What the store counts of one endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointFigures {
    /// Deliveries that are not finished.
    pub pending: i64,
    /// Those of them whose time has come.
    pub due: i64,
    /// When the oldest of them was made.
    pub oldest_pending_at: Option<Timestamp>,
    /// When the first of them was or is due.
    pub first_due_at: Option<Timestamp>,
    /// Attempts of the last 24 h.
    pub attempts: i64,
    /// Those of them that failed.
    pub failed_attempts: i64,
    /// Deliveries that were given up in the last 24 h.
    pub failed_deliveries: i64,
    /// How long the newest of the attempts took, in milliseconds, at most [`LATENCY_SAMPLE`].
    pub durations_ms: Vec<i64>,
}

/// What the answer is made of.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Observed {
    pub tenant: Tenant,
    pub endpoints: Vec<(Endpoint, EndpointFigures)>,
    pub alerts: Vec<Alert>,
    pub latest_sequence: i64,
    pub oldest_retained_sequence: i64,
    /// `None` when the key may not read them.
    pub checkpoints: Option<Vec<Checkpoint>>,
}

impl IntegrationHealth {
    /// Puts together what was observed at `now`.
    #[must_use]
    pub fn of(observed: Observed, now: Timestamp) -> Self {
        let outbox = Outbox::of(&observed, now);
        let late = late_outbox(&observed, now);
        let endpoints: Vec<EndpointHealth> = observed
            .endpoints
            .into_iter()
            .map(|(endpoint, figures)| EndpointHealth::of(endpoint.seen_at(now), figures))
            .collect();
        let open = observed.alerts.into_iter().filter(|alert| still_stands(alert, &endpoints));
        let alerts: Vec<OpenAlert> = open.map(OpenAlert::from).chain(late).collect();
        let status = status_of(&endpoints, &alerts);
        let livemode = observed.tenant.livemode;
        let lags = |of: Vec<Checkpoint>| {
            of.into_iter().map(|checkpoint| CheckpointLag::of(checkpoint, observed.latest_sequence)).collect()
        };
        let checkpoints = observed.checkpoints.map(lags);
        Self { status, generated_at: now, livemode, endpoints, alerts, outbox, checkpoints }
    }
}

impl EndpointHealth {
    fn of(endpoint: Endpoint, mut figures: EndpointFigures) -> Self {
        let health = endpoint.health;
        Self {
            id: endpoint.id,
            url: endpoint.url,
            status: endpoint.status,
            state: health.state,
            last_success_at: health.last_success_at,
            last_failure_at: health.last_failure_at,
            last_response_status: health.last_response_status,
            consecutive_failures: health.consecutive_failures,
            pending_deliveries: figures.pending,
            attempts_24h: figures.attempts,
            failed_attempts_24h: figures.failed_attempts,
            latency_p95_ms: p95(&mut figures.durations_ms),
            disabled_reason: endpoint.disabled_reason,
            previous_secret_expires_at: endpoint.previous_secret_expires_at,
        }
    }
}

impl CheckpointLag {
    fn of(checkpoint: Checkpoint, latest: i64) -> Self {
        let lag_events = checkpoint.lag(latest);
        let Checkpoint { name, stream, updated_at, .. } = checkpoint;
        Self { name, stream, lag_events, updated_at }
    }
}

impl Outbox {
    fn of(observed: &Observed, now: Timestamp) -> Self {
        let sum = |figure: fn(&EndpointFigures) -> i64| -> i64 {
            observed.endpoints.iter().map(|(_, figures)| figure(figures)).sum()
        };
        let (pending, due_now) = (sum(|figures| figures.pending), sum(|figures| figures.due));
        let oldest = observed.endpoints.iter().filter_map(|(_, figures)| figures.oldest_pending_at).min();
        Self {
            pending,
            due_now,
            scheduled_retries: pending - due_now,
            failed_24h: sum(|figures| figures.failed_deliveries),
            oldest_pending_at: oldest,
            oldest_pending_age_seconds: oldest.map(|at| (now.as_ms() - at.as_ms()).max(0) / 1000),
            latest_sequence: observed.latest_sequence,
            oldest_retained_sequence: observed.oldest_retained_sequence,
        }
    }
}

impl From<Alert> for OpenAlert {
    fn from(alert: Alert) -> Self {
        let endpoint_id = alert.endpoint_id();
        let Alert { id, code, severity, message, count, first_seen_at, last_seen_at, .. } = alert;
        Self { id, code, severity, endpoint_id, message, count, first_seen_at, last_seen_at }
    }
}

/// Whether an alert still stands. The alert of an overlap ends with the overlap, by the clock, even before it is
/// closed in the store.
fn still_stands(alert: &Alert, endpoints: &[EndpointHealth]) -> bool {
    alert.code != AlertCode::SecretOverlapOpen
        || endpoints.iter().any(|endpoint| {
            endpoint.id.as_str() == alert.subject && endpoint.previous_secret_expires_at.is_some()
        })
}

/// The alert of an outbox whose oldest due delivery has waited for too long. It has one permanent id per merchant
/// and mode, since it is not stored.
fn late_outbox(observed: &Observed, now: Timestamp) -> Option<OpenAlert> {
    let enabled =
        observed.endpoints.iter().filter(|(endpoint, _)| endpoint.status == EndpointStatus::Enabled);
    let oldest = enabled.filter_map(|(_, figures)| figures.first_due_at).min()?;
    let since = oldest.plus_ms(OUTBOX_DELAY_MS);
    (since < now).then(|| OpenAlert {
        id: late_outbox_id(&observed.tenant),
        code: AlertCode::OutboxDelayed,
        severity: Severity::Warning,
        endpoint_id: None,
        message: format!("Deliveries have been due since {oldest}."),
        count: 1,
        first_seen_at: since,
        last_seen_at: now,
    })
}

fn late_outbox_id(tenant: &Tenant) -> AlertId {
    let named = format!("outbox_delayed {} {}", tenant.merchant_id, tenant.livemode);
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(Sha256::digest(named.as_bytes())).for_each(|(to, from)| *to = from);
    AlertId::from_store(verify_core::id::encode(AlertId::PREFIX, u128::from_be_bytes(bytes)))
}

/// The worst status of endpoints and alerts; without endpoints the integration counts as healthy.
fn status_of(endpoints: &[EndpointHealth], alerts: &[OpenAlert]) -> HealthStatus {
    if endpoints.is_empty() {
        return HealthStatus::Healthy;
    }
    let enabled = endpoints.iter().filter(|endpoint| endpoint.status == EndpointStatus::Enabled);
    let of_endpoints = enabled.map(|endpoint| match endpoint.state {
        HealthState::Unknown | HealthState::Healthy => HealthStatus::Healthy,
        HealthState::Degraded => HealthStatus::Degraded,
        HealthState::Failing => HealthStatus::Failing,
    });
    let of_alerts = alerts.iter().map(|alert| match alert.severity {
        Severity::Info => HealthStatus::Healthy,
        Severity::Warning => HealthStatus::Degraded,
        Severity::Critical => HealthStatus::Failing,
    });
    of_endpoints.chain(of_alerts).max().unwrap_or(HealthStatus::Healthy)
}

/// The smallest duration that 95 % of the attempts did not exceed (nearest rank).
fn p95(durations_ms: &mut [i64]) -> Option<i64> {
    durations_ms.sort_unstable();
    let rank = (durations_ms.len() * 95).div_ceil(100);
    durations_ms.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests;
