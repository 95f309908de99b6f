//! The events that an endpoint wants and has not received (contract 15.1).
//!
//! No list is stored that every delivery would have to update: missing events are found by walking the stream. So the
//! caller names the part of the stream to look at, and every function here costs as much as that part is long,
//! however many events and deliveries there are.

use async_trait::async_trait;
use authority_domain::delivery::undelivered::{UndeliveredEvent, Wanted};
use authority_domain::id::{EndpointId, EventId};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// A part of a stream: the sequences between the two, neither of them included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Begins after this one.
    pub above: i64,
    /// Ends before this one.
    pub below: i64,
}

/// A missing event, as recovery sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Missed {
    pub sequence: i64,
    pub event_id: EventId,
    pub event_type: String,
}

/// Undelivered events.
#[async_trait]
pub trait Undelivered {
    /// The last sequence of its stream when the endpoint was made: its events come after. 0 for an unknown endpoint.
    async fn endpoint_begins_after(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
    ) -> Result<i64, StoreError>;

    /// The first sequence whose event was created at `time` or later; the one after the newest when there is none.
    async fn sequence_at(&mut self, tenant: &Tenant, time: Timestamp) -> Result<i64, StoreError>;

    /// The newest `limit` undelivered events of a stretch, newest first.
    async fn undelivered_page(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        wanted: &Wanted,
        stretch: Stretch,
        limit: i64,
    ) -> Result<Vec<UndeliveredEvent>, StoreError>;

    /// How many undelivered events a stretch has.
    async fn undelivered_count(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        wanted: &Wanted,
        stretch: Stretch,
    ) -> Result<i64, StoreError>;

    /// The oldest `limit` undelivered events of a stretch, oldest first.
    async fn undelivered_oldest(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        wanted: &Wanted,
        stretch: Stretch,
        limit: i64,
    ) -> Result<Vec<Missed>, StoreError>;
}
