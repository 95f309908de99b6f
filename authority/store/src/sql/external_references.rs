//! The names of orders in merchants' own systems.

use async_trait::async_trait;
use authority_domain::order::external_references::{ExternalName, SystemName};
use authority_domain::order::number::OrderNumber;
use authority_domain::tenant::Tenant;

use super::{Session, one_row};
use crate::StoreError;
use crate::ports::ExternalReferences;

#[async_trait]
impl ExternalReferences for Session<'_> {
    async fn reference_holder(
        &mut self,
        tenant: &Tenant,
        name: &ExternalName,
    ) -> Result<Option<OrderNumber>, StoreError> {
        let statement = "SELECT order_number FROM external_references \
             WHERE merchant_id = $1 AND livemode = $2 AND system = $3 AND id = $4";
        let found: Option<String> = sqlx::query_scalar(statement)
            .bind(tenant.merchant_id.as_str())
            .bind(tenant.livemode)
            .bind(name.system.as_str())
            .bind(&name.id)
            .fetch_optional(self.conn.about(&[]).await?)
            .await?;
        Ok(found.map(OrderNumber::from_store))
    }

    async fn reference_put(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        name: &ExternalName,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "INSERT INTO external_references (merchant_id, livemode, system, id, order_number) \
             VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (merchant_id, livemode, order_number, system) DO UPDATE SET id = excluded.id",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(name.system.as_str())
        .bind(&name.id)
        .bind(order.as_str())
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "external reference")
    }

    async fn reference_delete(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        system: &SystemName,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "DELETE FROM external_references \
             WHERE merchant_id = $1 AND livemode = $2 AND order_number = $3 AND system = $4",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(order.as_str())
        .bind(system.as_str())
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "external reference")
    }
}
