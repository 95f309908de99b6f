//! Shipments.

use async_trait::async_trait;
use authority_domain::id::{MerchantId, ShipmentId};
use authority_domain::order_number::OrderNumber;
use authority_domain::shipment::Shipment;
use authority_domain::tenant::Tenant;

use super::{Session, bodies, one_row};
use crate::StoreError;
use crate::ports::{Places, Shipments};

#[async_trait]
impl Shipments for Session<'_> {
    async fn shipment_body(
        &mut self,
        tenant: &Tenant,
        id: &ShipmentId,
    ) -> Result<Option<(String, i64)>, StoreError> {
        let statement = "SELECT body, resource_version FROM shipments WHERE merchant_id = $1 AND livemode = $2 AND id = $3";
        bodies::text(self.conn, statement, tenant, id.as_str()).await
    }

    async fn shipments_of_order(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<Vec<Shipment>, StoreError> {
        let statement = "SELECT body FROM shipments WHERE merchant_id = $1 AND livemode = $2 AND order_number = $3 ORDER BY created_sequence";
        bodies::records(self.conn, statement, tenant, order.as_str()).await
    }

    async fn shipment_by_key(&mut self, tenant: &Tenant, key: &str) -> Result<Option<Shipment>, StoreError> {
        let statement =
            "SELECT body FROM shipments WHERE merchant_id = $1 AND livemode = $2 AND idempotency_key = $3";
        bodies::record(self.conn, statement, tenant, key).await
    }

    async fn shipment_put(
        &mut self,
        merchant: &MerchantId,
        shipment: &Shipment,
        places: Places,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "INSERT INTO shipments (id, merchant_id, livemode, order_number, status, carrier, tracking_number, \
                 resource_version, body, created_sequence) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
             ON CONFLICT (id) DO UPDATE SET status = excluded.status, carrier = excluded.carrier, \
                 tracking_number = excluded.tracking_number, resource_version = excluded.resource_version, \
                 body = excluded.body \
             WHERE shipments.resource_version < excluded.resource_version AND shipments.livemode = excluded.livemode \
                 AND shipments.merchant_id = excluded.merchant_id",
        )
        .bind(shipment.id.as_str())
        .bind(merchant.as_str())
        .bind(shipment.livemode)
        .bind(shipment.order_number.as_str())
        .bind(shipment.status.as_str())
        .bind(&shipment.carrier)
        .bind(shipment.tracking_number.as_deref())
        .bind(shipment.resource_version)
        .bind(serde_json::to_string(shipment)?)
        .bind(places.first)
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "shipment")
    }

    async fn shipment_keep_key(
        &mut self,
        tenant: &Tenant,
        id: &ShipmentId,
        key: &str,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "UPDATE shipments SET idempotency_key = $4 WHERE id = $1 AND merchant_id = $2 AND livemode = $3",
        )
        .bind(id.as_str())
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(key)
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "shipment")
    }
}
