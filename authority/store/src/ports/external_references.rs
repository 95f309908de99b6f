//! The names of orders in merchants' own systems. The entries themselves are in the orders' records; a use case that
//! changes one updates this index in the same transaction.

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

    /// Gives the order this name, replacing its name in that system.
    async fn reference_put(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        name: &ExternalName,
    ) -> Result<(), StoreError>;

    /// Removes the order's name in this system; it must have one.
    async fn reference_delete(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        system: &SystemName,
    ) -> Result<(), StoreError>;
}
