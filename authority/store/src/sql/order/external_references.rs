//! The names of orders in merchants' own systems. The entries themselves are in the orders' records; a use case that
//! changes one updates this index in the same transaction.

use authority_domain::order::external_references::{ExternalName, SystemName};
use authority_domain::{OrderNumber, Tenant};

use crate::sql::{Result, Tx, query};

impl Tx {
    /// The order that has this name.
    pub async fn reference_holder(
        &mut self,
        tenant: &Tenant,
        name: &ExternalName,
    ) -> Result<Option<OrderNumber>> {
        let statement = "SELECT order_number FROM external_references \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND system = $4 AND id = $5";
        Ok(query(statement)
            .bind_tenant(tenant)
            .binds((name.system.as_str(), &name.id))
            .about(&[])
            .read_optional(&mut self.conn)
            .await?)
    }

    /// Gives the order this name, replacing its name in that system.
    pub async fn reference_put(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        name: &ExternalName,
    ) -> Result<()> {
        query(
            "INSERT INTO external_references (shard, merchant_id, livemode, system, id, order_number) \
             VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (shard, merchant_id, livemode, order_number, system) DO UPDATE SET id = excluded.id",
        )
        .bind_tenant(tenant)
        .binds((name.system.as_str(), &name.id, order.as_str()))
        .write_one(&mut self.conn, "external reference")
        .await
    }

    /// Removes the order's name in this system; it must have one.
    pub async fn reference_delete(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        system: &SystemName,
    ) -> Result<()> {
        query(
            "DELETE FROM external_references \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND order_number = $4 AND system = $5",
        )
        .bind_tenant(tenant)
        .binds((order.as_str(), system.as_str()))
        .write_one(&mut self.conn, "external reference")
        .await
    }
}
