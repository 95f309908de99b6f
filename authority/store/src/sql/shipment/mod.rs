//! Shipments.

use authority_domain::order::line_quantities::{LineMarks, Marks};
use authority_domain::{LineItemId, MerchantId, OrderNumber, Shipment, ShipmentId, Tenant};

use crate::sql::transaction::keys::{MadeUnderKey, order_key, shipment_key};
use crate::sql::transaction::pages::{SequenceRange, placed_texts};
use crate::sql::{
    Form, Result, Row, Shard, Table, TableOrder, Together, Touches, Tx, bodies, columns, newer, query, row,
    upsert,
};

/// A version of a shipment. Its idempotency key stays as it was inserted (contract 4.3).
pub(crate) static SHIPMENTS: Table = Table {
    order: TableOrder::Shipment,
    touches: Touches::Each("shipment"),
    columns: columns!("shipments":
        shard Shard, id Text, merchant_id Text, livemode Bool, order_number Text, status Text, carrier Text,
        tracking_number Text, resource_version Int, body Text, created_sequence Int, idempotency_key Text,
        idempotency_fingerprint Bytes),
    form: Form::Insert,
    rest: upsert!("shard, id": status, carrier, tracking_number, resource_version, body;
        newer!("shipments")),
    together: Together::Apart,
};

/// The marks of an order's line.
static LINE_MARKS: Table = Table {
    order: TableOrder::LineMark,
    touches: Touches::Each("order's line"),
    columns: columns!(into "UPDATE order_lines SET marked_fulfilled_quantity = v.column5, marked_shipped_quantity = v.column6";
        Text, Bool, Text, Text, Int, Int, Shard),
    form: Form::Update,
    rest: "WHERE order_lines.shard = v.column7 AND order_lines.merchant_id = v.column1 AND order_lines.livemode = v.column2 \
         AND order_lines.order_number = v.column3 AND order_lines.id = v.column4",
    together: Together::Replaced,
};

impl Tx {
    /// One shipment as stored text, with its version.
    pub async fn shipment_body(&mut self, tenant: &Tenant, id: &ShipmentId) -> Result<Option<(String, i64)>> {
        let statement = "SELECT body, resource_version FROM shipments WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND id = $4";
        bodies::found(&mut self.conn, query(statement), tenant, id.as_str()).await
    }

    /// One shipment and its tenant, as the operator's paths name it.
    pub async fn shipment_find(&mut self, id: &ShipmentId) -> Result<Option<(Tenant, Shipment)>> {
        if let Some(known) = self.conn.cache.records.get(id.as_str()) {
            return known
                .as_ref()
                .map(|found| Ok((found.tenant.clone(), serde_json::from_str(&found.body)?)))
                .transpose();
        }
        let query =
            bodies::by_id(&self.conn, "SELECT merchant_id, livemode, body FROM shipments", id.as_str());
        let found = |row: &Row| Ok((row.tenant()?, row.record("body")?));
        query.about(&[id.to_string()]).read_optional_as(&mut self.conn, found).await
    }

    /// Up to `limit` shipments of an order before `before` (newest first; `None` from the newest), each with its
    /// position in lists.
    pub async fn shipments_page(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, String)>> {
        let rows = query(
            "SELECT created_sequence, body FROM shipments \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND order_number = $4 AND created_sequence < $5 \
             ORDER BY created_sequence DESC LIMIT $6",
        )
        .bind_tenant(tenant)
        .binds((order.as_str(), before.unwrap_or(i64::MAX), limit))
        .read_stream(&mut self.conn)
        .await?;
        placed_texts(rows).await
    }

    /// All shipments of an order, oldest first.
    pub async fn shipments_of_order(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<Vec<Shipment>> {
        let around = self.order_surroundings(tenant, order).await?;
        Ok(around.shipments.iter().map(|body| serde_json::from_str(body)).collect::<Result<_, _>>()?)
    }

    /// The shipment that an earlier request with this idempotency key made.
    pub async fn shipment_by_key(
        &mut self,
        tenant: &Tenant,
        key: &str,
    ) -> Result<Option<MadeUnderKey<Shipment>>> {
        let key_of_row = shipment_key(tenant, key);
        if self.conn.cache.unused.contains(&key_of_row) {
            return Ok(None);
        }
        query(
            "SELECT body, idempotency_fingerprint FROM shipments \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND idempotency_key = $4",
        )
        .bind_tenant(tenant)
        .bind(key)
        .about(&[key_of_row])
        .read_optional_as(&mut self.conn, bodies::made_under_key)
        .await
    }

    /// Writes a version of a shipment.
    pub async fn shipment_put(
        &mut self,
        merchant: &MerchantId,
        shipment: &Shipment,
        places: SequenceRange,
    ) -> Result<()> {
        let body = serde_json::to_string(shipment)?;
        let (key, fingerprint) = self.take_key_of(shipment.id.as_str()).unzip();
        let tenant = Tenant { merchant_id: merchant.clone(), livemode: shipment.livemode };
        let keys = [shipment.id.to_string(), order_key(merchant, shipment.livemode, &shipment.order_number)];
        self.conn.buffer(
            &SHIPMENTS,
            keys.into_iter().chain(key.as_ref().map(|key| shipment_key(&tenant, key))),
            row!(
                Shard::of(merchant), shipment.id.as_str(), merchant.as_str(), shipment.livemode;
                shipment.order_number.as_str();
                shipment.status.as_str(), shipment.carrier.as_str(), shipment.tracking_number.as_deref();
                shipment.resource_version, body, places.first, key.as_deref(), fingerprint.map(Vec::from)),
        );
        Ok(())
    }

    /// The marks that the fulfilment update set, per line of an order; lines without a mark may be absent.
    pub async fn fulfillment_marks(&mut self, tenant: &Tenant, order: &OrderNumber) -> Result<LineMarks> {
        let around = self.order_surroundings(tenant, order).await?;
        let marks = |(line, fulfilled, shipped): &(String, i64, i64)| {
            (LineItemId::from_store(line.clone()), Marks { fulfilled: *fulfilled, shipped: *shipped })
        };
        Ok(around.marks.iter().map(marks).collect())
    }

    /// Stores the marks of these lines; none may exceed what the line shows as shipped, or its quantity.
    pub async fn fulfillment_marks_put(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
        marked: &LineMarks,
    ) -> Result<()> {
        let of_order = order_key(&tenant.merchant_id, tenant.livemode, order);
        for (line, marks) in marked {
            self.conn.buffer(
                &LINE_MARKS,
                [format!("{of_order}/{line}"), of_order.clone()],
                row!(
                    tenant.merchant_id.as_str(), tenant.livemode, order.as_str(), line.as_str();
                    marks.fulfilled, marks.shipped, Shard::of(&tenant.merchant_id)),
            );
        }
        Ok(())
    }
}
