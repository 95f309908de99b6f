//! Orders with everything that belongs to them, a page at a time: six queries per page, whatever is on it.

use std::collections::BTreeMap;

use authority_domain::id::LineItemId;
use authority_domain::invariants::{OrderFacts, OrderLineRow, ReferenceRow};
use authority_domain::order::Order;
use authority_domain::order::line_quantities::Marks;
use authority_domain::order::number::OrderNumber;
use authority_domain::payment::Payment;
use authority_domain::refund::Refund;
use authority_domain::tenant::Tenant;
use serde::de::DeserializeOwned;
use sqlx::{QueryBuilder, Row};

use super::{Db, DbConnection};
use crate::StoreError;
use crate::ports::{InspectedOrders, InspectedPayments};

/// Up to `limit` orders after `after`. What cannot be read is left out; the audit of records finds it.
pub(super) async fn page(
    conn: &mut DbConnection,
    tenant: &Tenant,
    after: Option<&OrderNumber>,
    limit: i64,
) -> Result<InspectedOrders, StoreError> {
    let rows: Vec<(String, String)> = sqlx::query_as(
        "SELECT order_number, body FROM orders WHERE merchant_id = $1 AND livemode = $2 AND order_number > $3 \
         ORDER BY order_number LIMIT $4",
    )
    .bind(tenant.merchant_id.as_str())
    .bind(tenant.livemode)
    .bind(after.map_or("", OrderNumber::as_str))
    .bind(limit)
    .fetch_all(&mut *conn)
    .await?;
    let next = rows.last().map(|(number, _)| OrderNumber::from_store(number.clone()));
    let numbers: Vec<&str> = rows.iter().map(|(number, _)| number.as_str()).collect();
    let mut lines = lines(conn, tenant, &numbers).await?;
    let mut references = references(conn, tenant, &numbers).await?;
    let mut payments = bodies(conn, "payments", tenant, &numbers).await?;
    let mut refunds = bodies(conn, "refunds", tenant, &numbers).await?;
    let mut shipments = bodies(conn, "shipments", tenant, &numbers).await?;
    let facts = |(number, body): &(String, String)| {
        Some(OrderFacts {
            order: serde_json::from_str::<Order>(body).ok()?,
            lines: lines.remove(number).unwrap_or_default(),
            references: references.remove(number).unwrap_or_default(),
            payments: records(payments.remove(number))?,
            refunds: records(refunds.remove(number))?,
            shipments: records(shipments.remove(number))?,
        })
    };
    Ok(InspectedOrders { orders: rows.iter().filter_map(facts).collect(), next })
}

/// Up to `limit` payments after the id `after` that belong to no order and have captured money, with their refunds.
pub(super) async fn payments_without_order(
    conn: &mut DbConnection,
    tenant: &Tenant,
    after: &str,
    limit: i64,
) -> Result<InspectedPayments, StoreError> {
    let rows: Vec<(String, String)> = sqlx::query_as(
        "SELECT id, body FROM payments WHERE merchant_id = $1 AND livemode = $2 AND order_number IS NULL \
         AND amount_captured > 0 AND id > $3 ORDER BY id LIMIT $4",
    )
    .bind(tenant.merchant_id.as_str())
    .bind(tenant.livemode)
    .bind(after)
    .bind(limit)
    .fetch_all(&mut *conn)
    .await?;
    let mut query = QueryBuilder::<Db>::new("SELECT body FROM refunds WHERE merchant_id = ");
    query.push_bind(tenant.merchant_id.as_str()).push(" AND livemode = ").push_bind(tenant.livemode);
    query.push(" AND payment_id IN (NULL");
    for (id, _) in &rows {
        query.push(", ").push_bind(id);
    }
    query.push(")");
    let bodies: Vec<String> = query.build_query_scalar().fetch_all(&mut *conn).await?;
    let refunds: Vec<Refund> = bodies.iter().filter_map(|body| serde_json::from_str(body).ok()).collect();
    let facts = |(_, body): &(String, String)| {
        let payment: Payment = serde_json::from_str(body).ok()?;
        let of_it = refunds.iter().filter(|refund| refund.payment_id == payment.id).cloned().collect();
        Some((payment, of_it))
    };
    let payments = rows.iter().filter_map(facts).collect();
    Ok(InspectedPayments { payments, next: rows.last().map(|(id, _)| id.clone()) })
}

fn records<T: DeserializeOwned>(bodies: Option<Vec<String>>) -> Option<Vec<T>> {
    bodies.unwrap_or_default().iter().map(|body| serde_json::from_str(body).ok()).collect()
}

/// The records of `table` that belong to these orders, each order's oldest first.
async fn bodies(
    conn: &mut DbConnection,
    table: &'static str,
    tenant: &Tenant,
    orders: &[&str],
) -> Result<BTreeMap<String, Vec<String>>, StoreError> {
    let mut query = QueryBuilder::<Db>::new("SELECT order_number, body FROM ");
    query.push(table);
    of_orders(&mut query, tenant, orders);
    // An expression, so that SQLite finds the orders by their numbers and does not walk through the whole list, which
    // is in this order.
    query.push(" ORDER BY created_sequence + 0");
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in query.build().fetch_all(conn).await? {
        found.entry(row.try_get("order_number")?).or_default().push(row.try_get("body")?);
    }
    Ok(found)
}

async fn lines(
    conn: &mut DbConnection,
    tenant: &Tenant,
    orders: &[&str],
) -> Result<BTreeMap<String, Vec<OrderLineRow>>, StoreError> {
    let mut query = QueryBuilder::<Db>::new(
        "SELECT order_number, id, quantity, fulfilled_quantity, shipped_quantity, delivered_quantity, \
             marked_fulfilled_quantity, marked_shipped_quantity FROM order_lines",
    );
    of_orders(&mut query, tenant, orders);
    let mut found: BTreeMap<String, Vec<OrderLineRow>> = BTreeMap::new();
    for row in query.build().fetch_all(conn).await? {
        found.entry(row.try_get("order_number")?).or_default().push(OrderLineRow {
            id: LineItemId::from_store(row.try_get("id")?),
            quantity: row.try_get("quantity")?,
            fulfilled_quantity: row.try_get("fulfilled_quantity")?,
            shipped_quantity: row.try_get("shipped_quantity")?,
            delivered_quantity: row.try_get("delivered_quantity")?,
            marks: Marks {
                fulfilled: row.try_get("marked_fulfilled_quantity")?,
                shipped: row.try_get("marked_shipped_quantity")?,
            },
        });
    }
    Ok(found)
}

async fn references(
    conn: &mut DbConnection,
    tenant: &Tenant,
    orders: &[&str],
) -> Result<BTreeMap<String, Vec<ReferenceRow>>, StoreError> {
    let mut query = QueryBuilder::<Db>::new("SELECT order_number, system, id FROM external_references");
    of_orders(&mut query, tenant, orders);
    let mut found: BTreeMap<String, Vec<ReferenceRow>> = BTreeMap::new();
    for row in query.build().fetch_all(conn).await? {
        let reference = ReferenceRow { system: row.try_get("system")?, id: row.try_get("id")? };
        found.entry(row.try_get("order_number")?).or_default().push(reference);
    }
    Ok(found)
}

fn of_orders(query: &mut QueryBuilder<Db>, tenant: &Tenant, orders: &[&str]) {
    query.push(" WHERE merchant_id = ").push_bind(tenant.merchant_id.as_str().to_owned());
    query.push(" AND livemode = ").push_bind(tenant.livemode).push(" AND order_number IN (NULL");
    for order in orders {
        query.push(", ").push_bind((*order).to_owned());
    }
    query.push(")");
}
