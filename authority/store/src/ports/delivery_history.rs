//! Reading deliveries and attempts: what became of an event on its way to an endpoint (contract 2.9).

use async_trait::async_trait;
use authority_domain::delivery::{Attempt, Delivery};
use authority_domain::id::{DeliveryId, EndpointId, EventId};
use authority_domain::list_filter::DeliveryFilter;
use authority_domain::tenant::Tenant;

use super::Page;
use crate::StoreError;

/// The fields of an event that a replay needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventHead {
    /// The catalog name.
    pub event_type: String,
    /// Its sequence number in the stream.
    pub sequence: i64,
    /// The record it is about.
    pub resource_id: String,
}

/// The history of deliveries. Those of a deleted endpoint are in it.
#[async_trait]
pub trait DeliveryHistory {
    /// Up to `limit` deliveries to an endpoint before `before` (newest first).
    async fn deliveries_page(
        &mut self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        filter: &DeliveryFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<Delivery>, StoreError>;

    /// One delivery.
    async fn delivery_get(
        &mut self,
        tenant: &Tenant,
        id: &DeliveryId,
    ) -> Result<Option<Delivery>, StoreError>;

    /// The attempts of a delivery, the first one first.
    async fn delivery_attempts(
        &mut self,
        tenant: &Tenant,
        id: &DeliveryId,
    ) -> Result<Vec<Attempt>, StoreError>;

    /// The fields of an event that a replay needs.
    async fn event_head(&mut self, tenant: &Tenant, id: &EventId) -> Result<Option<EventHead>, StoreError>;
}
