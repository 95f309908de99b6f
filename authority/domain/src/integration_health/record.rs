//! The answer, in the member order of contract 2.12.

use serde::Serialize;

use crate::alert::{AlertCode, Severity};
use crate::endpoint::{DisabledReason, EndpointStatus, HealthState};
use crate::id::{AlertId, EndpointId};
use crate::sync::checkpoint::CheckpointStream;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// What it all amounts to.
    HealthStatus as "IntegrationHealthStatus" {
        /// Nothing to do.
        Healthy = "healthy",
        /// Something to look at.
        Degraded = "degraded",
        /// Something to act on.
        Failing = "failing",
    }
}

/// How events reach a merchant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "object", rename = "integration_health")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntegrationHealth {
    /// The worst of endpoints and alerts.
    pub status: HealthStatus,
    /// When it was computed.
    pub generated_at: Timestamp,
    /// `false` for test data, which never mixes with live data.
    pub livemode: bool,
    /// One entry per endpoint.
    pub endpoints: Vec<EndpointHealth>,
    /// The alerts that are open.
    pub alerts: Vec<OpenAlert>,
    /// The work that is left.
    pub outbox: Outbox,
    /// How far consumers are behind, the newest checkpoint first; only for keys with `sync:read`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<Vec<CheckpointLag>>,
}

/// One endpoint in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndpointHealth {
    /// The endpoint.
    pub id: EndpointId,
    /// Where its deliveries are sent.
    pub url: String,
    /// Whether deliveries are made.
    pub status: EndpointStatus,
    /// What recent attempts say.
    pub state: HealthState,
    /// When an attempt last succeeded.
    pub last_success_at: Option<Timestamp>,
    /// When an attempt last failed.
    pub last_failure_at: Option<Timestamp>,
    /// The HTTP status of the last answer.
    pub last_response_status: Option<i64>,
    /// Attempts in a row that failed.
    pub consecutive_failures: i64,
    /// Deliveries that are not finished.
    pub pending_deliveries: i64,
    /// Attempts of the last 24 hours.
    pub attempts_24h: i64,
    /// Those of them that failed.
    pub failed_attempts_24h: i64,
    /// 95th percentile of the newest attempts, in milliseconds; `null` without any.
    pub latency_p95_ms: Option<i64>,
    /// Who or what disabled it.
    pub disabled_reason: Option<DisabledReason>,
    /// Until when deliveries are signed with the previous secret as well.
    pub previous_secret_expires_at: Option<Timestamp>,
}

/// One open alert in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("count": Positive))
)]
pub struct OpenAlert {
    /// Identifies the alert.
    pub id: AlertId,
    /// What it is about.
    pub code: AlertCode,
    /// How much it matters.
    pub severity: Severity,
    /// The endpoint it is about, if it is about one.
    pub endpoint_id: Option<EndpointId>,
    /// For people.
    pub message: String,
    /// How often it was raised while it was open.
    pub count: i64,
    /// When it was first raised.
    pub first_seen_at: Timestamp,
    /// When it was last raised.
    pub last_seen_at: Timestamp,
}

/// The work that is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outbox {
    /// Deliveries that are not finished.
    pub pending: i64,
    /// Those of them whose time has come.
    pub due_now: i64,
    /// Those of them that wait for a later attempt.
    pub scheduled_retries: i64,
    /// Deliveries that were given up in the last 24 hours.
    pub failed_24h: i64,
    /// When the oldest of them was made.
    pub oldest_pending_at: Option<Timestamp>,
    /// How old that is, in seconds.
    pub oldest_pending_age_seconds: Option<i64>,
    /// The sequence of the newest event.
    pub latest_sequence: i64,
    /// The sequence of the oldest event that is still kept.
    pub oldest_retained_sequence: i64,
}

/// How far one consumer is behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckpointLag {
    /// The consumer.
    pub name: String,
    /// The feed that it reads.
    pub stream: CheckpointStream,
    /// Events of the merchant's stream behind its checkpoint.
    pub lag_events: i64,
    /// When it last moved its checkpoint.
    pub updated_at: Timestamp,
}
