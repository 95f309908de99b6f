//! Orders and their lines.

use async_trait::async_trait;
use authority_domain::id::MerchantId;
use authority_domain::list_filter::OrderFilter;
use authority_domain::order::external_references::ExternalName;
use authority_domain::order::number::OrderNumber;
use authority_domain::order::{ConfirmedBy, Order};
use authority_domain::sync::order_feed::StoredChange;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::page_rows::page_rows;
use super::rows::{Form, Kind, Table, TableOrder, Together, Touches};
use super::{Db, Session, bodies, one_row, push_in};
use crate::StoreError;
use crate::ports::{Orders, Page, PendingLimit, PendingOrder, SequenceRange};

/// A version of an order.
static ORDERS: Table = Table {
    order: TableOrder::Order,
    touches: Touches::Each("order"),
    into: "INSERT INTO orders (merchant_id, livemode, order_number, status, payment_status, fulfillment_status, \
        currency, total, customer_reference, resource_version, created_at, updated_at, body, created_sequence, \
        last_sequence)",
    columns: &[
        Kind::Text,
        Kind::Bool,
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Int,
        Kind::Text,
        Kind::Int,
        Kind::Int,
        Kind::Int,
        Kind::Text,
        Kind::Int,
        Kind::Int,
    ],
    form: Form::Insert,
    rest: "ON CONFLICT (merchant_id, livemode, order_number) DO UPDATE SET status = excluded.status, \
             payment_status = excluded.payment_status, fulfillment_status = excluded.fulfillment_status, \
             customer_reference = excluded.customer_reference, resource_version = excluded.resource_version, \
             updated_at = excluded.updated_at, body = excluded.body, last_sequence = excluded.last_sequence \
         WHERE orders.resource_version < excluded.resource_version",
    together: Together::Apart,
};

/// The progress of an order's line.
static ORDER_LINES: Table = Table {
    order: TableOrder::OrderLine,
    touches: Touches::Any,
    into: "INSERT INTO order_lines (merchant_id, livemode, order_number, id, quantity, fulfilled_quantity, \
        shipped_quantity, delivered_quantity)",
    columns: &[Kind::Text, Kind::Bool, Kind::Text, Kind::Text, Kind::Int, Kind::Int, Kind::Int, Kind::Int],
    form: Form::Insert,
    rest: "ON CONFLICT (merchant_id, livemode, order_number, id) DO UPDATE SET \
             fulfilled_quantity = excluded.fulfilled_quantity, shipped_quantity = excluded.shipped_quantity, \
             delivered_quantity = excluded.delivered_quantity",
    together: Together::Apart,
};

/// A page of the feed of changed orders: one row per order, at the position of its last change.
pub(super) const ORDERS_CHANGED: &str = "SELECT order_number, last_sequence, resource_version, updated_at, body FROM orders \
     WHERE merchant_id = $1 AND livemode = $2 AND last_sequence > $3 ORDER BY last_sequence LIMIT $4";

#[async_trait]
impl Orders for Session<'_> {
    async fn order_get(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<Option<Order>, StoreError> {
        let around = self.order_surroundings(tenant, number).await?;
        Ok(around.order.as_ref().map(|(body, _)| serde_json::from_str(body)).transpose()?)
    }

    async fn order_confirmed_by(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<ConfirmedBy, StoreError> {
        let around = self.order_surroundings(tenant, number).await?;
        Ok(if around.confirmed_by_operator { ConfirmedBy::Operator } else { ConfirmedBy::Payments })
    }

    async fn order_confirmed_by_operator(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "UPDATE orders SET confirmed_by_operator = TRUE \
             WHERE merchant_id = $1 AND livemode = $2 AND order_number = $3",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(number.as_str())
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "order")
    }

    async fn order_body(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<Option<(String, i64)>, StoreError> {
        let key = order_key(&tenant.merchant_id, tenant.livemode, number);
        if let Some(known) = self.conn.cache.order(&key) {
            return Ok(known.order.clone());
        }
        let statement = "SELECT body, resource_version FROM orders \
             WHERE merchant_id = $1 AND livemode = $2 AND order_number = $3";
        bodies::text(self.conn, statement, tenant, number.as_str()).await
    }

    async fn orders_page(
        &mut self,
        tenant: &Tenant,
        filter: &OrderFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<String>, StoreError> {
        let narrow = |query: &mut QueryBuilder<Db>| {
            bodies::push_equal(query, "customer_reference", filter.customer_reference.as_ref());
            if let Some(name) = &filter.external_name {
                push_named(query, tenant, name);
            }
        };
        let filters = |query: &mut QueryBuilder<Db>| {
            push_in(query, "status", &filter.status);
            push_in(query, "payment_status", &filter.payment_status);
            push_in(query, "fulfillment_status", &filter.fulfillment_status);
            bodies::push_created(query, filter.created_from, filter.created_to);
            bodies::push_time(query, " AND updated_at >= ", filter.updated_from);
            bodies::push_time(query, " AND updated_at < ", filter.updated_to);
        };
        bodies::page(self.conn, "orders", (tenant, before), narrow, filters, limit).await
    }

    async fn orders_changed(
        &mut self,
        tenant: &Tenant,
        after: i64,
        limit: i64,
    ) -> Result<Vec<StoredChange>, StoreError> {
        let rows = sqlx::query(ORDERS_CHANGED)
            .bind(tenant.merchant_id.as_str())
            .bind(tenant.livemode)
            .bind(after)
            .bind(limit)
            .fetch(&mut *self.conn);
        page_rows(rows, |row| {
            let change = StoredChange {
                order_number: OrderNumber::from_store(row.try_get("order_number")?),
                sequence: row.try_get("last_sequence")?,
                resource_version: row.try_get("resource_version")?,
                changed_at: Timestamp::from_ms(row.try_get("updated_at")?),
                body: row.try_get("body")?,
            };
            Ok((change.body.len(), change))
        })
        .await
    }

    async fn pending_limits(&mut self) -> Result<Vec<PendingLimit>, StoreError> {
        // One index step for each merchant with pending orders, which are few, however many merchants set a limit.
        let rows = sqlx::query(
            "WITH RECURSIVE waiting (merchant_id) AS ( \
                 SELECT MIN(merchant_id) FROM orders WHERE status = 'pending' \
                 UNION ALL \
                 SELECT (SELECT MIN(o.merchant_id) FROM orders o \
                         WHERE o.status = 'pending' AND o.merchant_id > waiting.merchant_id) \
                 FROM waiting WHERE waiting.merchant_id IS NOT NULL) \
             SELECT m.id, m.pending_order_ttl_hours FROM waiting CROSS JOIN merchants m \
             WHERE m.id = waiting.merchant_id AND m.pending_order_ttl_hours IS NOT NULL ORDER BY m.id",
        )
        .fetch_all(&mut *self.conn)
        .await?;
        rows.iter()
            .map(|row| {
                let merchant_id = MerchantId::from_store(row.try_get("id")?);
                Ok(PendingLimit { merchant_id, hours: row.try_get("pending_order_ttl_hours")? })
            })
            .collect()
    }

    async fn orders_pending(
        &mut self,
        tenant: &Tenant,
        until: Timestamp,
        after: Option<&PendingOrder>,
        limit: i64,
    ) -> Result<Vec<PendingOrder>, StoreError> {
        let rows = sqlx::query(
            "SELECT created_at, order_number FROM orders WHERE merchant_id = $1 AND livemode = $2 \
             AND status = 'pending' AND created_at <= $3 AND (created_at, order_number) > ($4, $5) \
             ORDER BY created_at, order_number LIMIT $6",
        )
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(until.as_ms())
        .bind(after.map_or(i64::MIN, |after| after.created_at.as_ms()))
        .bind(after.map_or("", |after| after.number.as_str()))
        .bind(limit)
        .fetch_all(&mut *self.conn)
        .await?;
        rows.iter()
            .map(|row| {
                let created_at = Timestamp::from_ms(row.try_get("created_at")?);
                Ok(PendingOrder { created_at, number: OrderNumber::from_store(row.try_get("order_number")?) })
            })
            .collect()
    }

    async fn order_put(
        &mut self,
        merchant: &MerchantId,
        order: &Order,
        places: SequenceRange,
    ) -> Result<(), StoreError> {
        let body = serde_json::to_string(order)?;
        let number = order.order_number.as_str();
        let key = order_key(merchant, order.livemode, &order.order_number);
        self.conn.buffer(
            &ORDERS,
            [key.clone()],
            [
                merchant.as_str().into(),
                order.livemode.into(),
                number.into(),
                order.status.as_str().into(),
                order.payment_status.as_str().into(),
                order.fulfillment_status.as_str().into(),
                order.currency.as_str().into(),
                order.amounts.total.into(),
                order.customer.as_ref().and_then(|customer| customer.reference.as_deref()).into(),
                order.resource_version.into(),
                order.created_at.as_ms().into(),
                order.updated_at.as_ms().into(),
                body.into(),
                places.first.into(),
                places.last.into(),
            ],
        );
        for line in &order.line_items {
            self.conn.buffer(
                &ORDER_LINES,
                [format!("{key}/{}", line.id)],
                [
                    merchant.as_str().into(),
                    order.livemode.into(),
                    number.into(),
                    line.id.as_str().into(),
                    line.quantity.into(),
                    line.fulfilled_quantity.into(),
                    line.shipped_quantity.into(),
                    line.delivered_quantity.into(),
                ],
            );
        }
        Ok(())
    }
}

/// The key under which an order is buffered, and what belongs to it.
pub(super) fn order_key(merchant: &MerchantId, livemode: bool, number: &OrderNumber) -> String {
    format!("order/{merchant}/{livemode}/{number}")
}

/// Narrows a list of orders to the one that an external system calls by this name.
fn push_named(query: &mut QueryBuilder<Db>, tenant: &Tenant, name: &ExternalName) {
    query
        .push(" AND order_number = (SELECT r.order_number FROM external_references r WHERE r.merchant_id = ");
    query.push_bind(tenant.merchant_id.as_str().to_owned());
    query.push(" AND r.livemode = ").push_bind(tenant.livemode);
    query.push(" AND r.system = ").push_bind(name.system.as_str().to_owned());
    query.push(" AND r.id = ").push_bind(name.id.clone()).push(")");
}
