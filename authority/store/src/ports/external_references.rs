//! Which order a merchant's system means. The entries themselves stand in the orders' records; whoever changes one says so
//! here, in the same transaction.

use async_trait::async_trait;
use authority_domain::order::external_references::{ExternalName, SystemName};
use authority_domain::order::number::OrderNumber;
use authority_domain::tenant::Tenant;

use crate::StoreError;

/// External references.
#[async_trait]
pub trait ExternalReferences {
    /// The order that has this name.
    async fn reference_holder(
        &mut self,
        tenant: &Tenant,
        name: &ExternalName,
    ) -> Result<Option<OrderNumber>, StoreError>;

    /// Gives the order this name, in place of the one that it had in that system.
    async fn reference_put(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        name: &ExternalName,
    ) -> Result<(), StoreError>;

    /// Takes the order's name in this system from it; it has one.
    async fn reference_delete(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        system: &SystemName,
    ) -> Result<(), StoreError>;
}
