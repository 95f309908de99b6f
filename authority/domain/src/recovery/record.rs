//! Recovery: a durable job that sends an endpoint what it missed (contract 15.2).
//!
//! A merchant names a start time. The job goes through that part of the stream and makes one delivery (trigger
//! `recovery`) for each event that the endpoint wants and that no delivery has brought there. It first counts those
//! events, then makes the deliveries. Its whole state is in its record, so after a restart it continues where it
//! stopped.
//!
//! Deliberately absent: changing a recovery. The merchant cancels it and makes another.

use serde::Serialize;

use crate::id::{EndpointId, RecoveryId};
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// Where a recovery stands.
    RecoveryStatus {
        /// Counts or makes deliveries.
        Running = "running",
        /// Every event of its range was seen to.
        Completed = "completed",
        /// Somebody stopped it.
        Cancelled = "cancelled",
        /// The endpoint was disabled meanwhile.
        EndpointDisabled = "endpoint_disabled",
        /// The endpoint was deleted meanwhile.
        EndpointDeleted = "endpoint_deleted",
    }
}

/// The recovery record: the members of contract 15.2, and what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Recovery {
    pub id: RecoveryId,
    pub endpoint_id: EndpointId,
    pub livemode: bool,
    pub status: RecoveryStatus,
    /// Events created then or later.
    pub since: Timestamp,
    /// Events created before; `None` is up to the moment when the recovery was made.
    pub until: Option<Timestamp>,
    /// Catalog names and `<category>.*`; `None` is all that the endpoint wants.
    pub types: Option<Vec<String>>,
    /// Undelivered events that were counted so far; at the end, those that it made deliveries for.
    pub matched: i64,
    /// Deliveries that it made.
    pub enqueued: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

/// What sends an endpoint the events that it missed (contract 15.2).
#[derive(Serialize)]
#[serde(tag = "object", rename = "endpoint_recovery")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RecoveryView<'a> {
    /// Identifies the recovery.
    id: &'a RecoveryId,
    /// The endpoint that missed events.
    endpoint_id: &'a EndpointId,
    /// Where the recovery stands.
    status: RecoveryStatus,
    /// Events created then or later.
    since: Timestamp,
    /// Events created before; `null` is up to the moment when the recovery was made.
    until: Option<Timestamp>,
    /// Event types and `<category>.*`; `null` is all that the endpoint wants.
    types: &'a Option<Vec<String>>,
    /// Undelivered events that were counted so far; at the end, those that it made deliveries for.
    matched: i64,
    /// Deliveries that it made.
    enqueued: i64,
    /// Counted events that have no delivery by this recovery.
    remaining: i64,
    /// `false` for test data, which never mixes with live data.
    livemode: bool,
    /// When the recovery was made.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
    /// When it ended.
    finished_at: Option<Timestamp>,
}

impl Recovery {
    /// Counted events that have no delivery by this recovery. Events that arrive meanwhile by other deliveries stay
    /// in it until the end.
    #[must_use]
    pub fn remaining(&self) -> i64 {
        (self.matched - self.enqueued).max(0)
    }
}

impl Serialize for Recovery {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RecoveryView {
            id: &self.id,
            endpoint_id: &self.endpoint_id,
            status: self.status,
            since: self.since,
            until: self.until,
            types: &self.types,
            matched: self.matched,
            enqueued: self.enqueued,
            remaining: self.remaining(),
            livemode: self.livemode,
            created_at: self.created_at,
            updated_at: self.updated_at,
            finished_at: self.finished_at,
        }
        .serialize(serializer)
    }
}

#[cfg(feature = "schema")]
crate::schema::written_as!(Recovery, RecoveryView<'static>);
