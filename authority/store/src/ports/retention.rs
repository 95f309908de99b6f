//! Removing what is older than the retention (contract 15.13).
//!
//! A stream loses its oldest events, one after the other and never one from the middle, each with its deliveries and
//! their attempts. The counter's row records how far events were removed; by it the guard of events recognises the
//! only deletion that is allowed. An event with a pending delivery stays, and so do all events after it, until that
//! delivery has ended.
//!
//! The retention acts for all tenants.

use async_trait::async_trait;
use authority_domain::id::EventId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// One of the oldest events of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldEvent {
    /// Its sequence number.
    pub sequence: i64,
    /// Its id.
    pub id: EventId,
    /// When it was created.
    pub created_at: Timestamp,
    /// Rows that go with it: deliveries, and attempts by their number in each delivery.
    pub rows: i64,
    /// Whether one of its deliveries has not ended.
    pub pending: bool,
}

/// Retention.
#[async_trait]
pub trait Retention {
    /// Up to `limit` streams after `after`, in the order of merchant and mode.
    async fn retention_streams(
        &mut self,
        after: Option<&Tenant>,
        limit: i64,
    ) -> Result<Vec<Tenant>, StoreError>;

    /// The oldest `limit` events of a stream, oldest first.
    async fn retention_oldest(&mut self, tenant: &Tenant, limit: i64) -> Result<Vec<OldEvent>, StoreError>;

    /// Removes the events of a stream up to `through` with everything that belongs to them, if all of them were
    /// created before `before` and none has a pending delivery. Returns how many; 0 if that condition fails.
    async fn retention_remove(
        &mut self,
        tenant: &Tenant,
        through: i64,
        before: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Removes up to `limit` ended deliveries of an event that were not made with it (replays, recoveries), with
    /// their attempts. For an event that was sent again so often that its rows are too many for one transaction.
    async fn retention_thin(&mut self, event: &EventId, limit: i64) -> Result<u64, StoreError>;

    /// Removes up to `limit` figures from before `before` (see [`super::HealthFigures`]).
    async fn figures_purge(&mut self, before: Timestamp, limit: i64) -> Result<u64, StoreError>;
}
