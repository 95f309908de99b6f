//! An order with what belongs to it: its payments, open refunds, shipments and marked lines, read with one statement
//! for any number of orders.
//!
//! Nearly every change to an order is decided on most of these. A transaction reads them once for all of its jobs
//! ([`super::prefetch_records`]), and keeps them until a job writes one of them.

use std::collections::HashMap;
use std::sync::Arc;

use authority_domain::id::MerchantId;
use authority_domain::order::number::OrderNumber;
use authority_domain::tenant::Tenant;
use sqlx::{QueryBuilder, Row};

use super::orders::order_key;
use super::prefetch::padded;
use super::transaction_cache::OrderSurroundings;
use super::{Db, DbRow, Session};
use crate::StoreError;

/// The parts, in any order, each with its number: their columns are the order's key, a text and two numbers. Joined in
/// this order: SQLite would else walk a whole table to look for each row among the few orders.
const PARTS: &str = "SELECT CAST(0 AS BIGINT) AS part, t.merchant_id, t.livemode, t.order_number, o.body AS text, o.resource_version AS a, \
         CASE WHEN o.confirmed_by_operator THEN 1 ELSE 0 END AS b \
     FROM t CROSS JOIN orders o WHERE o.merchant_id = t.merchant_id AND o.livemode = t.livemode \
         AND o.order_number = t.order_number \
     UNION ALL SELECT 1, t.merchant_id, t.livemode, t.order_number, p.body, p.created_sequence, 0 \
     FROM t CROSS JOIN payments p WHERE p.merchant_id = t.merchant_id AND p.livemode = t.livemode \
         AND p.order_number = t.order_number \
     UNION ALL SELECT 2, t.merchant_id, t.livemode, t.order_number, r.payment_id, r.amount, 0 \
     FROM t CROSS JOIN refunds r WHERE r.merchant_id = t.merchant_id AND r.livemode = t.livemode \
         AND r.order_number = t.order_number AND r.status IN ('requested', 'processing') \
     UNION ALL SELECT 3, t.merchant_id, t.livemode, t.order_number, s.body, s.created_sequence, 0 \
     FROM t CROSS JOIN shipments s WHERE s.merchant_id = t.merchant_id AND s.livemode = t.livemode \
         AND s.order_number = t.order_number \
     UNION ALL SELECT 4, t.merchant_id, t.livemode, t.order_number, l.id, l.marked_fulfilled_quantity, \
         l.marked_shipped_quantity \
     FROM t CROSS JOIN order_lines l WHERE l.merchant_id = t.merchant_id AND l.livemode = t.livemode \
         AND l.order_number = t.order_number AND l.marked_fulfilled_quantity + l.marked_shipped_quantity > 0 \
     ORDER BY part, a";

impl Session<'_> {
    /// The order with what belongs to it, as it is now.
    pub(super) async fn order_surroundings(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<Arc<OrderSurroundings>, StoreError> {
        let key = order_key(&tenant.merchant_id, tenant.livemode, number);
        if let Some(known) = self.conn.cache.order(&key) {
            return Ok(Arc::clone(known));
        }
        if self.conn.waits(&key) {
            self.conn.settle().await?;
        }
        let around = self.read_orders(&[(tenant, number)]).await?.remove(&key).unwrap_or_default();
        if self.conn.is_writing() {
            self.conn.cache.note_order(key, Arc::clone(&around));
        }
        Ok(around)
    }

    /// Reads these orders, none of which has buffered rows; by their keys.
    pub(super) async fn read_orders(
        &mut self,
        orders: &[(&Tenant, &OrderNumber)],
    ) -> Result<HashMap<String, Arc<OrderSurroundings>>, StoreError> {
        let mut query = QueryBuilder::<Db>::new("WITH t (merchant_id, livemode, order_number) AS (VALUES ");
        let mut between = "(CAST(";
        for (nth, (tenant, number)) in padded(orders).enumerate() {
            // What fills up the list finds nothing: else the last order's records would come twice.
            let number = orders.get(nth).map(|_| number.as_str());
            query.push(between).push_bind(tenant.merchant_id.as_str()).push(" AS TEXT), CAST(");
            query.push_bind(tenant.livemode).push(" AS BOOLEAN), CAST(").push_bind(number);
            query.push(" AS TEXT))");
            between = ", (CAST(";
        }
        query.push(") ").push(PARTS);
        let rows = query.build().fetch_all(self.conn.about(&[]).await?).await?;
        let key = |(tenant, number): &(&Tenant, &OrderNumber)| {
            order_key(&tenant.merchant_id, tenant.livemode, number)
        };
        let mut found: HashMap<_, _> =
            orders.iter().map(|order| (key(order), OrderSurroundings::default())).collect();
        for row in &rows {
            let merchant = MerchantId::from_store(row.try_get(1)?);
            let number = OrderNumber::from_store(row.try_get(3)?);
            if let Some(around) = found.get_mut(&order_key(&merchant, row.try_get(2)?, &number)) {
                around.add(row)?;
            }
        }
        Ok(found.into_iter().map(|(key, around)| (key, Arc::new(around))).collect())
    }
}

impl OrderSurroundings {
    fn add(&mut self, row: &DbRow) -> Result<(), StoreError> {
        let (text, a, b): (String, i64, i64) = (row.try_get(4)?, row.try_get(5)?, row.try_get(6)?);
        match row.try_get::<i64, _>(0)? {
            0 => {
                self.confirmed_by_operator = b == 1;
                self.order = Some((text, a));
            }
            1 => self.payments.push(text),
            2 => self.open_refunds.push((text, a)),
            3 => self.shipments.push(text),
            _ => self.marks.push((text, a, b)),
        }
        Ok(())
    }
}
