//! Orders with everything that belongs to them, a page at a time: six queries per page, whatever is on it.

use std::collections::BTreeMap;

use authority_domain::invariants::{OrderFacts, OrderLineRow, ReferenceRow};
use authority_domain::order::line_quantities::Marks;
use authority_domain::{Order, OrderNumber, Payment, Refund, Tenant};
use serde::de::DeserializeOwned;

use crate::sql::inspect::{InspectedOrders, InspectedPayments};
use crate::sql::{BufferedConnection, Query, Result, Row, Tx, fields, query};

impl Tx {
    /// Up to `limit` orders after `after`, by number. What cannot be read is left out; the audit of records finds it.
    pub async fn inspect_orders(
        &mut self,
        tenant: &Tenant,
        after: Option<&OrderNumber>,
        limit: i64,
    ) -> Result<InspectedOrders> {
        let rows: Vec<(String, String)> = query(
            "SELECT order_number, body FROM orders WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND order_number > $4 \
             ORDER BY order_number LIMIT $5",
        )
        .bind_tenant(tenant)
        .binds((after.map_or("", OrderNumber::as_str), limit))
        .read(&mut self.conn)
        .await?;
        let next = rows.last().map(|(number, _)| OrderNumber::from_store(number.clone()));
        let numbers: Vec<&str> = rows.iter().map(|(number, _)| number.as_str()).collect();
        let of = (tenant, numbers.as_slice());
        let lines = "SELECT order_number, id, quantity, fulfilled_quantity, shipped_quantity, delivered_quantity, \
             marked_fulfilled_quantity, marked_shipped_quantity FROM order_lines";
        let mut lines = of_orders(&mut self.conn, lines, of, "", line).await?;
        let references = "SELECT order_number, system, id FROM external_references";
        let reference = |row: &Row| Ok(fields!(row => ReferenceRow { system, id }));
        let mut references = of_orders(&mut self.conn, references, of, "", reference).await?;
        let mut payments = bodies(&mut self.conn, "payments", tenant, &numbers).await?;
        let mut refunds = bodies(&mut self.conn, "refunds", tenant, &numbers).await?;
        let mut shipments = bodies(&mut self.conn, "shipments", tenant, &numbers).await?;
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

    /// Up to `limit` payments after the id `after` that belong to no order although they captured money, with
    /// their refunds.
    pub async fn inspect_payments_without_order(
        &mut self,
        tenant: &Tenant,
        after: &str,
        limit: i64,
    ) -> Result<InspectedPayments> {
        let rows: Vec<(String, String)> = query(
            "SELECT id, body FROM payments WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND order_number IS NULL \
             AND amount_captured > 0 AND id > $4 ORDER BY id LIMIT $5",
        )
        .bind_tenant(tenant)
        .binds((after, limit))
        .read(&mut self.conn)
        .await?;
        let mut query = Query::new("SELECT body FROM refunds WHERE ");
        query.push_tenant("", tenant).push(" AND payment_id").push_among(rows.iter().map(|(id, _)| id));
        let bodies: Vec<String> = query.read(&mut self.conn).await?;
        let refunds: Vec<Refund> = bodies.iter().filter_map(|body| serde_json::from_str(body).ok()).collect();
        let facts = |(_, body): &(String, String)| {
            let payment: Payment = serde_json::from_str(body).ok()?;
            let of_it = refunds.iter().filter(|refund| refund.payment_id == payment.id).cloned().collect();
            Some((payment, of_it))
        };
        let payments = rows.iter().filter_map(facts).collect();
        Ok(InspectedPayments { payments, next: rows.last().map(|(id, _)| id.clone()) })
    }
}

fn records<T: DeserializeOwned>(bodies: Option<Vec<String>>) -> Option<Vec<T>> {
    bodies.unwrap_or_default().iter().map(|body| serde_json::from_str(body).ok()).collect()
}

/// The records of `table` that belong to these orders, each order's oldest first.
async fn bodies(
    conn: &mut BufferedConnection,
    table: &'static str,
    tenant: &Tenant,
    orders: &[&str],
) -> Result<BTreeMap<String, Vec<String>>> {
    // An expression, so that SQLite finds the orders by their numbers and does not walk through the whole list, which
    // is in this order.
    let in_order = " ORDER BY created_sequence + 0";
    let select = format!("SELECT order_number, body FROM {table}");
    of_orders(conn, &select, (tenant, orders), in_order, |row| Ok(row.get("body")?)).await
}

/// What `read` makes of the selected rows that belong to these orders, by order.
async fn of_orders<T>(
    conn: &mut BufferedConnection,
    select: &str,
    (tenant, orders): (&Tenant, &[&str]),
    in_order: &str,
    read: impl Fn(&Row) -> Result<T>,
) -> Result<BTreeMap<String, Vec<T>>> {
    let mut query = query(select.to_owned());
    query.push(" WHERE ").push_tenant("", tenant).push(" AND order_number");
    query.push_among(orders.iter().map(|order| (*order).to_owned())).push(in_order);
    let mut found: BTreeMap<String, Vec<T>> = BTreeMap::new();
    for row in query.read::<Row>(conn).await? {
        found.entry(row.get("order_number")?).or_default().push(read(&row)?);
    }
    Ok(found)
}

fn line(row: &Row) -> Result<OrderLineRow> {
    Ok(fields!(row => OrderLineRow {
        id, quantity, fulfilled_quantity, shipped_quantity, delivered_quantity;
        marks: Marks {
            fulfilled: row.get("marked_fulfilled_quantity")?,
            shipped: row.get("marked_shipped_quantity")?,
        },
    }))
}
