//! Shipments.

use async_trait::async_trait;
use authority_domain::id::{LineItemId, MerchantId, ShipmentId};
use authority_domain::order::line_quantities::{LineMarks, Marks};
use authority_domain::order::number::OrderNumber;
use authority_domain::shipment::Shipment;
use authority_domain::tenant::Tenant;
use sqlx::Row;

use super::orders::order_key;
use super::page_rows::placed_texts;
use super::rows::{Form, Kind, Table, TableOrder, Together, Touches};
use super::{Session, bodies};
use crate::StoreError;
use crate::ports::{MadeUnderKey, SequenceRange, Shipments};

/// A version of a shipment. Its idempotency key stays as it was inserted (contract 4.3).
static SHIPMENTS: Table = Table {
    order: TableOrder::Shipment,
    touches: Touches::Each("shipment"),
    into: "INSERT INTO shipments (id, merchant_id, livemode, order_number, status, carrier, tracking_number, \
        resource_version, body, created_sequence, idempotency_key, idempotency_fingerprint)",
    columns: &[
        Kind::Text,
        Kind::Text,
        Kind::Bool,
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Int,
        Kind::Text,
        Kind::Int,
        Kind::Text,
        Kind::Bytes,
    ],
    form: Form::Insert,
    rest: "ON CONFLICT (id) DO UPDATE SET status = excluded.status, carrier = excluded.carrier, \
             tracking_number = excluded.tracking_number, resource_version = excluded.resource_version, \
             body = excluded.body \
         WHERE shipments.resource_version < excluded.resource_version AND shipments.livemode = excluded.livemode \
             AND shipments.merchant_id = excluded.merchant_id",
    together: Together::Apart,
};

/// The marks of an order's line.
static LINE_MARKS: Table = Table {
    order: TableOrder::LineMark,
    touches: Touches::Each("order's line"),
    into: "UPDATE order_lines SET marked_fulfilled_quantity = v.column5, marked_shipped_quantity = v.column6",
    columns: &[Kind::Text, Kind::Bool, Kind::Text, Kind::Text, Kind::Int, Kind::Int],
    form: Form::Update,
    rest: "WHERE order_lines.merchant_id = v.column1 AND order_lines.livemode = v.column2 \
         AND order_lines.order_number = v.column3 AND order_lines.id = v.column4",
    together: Together::Replaced,
};

/// The key under which a shipment is buffered that was made with an idempotency key.
pub(super) fn shipment_key(tenant: &Tenant, key: &str) -> String {
    format!("shipment/{}/{}/{key}", tenant.merchant_id, tenant.livemode)
}

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
        if let Some(known) = self.conn.cache.record(id.as_str()) {
            return known
                .map(|found| Ok((found.tenant.clone(), serde_json::from_str(&found.body)?)))
                .transpose();
        }
        let row = sqlx::query("SELECT merchant_id, livemode, body FROM shipments WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(self.conn.about(&[id.to_string()]).await?)
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
        let around = self.order_surroundings(tenant, order).await?;
        Ok(around.shipments.iter().map(|body| serde_json::from_str(body)).collect::<Result<_, _>>()?)
    }

    async fn shipment_by_key(
        &mut self,
        tenant: &Tenant,
        key: &str,
    ) -> Result<Option<MadeUnderKey<Shipment>>, StoreError> {
        let waits_under = shipment_key(tenant, key);
        if self.conn.cache.is_unused(&waits_under) {
            return Ok(None);
        }
        let row = sqlx::query(
            "SELECT body, idempotency_fingerprint FROM shipments \
             WHERE merchant_id = $1 AND livemode = $2 AND idempotency_key = $3",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(key)
        .fetch_optional(self.conn.about(&[waits_under]).await?)
        .await?;
        row.as_ref().map(bodies::made_under_key).transpose()
    }

    async fn shipment_put(
        &mut self,
        merchant: &MerchantId,
        shipment: &Shipment,
        places: SequenceRange,
    ) -> Result<(), StoreError> {
        let body = serde_json::to_string(shipment)?;
        let (key, fingerprint) = self.take_key_of(shipment.id.as_str()).unzip();
        let tenant = Tenant { merchant_id: merchant.clone(), livemode: shipment.livemode };
        let keys = [shipment.id.to_string(), order_key(merchant, shipment.livemode, &shipment.order_number)];
        self.conn.buffer(
            &SHIPMENTS,
            keys.into_iter().chain(key.as_ref().map(|key| shipment_key(&tenant, key))),
            [
                shipment.id.as_str().into(),
                merchant.as_str().into(),
                shipment.livemode.into(),
                shipment.order_number.as_str().into(),
                shipment.status.as_str().into(),
                shipment.carrier.as_str().into(),
                shipment.tracking_number.as_deref().into(),
                shipment.resource_version.into(),
                body.into(),
                places.first.into(),
                key.as_deref().into(),
                fingerprint.map(Vec::from).into(),
            ],
        );
        Ok(())
    }

    async fn fulfillment_marks(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<LineMarks, StoreError> {
        let around = self.order_surroundings(tenant, order).await?;
        let marks = |(line, fulfilled, shipped): &(String, i64, i64)| {
            (LineItemId::from_store(line.clone()), Marks { fulfilled: *fulfilled, shipped: *shipped })
        };
        Ok(around.marks.iter().map(marks).collect())
    }

    async fn fulfillment_marks_put(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        marked: &LineMarks,
    ) -> Result<(), StoreError> {
        let of_order = order_key(&tenant.merchant_id, tenant.livemode, order);
        for (line, marks) in marked {
            self.conn.buffer(
                &LINE_MARKS,
                [format!("{of_order}/{line}"), of_order.clone()],
                [
                    tenant.merchant_id.as_str().into(),
                    tenant.livemode.into(),
                    order.as_str().into(),
                    line.as_str().into(),
                    marks.fulfilled.into(),
                    marks.shipped.into(),
                ],
            );
        }
        Ok(())
    }
}
