//! Streams and events (contract 8).

use async_trait::async_trait;
use authority_domain::event::NewEvent;
use authority_domain::id::EventId;
use authority_domain::list_filter::EventFilter;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::Subscriber;
use crate::StoreError;

/// The place that a transaction takes for its events, and who wants to hear of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPosition {
    /// Sequence of the last event.
    pub last_sequence: i64,
    /// `created_at` of all of them: now, or later when the clock stepped back.
    pub created_at: Timestamp,
    /// How many active shares the tenant has: of its orders with partners. At least as many as there are.
    pub active_shares: i64,
    /// The endpoints that are enabled, the operator's among them, oldest first.
    pub subscribers: Vec<Subscriber>,
}

/// What of a stream is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRange {
    /// The oldest event that is kept; 1 for a stream without events.
    pub oldest: i64,
    /// The newest; 0 for a stream without events.
    pub latest: i64,
}

/// Streams and events.
#[async_trait]
pub trait Events {
    /// Takes the next `count` places of the tenant's stream. Nobody else writes meanwhile, so that the order of numbers
    /// is the order of commits (contract 8.3): the counter is read here and written with the events, on condition that
    /// it still says what was read.
    async fn stream_advance(
        &mut self,
        tenant: &Tenant,
        count: i64,
        now: Timestamp,
    ) -> Result<StreamPosition, StoreError>;

    /// Says whose streams will be asked for next, so that they can be read together. Nothing depends on it.
    async fn streams_foresee(&mut self, tenants: &[&Tenant], now: Timestamp) -> Result<(), StoreError>;

    /// Adds events; their bytes never change again.
    async fn events_insert(&mut self, tenant: &Tenant, events: &[NewEvent]) -> Result<(), StoreError>;

    /// Up to `limit` events after `after`, oldest first, as (sequence, stored bytes).
    async fn events_page(
        &mut self,
        tenant: &Tenant,
        filter: &EventFilter,
        after: i64,
        limit: i64,
    ) -> Result<Vec<(i64, String)>, StoreError>;

    /// The stored bytes of one event.
    async fn event_body(&mut self, tenant: &Tenant, id: &EventId) -> Result<Option<String>, StoreError>;

    /// What of the tenant's stream is there.
    async fn stream_range(&mut self, tenant: &Tenant) -> Result<StreamRange, StoreError>;
}
