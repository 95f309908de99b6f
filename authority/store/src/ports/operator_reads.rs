//! What the operator can look up over all merchants (contract 6.2). No merchant's request comes here.

use async_trait::async_trait;
use authority_domain::delivery::{Attempt, Delivery};
use authority_domain::endpoint::{Endpoint, HealthState};
use authority_domain::id::{DeliveryId, EndpointId, EventId, MerchantId};
use authority_domain::list_filter::EventFilter;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::PageById;
use crate::StoreError;

/// What narrows the list of all deliveries. Empty and `None` do not narrow.
#[derive(Clone, Debug, Default)]
pub struct AllDeliveriesFilter {
    /// To endpoints of this merchant.
    pub merchant_id: Option<MerchantId>,
    /// To endpoints of this mode.
    pub livemode: Option<bool>,
    /// To this endpoint.
    pub endpoint_id: Option<EndpointId>,
    /// Any of these statuses.
    pub status: Vec<String>,
    /// Of this event.
    pub event_id: Option<EventId>,
}

/// A delivery, with the owner of its event and the owner of its endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDelivery {
    /// The record; its mode is that of the event.
    pub delivery: Delivery,
    /// The merchant of the event.
    pub merchant_id: MerchantId,
    /// The sequence number of the event in its stream.
    pub sequence: i64,
    /// The owner of the endpoint: the event's tenant, or the operator.
    pub owner: Tenant,
}

/// An endpoint and its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundEndpoint {
    /// The record.
    pub endpoint: Endpoint,
    /// Its owner.
    pub owner: Tenant,
    /// When its merchant deleted it.
    pub deleted_at: Option<Timestamp>,
}

/// The backlog of the whole database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboxFigures {
    /// Deliveries that have not ended.
    pub pending: i64,
    /// Of these, the due ones.
    pub due: i64,
    /// Deliveries that have failed since the given time.
    pub failed: i64,
    /// When the oldest of those that have not ended was made.
    pub oldest_pending_at: Option<Timestamp>,
}

/// The backlog of one endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Its id.
    pub endpoint_id: EndpointId,
    /// Its owner.
    pub owner: Tenant,
    /// Its health according to recent attempts.
    pub state: HealthState,
    /// Failures since its last success.
    pub consecutive_failures: i64,
    /// Deliveries that have not ended.
    pub pending: i64,
    /// Of these, the due ones.
    pub due: i64,
    /// When the oldest of them was made.
    pub oldest_pending_at: Timestamp,
}

/// The backlog of the whole database, and of the endpoints that have the most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbox {
    /// Of all endpoints.
    pub figures: OutboxFigures,
    /// The largest one first.
    pub endpoints: Vec<Backlog>,
}

/// The operator's view.
#[async_trait]
pub trait OperatorReads {
    /// Up to `limit` events before the one with the id `before`, newest first, as (id, stored bytes).
    async fn all_events_page(
        &mut self,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<(String, String)>, StoreError>;

    /// Up to `limit` events of one stream before the sequence `before`, newest first, as (sequence, stored bytes).
    async fn stream_page_newest(
        &mut self,
        tenant: &Tenant,
        filter: &EventFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, String)>, StoreError>;

    /// The stored bytes of an event of any merchant.
    async fn event_find(&mut self, id: &EventId) -> Result<Option<String>, StoreError>;

    /// Up to `limit` deliveries before the one with the id `before`, newest first. Those of one endpoint stand in the
    /// order in which they were made.
    async fn all_deliveries_page(
        &mut self,
        filter: &AllDeliveriesFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<PageById<FoundDelivery>, StoreError>;

    /// One delivery, of any owner.
    async fn delivery_find(&mut self, id: &DeliveryId) -> Result<Option<FoundDelivery>, StoreError>;

    /// Its attempts, the first one first.
    async fn delivery_attempts_find(&mut self, id: &DeliveryId) -> Result<Vec<Attempt>, StoreError>;

    /// One endpoint, of any owner, deleted ones too.
    async fn endpoint_find(&mut self, id: &EndpointId) -> Result<Option<FoundEndpoint>, StoreError>;

    /// Up to `limit` enabled endpoints that fail, those that began to fail first before the others; and as many that
    /// the service or the operator disabled and nobody deleted, the last one first.
    async fn endpoints_in_trouble(&mut self, limit: i64) -> Result<Vec<FoundEndpoint>, StoreError>;

    /// Brings the next attempt of a pending delivery forward to `now`. Has no effect on one that is due already. While
    /// an attempt is in flight, the next one follows at once when it fails.
    async fn delivery_hasten(&mut self, id: &DeliveryId, now: Timestamp) -> Result<(), StoreError>;

    /// The backlog at `now`, counted up to 10,000 of each endpoint, with the `limit` endpoints that have the largest;
    /// and the deliveries that failed since the five minutes of `since`.
    async fn outbox(&mut self, now: Timestamp, since: Timestamp, limit: i64) -> Result<Outbox, StoreError>;
}
