//! Shipments.

use async_trait::async_trait;
use authority_domain::id::{LineItemId, MerchantId, ShipmentId};
use authority_domain::order::line_quantities::{LineMarks, Marks};
use authority_domain::order::number::OrderNumber;
use authority_domain::shipment::Shipment;
use authority_domain::tenant::Tenant;
use sqlx::Row;

use super::page_rows::placed_texts;
use super::{Session, bodies, one_row};
use crate::StoreError;
use crate::ports::{MadeUnderKey, SequenceRange, Shipments};

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

    async fn shipment_find(&mut self, id: &ShipmentId) -> Result<Option<(Tenant, Shipment)>, StoreError> {
        let row = sqlx::query("SELECT merchant_id, livemode, body FROM shipments WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(&mut *self.conn)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let tenant = Tenant {
            merchant_id: MerchantId::from_store(row.try_get("merchant_id")?),
            livemode: row.try_get("livemode")?,
        };
        let body: String = row.try_get("body")?;
        Ok(Some((tenant, serde_json::from_str(&body)?)))
    }

    async fn shipments_page(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        let rows = sqlx::query(
            "SELECT created_sequence, body FROM shipments \
             WHERE merchant_id = $1 AND livemode = $2 AND order_number = $3 AND created_sequence < $4 \
             ORDER BY created_sequence DESC LIMIT $5",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(order.as_str())
        .bind(before.unwrap_or(i64::MAX))
        .bind(limit)
        .fetch(&mut *self.conn);
        placed_texts(rows).await
    }

    async fn shipments_of_order(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<Vec<Shipment>, StoreError> {
        let statement = "SELECT body FROM shipments WHERE merchant_id = $1 AND livemode = $2 AND order_number = $3 ORDER BY created_sequence";
        bodies::records(self.conn, statement, tenant, order.as_str()).await
    }

    async fn shipment_by_key(
        &mut self,
        tenant: &Tenant,
        key: &str,
    ) -> Result<Option<MadeUnderKey<Shipment>>, StoreError> {
        let row = sqlx::query(
            "SELECT body, idempotency_fingerprint FROM shipments \
             WHERE merchant_id = $1 AND livemode = $2 AND idempotency_key = $3",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(key)
        .fetch_optional(&mut *self.conn)
        .await?;
        row.as_ref().map(bodies::made_under_key).transpose()
    }

    async fn shipment_put(
        &mut self,
        merchant: &MerchantId,
        shipment: &Shipment,
        places: SequenceRange,
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
        fingerprint: &[u8; 32],
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "UPDATE shipments SET idempotency_key = $4, idempotency_fingerprint = $5 \
             WHERE id = $1 AND merchant_id = $2 AND livemode = $3",
        )
        .bind(id.as_str())
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(key)
        .bind(fingerprint.as_slice())
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "shipment")
    }

    async fn fulfillment_marks(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<LineMarks, StoreError> {
        let rows: Vec<(String, i64, i64)> = sqlx::query_as(
            "SELECT id, marked_fulfilled_quantity, marked_shipped_quantity FROM order_lines \
             WHERE merchant_id = $1 AND livemode = $2 AND order_number = $3 \
             AND marked_fulfilled_quantity + marked_shipped_quantity > 0",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(order.as_str())
        .fetch_all(&mut *self.conn)
        .await?;
        let marks = |(line, fulfilled, shipped)| (LineItemId::from_store(line), Marks { fulfilled, shipped });
        Ok(rows.into_iter().map(marks).collect())
    }

    async fn fulfillment_marks_put(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        marked: &LineMarks,
    ) -> Result<(), StoreError> {
        for (line, marks) in marked {
            let done = sqlx::query(
                "UPDATE order_lines SET marked_fulfilled_quantity = $5, marked_shipped_quantity = $6 \
                 WHERE merchant_id = $1 AND livemode = $2 AND order_number = $3 AND id = $4",
            )
            .bind(tenant.merchant_id.as_str())
            .bind(tenant.livemode)
            .bind(order.as_str())
            .bind(line.as_str())
            .bind(marks.fulfilled)
            .bind(marks.shipped)
            .execute(&mut *self.conn)
            .await?;
            one_row(done.rows_affected(), "order's line")?;
        }
        Ok(())
    }
}
