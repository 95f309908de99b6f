//! Deliveries and their attempts as records: what a merchant can ask about one event on its way to one endpoint
//! (contract 2.9).
//!
//! They are written by the dispatcher's store ports and read here. Deliberately absent: versions. A delivery moves by
//! itself, and nobody changes it under `If-Match`.

use serde::Serialize;

use crate::id::{AttemptId, DeliveryId, EndpointId, EventId};
use crate::outcome::{AttemptOutcome, FailureReason};
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// Why a delivery exists.
    Trigger {
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
#[allow(missing_docs)] // the members are those of the contract's table
pub struct Delivery {
    pub id: DeliveryId,
    pub event_id: EventId,
    pub event_type: String,
    pub endpoint_id: EndpointId,
    pub trigger: Trigger,
    pub status: DeliveryStatus,
    pub attempt_count: i64,
    pub next_attempt_at: Option<Timestamp>,
    pub last_outcome: Option<AttemptOutcome>,
    pub last_response_status: Option<i64>,
    pub failure_reason: Option<FailureReason>,
    pub succeeded_at: Option<Timestamp>,
    pub failed_at: Option<Timestamp>,
    pub livemode: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// One attempt of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "object", rename = "delivery_attempt")]
#[allow(missing_docs)]
pub struct Attempt {
    pub id: AttemptId,
    pub delivery_id: DeliveryId,
    pub number: i64,
    pub started_at: Timestamp,
    pub signed_timestamp: i64,
    pub duration_ms: i64,
    pub outcome: AttemptOutcome,
    pub response_status: Option<i64>,
    pub response_excerpt: Option<String>,
    pub retry_at: Option<Timestamp>,
}

/// `GET /deliveries/:delivery`: the record with every attempt, the first one first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeliveryWithAttempts {
    /// The record.
    #[serde(flatten)]
    pub delivery: Delivery,
    /// At most as many as the retry schedule is long.
    pub attempts: Vec<Attempt>,
}
