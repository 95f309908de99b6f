//! Orders: the records that all other records contribute to.

pub(crate) mod external_references;
pub(crate) mod numbers;
pub(crate) mod surroundings;

use authority_domain::list_filter::OrderFilter;
use authority_domain::order::ConfirmedBy;
use authority_domain::order::external_references::SystemName;
use authority_domain::sync::order_feed::StoredChange;
use authority_domain::{MerchantId, Order, OrderNumber, Tenant, Timestamp};

use crate::sql::transaction::keys::order_key;
use crate::sql::transaction::pages::{Page, SequenceRange, page_rows};
use crate::sql::{
    Across, Form, Query, Result, Row, Shard, Table, TableOrder, Together, Touches, Tx, bodies, columns,
    fields, query, row, upsert,
};

/// How long the orders of a merchant may be pending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingLimit {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// Its `pending_order_ttl_hours`.
    pub hours: i64,
}

/// A pending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingOrder {
    /// Since when.
    pub created_at: Timestamp,
    /// The order.
    pub number: OrderNumber,
}

/// A version of an order.
pub(crate) static ORDERS: Table = Table {
    order: TableOrder::Order,
    touches: Touches::Each("order"),
    columns: columns!("orders":
        shard Shard, merchant_id Text, livemode Bool, order_number Text, status Text, payment_status Text,
        fulfillment_status Text, currency Text, total Int, customer_reference Text, resource_version Int,
        created_at Int, updated_at Int, body Text, created_sequence Int, last_sequence Int),
    form: Form::Insert,
    rest: upsert!("shard, merchant_id, livemode, order_number": status, payment_status, fulfillment_status,
        customer_reference, resource_version, updated_at, body, last_sequence;
        "WHERE orders.resource_version < excluded.resource_version"),
    together: Together::Apart,
};

/// The progress of an order's line.
static ORDER_LINES: Table = Table {
    order: TableOrder::OrderLine,
    touches: Touches::Any,
    columns: columns!("order_lines":
        shard Shard, merchant_id Text, livemode Bool, order_number Text, id Text, quantity Int, fulfilled_quantity Int,
        shipped_quantity Int, delivered_quantity Int),
    form: Form::Insert,
    rest: upsert!("shard, merchant_id, livemode, order_number, id": fulfilled_quantity, shipped_quantity,
        delivered_quantity),
    together: Together::Apart,
};

/// A page of the feed of changed orders: one row per order, at the position of its last change.
pub(crate) const ORDERS_CHANGED: &str = "SELECT order_number, last_sequence, resource_version, updated_at, body FROM orders \
     WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND last_sequence > $4 ORDER BY last_sequence LIMIT $5";

impl Tx {
    /// One order.
    pub async fn order_get(&mut self, tenant: &Tenant, number: &OrderNumber) -> Result<Option<Order>> {
        let around = self.order_surroundings(tenant, number).await?;
        Ok(around.order.as_ref().map(|(body, _)| serde_json::from_str(body)).transpose()?)
    }

    /// Who confirmed the order; not part of its record (contract 18.3).
    pub async fn order_confirmed_by(&mut self, tenant: &Tenant, number: &OrderNumber) -> Result<ConfirmedBy> {
        let around = self.order_surroundings(tenant, number).await?;
        Ok(if around.confirmed_by_operator { ConfirmedBy::Operator } else { ConfirmedBy::Payments })
    }

    /// Records that the operator confirmed the order.
    pub async fn order_confirmed_by_operator(&mut self, tenant: &Tenant, number: &OrderNumber) -> Result<()> {
        query(
            "UPDATE orders SET confirmed_by_operator = TRUE \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND order_number = $4",
        )
        .bind_tenant(tenant)
        .bind(number.as_str())
        .write_one(&mut self.conn, "order")
        .await
    }

    /// One order as stored text, with its version.
    pub async fn order_body(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<Option<(String, i64)>> {
        let key = order_key(&tenant.merchant_id, tenant.livemode, number);
        if let Some(known) = self.conn.cache.orders.get(&key) {
            return Ok(known.order.clone());
        }
        let statement = "SELECT body, resource_version FROM orders \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND order_number = $4";
        bodies::found(&mut self.conn, query(statement), tenant, number.as_str()).await
    }

    /// Up to `limit` orders before `before` (newest first; `None` from the newest), as stored text.
    pub async fn orders_page(
        &mut self,
        tenant: &Tenant,
        filter: &OrderFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<String>> {
        let narrow = |query: &mut Query<'_>| {
            query.push_some(" AND customer_reference = ", filter.customer_reference.clone());
            if let (Some(system), Some(id)) = (&filter.external_system, &filter.external_id) {
                push_named(query, tenant, system, id);
            }
        };
        let filters = |query: &mut Query<'_>| {
            query.push_in("status", &filter.status);
            query.push_in("payment_status", &filter.payment_status);
            query.push_in("fulfillment_status", &filter.fulfillment_status);
            bodies::push_created(query, filter.created_from, filter.created_to);
            query.push_some(" AND updated_at >= ", filter.updated_from.map(Timestamp::as_ms));
            query.push_some(" AND updated_at < ", filter.updated_to.map(Timestamp::as_ms));
        };
        bodies::page(&mut self.conn, "orders", (tenant, before), narrow, filters, limit).await
    }

    /// Up to `limit` orders whose last change is after the sequence `after`, in the order of their last changes.
    pub async fn orders_changed(
        &mut self,
        tenant: &Tenant,
        after: i64,
        limit: i64,
    ) -> Result<Vec<StoredChange>> {
        let rows = query(ORDERS_CHANGED)
            .bind_tenant(tenant)
            .binds((after, limit))
            .read_stream(&mut self.conn)
            .await?;
        page_rows(rows, |row| {
            let change = fields!(row => StoredChange {
                order_number, resource_version, body;
                sequence: row.get("last_sequence")?,
                changed_at: row.read("updated_at")?,
            });
            Ok((change.body.len(), change))
        })
        .await
    }

    /// The merchants that have pending orders and limit how long an order may be pending.
    pub async fn pending_limits(&mut self) -> Result<Vec<PendingLimit>> {
        // One index step for each merchant with pending orders, which are few, however many merchants set a limit.
        let waiting = match self.conn.dialect().shards_apart {
            true => {
                "WITH waiting (merchant_id) AS (SELECT DISTINCT merchant_id FROM orders WHERE status = 'pending')"
            }
            false => {
                "WITH RECURSIVE waiting (merchant_id) AS ( \
                     SELECT MIN(merchant_id) FROM orders WHERE status = 'pending' \
                     UNION ALL \
                     SELECT (SELECT MIN(o.merchant_id) FROM orders o \
                             WHERE o.status = 'pending' AND o.merchant_id > waiting.merchant_id) \
                     FROM waiting WHERE waiting.merchant_id IS NOT NULL)"
            }
        };
        let mut query = Query::across(Across::DUE, waiting);
        query.push(
            " SELECT m.id, m.pending_order_ttl_hours FROM waiting CROSS JOIN merchants m \
             WHERE m.id = waiting.merchant_id AND m.pending_order_ttl_hours IS NOT NULL ORDER BY m.id",
        );
        let limit = |row: &Row| {
            Ok(PendingLimit { merchant_id: row.read("id")?, hours: row.get("pending_order_ttl_hours")? })
        };
        query.read_as(&mut self.conn, limit).await
    }

    /// Pending orders that were made at or before `until`, oldest first, at most `limit`, starting after `after`.
    pub async fn orders_pending(
        &mut self,
        tenant: &Tenant,
        until: Timestamp,
        after: Option<&PendingOrder>,
        limit: i64,
    ) -> Result<Vec<PendingOrder>> {
        query(
            "SELECT created_at, order_number FROM orders WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 \
             AND status = 'pending' AND created_at <= $4 AND (created_at, order_number) > ($5, $6) \
             ORDER BY created_at, order_number LIMIT $7",
        )
        .bind_tenant(tenant)
        .binds((until.as_ms(), after.map_or(i64::MIN, |after| after.created_at.as_ms())))
        .binds((after.map_or("", |after| after.number.as_str()), limit))
        .read_as(&mut self.conn, |row| {
                Ok(PendingOrder { created_at: row.read("created_at")?, number: row.read("order_number")? })
            }).await
    }

    /// Writes a version of an order and its lines.
    pub(crate) async fn order_put(
        &mut self,
        merchant: &MerchantId,
        order: &Order,
        places: SequenceRange,
    ) -> Result<()> {
        let body = serde_json::to_string(order)?;
        let (shard, number) = (Shard::of(merchant), order.order_number.as_str());
        let key = order_key(merchant, order.livemode, &order.order_number);
        self.conn.buffer(
            &ORDERS,
            [key.clone()],
            row!(
                shard, merchant.as_str(), order.livemode, number, order.status.as_str();
                order.payment_status.as_str(), order.fulfillment_status.as_str(), order.currency.as_str();
                order.amounts.total;
                order.customer.as_ref().and_then(|customer| customer.reference.as_deref());
                order.resource_version, order.created_at.as_ms(), order.updated_at.as_ms(), body;
                places.first, places.last),
        );
        for line in &order.line_items {
            self.conn.buffer(
                &ORDER_LINES,
                [format!("{key}/{}", line.id)],
                row!(
                    shard, merchant.as_str(), order.livemode, number, line.id.as_str(), line.quantity;
                    line.fulfilled_quantity, line.shipped_quantity, line.delivered_quantity),
            );
        }
        Ok(())
    }
}

/// Narrows a list of orders to the one that an external system calls by this name.
fn push_named(query: &mut Query<'_>, tenant: &Tenant, system: &SystemName, id: &str) {
    query.push(" AND order_number = (SELECT r.order_number FROM external_references r WHERE ");
    query.push_tenant("r.", tenant).push(" AND r.system = ").push_bind(system.as_str().to_owned());
    query.push(" AND r.id = ").push_bind(id.to_owned()).push(")");
}
