//! Deliveries and their attempts as records: what a merchant can read about the delivery of one event to one
//! endpoint (contract 2.9).
//!
//! They are written by the dispatcher's store ports and read here. Deliberately absent: versions. Only the service
//! changes a delivery; no client does so under `If-Match`.

use serde::Serialize;

use crate::delivery::outcome::{AttemptOutcome, FailureReason};
use crate::id::{AttemptId, DeliveryId, EndpointId, EventId};
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// Why a delivery exists.
    Trigger as "DeliveryTrigger" {
        /// The event was committed while the endpoint wanted it.
        Event = "event",
        /// The merchant tests the endpoint.
        Test = "test",
        /// Somebody asked for the event once more.
        Replay = "replay",
        /// What an endpoint missed is caught up.
        Recovery = "recovery",
    }
}

text_enum! {
    /// Where a delivery stands.
    DeliveryStatus {
        /// Waits for its first or next attempt, or is being attempted.
        Pending = "pending",
        /// The receiver acknowledged.
        Succeeded = "succeeded",
        /// No attempt follows.
        Failed = "failed",
        /// Its endpoint was disabled or deleted while it waited.
        Cancelled = "cancelled",
    }
}

/// The delivery record, in the member order of contract 2.9.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "object", rename = "delivery")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delivery {
    /// Identifies the delivery.
    pub id: DeliveryId,
    /// The event that is delivered.
    pub event_id: EventId,
    /// Its name.
    pub event_type: String,
    /// Where it is delivered to.
    pub endpoint_id: EndpointId,
    /// Why the delivery exists.
    pub trigger: Trigger,
    /// Where the delivery stands.
    pub status: DeliveryStatus,
    /// Attempts so far.
    pub attempt_count: i64,
    /// When the next attempt is due.
    pub next_attempt_at: Option<Timestamp>,
    /// How the last attempt ended.
    pub last_outcome: Option<AttemptOutcome>,
    /// The HTTP status of the last answer.
    pub last_response_status: Option<i64>,
    /// Why it ended without success.
    pub failure_reason: Option<FailureReason>,
    /// When the receiver acknowledged.
    pub succeeded_at: Option<Timestamp>,
    /// When it was given up.
    pub failed_at: Option<Timestamp>,
    /// `false` for test data, which never mixes with live data.
    pub livemode: bool,
    /// When the record was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// One attempt of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "object", rename = "delivery_attempt")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("number": Positive))
)]
pub struct Attempt {
    /// Identifies the attempt.
    pub id: AttemptId,
    /// The delivery it belongs to.
    pub delivery_id: DeliveryId,
    /// Counts from 1.
    pub number: i64,
    /// When it began.
    pub started_at: Timestamp,
    /// The value of `Service-Timestamp`, Unix seconds.
    pub signed_timestamp: i64,
    /// How long it took, in milliseconds.
    pub duration_ms: i64,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// The HTTP status of the answer.
    pub response_status: Option<i64>,
    /// The first 1024 bytes of the answer, made safe to show.
    pub response_excerpt: Option<String>,
    /// When the next attempt is due.
    pub retry_at: Option<Timestamp>,
}

/// `GET /deliveries/:delivery`: the record with every attempt, the first one first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeliveryWithAttempts {
    /// The record.
    #[serde(flatten)]
    pub delivery: Delivery,
    /// At most as many as the retry schedule is long.
    pub attempts: Vec<Attempt>,
}
