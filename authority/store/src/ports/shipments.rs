//! Shipments.

use async_trait::async_trait;
use authority_domain::id::{MerchantId, ShipmentId};
use authority_domain::order::line_quantities::LineMarks;
use authority_domain::order::number::OrderNumber;
use authority_domain::shipment::Shipment;
use authority_domain::tenant::Tenant;

use super::{MadeUnderKey, SequenceRange};
use crate::StoreError;

/// Shipments.
#[async_trait]
pub trait Shipments {
    /// One shipment as stored text, with its version.
    async fn shipment_body(
        &mut self,
        tenant: &Tenant,
        id: &ShipmentId,
    ) -> Result<Option<(String, i64)>, StoreError>;

    /// One shipment and its tenant, as the operator's paths name it.
    async fn shipment_find(&mut self, id: &ShipmentId) -> Result<Option<(Tenant, Shipment)>, StoreError>;

    /// Up to `limit` shipments of an order before `before` (newest first; `None` from the newest), each with its
    /// position in lists.
    async fn shipments_page(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, String)>, StoreError>;

    /// All shipments of an order, oldest first.
    async fn shipments_of_order(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<Vec<Shipment>, StoreError>;

    /// The shipment that an earlier request with this idempotency key made.
    async fn shipment_by_key(
        &mut self,
        tenant: &Tenant,
        key: &str,
    ) -> Result<Option<MadeUnderKey<Shipment>>, StoreError>;

    /// Writes a version of a shipment.
    async fn shipment_put(
        &mut self,
        merchant: &MerchantId,
        shipment: &Shipment,
        places: SequenceRange,
    ) -> Result<(), StoreError>;

    /// The marks that the fulfilment update set, per line of an order; lines without a mark may be absent.
    async fn fulfillment_marks(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<LineMarks, StoreError>;

    /// Stores the marks of these lines; none may exceed what the line shows as shipped, or its quantity.
    async fn fulfillment_marks_put(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        marked: &LineMarks,
    ) -> Result<(), StoreError>;
}
