//! What the operator can look up over all merchants (contract 6.2). No merchant's request comes here.

use async_trait::async_trait;
use authority_domain::delivery::{Attempt, Delivery};
use authority_domain::endpoint::{Endpoint, HealthState};
use authority_domain::id::{DeliveryId, EndpointId, EventId, MerchantId};
use authority_domain::list_filter::EventFilter;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

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

/// A delivery with whose event it carries and whose endpoint it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDelivery {
    /// The record; its mode is that of the event.
    pub delivery: Delivery,
    /// The merchant of the event.
    pub merchant_id: MerchantId,
    /// The place of the event in its stream.
    pub sequence: i64,
    /// Whose endpoint it goes to: the event's tenant, or the operator.
    pub owner: Tenant,
}

/// An endpoint with whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundEndpoint {
    /// The record.
    pub endpoint: Endpoint,
    /// Whose it is.
    pub owner: Tenant,
    /// When its merchant deleted it.
    pub deleted_at: Option<Timestamp>,
}

/// What waits, over everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboxFigures {
    /// Deliveries that have not ended.
    pub pending: i64,
    /// Of these, those whose time has come.
    pub due: i64,
    /// Deliveries that have failed since the given time.
    pub failed: i64,
    /// When the oldest of those that have not ended was made.
    pub oldest_pending_at: Option<Timestamp>,
}

/// What waits for one endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Which.
    pub endpoint_id: EndpointId,
    /// Whose.
    pub owner: Tenant,
    /// What recent attempts say of it.
    pub state: HealthState,
    /// Failures since its last success.
    pub consecutive_failures: i64,
    /// Deliveries that have not ended.
    pub pending: i64,
    /// Of these, those whose time has come.
    pub due: i64,
    /// When the oldest of them was made.
    pub oldest_pending_at: Timestamp,
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

    /// Up to `limit` deliveries before the one with the id `before`, newest first.
    async fn all_deliveries_page(
        &mut self,
        filter: &AllDeliveriesFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<FoundDelivery>, StoreError>;

    /// One delivery, to whomever.
    async fn delivery_find(&mut self, id: &DeliveryId) -> Result<Option<FoundDelivery>, StoreError>;

    /// Its attempts, the first one first.
    async fn delivery_attempts_find(&mut self, id: &DeliveryId) -> Result<Vec<Attempt>, StoreError>;

    /// One endpoint, whosesoever it is, deleted ones too.
    async fn endpoint_find(&mut self, id: &EndpointId) -> Result<Option<FoundEndpoint>, StoreError>;

    /// Brings the next attempt of a delivery that waits forward to `now`. Nothing happens to one that is due already.
    async fn delivery_hasten(&mut self, id: &DeliveryId, now: Timestamp) -> Result<(), StoreError>;

    /// What waits at `now`, of each endpoint up to 10,000, and what has failed since the five minutes of `since`.
    async fn outbox_figures(&mut self, now: Timestamp, since: Timestamp)
    -> Result<OutboxFigures, StoreError>;

    /// The `limit` endpoints for which most deliveries wait, counted up to 10,000 of each.
    async fn backlogs(&mut self, now: Timestamp, limit: i64) -> Result<Vec<Backlog>, StoreError>;
}
