//! Streams and events (contract 8).

use async_trait::async_trait;
use authority_domain::event::NewEvent;
use authority_domain::id::EventId;
use authority_domain::list_filter::EventFilter;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::{Page, Subscriber};
use crate::StoreError;

/// The sequence numbers that a transaction reserves for its events, and the endpoints that may want the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPosition {
    /// Sequence of the last event.
    pub last_sequence: i64,
    /// `created_at` of all of them: now, or later when the clock stepped back.
    pub created_at: Timestamp,
    /// How many active shares of its orders the tenant has. The true number may be lower.
    pub active_shares: i64,
    /// The endpoints that are enabled, the operator's among them, oldest first.
    pub subscribers: Vec<Subscriber>,
}

/// The range of events that a stream still has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRange {
    /// The oldest stored event; 1 for a stream without events.
    pub oldest: i64,
    /// The newest; 0 for a stream without events.
    pub latest: i64,
}

/// Streams and events.
#[async_trait]
pub trait Events {
    /// Reserves the next `count` sequence numbers of the tenant's stream. No other transaction writes meanwhile, so
    /// the order of numbers is the order of commits (contract 8.3). The counter is read here and written with the
    /// events, on condition that it has not changed.
    async fn stream_advance(
        &mut self,
        tenant: &Tenant,
        count: i64,
        now: Timestamp,
    ) -> Result<StreamPosition, StoreError>;

    /// Announces whose streams will be read next, so that they can be read together. No result depends on it.
    async fn streams_foresee(&mut self, tenants: &[&Tenant], now: Timestamp) -> Result<(), StoreError>;

    /// Adds events; their bytes never change again.
    async fn events_insert(&mut self, tenant: &Tenant, events: &[NewEvent]) -> Result<(), StoreError>;

    /// Up to `limit` events after `after`, oldest first, as stored bytes.
    async fn events_page(
        &mut self,
        tenant: &Tenant,
        filter: &EventFilter,
        after: i64,
        limit: i64,
    ) -> Result<Page<String>, StoreError>;

    /// The stored bytes of one event.
    async fn event_body(&mut self, tenant: &Tenant, id: &EventId) -> Result<Option<String>, StoreError>;

    /// The range of events that the tenant's stream still has.
    async fn stream_range(&mut self, tenant: &Tenant) -> Result<StreamRange, StoreError>;
}
