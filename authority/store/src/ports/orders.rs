//! Orders: the records that all other records contribute to.

use async_trait::async_trait;
use authority_domain::id::MerchantId;
use authority_domain::list_filter::OrderFilter;
use authority_domain::order::number::OrderNumber;
use authority_domain::order::{ConfirmedBy, Order};
use authority_domain::sync::order_feed::StoredChange;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::{Page, SequenceRange};
use crate::StoreError;

/// How long the orders of a merchant may be pending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingLimit {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// Its `pending_order_ttl_hours`.
    pub hours: i64,
}

/// A pending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingOrder {
    /// Since when.
    pub created_at: Timestamp,
    /// The order.
    pub number: OrderNumber,
}

/// Orders.
#[async_trait]
pub trait Orders {
    /// One order.
    async fn order_get(&mut self, tenant: &Tenant, number: &OrderNumber)
    -> Result<Option<Order>, StoreError>;

    /// Who confirmed the order; not part of its record (contract 18.3).
    async fn order_confirmed_by(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<ConfirmedBy, StoreError>;

    /// Records that the operator confirmed the order.
    async fn order_confirmed_by_operator(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<(), StoreError>;

    /// One order as stored text, with its version.
    async fn order_body(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<Option<(String, i64)>, StoreError>;

    /// Up to `limit` orders before `before` (newest first; `None` from the newest), as stored text.
    async fn orders_page(
        &mut self,
        tenant: &Tenant,
        filter: &OrderFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<String>, StoreError>;

    /// Up to `limit` orders whose last change is after the sequence `after`, in the order of their last changes.
    async fn orders_changed(
        &mut self,
        tenant: &Tenant,
        after: i64,
        limit: i64,
    ) -> Result<Vec<StoredChange>, StoreError>;

    /// The merchants that have pending orders and limit how long an order may be pending.
    async fn pending_limits(&mut self) -> Result<Vec<PendingLimit>, StoreError>;

    /// Pending orders that were made at or before `until`, oldest first, at most `limit`, starting after `after`.
    async fn orders_pending(
        &mut self,
        tenant: &Tenant,
        until: Timestamp,
        after: Option<&PendingOrder>,
        limit: i64,
    ) -> Result<Vec<PendingOrder>, StoreError>;

    /// Writes a version of an order and its lines.
    async fn order_put(
        &mut self,
        merchant: &MerchantId,
        order: &Order,
        places: SequenceRange,
    ) -> Result<(), StoreError>;
}
