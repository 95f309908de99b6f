//! Shipments.

use async_trait::async_trait;
use authority_domain::id::{MerchantId, ShipmentId};
use authority_domain::order_number::OrderNumber;
use authority_domain::shipment::Shipment;
use authority_domain::tenant::Tenant;

use super::Places;
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

    /// All shipments of an order, oldest first.
    async fn shipments_of_order(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<Vec<Shipment>, StoreError>;

    /// The shipment that a request with this idempotency key once made.
    async fn shipment_by_key(&mut self, tenant: &Tenant, key: &str) -> Result<Option<Shipment>, StoreError>;

    /// Writes a version of a shipment.
    async fn shipment_put(
        &mut self,
        merchant: &MerchantId,
        shipment: &Shipment,
        places: Places,
    ) -> Result<(), StoreError>;

    /// Keeps the idempotency key with the shipment it made, for ever (contract 4.3).
    async fn shipment_keep_key(
        &mut self,
        tenant: &Tenant,
        id: &ShipmentId,
        key: &str,
    ) -> Result<(), StoreError>;
}
